// `npm start`: installs and builds what is missing, then becomes the server, in this same process, so that
// signals reach it.
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';

await ensureInstalled({ dev: false });
const { ensureBuilt } = await import('./build.mjs');
const built = await ensureBuilt();
const { main } = await import(pathToFileURL(built.main).href);
await main(process.argv.slice(2));
