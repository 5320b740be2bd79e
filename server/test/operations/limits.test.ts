// Limits set by the operator, over the API: rejected payments with their details, and the amount
// that a refund restores. The ledger verification accepts the usage accounts.
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/operator.ts';
import { expectBalancedBooks } from '../kit/app/books.ts';
import { createExternalAccount, createFundedCustomer, ok, quoteBody } from '../kit/app/fixtures.ts';
import { testApp } from '../kit/app/test-app.ts';

const app = testApp();
let account: string;
let payee: string;
let failingPayee: string;

async function runOperator(...argv: string[]): Promise<{ code: number; out: string }> {
  let output = '';
  const code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
    out: (text) => {
      output += text;
    },
    err: (text) => {
      output += text;
    },
  });
  return { code, out: output };
}

const setLimit = async (...flags: string[]) => {
  const response = await runOperator('platform', 'set-limit', app.platform.id, ...flags);
  expect(response.code, response.out).toBe(0);
};

const transfer = (amount: number, to = payee, key?: string) => {
  const body = { source: { accountId: account }, destination: { accountId: to }, amount };
  return app.call('POST', '/transfer-out', body, {
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  });
};

beforeAll(async () => {
  const { person, account: fundedAccount } = await createFundedCustomer(app, 10_000_00);
  account = fundedAccount.id;
  payee = (await createExternalAccount(app, person.id, 'USD')).id;
  failingPayee = (await createExternalAccount(app, person.id, 'USD', '002')).id;
});

describe('limits set by the operator', () => {
  it('reject a payment over the limit per payment, at the quote and at the transfer', async () => {
    await setLimit('--currency', 'USD', '--per-payment', '500.00');
    for (const response of [
      await transfer(500_01),
      await app.call('POST', '/quotes', quoteBody(account, payee, 500_01)),
    ]) {
      expect(response.status).toBe(400);
      expect(response.body).toMatchObject({
        code: 'TRANSACTION_SIZE_LIMIT_EXCEEDED',
        details: { max: 500_00 },
      });
    }
    expect((await transfer(500_00)).status).toBe(201);
  });

  it('reject a payment over the daily limit until a refund restores the limit', async () => {
    await setLimit('--currency', 'USD', '--per-day', '300.00');
    ok(await transfer(100_00), 201);
    ok(await transfer(150_00, failingPayee), 201);
    const quote = ok(await app.call('POST', '/quotes', quoteBody(account, payee, 100_00)), 201);
    const execute = () => app.call('POST', `/quotes/${quote.id}/execute`);
    for (const rejectedResponse of [await transfer(50_01, payee, 'again'), await execute()]) {
      expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([
        429,
        'DAILY_VOLUME_LIMIT_EXCEEDED',
      ]);
      expect(rejectedResponse.headers['x-should-retry']).toBe('false');
      expect(Number(rejectedResponse.headers['retry-after'])).toBeGreaterThan(3_600);
    }
    // The second payment fails at the bank and is refunded, so 200.00 of the limit remain.
    await app.advance(30_000);
    expect((await transfer(50_01, payee, 'again')).status).toBe(201);
    expect((await execute()).status).toBe(200);
    expect((await transfer(50_00)).status).toBe(429);
    expect((await transfer(49_99)).status).toBe(201);
    await expectBalancedBooks(app);
  });

  it('do not affect the ledger verification', async () => {
    const { code, out } = await runOperator('ledger', 'verify');
    expect(out).toContain('The books balance.');
    expect(out).toMatch(/^velocity\.USD .* -300\.00 .* 300\.00 +0\.00$/m);
    expect(code).toBe(0);
  });
});
