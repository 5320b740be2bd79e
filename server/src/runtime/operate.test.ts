// Running operations: what a lost race, a full account and an endless race are answered with.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { customer, externalAccount, fundedCustomer, ok, quoteBody } from '../../test/fixtures.ts';
import { startApp, type TestApp } from '../../test/harness.ts';
import { customers } from '../features/customers/index.ts';
import type { Ctx } from './context.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

async function touch(ctx: Ctx, id: string) {
  const row = await ctx.read(customers, id);
  if (!row) throw new Error('no such customer');
  ctx.update(customers, row, { updated_at: ctx.now });
}

describe('operate', () => {
  it('runs again with fresh reads when a row has moved on', async () => {
    const { id } = await customer(app);
    let attempts = 0;
    await app.operate(async (ctx) => {
      await touch(ctx, id);
      if (++attempts < 4) await app.operate((other) => touch(other, id));
    });
    expect(attempts).toBe(4);
  });

  it('gives up on a row that never stands still, and says that trying again may help', async () => {
    const { id } = await customer(app);
    const run = app.operate(async (ctx) => {
      await touch(ctx, id);
      await app.operate((other) => touch(other, id));
    });
    await expect(run).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterS: 1 });
  });
});

describe('one key', () => {
  it('stands for the same request whether an optional body is empty or left out', async () => {
    const { person, account } = await fundedCustomer(app);
    const target = await externalAccount(app, person.id, 'EUR');
    const quote = ok(
      await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
      201,
    );
    const headers = { 'idempotency-key': 'same-for-all' };
    const execute = (body?: object) =>
      app.call('POST', `/quotes/${quote.id}/execute`, body, { headers });
    const first = ok(await execute(), 200);
    expect((await execute({})).body).toEqual(first);
    expect((await execute()).body).toEqual(first);
    const other = await execute({ scaFactor: 'PASSKEY' });
    expect([other.status, other.body.code]).toEqual([409, 'DUPLICATE_PAY_REQUEST']);
  });
});
