// `npm run capacity -- --payments-per-day 10000000 --events 5 --retention 30d`: prints the
// resources for a number of payments. With --measure it measures the costs of payments on this
// machine. The program is bench/src/capacity/main.ts. docs/scaling.md explains the model.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

await ensureInstalled({ dev: false });
const { build } = createRequire(import.meta.url)('esbuild');
const dist = path.join(root, 'bench', 'dist');
fs.mkdirSync(dist, { recursive: true });
const folder = fs.mkdtempSync(path.join(dist, 'capacity-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
await build({
  entryPoints: [
    path.join(root, 'bench/src/capacity/main.ts'),
    // Started by its name in this folder.
    path.join(root, 'bench/src/processes/receiver-process.ts'),
  ],
  entryNames: '[name]',
  outdir: folder,
  bundle: true,
  packages: 'external',
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'error',
});
const { main } = await import(pathToFileURL(path.join(folder, 'main.js')).href);
process.exitCode = await main(process.argv.slice(2), root);
