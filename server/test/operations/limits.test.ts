// An operator's limits as a platform meets them over the API: what is refused and with which words, what a
// refund gives back, and that the operator's check of the books understands the count.
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/operator.ts';
import { booksBalance } from '../kit/app/books.ts';
import { externalAccount, fundedCustomer, ok, quoteBody } from '../kit/app/fixtures.ts';
import { testApp } from '../kit/app/test-app.ts';

const app = testApp();
let account: string;
let payee: string;
let failing: string;

async function operator(...argv: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
    out: (text) => {
      out += text;
    },
    err: (text) => {
      out += text;
    },
  });
  return { code, out };
}

const limit = async (...flags: string[]) => {
  const answer = await operator('platform', 'set-limit', app.platform.id, ...flags);
  expect(answer.code, answer.out).toBe(0);
};

const transfer = (amount: number, to = payee, key?: string) => {
  const body = { source: { accountId: account }, destination: { accountId: to }, amount };
  return app.call('POST', '/transfer-out', body, {
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  });
};

beforeAll(async () => {
  const { person, account: funded } = await fundedCustomer(app, 10_000_00);
  account = funded.id;
  payee = (await externalAccount(app, person.id, 'USD')).id;
  failing = (await externalAccount(app, person.id, 'USD', '002')).id;
});

describe("an operator's limits", () => {
  it('refuse a payment that is too large, at the quote and at the transfer', async () => {
    await limit('--currency', 'USD', '--per-payment', '500.00');
    for (const answer of [
      await transfer(500_01),
      await app.call('POST', '/quotes', quoteBody(account, payee, 500_01)),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        code: 'TRANSACTION_SIZE_LIMIT_EXCEEDED',
        details: { max: 500_00 },
      });
    }
    expect((await transfer(500_00)).status).toBe(201);
  });

  it('refuse what the day has no room for, until a refund makes some', async () => {
    await limit('--currency', 'USD', '--per-day', '300.00');
    ok(await transfer(100_00), 201);
    ok(await transfer(150_00, failing), 201);
    const quote = ok(await app.call('POST', '/quotes', quoteBody(account, payee, 100_00)), 201);
    const execute = () => app.call('POST', `/quotes/${quote.id}/execute`);
    for (const refused of [await transfer(50_01, payee, 'again'), await execute()]) {
      expect([refused.status, refused.body.code]).toEqual([429, 'DAILY_VOLUME_LIMIT_EXCEEDED']);
      expect(refused.headers['x-should-retry']).toBe('false');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_600);
    }
    // The second one fails at the bank and is refunded: 200.00 are left.
    await app.advance(30_000);
    expect((await transfer(50_01, payee, 'again')).status).toBe(201);
    expect((await execute()).status).toBe(200);
    expect((await transfer(50_00)).status).toBe(429);
    expect((await transfer(49_99)).status).toBe(201);
    await booksBalance(app);
  });

  it('are no part of the money when the books are checked', async () => {
    const { code, out } = await operator('ledger', 'verify');
    expect(out).toContain('The books balance.');
    expect(out).toMatch(/^velocity\.USD .* -300\.00 .* 300\.00 +0\.00$/m);
    expect(code).toBe(0);
  });
});
