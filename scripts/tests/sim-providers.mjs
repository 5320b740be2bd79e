// `npm run sim:providers [-- --seed N --steps M --seeds K]`: runs the simulator of providers. Without a seed
// it uses a random one. Further seeds count on from the first.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USAGE = 'npm run sim:providers -- [--seed 1] [--steps 1000] [--seeds 1]';

function readFlags() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { seed: text, steps: text, seeds: text } });
  const count = (name, fallback) => {
    const value = Number(values[name] ?? fallback);
    if (Number.isInteger(value) && value >= 1) return String(value);
    throw new Error(`--${name} takes a number from 1.`);
  };
  return {
    RAILHEAD_SIM_SEED: count('seed', randomInt(1, 1_000_000_000)),
    RAILHEAD_SIM_STEPS: count('steps', 1_000),
    RAILHEAD_SIM_SEEDS: count('seeds', 1),
  };
}

let flags;
try {
  flags = readFlags();
} catch (error) {
  console.error(`${error.message}\n${USAGE}`);
  process.exit(2);
}
const args = ['scripts/test.mjs', '--system', 'server/test/sim/providers.test.ts'];
const env = { ...process.env, ...flags };
spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env }).on('exit', (code) =>
  process.exit(code ?? 1),
);
