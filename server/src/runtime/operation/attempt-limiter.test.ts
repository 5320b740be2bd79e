// Attempt limits of one process and of two concurrent processes.
import { describe, expect, it } from 'vitest';
import { openSecondProcess } from '../../../test/kit/app/second-process.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { attemptLimits, checkAttempts, countAttempt } from './attempt-limiter.ts';
import type { Ctx } from './context.ts';
import { operate } from './operate.ts';

const app = testApp();

const MINUTE_MS = 60_000;
const RULES = [
  { max: 1, withinMs: 30_000 },
  { max: 3, withinMs: 15 * MINUTE_MS },
];

/** Returns 0 if the attempt was accepted, or the seconds to wait. */
async function retryAfterOf(
  work: (ctx: Ctx) => Promise<unknown>,
  runtime = app.runtime,
): Promise<number> {
  try {
    const caller = systemCaller(app.platform.id, app.platform.environment);
    await operate(runtime, caller, work);
    return 0;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'RATE_LIMITED') throw error;
    return error.retryAfterS as number;
  }
}
const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);
const attempt = (id: string) => retryAfterOf((ctx) => countAttempt(ctx, id, RULES));

describe('attempts', () => {
  it('are accepted if every rule allows them, or rejected with the longest wait', async () => {
    expect(await attempt('one')).toBe(0);
    expect(await attempt('one')).toBe(30);
    advanceClock(29_001);
    expect(await attempt('one')).toBe(1);
    advanceClock(999);
    expect(await attempt('one')).toBe(0);
    advanceClock(30_000);
    expect(await attempt('one')).toBe(0);
    advanceClock(30_000);
    expect(await attempt('one')).toBe(15 * 60 - 90);
    advanceClock((15 * 60 - 90) * 1000 - 1);
    expect(await attempt('one')).toBe(1);
    advanceClock(1);
    expect(await attempt('one')).toBe(0);
  });

  it('are counted per key', async () => {
    expect(await attempt('two')).toBe(0);
    expect(await attempt('three')).toBe(0);
    expect(await attempt('two')).toBe(30);
  });

  it('are counted only if accepted, and checks are not counted', async () => {
    const check = () => retryAfterOf((ctx) => checkAttempts(ctx, 'four', RULES));
    expect(await check()).toBe(0);
    expect(await check()).toBe(0);
    expect(await app.runtime.db.read(attemptLimits, 'four')).toBeUndefined();
    await attempt('four');
    await attempt('four');
    expect(await check()).toBe(30);
    expect((await app.runtime.db.read(attemptLimits, 'four'))?.at).toHaveLength(1);
  });

  it('are rejected with the reason of the call', async () => {
    const rules = [{ max: 1, withinMs: 1_000 }];
    await app.operate((ctx) => countAttempt(ctx, 'five', rules, 'Once a second.'));
    const repeatedAttempt = app.operate((ctx) =>
      countAttempt(ctx, 'five', rules, 'Once a second.'),
    );
    await expect(repeatedAttempt).rejects.toMatchObject({
      message: 'Once a second.',
      retryAfterS: 1,
    });
  });

  it('are stored for the longest period of the rules', async () => {
    for (let round = 0; round < 5; round++) {
      await app.operate((ctx) => countAttempt(ctx, 'six', RULES));
      advanceClock(10 * MINUTE_MS);
    }
    expect((await app.runtime.db.read(attemptLimits, 'six'))?.at).toHaveLength(2);
  });

  it('are limited across two concurrent processes from the first attempt on', async () => {
    const secondProcess = openSecondProcess(app);
    const rules = [{ max: 5, withinMs: MINUTE_MS }];
    const attemptTenTimes = () =>
      Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          retryAfterOf(
            (ctx) => countAttempt(ctx, 'seven', rules),
            index % 2 ? secondProcess : app.runtime,
          ),
        ),
      );
    expect((await attemptTenTimes()).toSorted((a, b) => a - b)).toEqual([
      ...Array(5).fill(0),
      ...Array(5).fill(60),
    ]);
    advanceClock(MINUTE_MS);
    expect((await attemptTenTimes()).filter((seconds) => seconds === 0)).toHaveLength(5);
    await secondProcess.close();
  });

  it('count if the rejection is returned instead of thrown', async () => {
    const rules = [{ max: 2, withinMs: MINUTE_MS }];
    const countAttempts = async () =>
      (await app.runtime.db.read(attemptLimits, 'eight'))?.at.length ?? 0;
    const wrongSecretFault = () => new Fault('UNAUTHORIZED', 'Wrong.');
    const thrownRejection = app.operate(async (ctx) => {
      await countAttempt(ctx, 'eight', rules);
      throw wrongSecretFault();
    });
    await expect(thrownRejection).rejects.toThrow('Wrong.');
    expect(await countAttempts()).toBe(0);
    const rejectedAttempt = () =>
      retryAfterOf(async (ctx) => {
        await countAttempt(ctx, 'eight', rules);
        return { rejected: wrongSecretFault() };
      });
    expect([await rejectedAttempt(), await rejectedAttempt(), await rejectedAttempt()]).toEqual([
      0, 0, 60,
    ]);
    expect(await countAttempts()).toBe(2);
  });
});
