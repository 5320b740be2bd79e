// `npm run attack [-- --seed N --requests M]`: bundles and runs the attacks on a server of its own. Without a
// seed it generates one and prints it.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled } from '../install.mjs';
import { bundleTest } from './bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USAGE = 'npm run attack -- [--seed SEED] [--requests 2000]';

function exitWithError(line) {
  console.error(`${line}\n${USAGE}`);
  process.exit(2);
}

function readFlags() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { seed: text, requests: text } });
  const requests = Number(values.requests ?? 2_000);
  if (!Number.isInteger(requests) || requests < 1)
    exitWithError('--requests takes a number from 1.');
  return { seed: values.seed, requests };
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
const folder = fs.mkdtempSync(path.join(dist, 'attack-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
process.setSourceMapsEnabled(true);
const { main } = await import(pathToFileURL(await bundleTest('attack/main.ts', folder)).href);
process.exit((await main(flags)) ? 0 : 1);
