// `npm start`: installs and builds missing parts and then runs the server in the same process, so that it
// receives signals. With --processes it runs the supervisor, which starts this file once for each process.
// These processes use the newest build.
import cluster from 'node:cluster';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';

async function resolveMain() {
  if (cluster.isWorker) return fileURLToPath(new URL('../server/dist/main.js', import.meta.url));
  await ensureInstalled({ dev: false });
  const { ensureBuilt } = await import('./build.mjs');
  return (await ensureBuilt()).main;
}
const program = await resolveMain();

// npm runs this process below a shell, and a signal to npm ends only that shell. The exit of the
// parent is therefore treated as the signal. Without npm the parent is not observed.
const PARENT_CHECK_MS = 200;
if (process.env.npm_lifecycle_event === 'start' && !cluster.isWorker) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  watch.unref();
}

const { main } = await import(pathToFileURL(program).href);
const settings = await main(process.argv.slice(2));

// The console is built when the server already replies, at a low priority.
if (settings?.console && !cluster.isWorker) {
  const { buildConsole } = await import('../packages/console/scripts/background.mjs');
  buildConsole();
}
