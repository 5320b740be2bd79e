// `npm run sim [-- --seed N --steps M --seeds K --verbose]`: bundles and runs the simulator on
// temporary databases. Without a seed it generates one and prints it.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled } from '../install.mjs';
import { bundleTest } from './bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USAGE = 'npm run sim -- [--seed SEED] [--steps 1000] [--seeds 1] [--verbose]';

function exitWithError(line) {
  console.error(`${line}\n${USAGE}`);
  process.exit(2);
}

function readFlags() {
  const text = { type: 'string' };
  const options = { seed: text, steps: text, seeds: text, verbose: { type: 'boolean' } };
  const { values } = parseArgs({ options });
  const count = (name, fallback) => {
    const value = Number(values[name] ?? fallback);
    if (!Number.isInteger(value) || value < 1) exitWithError(`--${name} takes a number from 1.`);
    return value;
  };
  const { seed, verbose = false } = values;
  return { seed, steps: count('steps', 1_000), seeds: count('seeds', 1), verbose };
}

let flags;
try {
  flags = readFlags();
} catch (error) {
  exitWithError(error.message);
}
await ensureInstalled({ dev: true });
const dist = path.join(root, 'server', 'dist');
fs.mkdirSync(dist, { recursive: true });
const folder = fs.mkdtempSync(path.join(dist, 'sim-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
process.setSourceMapsEnabled(true);
const { main } = await import(pathToFileURL(await bundleTest('sim/main.ts', folder)).href);
process.exit((await main(flags)) ? 0 : 1);
