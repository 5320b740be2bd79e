// Result, pauses and errors of generators in steps.
import { expect, it } from 'vitest';
import { runInSteps, runToEnd } from './steps.ts';

function* count(log: string[], to: number): Generator<void, number> {
  for (let index = 1; index <= to; index++) {
    log.push(`step ${index}`);
    yield;
  }
  return to;
}

it('runToEnd runs all steps without a pause', () => {
  const log: string[] = [];
  expect(runToEnd(count(log, 3))).toBe(3);
  expect(log).toEqual(['step 1', 'step 2', 'step 3']);
});

it('runInSteps pauses after each step', async () => {
  const log: string[] = [];
  const pause = async () => void log.push('pause');
  expect(await runInSteps(count(log, 2), pause)).toBe(2);
  expect(log).toEqual(['step 1', 'pause', 'step 2', 'pause']);
});

it('runInSteps rejects with the error of a step', async () => {
  function* fail(): Generator<void, void> {
    yield;
    throw new Error('the step failed');
  }
  await expect(runInSteps(fail(), async () => {})).rejects.toThrow('the step failed');
});
