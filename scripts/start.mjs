// `npm start`: installs and builds what is missing, then becomes the server, in this same process, so that
// signals reach it.
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';

await ensureInstalled({ dev: false });
const { ensureBuilt } = await import('./build.mjs');
const built = await ensureBuilt();

// npm runs this process below a shell, and a signal to npm ends that shell only. The end of the parent is
// therefore treated as the signal. Without npm the parent is not watched.
const PARENT_LOOK_MS = 200;
if (process.env.npm_lifecycle_event === 'start') {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_LOOK_MS);
  watch.unref();
}

const { main } = await import(pathToFileURL(built.main).href);
await main(process.argv.slice(2));
