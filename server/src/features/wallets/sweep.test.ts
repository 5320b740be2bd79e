// Retention of wallet data: deleted rows and times of deletion, and rows that are never deleted.
import { beforeAll, expect, it } from 'vitest';
import type { TestApp } from '../../../test/kit/app/harness.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import {
  createMarksTable,
  signedTestOperation,
} from '../../../test/kit/wallets/signed-operation.ts';
import {
  attemptLimits,
  attemptsSweep,
  countAttempt,
} from '../../runtime/operation/attempt-limiter.ts';
import { otpTargets, walletAuthorizations, walletRequests } from './store.ts';
import { walletSweep } from './sweep.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const app = testApp();
beforeAll(async () => {
  await createMarksTable(app);
});

/** The two sweeps that run every minute, as one. */
function combineSweeps() {
  const sweeps = [walletSweep(), attemptsSweep()];
  return {
    async run(runtime: TestApp['runtime']) {
      const deletedCounts = await Promise.all(sweeps.map((each) => each.run(runtime)));
      return deletedCounts.reduce((sum, count) => sum + count, 0);
    },
  };
}

const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);

it('the sweep deletes keys of codes at expiry and requests after a day, and keeps signatures', async () => {
  const sweep = combineSweeps();
  const operation = await signedTestOperation(app);
  const headers = await operation.signRequest(await operation.openSession());
  await operation.call({ headers });
  await app.operate(async (ctx) => {
    await countAttempt(ctx, 'old', [{ max: 1, withinMs: 1_000 }]);
    const target = { target: 'sealed', code_id: 'code', customer_id: 'C', platform_id: 'P' };
    const timeAfterMinutes = (minutes: number) => ctx.now + minutes * MINUTE;
    ctx.insert(otpTargets, { ...target, id: 'short', expires_at: timeAfterMinutes(5) });
    ctx.insert(otpTargets, { ...target, id: 'long', expires_at: timeAfterMinutes(50) });
  });
  const readRemaining = async () => [
    (await app.runtime.db.find(walletRequests, {})).length,
    (await app.runtime.db.find(attemptLimits, {})).length,
    (await app.runtime.db.find(otpTargets, {})).map(({ id }) => id),
    (await app.runtime.db.find(walletAuthorizations, {})).length,
  ];
  advanceClock(5 * MINUTE);
  expect(await sweep.run(app.runtime)).toBe(0);
  expect(await readRemaining()).toEqual([1, 1, ['short', 'long'], 1]);
  advanceClock(1);
  // The sweep ran less than a minute before.
  expect(await sweep.run(app.runtime)).toBe(0);
  advanceClock(MINUTE);
  expect(await sweep.run(app.runtime)).toBe(1);
  expect(await readRemaining()).toEqual([1, 1, ['long'], 1]);
  advanceClock(DAY - 7 * MINUTE);
  expect(await sweep.run(app.runtime)).toBe(1);
  expect(await readRemaining()).toEqual([1, 1, [], 1]);
  await app.operate((ctx) => countAttempt(ctx, 'new', [{ max: 1, withinMs: 1_000 }]));
  advanceClock(MINUTE);
  expect(await sweep.run(app.runtime)).toBe(2);
  expect(await readRemaining()).toEqual([0, 1, [], 1]);
  expect(await app.runtime.db.read(attemptLimits, 'new')).toBeDefined();
});

it('the server runs the sweep', async () => {
  await app.operate((ctx) => countAttempt(ctx, 'expired', [{ max: 1, withinMs: 1_000 }]));
  advanceClock(DAY + MINUTE);
  await app.settle();
  expect(await app.runtime.db.read(attemptLimits, 'expired')).toBeUndefined();
});

it('the sweep continues immediately after a full batch', async () => {
  const createdAt = new Date(app.effects.now() - 2 * DAY);
  const sql = `insert into attempt_limits (id, platform_id, at, updated_at, version)
    select 'bulk ' || n, 'P', '[]', $1, 1 from generate_series(1, 5001) n`;
  await app.runtime.db.query(sql, [createdAt]);
  const sweep = combineSweeps();
  expect([await sweep.run(app.runtime), await sweep.run(app.runtime)]).toEqual([5_000, 1]);
  expect(await sweep.run(app.runtime)).toBe(0);
});

it('the sweep finds expired attempt limits by an index', async () => {
  const explainPlan = async (table: string, time: string) => {
    const text = `explain select id from ${table} where ${time} < now() order by ${time} limit 10`;
    const plan = await app.runtime.db.query(text, []);
    return JSON.stringify(plan);
  };
  const sql = `insert into attempt_limits (id, platform_id, at, updated_at, version)
    select 'plan ' || n, 'P', '[]', '2026-01-01'::timestamptz + n * interval '1 minute', 1
      from generate_series(1, 20000) n`;
  await app.runtime.db.query(sql, []);
  await app.runtime.db.query('analyze attempt_limits', []);
  expect(await explainPlan('attempt_limits', 'updated_at')).toContain('attempt_limits_age');
});

it('signatures cannot be changed or deleted, even in SQL', async () => {
  expect(walletAuthorizations.mutableNames).toEqual([]);
  expect(walletAuthorizations.versioned).toBe(false);
  for (const sql of [
    "update wallet_authorizations set stamp = ''",
    'delete from wallet_authorizations',
  ]) {
    await expect(app.runtime.db.query(sql, [])).rejects.toThrow('rows are never changed');
  }
});
