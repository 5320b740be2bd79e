// `npm run sim [-- --seed N --steps M --seeds K --verbose]`: bundles and runs the simulator on
// temporary databases. Without a seed, a random seed is generated and printed.
import { parseArgs } from 'node:util';
import { countOf, flagsOrExit, runTest } from './bundle.mjs';

const USAGE = 'npm run sim -- [--seed SEED] [--steps 1000] [--seeds 1] [--verbose]';

function readFlags() {
  const text = { type: 'string' };
  const options = { seed: text, steps: text, seeds: text, verbose: { type: 'boolean' } };
  const { values } = parseArgs({ options });
  const { seed, verbose = false } = values;
  const [steps, seeds] = [countOf(values, 'steps', 1_000), countOf(values, 'seeds', 1)];
  return { seed, steps, seeds, verbose };
}

await runTest('sim/main.ts', flagsOrExit(readFlags, USAGE));
