// `npm run cluster` starts a highly available database with two servers on this machine. With a
// command, such as `npm run cluster -- status`, it shows or changes the running cluster. The
// program is server/test/kit/cluster/local-cluster.ts, whose modules the cluster tests share.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from '../install.mjs';
import { bundleTest } from '../tests/bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

await ensureInstalled({ dev: true });
const { ensureBuilt } = await import('../build.mjs');
if (process.argv.length <= 2) await ensureBuilt();
const dist = path.join(root, 'server', 'dist');
fs.mkdirSync(dist, { recursive: true });
const folder = fs.mkdtempSync(path.join(dist, 'cluster-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
process.setSourceMapsEnabled(true);
const { main } = await import(
  pathToFileURL(await bundleTest('kit/cluster/local-cluster.ts', folder)).href
);
process.exit(await main(process.argv.slice(2)));
