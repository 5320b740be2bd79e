// The demonstration as a separate process, with a new server and with a running one. The
// demonstration checks its results, so the exit code is decisive. The test checks the main lines of
// the output, and that no temporary file remains.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const DEMO = path.join(projectRoot(), 'scripts', 'demo.mjs');
/**
 * The demonstration has a timeout of 60 s. The process may also build before and stop a server
 * afterwards.
 */
const DEMO_MS = 120_000;

let dataFolder: DataFolder;
let folder: string;
let runningServer: Running;
let endpoint: Receiver;

/** Runs the demonstration with a watched folder for temporary files. */
function demonstrate(...flags: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: folder };
  return new Promise((resolve) => {
    execFile(process.execPath, [DEMO, ...flags], { env }, (error, stdout, err) =>
      resolve({ code: error ? Number(error.code) : 0, out: stdout, err }),
    );
  });
}

/** `GET` or `PATCH /config` of the running server. */
async function callConfig(change?: object): Promise<{ webhookEndpoint?: string }> {
  const { baseUrl, clientId, clientSecret } = runningServer.credentials;
  const reply = await fetch(`${baseUrl}/config`, {
    method: change ? 'PATCH' : 'GET',
    headers: {
      authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
      'content-type': 'application/json',
    },
    ...(change && { body: JSON.stringify(change) }),
  });
  return (await reply.json()) as { webhookEndpoint?: string };
}

beforeAll(async () => {
  dataFolder = createDataFolder('demo');
  folder = path.join(path.dirname(dataFolder.dir), 'tmp');
  fs.mkdirSync(folder, { mode: 0o755 });
  fs.chmodSync(path.dirname(dataFolder.dir), 0o711);
  endpoint = await startReceiver();
  runningServer = await dataFolder.start();
  await callConfig({ webhookEndpoint: endpoint.url });
  await endpoint.has(1);
}, DEMO_MS);

afterAll(async () => {
  await endpoint.close();
  await dataFolder.remove();
}, 60_000);

const eventLines = (...args: string[]) => args.map((arg) => `✓ OUTGOING_PAYMENT.${arg} `);

/** Lines that must appear in this order, possibly with others between them. */
const SCENARIO_LINES = [
  'A customer with funds',
  '✓ TEST',
  'Funded      5,000.00 USD',
  '✓ INCOMING_PAYMENT.COMPLETED         5,000.00 USD',
  '✓ INTERNAL_ACCOUNT.BALANCE_UPDATED   5,000.00 USD available, 5,000.00 USD in total',
  'Dollars to euros',
  'Quote       1,000.00 USD → ',
  'Fees        5.00 USD, included',
  ...eventLines('PENDING', 'PROCESSING', 'COMPLETED'),
  'Balance     4,000.00 USD, as quoted',
  'Dollars to pesos',
  ' USD → 10,000.00 MXN',
  ...eventLines('PENDING', 'PROCESSING', 'COMPLETED'),
  'Arrived     10,000.00 MXN',
  'A payment that the bank returns',
  ...eventLines('PENDING', 'PROCESSING', 'COMPLETED'),
  'The bank returns the payment',
  ...eventLines('FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'),
  'Refund      COMPLETED, reference RF',
  'The ledger',
  "Ada's USD            fx_position USD          995.00 USD  held",
  "Ada's USD            fx_position USD          995.00 USD  posted",
  '✓ The returned payment               debited 0.00 USD in 10 postings',
  '✓ The ledger balances',
  '✓ All webhooks have valid signatures 23 webhooks in the expected order',
  'All checks passed.',
];

/** The first expected line that is missing or out of order. */
function missingOutput(output: string): string | undefined {
  let searchIndex = 0;
  return SCENARIO_LINES.find((expectedLine) => {
    const position = output.indexOf(expectedLine, searchIndex);
    searchIndex = position + expectedLine.length;
    return position < 0;
  });
}

describe('npm run demo', () => {
  it.concurrent(
    'runs with a new server, and no temporary file remains',
    async () => {
      const { code, out, err } = await demonstrate();
      expect([code, missingOutput(out)], `${out}${err}`).toEqual([0, undefined]);
      expect(out).toMatch(/^A separate server at http:\/\/localhost:\d+\/2025-10-13\n/);
      expect(out).not.toContain('\x1b');
      expect(fs.readdirSync(folder)).toEqual([]);
    },
    DEMO_MS,
  );

  it.concurrent(
    'runs with a running server and restores the webhook endpoint',
    async () => {
      const { code, out, err } = await demonstrate('--data-dir', dataFolder.dir);
      expect([code, missingOutput(out)], `${out}${err}`).toEqual([0, undefined]);
      expect(out).toContain(`The server at ${runningServer.credentials.baseUrl}\n`);
      expect((await callConfig()).webhookEndpoint).toBe(endpoint.url);
      await endpoint.has(2);
      expect(endpoint.arrivals.map((arrival) => arrival.type)).toEqual(['TEST', 'TEST']);
    },
    DEMO_MS,
  );
});

describe('npm run demo, with errors', () => {
  it('rejects a webhook that another key signed', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const webhookPublicKey = publicKey.export({ type: 'spki', format: 'pem' });
    const folder = path.join(path.dirname(dataFolder.dir), 'forged');
    fs.mkdirSync(folder);
    const text = JSON.stringify({ ...runningServer.credentials, webhookPublicKey });
    fs.writeFileSync(path.join(folder, 'credentials.json'), text);
    const { code, out, err } = await demonstrate('--data-dir', folder);
    expect(code).toBe(1);
    expect(out).not.toContain('✓');
    expect(err).toBe(
      '\nThe demonstration failed: The x-service-signature of a webhook does not match the public ' +
        'key.\n',
    );
    expect((await callConfig()).webhookEndpoint).toBe(endpoint.url);
  }, 60_000);

  it.each([
    [['--client-secret', 'wrong'], /^GET \/config was rejected: 401 UNAUTHORIZED, .+$/],
    [
      ['--base-url', 'http://127.0.0.1:1/x'],
      /^http:\/\/127\.0\.0\.1:1\/x cannot be reached: .+\.$/,
    ],
    [['--data-dir', '/nowhere'], /^\/nowhere has no credentials\.json\. .+$/],
    [['--stage'], /^Unknown option '--stage'/],
  ])(
    'reports the error in one line: %j',
    async (flags, line) => {
      const folder = flags[0] === '--data-dir' ? [] : ['--data-dir', dataFolder.dir];
      const { code, err } = await demonstrate(...folder, ...flags);
      expect(code).toBe(1);
      const [, message] = /^\nThe demonstration failed: (.+)\n$/.exec(err) ?? [];
      expect(message).toMatch(line);
    },
    60_000,
  );
});
