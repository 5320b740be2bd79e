// Results of operations with concurrent changes, insufficient funds and permanent contention. Also
// the requests that an idempotency key identifies.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { customers } from '../../features/customers/records/store.ts';
import { asOutgoing, readTransaction } from '../../features/payments/transactions/index.ts';
import { outgoingStates } from '../../features/payments/transactions/states.ts';
import { Fault } from '../../kernel/fault.ts';
import { systemAccount } from '../../ledger/chart.ts';
import { transfersInStep } from '../committer/ledger-reads.ts';
import type { Ctx } from './context.ts';

const app = testApp();

async function touch(ctx: Ctx, id: string) {
  const row = await ctx.read(customers, id);
  if (!row) throw new Error('no such customer');
  ctx.update(customers, row, { updated_at: ctx.now });
}

async function statusOf(ctx: Ctx, id: string) {
  const row = await readTransaction(ctx, id);
  if (!row) throw new Error('no such transaction');
  return asOutgoing(row).status;
}

describe('operate', () => {
  it('runs again with new reads if a row has changed', async () => {
    const { id } = await createCustomer(app);
    let attempts = 0;
    await app.operate(async (ctx) => {
      await touch(ctx, id);
      if (++attempts < 4) await app.operate((otherContext) => touch(otherContext, id));
    });
    expect(attempts).toBe(4);
  });

  it('stops after the maximum attempts on a contended row and advises a retry', async () => {
    const { id } = await createCustomer(app);
    const run = app.operate(async (ctx) => {
      await touch(ctx, id);
      await app.operate((otherContext) => touch(otherContext, id));
    });
    await expect(run).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterS: 1 });
  });

  it('runs again if another request commits between its reads of two rows', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const body = quoteBody(account.id, target.id, 100_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    let attempts = 0;
    const decision = await app.operate(async (ctx) => {
      attempts++;
      const statusBefore = await statusOf(ctx, quote.transactionId);
      if (attempts === 1) ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
      if (statusBefore !== 'PENDING') return 'too late';
      return outgoingStates.next(await statusOf(ctx, quote.transactionId), 'start');
    });
    expect([attempts, decision]).toEqual([2, 'too late']);
  });

  it('reports a missing transition that persists after new reads', async () => {
    let attempts = 0;
    const run = app.operate(async () => {
      attempts++;
      return outgoingStates.next('PROCESSING', 'start');
    });
    await expect(run).rejects.toThrow('no transition start from PROCESSING');
    expect(attempts).toBe(3);
  });
});

describe('rejection by the ledger', () => {
  const transferOf = (ctx: Ctx, debit: string, amount: bigint) => ({
    transactionId: ctx.id('Transaction'),
    step: 'pay',
    debit,
    credit: systemAccount('sandbox', 'rail_in_transit', 'USD'),
    currency: 'USD',
    amount,
  });

  it('returns INSUFFICIENT_FUNDS unless the transfer defines another fault', async () => {
    const { account } = await createFundedCustomer(app, 5_00);
    const pay = (insufficientFundsFault?: () => Fault) =>
      app.operate(async (ctx) =>
        ctx.transfer({
          ...transferOf(ctx, account.id, 5_01n),
          ...(insufficientFundsFault ? { insufficientFundsFault } : {}),
        }),
      );
    await expect(pay()).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    const limitFault = () =>
      new Fault('DAILY_VOLUME_LIMIT_EXCEEDED', 'The daily limit is exceeded.');
    await expect(pay(limitFault)).rejects.toMatchObject({
      status: 429,
      message: 'The daily limit is exceeded.',
    });
  });

  it('runs again if a concurrent request posted the step, and reports a repeated step', async () => {
    const { account } = await createFundedCustomer(app, 5_00);
    let id: string | undefined;
    let attempts = 0;
    const post = (ctx: Ctx) => {
      id ??= ctx.id('Transaction');
      ctx.transfer({ ...transferOf(ctx, account.id, 1n), transactionId: id });
    };
    const decision = await app.operate(async (ctx) => {
      attempts++;
      if (id && (await transfersInStep(ctx.db, id, 'pay')).length) return 'posted before';
      post(ctx);
      await app.operate(async (otherContext) => post(otherContext));
      return 'posted now';
    });
    expect([attempts, decision]).toEqual([2, 'posted before']);
    const repetition = app.operate(async (ctx) => post(ctx));
    await expect(repetition).rejects.toThrow('the constraint ledger_transfers_pkey is violated');
  });

  it('reports the account that is frozen or must be empty', async () => {
    const { account } = await createFundedCustomer(app, 5_00);
    const freeze = (mustBeEmpty: boolean) =>
      app.operate(async (ctx) => ctx.freeze(account.id, { empty: mustBeEmpty }));
    await expect(freeze(true)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { accountIds: [account.id] },
    });
    await freeze(false);
    const pay = app.operate(async (ctx) => ctx.transfer(transferOf(ctx, account.id, 1n)));
    await expect(pay).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { accountId: account.id },
    });
  });
});

describe('idempotency key', () => {
  it('identifies the same request whether an optional body is empty or absent', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const quote = ok(
      await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
      201,
    );
    const headers = { 'idempotency-key': 'same-for-all' };
    const execute = (body?: object) =>
      app.call('POST', `/quotes/${quote.id}/execute`, body, { headers });
    const firstReply = ok(await execute(), 200);
    expect((await execute({})).body).toEqual(firstReply);
    expect((await execute()).body).toEqual(firstReply);
    const otherResponse = await execute({ scaFactor: 'PASSKEY' });
    expect([otherResponse.status, otherResponse.body.code]).toEqual([409, 'DUPLICATE_PAY_REQUEST']);
  });
});
