// `npm run demo`: payments of a platform in half a minute, on a running server or on one that is
// started for the demonstration. A customer is funded, pays a euro and a peso account, and has a
// third payment returned by the bank. Webhooks and ledger are shown, and every shown value is
// checked. The exit code is 0 if all values were as expected.
import { createPublicKey } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { connect } from './demo/api.mjs';
import { operator } from './demo/books.mjs';
import { printLine } from './demo/print.mjs';
import { startReceiver } from './demo/receiver.mjs';
import { runScenario } from './demo/scenario.mjs';
import { findServer } from './demo/server.mjs';
import { ensureInstalled } from './install.mjs';

const LIMIT_MS = 60_000;
const RESTORE_MS = 5_000;

const HELP = `npm run demo [-- FLAGS]
Uses the server that runs on the data folder, or starts a separate one. To choose the server:
  --data-dir FOLDER       its data folder (.railhead), for the key of its webhooks and its ledger
  --base-url URL          its address. Default: from credentials.json
  --client-id TEXT        client ID of an API token. Default: from credentials.json
  --client-secret TEXT    secret of this API token. Default: from credentials.json`;

/** Restores the webhook endpoint of a server that was already running. */
async function restore({ credentials }, endpoint) {
  const call = connect(credentials, AbortSignal.timeout(RESTORE_MS));
  if (endpoint) await call('PATCH', '/config', { webhookEndpoint: endpoint });
  else
    printLine(
      '\nThis platform had no webhook endpoint and keeps the endpoint of the demo. ' +
        'PATCH /config sets another.',
    );
}

async function demonstrate(server, signal) {
  const { credentials, env, isOwn } = server;
  printLine(`${isOwn ? 'A separate server' : 'The server'} at ${credentials.baseUrl}`);
  const call = connect(credentials, signal);
  const { webhookEndpoint } = await call('GET', '/config');
  const createdCustomer = { name: `demo-${Date.now()}`, id: '' };
  const webhooks = await startReceiver({
    publicKey: createPublicKey(credentials.webhookPublicKey),
    header: `x-${env.RAILHEAD_SERVICE_WORD || 'service'}-signature`.toLowerCase(),
    // Other clients may use this platform at the same time.
    isOurs: ({ type, data }) =>
      type === 'TEST' ||
      data.platformCustomerId === createdCustomer.name ||
      data.customerId === createdCustomer.id,
    signal,
  });
  try {
    await runScenario({
      call,
      webhooks,
      customerRecord: createdCustomer,
      operate: operator(server, signal),
    });
  } finally {
    if (!isOwn) await restore(server, webhookEndpoint);
    webhooks.close();
  }
}

function readFlags() {
  const text = { type: 'string' };
  const { values } = parseArgs({
    options: {
      'data-dir': text,
      'base-url': text,
      'client-id': text,
      'client-secret': text,
      help: { type: 'boolean' },
    },
  });
  return values;
}

/**
 * Runs `work` with a signal that aborts at its deadline, on SIGINT or SIGTERM, or when the output is
 * closed.
 */
async function runWithin(limitMs, work) {
  const controller = new AbortController();
  const abortWith = (reason) => () => controller.abort(reason);
  const timer = setTimeout(
    abortWith(`The demonstration was not complete after ${limitMs / 1_000} seconds.`),
    limitMs,
  );
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, abortWith('Interrupted.'));
  process.stdout.on('error', abortWith('The output was closed.'));
  try {
    await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    // The error of an aborted call has no useful message, unlike the error of the step that awaited the
    // call.
    const detail = error instanceof Error && error.name === 'Error' ? ` ${error.message}` : '';
    throw new Error(`${controller.signal.reason}${detail}`);
  } finally {
    clearTimeout(timer);
  }
}

async function main() {
  const flags = readFlags();
  if (flags.help) return printLine(HELP);
  await ensureInstalled({ dev: false });
  await ensureBuilt();
  await runWithin(LIMIT_MS, async (signal) => {
    const server = await findServer(flags, signal);
    try {
      await demonstrate(server, signal);
    } finally {
      await server.stop();
    }
  });
  printLine('\nAll checks passed.');
}

main().catch((error) => {
  console.error(`\nThe demonstration failed: ${error.message}`);
  process.exitCode = 1;
});
