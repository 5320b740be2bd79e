// Jobs of a mint or burn under failures. A job runs repeatedly, or the provider does not respond, rejects the
// account, or responds out of order. The provider is the sandbox with scripted replies, called by a second
// worker.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, createExternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  AFTER_BURN,
  BEFORE_BURN,
  mintFixture,
  PENDING,
} from '../../../../test/kit/payments/mints.ts';
import {
  FINAL_EXPIRY,
  failedOrder,
  type ProviderReply,
  progressReply,
  type ScriptedReply,
  workerWithReplies as workerOn,
} from '../../../../test/kit/payments/scripted-issuer.ts';
import { mintsAndBurns, providerAccounts } from '../store.ts';
import { operationJobs, SUBMIT } from './operation-jobs.ts';
import { orderOfRow } from './order.ts';
import { CHECK } from './progress.ts';

const HOUR = 3_600_000;

const app = testApp();
let fixture: ReturnType<typeof mintFixture>;
let wallet: { id: string };
let bank: { id: string };

beforeAll(async () => {
  fixture = mintFixture(app);
  wallet = await fixture.createWallet();
  bank = await fixture.createBankAccount();
});
afterAll(async () => {
  expect(await fixture.findSupplyProblems()).toEqual([]);
});

const createWorker = (...responses: readonly ScriptedReply[]) => workerOn(app, ...responses);
const unlinkedReply = (status: 'INVALID' | 'REVOKED'): ProviderReply => ({
  state: 'unlinked',
  reason: status,
});
const NO_RESPONSE = new Error('no response');

const createBurn = () => fixture.orderBurn(bank.id);

const transfersOf = async (id: string) => {
  const text = 'select phase from ledger_transfers where transaction_id = $1 order by step';
  return (await app.runtime.db.query(text, [id])).map(({ phase }) => phase);
};

describe('a repeated job', () => {
  it('has one effect, even if it runs repeatedly and concurrently', async () => {
    const { coin, id } = await createBurn();
    const scheduleRepeatedly = async (job: typeof SUBMIT) =>
      app.operate(async (ctx) => {
        for (let i = 0; i < 5; i++) ctx.later(job, { operationId: id });
      });
    await scheduleRepeatedly(SUBMIT);
    await app.settle();
    expect((await fixture.readOperation(id)).status).toBe('PENDING_FUNDING');
    await scheduleRepeatedly(SUBMIT);
    await scheduleRepeatedly(CHECK);
    await app.advance(5_000);
    await scheduleRepeatedly(CHECK);
    await scheduleRepeatedly(SUBMIT);
    await app.advance(60_000);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    expect(await transfersOf(id)).toEqual(['pending', 'post']);
    expect(await fixture.readSupply(coin.id)).toEqual(AFTER_BURN);
    expect(
      await app.runtime.db.query("select 1 from jobs where kind like 'stablecoins.%'"),
    ).toEqual([]);
  });

  it('has one effect in two processes', async () => {
    const { coin, id } = await createBurn();
    const workers = [
      createWorker(progressReply('completed')),
      createWorker(progressReply('completed')),
    ];
    await app.operate(async (ctx) => {
      for (let i = 0; i < 20; i++) ctx.later(i % 2 ? SUBMIT : CHECK, { operationId: id });
    });
    while ((await Promise.all(workers.map((each) => each.runDue()))).some((count) => count > 0));
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    expect(await transfersOf(id)).toEqual(['pending', 'post']);
    expect(await fixture.readSupply(coin.id)).toEqual(AFTER_BURN);
  });

  it('submits the same order again if the provider does not respond', async () => {
    const { coin, id } = await createBurn();
    const { calls, runFor } = createWorker(
      NO_RESPONSE,
      NO_RESPONSE,
      progressReply('submitted'),
      progressReply('completed'),
    );
    await runFor(0);
    expect(await fixture.readOperation(id)).toMatchObject({ status: 'CREATED' });
    await runFor(HOUR);
    expect(calls.map(({ type }) => type)).toEqual(['submit', 'submit', 'submit', 'check']);
    expect(new Set(calls.map((each) => each.id))).toEqual(new Set([id]));
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    expect(await fixture.readSupply(coin.id)).toEqual(AFTER_BURN);
  });
});

it('a job submits no operation that a concurrent run has made final', async () => {
  const { coin, id } = await createBurn();
  const { runtime } = app;
  let accountReads = 0;
  // The first run reads its rows before the second begins, and continues after the second has finished.
  const read: typeof runtime.db.read = async (table, rowId) => {
    const row = await runtime.db.read(table, rowId);
    if ((table as object) === providerAccounts && !accountReads++) {
      await createWorker(unlinkedReply('REVOKED')).runFor(0);
    }
    return row;
  };
  const submit = () => Promise.reject(new Error('the job submitted a final operation'));
  const deps = { connectors: () => ({ mint: { submit } }) as never };
  const handler = operationJobs(deps).find(({ kind }) => kind === SUBMIT.kind);
  const job = { id: 'stalled', kind: SUBMIT.kind, input: { operationId: id }, attempts: 1 };
  const stalledRuntime = { ...runtime, db: { ...runtime.db, read } };
  const result = await handler?.run(stalledRuntime, job as never);
  expect(accountReads).toBeGreaterThan(0);
  expect(result).toBeDefined();
  expect(await fixture.readOperation(id)).toMatchObject({
    status: 'FAILED',
    failureReason: 'PROVIDER_ACCOUNT_REVOKED',
  });
  expect(await fixture.readSupply(coin.id)).toEqual(BEFORE_BURN);
});

describe('a provider that reports no result', () => {
  it('is polled until it reports the result', async () => {
    const { coin, id } = await createBurn();
    const unansweredPolls = Array.from({ length: 15 }, () => NO_RESPONSE);
    const { runFor, calls } = createWorker(
      progressReply('funding'),
      ...unansweredPolls,
      progressReply('completed'),
    );
    await runFor(12 * HOUR);
    expect(calls.length).toBeGreaterThan(10);
    await runFor(12 * HOUR);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    expect(await fixture.readSupply(coin.id)).toEqual(AFTER_BURN);
  });

  it('keeps an operation beyond its deadline until it reports the result', async () => {
    const { coin, id } = await createBurn();
    const unansweredPolls = Array.from({ length: 20 }, () => NO_RESPONSE);
    const fundingReply = progressReply('funding', { checkAfterMs: 8 * 24 * HOUR });
    const { runFor } = createWorker(fundingReply, ...unansweredPolls, progressReply('completed'));
    await runFor(7 * 24 * HOUR);
    expect((await fixture.readOperation(id)).status).toBe('PENDING_FUNDING');
    expect(await fixture.readSupply(coin.id)).toEqual(PENDING);
    await runFor(20 * HOUR);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
  });

  it('expires an operation that is unpaid at its deadline', async () => {
    const { coin, id } = await createBurn();
    const { runFor } = createWorker(progressReply('funding', { checkAfterMs: 30 * 24 * HOUR }));
    await runFor(7 * 24 * HOUR);
    expect((await fixture.readOperation(id)).status).toBe('EXPIRED');
    expect(await transfersOf(id)).toEqual(['pending', 'void']);
    expect(await fixture.readSupply(coin.id)).toEqual(BEFORE_BURN);
    await createWorker(FINAL_EXPIRY).runFor(HOUR);
  });
});

describe('a provider that no longer accepts the account', () => {
  it.each(['INVALID', 'REVOKED'] as const)(
    'with the status %s fails an operation that was never submitted',
    async (accountStatus) => {
      const { coin, id } = await createBurn();
      const { runFor, calls } = createWorker(unlinkedReply(accountStatus));
      await runFor(HOUR);
      expect(calls).toHaveLength(1);
      const failureReason = `PROVIDER_ACCOUNT_${accountStatus}`;
      expect(await fixture.readOperation(id)).toMatchObject({ status: 'FAILED', failureReason });
      expect(await fixture.readSupply(coin.id)).toEqual(BEFORE_BURN);
      const path = `/stablecoin-provider-accounts/${coin.stablecoinProviderAccountId}`;
      expect(ok(await fixture.read(path), 200).status).toBe(accountStatus);
    },
  );

  it('fails an operation that is not submitted yet when another request detects the rejection', async () => {
    const { coin, id } = await createBurn();
    await fixture.replaceSecret(coin.stablecoinProviderAccountId, 'secret-004');
    expect((await fixture.burn(coin.id, fixture.burnBody(bank.id))).body.code).toBe(
      'STABLECOIN_PROVIDER_ACCOUNT_REVOKED',
    );
    await app.settle();
    const failureReason = 'PROVIDER_ACCOUNT_REVOKED';
    expect(await fixture.readOperation(id)).toMatchObject({ status: 'FAILED', failureReason });
    expect(await fixture.readSupply(coin.id)).toEqual(BEFORE_BURN);
  });

  it.each([
    ['may have been submitted', 'CREATED', [NO_RESPONSE, unlinkedReply('INVALID')]],
    ['is being processed', 'PROCESSING', [progressReply('processing'), unlinkedReply('REVOKED')]],
  ] as const)(
    'keeps an operation that %s until the account is linked again',
    async (_, status, responses) => {
      const client = { apiClientId: `relinked-${status}`, apiClientSecret: 'secret-000' };
      const { id: stablecoinProviderAccountId } = ok(await fixture.linkAccount(client), 201);
      const coin = ok(await fixture.registerCoin('000', { stablecoinProviderAccountId }), 201);
      ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id, { amount: '20000000' })), 201);
      await app.advance(5_000);
      const { id } = ok(await fixture.burn(coin.id, fixture.burnBody(bank.id)), 201);
      const { runFor, calls } = createWorker(...responses, progressReply('completed'));
      await runFor(24 * HOUR);
      expect(calls).toHaveLength(2);
      expect(await fixture.readOperation(id)).toMatchObject({ status });
      expect(await fixture.readSupply(coin.id)).toEqual(PENDING);
      expect(ok(await fixture.linkAccount(client), 201).id).toBe(stablecoinProviderAccountId);
      await runFor(HOUR);
      expect(calls).toHaveLength(3);
      expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
      expect(await fixture.readSupply(coin.id)).toEqual(AFTER_BURN);
    },
  );
});

it('a job submits again if the account was linked again during the call', async () => {
  const client = { apiClientId: 'twice-linked', apiClientSecret: 'secret-000' };
  const { id: stablecoinProviderAccountId } = ok(await fixture.linkAccount(client), 201);
  const coin = ok(await fixture.registerCoin('000', { stablecoinProviderAccountId }), 201);
  const { id } = ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id)), 201);
  const relink = async () => {
    await app.operate(async (ctx) => {
      const account = await ctx.read(providerAccounts, stablecoinProviderAccountId);
      if (account) ctx.update(providerAccounts, account, { status: 'INVALID' });
    });
    ok(await fixture.linkAccount(client), 201);
    return unlinkedReply('INVALID');
  };
  const { runFor, calls } = createWorker(relink, progressReply('completed'));
  await runFor(0);
  expect(calls.map(({ type }) => type)).toEqual(['submit', 'submit']);
  expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
  const path = `/stablecoin-provider-accounts/${stablecoinProviderAccountId}`;
  expect(ok(await fixture.read(path), 200).status).toBe('ACTIVE');
});

describe('provider responses', () => {
  const completedProgress = progressReply('completed');
  it.each([
    ['completed immediately', [completedProgress], 'COMPLETED', undefined],
    ['failed immediately', [failedOrder], 'FAILED', 'R01'],
    ['expired immediately', [FINAL_EXPIRY], 'EXPIRED', undefined],
    ['a skipped step', [progressReply('submitted'), completedProgress], 'COMPLETED', undefined],
    [
      'an earlier state',
      [progressReply('processing'), progressReply('funding'), completedProgress],
      'COMPLETED',
      undefined,
    ],
    [
      'expired, although paid',
      [progressReply('processing'), progressReply('expired')],
      'FAILED',
      'PROVIDER_CANCELLED',
    ],
    ['failed while it awaits payment', [progressReply('funding'), failedOrder], 'FAILED', 'R01'],
    [
      'no time of the next poll',
      [progressReply('funding'), progressReply('processing'), failedOrder],
      'FAILED',
      'R01',
    ],
  ] as const)('determine the result: %s', async (_, responses, status, failureReason) => {
    const { coin, id } = await createBurn();
    const { runFor, calls } = createWorker(...responses);
    await runFor(HOUR);
    const operation = await fixture.readOperation(id);
    expect([operation.status, operation.failureReason]).toEqual([status, failureReason]);
    expect(calls).toHaveLength(responses.length);
    expect(await fixture.readSupply(coin.id)).toEqual(
      status === 'COMPLETED' ? AFTER_BURN : BEFORE_BURN,
    );
  });

  it('are shown as providerStatus, and an earlier state changes only that field', async () => {
    const { id } = await createBurn();
    const earlierStateReply = { ...progressReply('funding'), providerStatus: 'under review' };
    const { runFor } = createWorker(progressReply('processing'), earlierStateReply);
    await runFor(90_000);
    const expectedOperation = { status: 'PROCESSING', providerStatus: 'under review' };
    expect(await fixture.readOperation(id)).toMatchObject(expectedOperation);
    await createWorker(completedProgress).runFor(HOUR);
  });

  it('may have an interval with a fraction of a millisecond, which is rounded up', async () => {
    const { id } = await createBurn();
    const { runFor } = createWorker(
      progressReply('processing', { checkAfterMs: 1_500.5 }),
      completedProgress,
    );
    await runFor(1_500);
    expect((await fixture.readOperation(id)).status).toBe('PROCESSING');
    await runFor(1);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
  });

  it('requested before the deadline do not expire the operation, even if they arrive late', async () => {
    const { coin, id } = await createBurn();
    const delayReply = async () => {
      app.effects.set(app.effects.now() + 8 * 24 * HOUR);
      return progressReply('funding');
    };
    const { runFor } = createWorker(
      progressReply('funding'),
      delayReply,
      progressReply('submitted'),
      completedProgress,
    );
    await runFor(60_000);
    expect((await fixture.readOperation(id)).status).toBe('PENDING_FUNDING');
    await runFor(HOUR);
    expect(await transfersOf(id)).toEqual(['pending', 'post']);
    expect(await fixture.readSupply(coin.id)).toEqual(AFTER_BURN);
  });

  it('cannot shorten the interval below the minimum', async () => {
    const { id } = await createBurn();
    const { runFor, calls } = createWorker(progressReply('processing', { checkAfterMs: 0 }));
    await runFor(10_000);
    expect(calls.length).toBeLessThanOrEqual(11);
    await createWorker(completedProgress).runFor(HOUR);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
  });
});

it('an operation keeps its order after the data of its account was erased', async () => {
  const coin = await fixture.createCirculatingCoin(20);
  const { id: customerId } = await createCustomer(app);
  const ownExternalAccount = await createExternalAccount(app, customerId, 'USD', '003');
  const { id } = ok(await fixture.burn(coin.id, fixture.burnBody(ownExternalAccount.id)), 201);
  const readOrder = async () => {
    const row = await app.runtime.db.read(mintsAndBurns, id);
    return orderOfRow(app.runtime.db, row as NonNullable<typeof row>, coin.id);
  };
  const orderBefore = await readOrder();
  expect(orderBefore.to).toEqual({
    id: ownExternalAccount.id,
    rail: 'WIRE',
    reference: expect.any(String),
  });
  const eraseSql = "update external_accounts set info = '{}', version = version + 1 where id = $1";
  await app.runtime.db.query(eraseSql, [ownExternalAccount.id]);
  expect(await readOrder()).toEqual(orderBefore);
  await app.advance(5_000);
  const failureReason = 'PROVIDER_TRANSFER_FAILED';
  expect(await fixture.readOperation(id)).toMatchObject({ status: 'FAILED', failureReason });
});

it('a job completes an operation whose account is deleted before completion', async () => {
  const coin = await fixture.createCoin();
  const ownWallet = await fixture.createWallet('platform');
  const createdMint = ok(await fixture.mint(coin.id, fixture.mintBody(ownWallet.id)), 201);
  expect((await app.call('DELETE', `/platform/external-accounts/${ownWallet.id}`)).status).toBe(
    204,
  );
  await app.advance(5_000);
  expect((await fixture.readOperation(createdMint.id)).status).toBe('COMPLETED');
});
