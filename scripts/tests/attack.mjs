// `npm run attack [-- --seed N --requests M]`: bundles and runs the attacks on a separate server.
// Without a seed, a random seed is generated and printed.
import { parseArgs } from 'node:util';
import { countOf, flagsOrExit, runTest } from './bundle.mjs';

const USAGE = 'npm run attack -- [--seed SEED] [--requests 2000]';

function readFlags() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { seed: text, requests: text } });
  return { seed: values.seed, requests: countOf(values, 'requests', 2_000) };
}

await runTest('attack/main.ts', flagsOrExit(readFlags, USAGE));
