// `npm run sim:providers [-- --seed N --steps M --seeds K]`: runs the simulator of providers. Without a seed,
// a random seed is used. Further seeds are the numbers after the first.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { countOf, flagsOrExit } from './bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USAGE = 'npm run sim:providers -- [--seed SEED] [--steps 1000] [--seeds 1]';

function readFlags() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { seed: text, steps: text, seeds: text } });
  return {
    RAILHEAD_SIM_SEED: String(countOf(values, 'seed', randomInt(1, 1_000_000_000))),
    RAILHEAD_SIM_STEPS: String(countOf(values, 'steps', 1_000)),
    RAILHEAD_SIM_SEEDS: String(countOf(values, 'seeds', 1)),
  };
}

const flags = flagsOrExit(readFlags, USAGE);
const args = ['scripts/test.mjs', '--system', 'server/test/sim/providers.test.ts'];
const env = { ...process.env, ...flags };
spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env }).on('exit', (code) =>
  process.exit(code ?? 1),
);
