// Results of the liveness check over time and after the button is pressed.
import { describe, expect, it } from 'vitest';
import type { LivenessCheck } from '../../ports/index.ts';
import { LIVENESS_BY_SUFFIX, sandboxLiveness } from './liveness.ts';

const check = (suffix: string): LivenessCheck => ({
  id: 'one',
  subject: {
    type: 'WALLET',
    account: { accountType: 'ETHEREUM_WALLET', address: `0x${'a'.repeat(37)}${suffix}` },
  },
  startedAt: 1_000,
});

describe('sandboxLiveness', () => {
  it('completes after five seconds', async () => {
    expect(await sandboxLiveness.check(check('000'), 1_000)).toEqual({
      state: 'waiting',
      checkAfterMs: 5_000,
    });
    expect(await sandboxLiveness.check(check('000'), 5_999)).toEqual({
      state: 'waiting',
      checkAfterMs: 1,
    });
    expect(await sandboxLiveness.check(check('000'), 6_000)).toEqual({ state: 'passed' });
  });

  it.each(Object.entries(LIVENESS_BY_SUFFIX))(
    'has the outcome of the suffix %s',
    async (suffix, outcome) => {
      expect(await sandboxLiveness.check(check(suffix), 6_000)).toEqual(outcome);
      expect(await sandboxLiveness.complete(check(suffix), 1_000)).toEqual(outcome);
    },
  );

  it('passes immediately when the button is pressed', async () => {
    expect(await sandboxLiveness.complete(check('001'), 1_000)).toEqual({ state: 'passed' });
  });

  it('passes a customer at the second poll or when the button is pressed', async () => {
    const checkWithPolls = (polls: number): LivenessCheck => ({
      id: 'one',
      subject: { type: 'CUSTOMER', customerId: 'Customer:002', polls },
      startedAt: 1_000,
    });
    const states = await Promise.all(
      [1, 2, 3].map((polls) => sandboxLiveness.check(checkWithPolls(polls), 1_000_000)),
    );
    expect(states.map(({ state }) => state)).toEqual(['waiting', 'passed', 'passed']);
    expect(await sandboxLiveness.complete(checkWithPolls(0), 1_000)).toEqual({ state: 'passed' });
  });
});
