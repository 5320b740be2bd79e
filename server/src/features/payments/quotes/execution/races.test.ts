// Concurrent changes between a decision and its commit. Funds are posted at most once, and never for a
// deleted customer. The competing change runs after all reads and before all writes.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { connectorRegistry } from '../../../../connectors/registry.ts';
import { Fault } from '../../../../kernel/fault.ts';
import type { Job, JobHandler, Result } from '../../../../runtime/jobs/jobs.ts';
import { createLog, type Log } from '../../../../runtime/observability/log.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operate } from '../../../../runtime/operation/operate.ts';
import { payoutJobs, readCurrent } from '../../payouts/payout-jobs.ts';
import { asOutgoing } from '../../transactions/rows.ts';
import { expirySweep } from '../expiry.ts';
import { startPayment } from './execute.ts';
import { receiveFunds } from './funding.ts';

const app = testApp();
let quietLog: Log;
beforeAll(async () => {
  quietLog = createLog(app.effects, 'silent', () => {});
});

interface CreatedQuote {
  id: string;
  transactionId: string;
  expiresAt: string;
}

async function createQuote(from: string, to: string, amount = 100_00): Promise<CreatedQuote> {
  return ok(await app.call('POST', '/quotes', quoteBody(from, to, amount)), 201);
}

const execute = (id: string) => app.call('POST', `/quotes/${id}/execute`);
const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);

async function start(ctx: Ctx, id: string) {
  return startPayment(ctx, await readCurrent(ctx, id, asOutgoing));
}

/** Runs `work` and, on its first attempt only, `concurrentWork` between its reads and its commit. */
function runInterrupted(
  work: (ctx: Ctx) => Promise<unknown>,
  concurrentWork: () => Promise<unknown>,
) {
  let attemptCount = 0;
  return app.operate(async (ctx) => {
    const result = await work(ctx);
    if (++attemptCount === 1) await concurrentWork();
    return result;
  });
}

async function createPayout(suffix = '000') {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'EUR', suffix);
  return { person, account, target, quote: await createQuote(account.id, target.id) };
}

async function createQuoteToPayee() {
  const { person, account } = await createFundedCustomer(app);
  const payee = await createCustomer(app);
  const target = await findInternalAccount(app, payee.id, 'EUR');
  return { person, account, payee, target, quote: await createQuote(account.id, target.id) };
}

const deleteCustomer = async (id: string) => ok(await app.call('DELETE', `/customers/${id}`), 200);
/** Bypasses the lifecycle, in which an approval is final. Payments check the current status. */
const setStatus = (id: string, status: string) =>
  app.runtime.db.query('update customers set status = $2, version = version + 1 where id = $1', [
    id,
    status,
  ]);

describe('execution', () => {
  it('rejects a customer that was deleted or rejected since the quote', async () => {
    const deletedPayeePayment = await createQuoteToPayee();
    await deleteCustomer(deletedPayeePayment.payee.id);
    const response = await execute(deletedPayeePayment.quote.id);
    expect([response.status, response.body.code]).toEqual([410, 'CUSTOMER_DELETED']);
    expect((await readBalances(app, deletedPayeePayment.account.id)).total).toBe(1_000_00);
    expect((await readBalances(app, deletedPayeePayment.target.id)).total).toBe(0);

    const rejectedPayout = await createPayout();
    await setStatus(rejectedPayout.person.id, 'REJECTED');
    const secondResponse = await execute(rejectedPayout.quote.id);
    expect([secondResponse.status, secondResponse.body.code]).toEqual([403, 'USER_NOT_READY']);

    const person = await createCustomer(app);
    const emptyAccount = await findInternalAccount(app, person.id, 'USD');
    const target = await createExternalAccount(app, person.id, 'EUR');
    const quote = await createQuote(emptyAccount.id, target.id);
    await deleteCustomer(person.id);
    expect((await execute(quote.id)).body.code).toBe('CUSTOMER_DELETED');
  });

  it('is rejected if the receiver is deleted before its commit', async () => {
    const { account, payee, target, quote } = await createQuoteToPayee();
    const run = runInterrupted(
      (ctx) => start(ctx, quote.transactionId),
      () => deleteCustomer(payee.id),
    );
    await expect(run).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect((await readBalances(app, account.id)).total).toBe(1_000_00);
    expect((await readBalances(app, target.id)).total).toBe(0);
    expect((await getTransaction(quote.transactionId)).status).toBe('PENDING');
  });

  it('is rejected if the payer is rejected before its commit', async () => {
    const { person, account, quote } = await createPayout();
    const run = runInterrupted(
      (ctx) => start(ctx, quote.transactionId),
      () => setStatus(person.id, 'REJECTED'),
    );
    await expect(run).rejects.toMatchObject({ code: 'USER_NOT_READY' });
    expect((await readBalances(app, account.id)).balance).toBe(1_000_00);
  });

  it('is rejected if the receiving account is deleted before its commit', async () => {
    const { account, target, quote } = await createPayout();
    const path = `/customers/external-accounts/${target.id}`;
    const run = runInterrupted(
      (ctx) => start(ctx, quote.transactionId),
      async () => ok(await app.call('DELETE', path), 204),
    );
    await expect(run).rejects.toMatchObject({ code: 'ACCOUNT_NOT_FOUND' });
    expect((await readBalances(app, account.id)).balance).toBe(1_000_00);
  });

  it('posts once if a concurrent execution commits first', async () => {
    const { account, quote } = await createPayout();
    const { status } = await getTransaction(quote.transactionId);
    expect(status).toBe('PENDING');
    let concurrentStatus: number | undefined;
    const run = runInterrupted(
      (ctx) => start(ctx, quote.transactionId),
      async () => {
        concurrentStatus = (await execute(quote.id)).status;
      },
    );
    await expect(run).rejects.toThrow('outgoing payment: no transition start from PROCESSING');
    expect(concurrentStatus).toBe(200);
    expect((await readBalances(app, account.id)).balance).toBe(900_00);
  });

  it('is rejected if the quote expires first', async () => {
    const latePayout = await createPayout();
    const expire = async () => {
      app.effects.set(Date.parse(latePayout.quote.expiresAt));
      await expirySweep(quietLog).run(app.runtime);
    };
    const run = runInterrupted((ctx) => start(ctx, latePayout.quote.transactionId), expire);
    await expect(run).rejects.toThrow('outgoing payment: no transition start from EXPIRED');
    expect(await eventTypes(app, latePayout.quote.transactionId)).toEqual([
      'OUTGOING_PAYMENT.EXPIRED',
    ]);
    expect((await readBalances(app, latePayout.account.id)).balance).toBe(1_000_00);
  });

  it('is not affected by a later expiry of the quote', async () => {
    const executedPayout = await createPayout();
    ok(await execute(executedPayout.quote.id), 200);
    app.effects.set(Date.parse(executedPayout.quote.expiresAt));
    await expirySweep(quietLog).run(app.runtime);
    await app.settle();
    expect((await getTransaction(executedPayout.quote.transactionId)).status).toBe('COMPLETED');
  });

  it('of many quotes never exceeds the balance', async () => {
    const { person, account } = await createFundedCustomer(app, 250_00);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const quotes = await Promise.all(
      Array.from({ length: 12 }, () => createQuote(account.id, target.id)),
    );
    const responses = await Promise.all(quotes.map((quote) => execute(quote.id)));
    expect(responses.filter((each) => each.status === 200)).toHaveLength(2);
    const rejectedResponses = responses.filter((each) => each.body.code === 'INSUFFICIENT_FUNDS');
    expect(rejectedResponses).toHaveLength(10);
    await app.settle();
    expect(await readBalances(app, account.id)).toEqual({ balance: 50_00, total: 50_00 });
  });
});

describe('funding', () => {
  it('is rejected if the customer is deleted before its commit', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    const operation = app.operations.find(
      ({ contract }) => contract.operationId === 'sandboxFundInternalAccount',
    );
    const input = {
      params: { accountId: account.id },
      query: {},
      headers: {},
      body: { amount: 1 },
    };
    const run = runInterrupted(
      (ctx) => operation?.run(ctx, input) as Promise<unknown>,
      () => deleteCustomer(person.id),
    );
    await expect(run).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect((await readBalances(app, account.id)).total).toBe(0);
  });
});

describe('payment jobs', () => {
  let handlers: Map<string, JobHandler>;
  beforeAll(() => {
    handlers = new Map(payoutJobs(connectorRegistry(app.effects)).map((each) => [each.kind, each]));
  });
  const dueJobs = async (id: string) =>
    (await app.runtime.db.query(
      "select * from jobs where input->>'transactionId' = $1 order by due_at",
      [id],
    )) as unknown as Job[];
  const stage = ({ caller, stage: work }: Result) => operate(app.runtime, caller, work);

  it.each(['000', '002', '004', '005', '006', '007'])(
    'are idempotent under repeated, late and concurrent runs: suffix %s',
    async (suffix) => {
      const firstPayout = await createPayout(suffix);
      ok(await execute(firstPayout.quote.id), 200);
      await app.advance(60_000);
      const secondPayout = await createPayout(suffix);
      ok(await execute(secondPayout.quote.id), 200);
      for (let round = 0; round < 5; round++) {
        for (const job of await dueJobs(secondPayout.quote.transactionId)) {
          const handler = handlers.get(job.kind);
          const dueAt = Date.parse(job.due_at as unknown as string) || Number(job.due_at);
          if (dueAt > app.effects.now()) app.effects.set(dueAt);
          const results = await Promise.all([1, 2, 3].map(() => handler?.run(app.runtime, job)));
          // As after an expired lease, all results arrive concurrently and after the end of the job.
          await Promise.all(results.map((result) => result && stage(result)));
          await app.settle();
          for (const result of results) if (result) await stage(result);
        }
      }
      await app.advance(60_000);
      const [firstPayment, secondPayment] = await Promise.all(
        [firstPayout, secondPayout].map(async ({ account, quote }) => {
          const { status, failureReason, refund } = await getTransaction(quote.transactionId);
          return {
            events: await eventTypes(app, quote.transactionId),
            balances: await readBalances(app, account.id),
            outcome: [status, failureReason, refund?.status],
          };
        }),
      );
      expect(secondPayment).toEqual(firstPayment);
    },
  );
});

describe('funds for a quote', () => {
  it('are neither used nor returned while the database does not respond', async () => {
    const person = await createCustomer(app);
    const target = await createExternalAccount(app, person.id, 'USD');
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const body = { ...quoteBody('', target.id, 30_00), source };
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    const { totalSendingAmount: amount } = quote;
    const notice = { quoteId: quote.id, amount: BigInt(amount), currency: 'USD' };
    const unavailable = new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable.');
    const receiveWithout = (table: string) =>
      app.operate((ctx) =>
        receiveFunds(
          {
            ...ctx,
            read: async (...args: Parameters<Ctx['read']>) => {
              if (args[0].name === table) throw unavailable;
              return ctx.read(...args);
            },
          } as Ctx,
          notice,
        ),
      );
    await expect(receiveWithout('customers')).rejects.toBe(unavailable);
    expect((await getTransaction(quote.transactionId)).status).toBe('PENDING');
    await app.operate((ctx) => receiveFunds(ctx, notice));
    expect((await getTransaction(quote.transactionId)).status).toBe('PROCESSING');
  });
});
