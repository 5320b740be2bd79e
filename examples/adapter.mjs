// Creates the keys of an example adapter, or bundles and serves it:
// `start.mjs keys FOLDER`, `start.mjs serve FOLDER --railhead URL [--port 9300] [--test]`.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled } from '../scripts/install.mjs';

const USAGE = `Usage: start.mjs keys FOLDER
       start.mjs serve FOLDER --railhead URL [--port 9300] [--test]

  FOLDER      contains adapter.pem, railhead.pub.pem and the state of the adapter
  --railhead  address for messages: https://…/connectors/NAME
  --port      port of the adapter on 127.0.0.1. Default: 9300
  --test      reads outcomes from the remittance information`;

const OPTIONS = {
  railhead: { type: 'string' },
  port: { type: 'string', default: '9300' },
  test: { type: 'boolean', default: false },
};

function createKeys(folder) {
  mkdirSync(folder, { recursive: true });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(`${folder}/adapter.pem`, key, { mode: 0o600, flag: 'wx' });
  writeFileSync(`${folder}/adapter.pub.pem`, publicKey.export({ type: 'spki', format: 'pem' }));
}

/**
 * Loads the module of the adapter. The module is bundled, because Node.js 20 cannot run TypeScript.
 */
async function load(entry) {
  await ensureInstalled({ dev: false });
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  );
}

/** Runs the command of an example. The module `entry` exports `startAdapter`. */
export async function runAdapter(entry) {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const [action, folder] = positionals;
  const { railhead, port, test } = values;
  if (action === 'keys' && folder) return createKeys(folder);
  if (action !== 'serve' || !folder || !railhead) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const { startAdapter } = await load(entry);
  const server = startAdapter({ folder, railhead, port: Number(port), isTest: test });
  server.on('listening', () => {
    console.log(`Serving on http://127.0.0.1:${server.address().port}`);
  });
}
