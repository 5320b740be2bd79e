// Builds the page and starts the backend: `node examples/wallet-web/start.mjs`. The API credentials are
// read from the environment, or from the file that a server in this checkout has written.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../../scripts/install.mjs';
import { startBackend } from './backend.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const { env } = process;
const isSandbox = env.API_ENVIRONMENT !== 'production';
const bundleKey = env.BUNDLE_KEY ?? '';

function credentials() {
  const { API_BASE_URL, API_CLIENT_ID, API_CLIENT_SECRET } = env;
  if (API_BASE_URL && API_CLIENT_ID && API_CLIENT_SECRET) {
    return { baseUrl: API_BASE_URL, clientId: API_CLIENT_ID, clientSecret: API_CLIENT_SECRET };
  }
  const file = path.join(folder, '../../.railhead/credentials.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error(
      'There are no credentials. Start a server with `npm start`, or set API_BASE_URL, API_CLIENT_ID and ' +
        'API_CLIENT_SECRET.',
    );
  }
}

/** The files of the page. The script bundles the libraries and the pinned key. */
async function buildPage() {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, 'page/app.ts')],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    define: { BUNDLE_KEY: JSON.stringify(bundleKey), SANDBOX: String(isSandbox) },
  });
  const page = (name) => readFileSync(path.join(folder, 'page', name));
  return {
    '/': { type: 'text/html; charset=utf-8', content: page('index.html') },
    '/style.css': { type: 'text/css', content: page('style.css') },
    '/app.js': { type: 'text/javascript', content: outputFiles[0].contents },
  };
}

async function main() {
  if (!isSandbox && !bundleKey) {
    throw new Error(
      'BUNDLE_KEY, the public key of the signer of bundles, is required in production.',
    );
  }
  const api = credentials();
  await ensureInstalled({ dev: true });
  const files = await buildPage();
  const { url } = await startBackend({
    api,
    files,
    port: Number(env.PORT ?? 5300),
    sandbox: isSandbox,
  });
  console.log(`The wallet is at ${url}`);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
