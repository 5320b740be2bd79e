// What follows a mint or burn when things go wrong between us and its provider: jobs that run
// twice, a provider that does not answer, one that knows the platform no more, one that says things
// in an odd order. The provider here is the sandbox's with a voice of its own, asked by a worker
// beside the server's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { customer, externalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { BURNT, mintFixture, UNDER_WAY, UNTOUCHED } from '../../../../test/kit/payments/mints.ts';
import {
  FINAL,
  failed,
  type Said,
  says,
  workerSaying as speaking,
  type Voice,
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
  wallet = await fixture.wallet();
  bank = await fixture.bank();
});
afterAll(async () => {
  expect(await fixture.problems()).toEqual([]);
});

const workerSaying = (...answers: readonly Voice[]) => speaking(app, ...answers);
const unlinked = (as: 'INVALID' | 'REVOKED'): Said => ({ state: 'unlinked', as });
const DOWN = new Error('no response');

const burnOrdered = () => fixture.burnOrdered(bank.id);

const transfersOf = async (id: string) => {
  const text = 'select phase from ledger_transfers where transaction_id = $1 order by step';
  return (await app.runtime.db.query(text, [id])).map(({ phase }) => phase);
};

describe('a job that runs again', () => {
  it('has one effect, however often and at once', async () => {
    const { coin, id } = await burnOrdered();
    const more = async (job: typeof SUBMIT) =>
      app.operate(async (ctx) => {
        for (let i = 0; i < 5; i++) ctx.later(job, { operationId: id });
      });
    await more(SUBMIT);
    await app.settle();
    expect((await fixture.look(id)).status).toBe('PENDING_FUNDING');
    await more(SUBMIT);
    await more(CHECK);
    await app.advance(5_000);
    await more(CHECK);
    await more(SUBMIT);
    await app.advance(60_000);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    expect(await transfersOf(id)).toEqual(['pending', 'post']);
    expect(await fixture.supply(coin.id)).toEqual(BURNT);
    expect(
      await app.runtime.db.query("select 1 from jobs where kind like 'stablecoins.%'"),
    ).toEqual([]);
  });

  it('has one effect in two processes', async () => {
    const { coin, id } = await burnOrdered();
    const workers = [workerSaying(says('completed')), workerSaying(says('completed'))];
    await app.operate(async (ctx) => {
      for (let i = 0; i < 20; i++) ctx.later(i % 2 ? SUBMIT : CHECK, { operationId: id });
    });
    while ((await Promise.all(workers.map((each) => each.runDue()))).some((done) => done > 0));
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    expect(await transfersOf(id)).toEqual(['pending', 'post']);
    expect(await fixture.supply(coin.id)).toEqual(BURNT);
  });

  it('hands over the same order after an answer that was lost', async () => {
    const { coin, id } = await burnOrdered();
    const { asked, after } = workerSaying(DOWN, DOWN, says('submitted'), says('completed'));
    await after(0);
    expect(await fixture.look(id)).toMatchObject({ status: 'CREATED' });
    await after(HOUR);
    expect(asked.map(({ what }) => what)).toEqual(['submit', 'submit', 'submit', 'check']);
    expect(new Set(asked.map((each) => each.id))).toEqual(new Set([id]));
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    expect(await fixture.supply(coin.id)).toEqual(BURNT);
  });
});

it('does not hand over what another run has ended while it stood still', async () => {
  const { coin, id } = await burnOrdered();
  const { runtime } = app;
  let ended = 0;
  // The first run has read its rows when the second begins, and goes on when that is over.
  const read: typeof runtime.db.read = async (table, rowId) => {
    const row = await runtime.db.read(table, rowId);
    if ((table as object) === providerAccounts && !ended++) {
      await workerSaying(unlinked('REVOKED')).after(0);
    }
    return row;
  };
  const submit = () => Promise.reject(new Error('was handed over'));
  const parts = { connectors: () => ({ mint: { submit } }) as never };
  const handler = operationJobs(parts).find(({ kind }) => kind === SUBMIT.kind);
  const job = { id: 'stalled', kind: SUBMIT.kind, input: { operationId: id }, attempts: 1 };
  const stalled = { ...runtime, db: { ...runtime.db, read } };
  const result = await handler?.run(stalled, job as never);
  expect(ended).toBeGreaterThan(0);
  expect(result).toBeDefined();
  expect(await fixture.look(id)).toMatchObject({
    status: 'FAILED',
    failureReason: 'PROVIDER_ACCOUNT_REVOKED',
  });
  expect(await fixture.supply(coin.id)).toEqual(UNTOUCHED);
});

describe('a provider that does not answer', () => {
  it('ends nothing, and is asked until it does', async () => {
    const { coin, id } = await burnOrdered();
    const silent = Array.from({ length: 15 }, () => DOWN);
    const { after, asked } = workerSaying(says('funding'), ...silent, says('completed'));
    await after(12 * HOUR);
    expect(asked.length).toBeGreaterThan(10);
    await after(12 * HOUR);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    expect(await fixture.supply(coin.id)).toEqual(BURNT);
  });

  it('keeps an operation whose time is over until it says what became of it', async () => {
    const { coin, id } = await burnOrdered();
    const silent = Array.from({ length: 20 }, () => DOWN);
    const slow = says('funding', { checkAfterMs: 8 * 24 * HOUR });
    const { after } = workerSaying(slow, ...silent, says('completed'));
    await after(7 * 24 * HOUR);
    expect((await fixture.look(id)).status).toBe('PENDING_FUNDING');
    expect(await fixture.supply(coin.id)).toEqual(UNDER_WAY);
    await after(20 * HOUR);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
  });

  it('that still waits to be paid when the time is over waits no more', async () => {
    const { coin, id } = await burnOrdered();
    const { after } = workerSaying(says('funding', { checkAfterMs: 30 * 24 * HOUR }));
    await after(7 * 24 * HOUR);
    expect((await fixture.look(id)).status).toBe('EXPIRED');
    expect(await transfersOf(id)).toEqual(['pending', 'void']);
    expect(await fixture.supply(coin.id)).toEqual(UNTOUCHED);
    await workerSaying(FINAL).after(HOUR);
  });
});

describe('a provider that knows the platform no more', () => {
  it.each(['INVALID', 'REVOKED'] as const)('%s: fails what was never handed over', async (as) => {
    const { coin, id } = await burnOrdered();
    const { after, asked } = workerSaying(unlinked(as));
    await after(HOUR);
    expect(asked).toHaveLength(1);
    const failureReason = `PROVIDER_ACCOUNT_${as}`;
    expect(await fixture.look(id)).toMatchObject({ status: 'FAILED', failureReason });
    expect(await fixture.supply(coin.id)).toEqual(UNTOUCHED);
    const path = `/stablecoin-provider-accounts/${coin.stablecoinProviderAccountId}`;
    expect(ok(await fixture.read(path), 200).status).toBe(as);
  });

  it('fails what waits to be handed over when another use finds it out', async () => {
    const { coin, id } = await burnOrdered();
    await fixture.replaceSecret(coin.stablecoinProviderAccountId, 'secret-004');
    expect((await fixture.burn(coin.id, fixture.burnBody(bank.id))).body.code).toBe(
      'STABLECOIN_PROVIDER_ACCOUNT_REVOKED',
    );
    await app.settle();
    const failureReason = 'PROVIDER_ACCOUNT_REVOKED';
    expect(await fixture.look(id)).toMatchObject({ status: 'FAILED', failureReason });
    expect(await fixture.supply(coin.id)).toEqual(UNTOUCHED);
  });

  it.each([
    ['may have been handed over', 'CREATED', [DOWN, unlinked('INVALID')]],
    ['is under way', 'PROCESSING', [says('processing'), unlinked('REVOKED')]],
  ] as const)('keeps what %s until it is linked again', async (_, status, answers) => {
    const client = { apiClientId: `relinked-${status}`, apiClientSecret: 'secret-000' };
    const { id: stablecoinProviderAccountId } = ok(await fixture.link(client), 201);
    const coin = ok(await fixture.register('000', { stablecoinProviderAccountId }), 201);
    ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id, { amount: '20000000' })), 201);
    await app.advance(5_000);
    const { id } = ok(await fixture.burn(coin.id, fixture.burnBody(bank.id)), 201);
    const { after, asked } = workerSaying(...answers, says('completed'));
    await after(24 * HOUR);
    expect(asked).toHaveLength(2);
    expect(await fixture.look(id)).toMatchObject({ status });
    expect(await fixture.supply(coin.id)).toEqual(UNDER_WAY);
    expect(ok(await fixture.link(client), 201).id).toBe(stablecoinProviderAccountId);
    await after(HOUR);
    expect(asked).toHaveLength(3);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    expect(await fixture.supply(coin.id)).toEqual(BURNT);
  });
});

it('is handed over again when its platform was linked anew while the provider answered', async () => {
  const client = { apiClientId: 'twice-linked', apiClientSecret: 'secret-000' };
  const { id: stablecoinProviderAccountId } = ok(await fixture.link(client), 201);
  const coin = ok(await fixture.register('000', { stablecoinProviderAccountId }), 201);
  const { id } = ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id)), 201);
  const relink = async () => {
    await app.operate(async (ctx) => {
      const account = await ctx.read(providerAccounts, stablecoinProviderAccountId);
      if (account) ctx.update(providerAccounts, account, { status: 'INVALID' });
    });
    ok(await fixture.link(client), 201);
    return unlinked('INVALID');
  };
  const { after, asked } = workerSaying(relink, says('completed'));
  await after(0);
  expect(asked.map(({ what }) => what)).toEqual(['submit', 'submit']);
  expect((await fixture.look(id)).status).toBe('COMPLETED');
  const path = `/stablecoin-provider-accounts/${stablecoinProviderAccountId}`;
  expect(ok(await fixture.read(path), 200).status).toBe('ACTIVE');
});

describe('what a provider says', () => {
  const completed = says('completed');
  it.each([
    ['completed at once', [completed], 'COMPLETED', undefined],
    ['failed at once', [failed], 'FAILED', 'R01'],
    ['expired at once', [FINAL], 'EXPIRED', undefined],
    ['a step left out', [says('submitted'), completed], 'COMPLETED', undefined],
    ['a step back', [says('processing'), says('funding'), completed], 'COMPLETED', undefined],
    [
      'expired, although paid',
      [says('processing'), says('expired')],
      'FAILED',
      'PROVIDER_CANCELLED',
    ],
    ['failed while it waits to be paid', [says('funding'), failed], 'FAILED', 'R01'],
    ['nothing about when to ask', [says('funding'), says('processing'), failed], 'FAILED', 'R01'],
  ] as const)('%s', async (_, answers, status, failureReason) => {
    const { coin, id } = await burnOrdered();
    const { after, asked } = workerSaying(...answers);
    await after(HOUR);
    const seen = await fixture.look(id);
    expect([seen.status, seen.failureReason]).toEqual([status, failureReason]);
    expect(asked).toHaveLength(answers.length);
    expect(await fixture.supply(coin.id)).toEqual(status === 'COMPLETED' ? BURNT : UNTOUCHED);
  });

  it('is shown in its words, and a step back changes these alone', async () => {
    const { id } = await burnOrdered();
    const odd = { ...says('funding'), providerStatus: 'under review' };
    const { after } = workerSaying(says('processing'), odd);
    await after(90_000);
    const shown = { status: 'PROCESSING', providerStatus: 'under review' };
    expect(await fixture.look(id)).toMatchObject(shown);
    await workerSaying(completed).after(HOUR);
  });

  it('about a time between two milliseconds is rounded up', async () => {
    const { id } = await burnOrdered();
    const { after } = workerSaying(says('processing', { checkAfterMs: 1_500.5 }), completed);
    await after(1_500);
    expect((await fixture.look(id)).status).toBe('PROCESSING');
    await after(1);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
  });

  it('before the time to pay was over does not end it, however late it comes', async () => {
    const { coin, id } = await burnOrdered();
    const slow = async () => {
      app.effects.set(app.effects.now() + 8 * 24 * HOUR);
      return says('funding');
    };
    const { after } = workerSaying(says('funding'), slow, says('submitted'), completed);
    await after(60_000);
    expect((await fixture.look(id)).status).toBe('PENDING_FUNDING');
    await after(HOUR);
    expect(await transfersOf(id)).toEqual(['pending', 'post']);
    expect(await fixture.supply(coin.id)).toEqual(BURNT);
  });

  it('about a time too soon to ask again is not taken at its word', async () => {
    const { id } = await burnOrdered();
    const { after, asked } = workerSaying(says('processing', { checkAfterMs: 0 }));
    await after(10_000);
    expect(asked.length).toBeLessThanOrEqual(11);
    await workerSaying(completed).after(HOUR);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
  });
});

it('is the same order after the customer at its end was erased', async () => {
  const coin = await fixture.circulating(20);
  const { id: customerId } = await customer(app);
  const own = await externalAccount(app, customerId, 'USD', '003');
  const { id } = ok(await fixture.burn(coin.id, fixture.burnBody(own.id)), 201);
  const orderNow = async () => {
    const row = await app.runtime.db.read(mintsAndBurns, id);
    return orderOfRow(app.runtime.db, row as NonNullable<typeof row>, coin.id);
  };
  const before = await orderNow();
  expect(before.to).toEqual({ id: own.id, rail: 'WIRE', reference: expect.any(String) });
  const gone = "update external_accounts set info = '{}', version = version + 1 where id = $1";
  await app.runtime.db.query(gone, [own.id]);
  expect(await orderNow()).toEqual(before);
  await app.advance(5_000);
  const failureReason = 'PROVIDER_TRANSFER_FAILED';
  expect(await fixture.look(id)).toMatchObject({ status: 'FAILED', failureReason });
});

it('goes on when an account at its end is deleted meanwhile', async () => {
  const coin = await fixture.coin();
  const own = await fixture.wallet('platform');
  const made = ok(await fixture.mint(coin.id, fixture.mintBody(own.id)), 201);
  expect((await app.call('DELETE', `/platform/external-accounts/${own.id}`)).status).toBe(204);
  await app.advance(5_000);
  expect((await fixture.look(made.id)).status).toBe('COMPLETED');
});
