// Random days with a simulated bank that uses the protocol for providers. The faults are late,
// repeated, lost and invalid messages, crashes, key rotations and wrong statements. After each day
// every payment has its state at the bank. The statements balance with the ledger, or an open
// difference explains the deviation.
import { expect, it } from 'vitest';
import { runSeed } from '../kit/app/effects.ts';
import { lengthOf } from '../kit/length.ts';
import { simulateProviders } from './providers/run.ts';

/** Settings of `npm run sim:providers`. */
const { RAILHEAD_SIM_SEED, RAILHEAD_SIM_STEPS, RAILHEAD_SIM_SEEDS } = process.env;
const STEPS = Number(RAILHEAD_SIM_STEPS ?? lengthOf(200, 5_000));
const SEEDS = Number(RAILHEAD_SIM_SEEDS ?? lengthOf(1, 20));
const FIRST_SEED = Number(RAILHEAD_SIM_SEED ?? runSeed());
/** Faults that every run of at least 1,000 steps has. */
const COMMON_FAULTS = ['lost replies', 'invalid replies', 'forged messages', 'lost messages'];

it.each(Array.from({ length: SEEDS }, (_, index) => String(FIRST_SEED + index)))(
  'an installation has the states and balances of the bank after each day, seed %s',
  async (seed) => {
    const startedAt = performance.now();
    const report = await simulateProviders(seed, STEPS);
    const seconds = (performance.now() - startedAt) / 1_000;
    const { days, payments, faults } = report;
    console.log(
      `seed ${seed}: ${STEPS} steps in ${seconds.toFixed(1)} s, ${days} days, ${payments} payments; ` +
        Object.entries(faults)
          .sort((a, b) => b[1] - a[1])
          .map(([name, count]) => `${count} ${name}`)
          .join(', '),
    );
    expect(payments).toBeGreaterThan(STEPS / 10);
    // In a short run a kind of fault may not occur.
    expect(Object.keys(faults).length).toBeGreaterThanOrEqual(STEPS >= 200 ? 8 : 1);
    if (STEPS >= 1_000) expect(Object.keys(faults)).toEqual(expect.arrayContaining(COMMON_FAULTS));
  },
  14_400_000,
);
