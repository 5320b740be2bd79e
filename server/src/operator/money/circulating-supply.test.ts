// Mints and burns as shown to the operator, and the verification of the circulating supply. The
// export of a customer contains the burns for the customer.
import { beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, createExternalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { DOLLAR, mintFixture } from '../../../test/kit/payments/mints.ts';
import { progressReply, workerWithReplies } from '../../../test/kit/payments/scripted-issuer.ts';
import { applyProgress } from '../../features/stablecoins/minting/progress.ts';
import { mintsAndBurns } from '../../features/stablecoins/store.ts';

const app = testApp();
let fixture: ReturnType<typeof mintFixture>;
let coin: { id: string; symbol: string };
let bankAccount: { id: string };
let createdBurnId: string;

const run = (...argv: string[]) => commandRunner(app)(argv);

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

const runSql = (text: string, values: unknown[] = []) => app.runtime.db.query(text, values);

beforeAll(async () => {
  fixture = mintFixture(app);
  coin = await fixture.createCirculatingCoin(100);
  const { id } = await createCustomer(app);
  bankAccount = await createExternalAccount(app, id, 'USD');
  await app.advance(1_000);
  const body = fixture.burnBody(bankAccount.id, { amount: '1230000' });
  createdBurnId = ok(await fixture.burn(coin.id, body), 201).id;
});

describe('stablecoins operations', () => {
  it('filters by coin, platform and status, newest first', async () => {
    const allOperations = await runJson('stablecoins', 'operations', coin.id);
    expect(allOperations).toMatchObject([
      {
        operationId: createdBurnId,
        platformId: app.platform.id,
        stablecoinId: coin.id,
        type: 'BURN',
        status: 'CREATED',
        amount: '1230000',
        readable: `1.230000 ${coin.symbol}`,
        source: 'EXTERNAL_ACCOUNT',
        rail: 'WIRE',
        submittedAt: null,
      },
      { type: 'MINT', status: 'COMPLETED', providerStatus: 'complete', rail: null },
    ]);
    const listIds = async (...flags: string[]) =>
      (await runJson('stablecoins', 'operations', ...flags)).map(
        (each: { operationId: string }) => each.operationId,
      );
    expect(await listIds('--status', 'CREATED')).toEqual([createdBurnId]);
    expect(await listIds('--platform', app.platform.id, '--limit', '1')).toEqual([createdBurnId]);
    expect(await listIds('--platform', app.other.id)).toEqual([]);
    expect(await listIds('--after', createdBurnId)).toEqual([allOperations[1].operationId]);
    const { out } = await run('stablecoins', 'operations');
    expect(out).toMatch(/^CREATED +OPERATION +TYPE +AMOUNT +STATUS +PROVIDER STATUS +REASON\n/);
    expect(out).toContain(`1.230000 ${coin.symbol}`);
  });

  it('rejects unknown filters', async () => {
    expect(await run('stablecoins', 'operations', '--status', 'ODD')).toMatchObject({ code: 2 });
    expect(await run('stablecoins', 'operations', '--after', coin.id)).toMatchObject({
      code: 1,
      err: 'Mint or burn not found.\n',
    });
  });
});

describe('ledger verify', () => {
  it('has no totals of stablecoin units', async () => {
    const { currencies } = await runJson('ledger', 'verify');
    const units = currencies.map((each: { currency: string }) => each.currency);
    expect(units.filter((unit: string) => unit.startsWith('stablecoin.'))).toEqual([]);
    expect((await run('ledger', 'verify')).out).not.toContain('stablecoin.');
  });

  it('computes the circulating supply from mints and burns', async () => {
    expect(await runJson('ledger', 'verify')).toMatchObject({ balanced: true, problems: [] });
    await runSql("update stablecoin_operations set status = 'FAILED' where id = $1", [
      createdBurnId,
    ]);
    const { code, out } = await run('ledger', 'verify');
    expect(code).toBe(1);
    expect(out).toContain(
      `${coin.id}: 1230000 is held for burns, but its mints and burns require 0`,
    );
    await runSql("update stablecoin_operations set status = 'CREATED' where id = $1", [
      createdBurnId,
    ]);
    await runSql("update stablecoin_operations set amount = amount + 1 where type = 'MINT'");
    const problems = (await run('ledger', 'verify')).out;
    expect(problems).toContain(`${coin.id}: ${100n * DOLLAR} circulates`);
    expect(problems).toContain(`its mints and burns require ${100n * DOLLAR + 1n}`);
    await runSql("update stablecoin_operations set amount = amount - 1 where type = 'MINT'");
    expect((await run('ledger', 'verify')).code).toBe(0);
  });
});

describe('customers export', () => {
  it('contains burns for the customer, and an erasure does not interrupt them', async () => {
    const { id } = await createCustomer(app);
    // The suffix of the account number determines the outcome. The provider received the account
    // when it was linked.
    const ownExternalAccount = await createExternalAccount(app, id, 'USD', '003');
    const createdBurn = ok(
      await fixture.burn(coin.id, fixture.burnBody(ownExternalAccount.id)),
      201,
    );
    const exportedData = await runJson('customers', 'export', id);
    expect(exportedData.stablecoin_operations).toMatchObject([
      { id: createdBurn.id, type: 'BURN' },
    ]);
    expect(exportedData.stablecoin_links).toMatchObject([{ account_id: ownExternalAccount.id }]);
    expect((await app.call('DELETE', `/customers/${id}`)).status).toBe(200);
    expect((await run('customers', 'erase', id, '--yes')).code).toBe(0);
    await app.advance(5_000);
    expect((await fixture.readOperation(createdBurn.id)).status).toBe('FAILED');
  });
});

describe('stablecoins end', () => {
  const end = (id: string, outcome: string) =>
    run('stablecoins', 'end', id, '--as', outcome, '--reason', 'Confirmed by the provider');

  /** A burn of a separate coin, whose state is set without side effects. */
  async function createBurn(status: string) {
    const coin = await fixture.createCirculatingCoin(20);
    const { id } = ok(await fixture.burn(coin.id, fixture.burnBody(bankAccount.id)), 201);
    await runSql("delete from jobs where input ->> 'operationId' = $1", [id]);
    if (status === 'CREATED') return { id, coinId: coin.id };
    await app.operate(async (ctx) => {
      const row = await ctx.read(mintsAndBurns, id);
      if (!row) return;
      const submittedRow = ctx.update(mintsAndBurns, row, { submitted_at: ctx.now });
      if (status === 'EXPIRED') {
        const response = { state: 'expired', providerStatus: 'expired', final: true } as const;
        await applyProgress(ctx, submittedRow, response, ctx.now);
      } else if (status === 'PROCESSING') ctx.update(mintsAndBurns, submittedRow, { status });
    });
    return { id, coinId: coin.id };
  }

  it.each([
    ['PROCESSING', 'completed', 'COMPLETED', 10n],
    ['PROCESSING', 'failed', 'FAILED', 20n],
    ['EXPIRED', 'completed', 'COMPLETED', 10n],
    ['CREATED', 'failed', 'FAILED', 20n],
  ] as const)(
    'resolves an operation with the status %s as %s',
    async (status, outcome, finalStatus, dollars) => {
      const { id, coinId } = await createBurn(status);
      expect(await end(id, outcome)).toEqual({
        code: 0,
        out: `${id} is ${finalStatus}.\n`,
        err: '',
      });
      const reply = await fixture.readOperation(id);
      expect(reply.status).toBe(finalStatus);
      expect(reply.failureReason).toBe(outcome === 'failed' ? 'ENDED_BY_SERVICE' : undefined);
      const supply = { circulating: dollars * DOLLAR, burning: 0n, minting: 0n };
      expect(await fixture.readSupply(coinId)).toEqual(supply);
      expect(await fixture.findSupplyProblems()).toEqual([]);
      const action = outcome === 'failed' ? 'fail' : 'complete';
      expect(await runJson('stablecoins', 'history', id)).toMatchObject([
        { actor: 'operator', action, reason: 'Confirmed by the provider' },
      ]);
    },
  );

  it('expires a submitted burn that can still be paid, and still requests its status', async () => {
    const { id, coinId } = await createBurn('SUBMITTED');
    expect((await end(id, 'failed')).out).toBe(`${id} is EXPIRED.\n`);
    expect((await fixture.readSupply(coinId)).burning).toBe(0n);
    const entry = { actor: 'operator', action: 'expire', reason: 'Confirmed by the provider' };
    expect(await runJson('stablecoins', 'history', id)).toMatchObject([entry]);
    const { calls, runFor } = workerWithReplies(
      app,
      progressReply('expired'),
      progressReply('completed'),
    );
    await runFor(2 * 3_600_000);
    expect(calls.map(({ type }) => type)).toEqual(['check', 'check']);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    expect(await fixture.readSupply(coinId)).toMatchObject({
      circulating: 10n * DOLLAR,
      burning: 0n,
    });
    expect(await fixture.findSupplyProblems()).toEqual([]);
  });

  it.each([
    ['EXPIRED', 'failed', 'The mint or burn is EXPIRED and cannot be recorded as failed.'],
    [
      'CREATED',
      'completed',
      'The mint or burn was not submitted to the provider. It can only be recorded as failed.',
    ],
  ] as const)('rejects an impossible result: %s as %s', async (status, outcome, reason) => {
    const { id, coinId } = await createBurn(status);
    expect(await end(id, outcome)).toMatchObject({ code: 1, err: `${reason}\n` });
    expect((await fixture.readOperation(id)).status).toBe(status);
    expect(await fixture.findSupplyProblems()).toEqual([]);
    expect(await runJson('stablecoins', 'history', id)).toEqual([]);
    expect((await fixture.readSupply(coinId)).circulating).toBe(20n * DOLLAR);
  });

  it('rejects a second result, and a result without a reason', async () => {
    const { id } = await createBurn('PROCESSING');
    expect(await run('stablecoins', 'end', id, '--as', 'failed')).toMatchObject({ code: 2 });
    expect(await end(id, 'odd')).toMatchObject({ code: 2 });
    expect((await end(id, 'completed')).code).toBe(0);
    expect((await end(id, 'failed')).err).toBe(
      'The mint or burn is COMPLETED and cannot be recorded as failed.\n',
    );
    expect(await end(coin.id, 'failed')).toMatchObject({
      code: 1,
      err: 'Mint or burn not found.\n',
    });
  });
});
