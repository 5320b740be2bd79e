// Attempt limits, alone and with concurrent attempts from two processes.
import { describe, expect, it } from 'vitest';
import { openSecondProcess } from '../../../test/kit/app/second-process.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { attemptLimits, checkAttempts, countAttempt } from './attempt-limiter.ts';
import type { Ctx } from './context.ts';
import { operate } from './operate.ts';

const app = testApp();

const MINUTE = 60_000;
const RULES = [
  { max: 1, withinMs: 30_000 },
  { max: 3, withinMs: 15 * MINUTE },
];

/** 0 if the attempt was accepted, else the seconds to wait. */
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
const wait = (ms: number) => app.effects.set(app.effects.now() + ms);
const attempt = (id: string) => retryAfterOf((ctx) => countAttempt(ctx, id, RULES));

describe('attempts', () => {
  it('are accepted if every rule allows them; the longest wait is reported', async () => {
    expect(await attempt('one')).toBe(0);
    expect(await attempt('one')).toBe(30);
    wait(29_001);
    expect(await attempt('one')).toBe(1);
    wait(999);
    expect(await attempt('one')).toBe(0);
    wait(30_000);
    expect(await attempt('one')).toBe(0);
    wait(30_000);
    expect(await attempt('one')).toBe(15 * 60 - 90);
    wait((15 * 60 - 90) * 1000 - 1);
    expect(await attempt('one')).toBe(1);
    wait(1);
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

  it('are rejected with the given reason', async () => {
    const rules = [{ max: 1, withinMs: 1_000 }];
    await app.operate((ctx) => countAttempt(ctx, 'five', rules, 'Once a second.'));
    const repeatedReply = app.operate((ctx) => countAttempt(ctx, 'five', rules, 'Once a second.'));
    await expect(repeatedReply).rejects.toMatchObject({
      message: 'Once a second.',
      retryAfterS: 1,
    });
  });

  it('are stored no longer than the longest rule requires', async () => {
    for (let round = 0; round < 5; round++) {
      await app.operate((ctx) => countAttempt(ctx, 'six', RULES));
      wait(10 * MINUTE);
    }
    expect((await app.runtime.db.read(attemptLimits, 'six'))?.at).toHaveLength(2);
  });

  it('are limited across two concurrent processes, for the first attempt or a later one', async () => {
    const second = openSecondProcess(app);
    const rules = [{ max: 5, withinMs: MINUTE }];
    const all = () =>
      Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          retryAfterOf(
            (ctx) => countAttempt(ctx, 'seven', rules),
            index % 2 ? second : app.runtime,
          ),
        ),
      );
    expect((await all()).toSorted((a, b) => a - b)).toEqual([
      ...Array(5).fill(0),
      ...Array(5).fill(60),
    ]);
    wait(MINUTE);
    expect((await all()).filter((seconds) => seconds === 0)).toHaveLength(5);
    await second.close();
  });

  it('count if a rejection is returned, and not if it is thrown', async () => {
    const rules = [{ max: 2, withinMs: MINUTE }];
    const countAttempts = async () =>
      (await app.runtime.db.read(attemptLimits, 'eight'))?.at.length ?? 0;
    const wrongSecretFault = () => new Fault('UNAUTHORIZED', 'Wrong.');
    const thrown = app.operate(async (ctx) => {
      await countAttempt(ctx, 'eight', rules);
      throw wrongSecretFault();
    });
    await expect(thrown).rejects.toThrow('Wrong.');
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
