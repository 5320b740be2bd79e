// Two servers behind HAProxy, replaced one after the other under load, without a failed request, or
// a lost or duplicated payment.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { accountInfos } from '../kit/app/fixtures.ts';
import { countPending, problemsOf, readSnapshot } from '../kit/crash/books.ts';
import { callOrThrow } from '../kit/crash/load.ts';
import { isProxyInstalled, type RunningProxy, startProxy } from '../kit/crash/proxy.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const CLIENT = { id: 'rolling', secret: 'know-this' };
const FUNDS = 1_000_000_00;
const CLIENTS = 8;
const WAIT = { timeout: 60_000, interval: 50 };
const name = `railhead_rolling_${process.pid}`;
const ENV = {
  RAILHEAD_MASTER_KEY: '07'.repeat(32),
  RAILHEAD_CLIENT_ID: CLIENT.id,
  RAILHEAD_CLIENT_SECRET: CLIENT.secret,
  RAILHEAD_RATE_LIMIT: '0',
  LOG_LEVEL: 'error',
};

let url: string;
let dataFolders: DataFolder[];
let servers: Running[];
let proxy: RunningProxy;
let receiver: Receiver;
let account: string;
let payee: string;

async function createAccounts(): Promise<void> {
  const [server] = servers as [Running];
  await callOrThrow(server, 'PATCH', '/config', { webhookEndpoint: receiver.url });
  const customer = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
  const { id } = await callOrThrow(server, 'POST', '/customers', customer);
  const query = `customerId=${id}&currency=USD`;
  account = (await callOrThrow(server, 'GET', `/customers/internal-accounts?${query}`)).data[0].id;
  await callOrThrow(server, 'POST', `/sandbox/internal-accounts/${account}/fund`, {
    amount: FUNDS,
  });
  const payeeBody = { customerId: id, currency: 'USD', accountInfo: accountInfos.USD?.('000') };
  payee = (await callOrThrow(server, 'POST', '/customers/external-accounts', payeeBody)).id;
}

beforeAll(async () => {
  if (!isProxyInstalled()) return;
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `create database ${name}`);
  url = databaseUrl(admin, name);
  receiver = await startReceiver();
  dataFolders = [createDataFolder('rolling-one'), createDataFolder('rolling-two')];
  const env = { ...ENV, DATABASE_URL: url };
  servers = await Promise.all(dataFolders.map((folder) => folder.start(['--drain', '2'], env)));
  await createAccounts();
  proxy = await startProxy(servers, dataFolders[0]?.dir ?? '');
}, 120_000);

afterAll(async () => {
  proxy?.stop();
  await Promise.all((dataFolders ?? []).map((folder) => folder.remove()));
  await receiver?.close();
  if (!url) return;
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `drop database if exists ${name} with (force)`);
}, 60_000);

/** Pays 1.00 once. Returns the status, or the error of a request without a reply. */
async function pay(remittanceInformation: string): Promise<string> {
  const encodedCredentials = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64');
  try {
    const reply = await fetch(`${proxy.proxiedServer.credentials.baseUrl}/transfer-out`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${encodedCredentials}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({
        source: { accountId: account },
        destination: { accountId: payee },
        amount: 1_00,
        remittanceInformation,
      }),
    });
    await reply.text();
    return String(reply.status);
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}

/** Starts paying. Returns a function that stops it and returns the number of each result. */
function paySteadily() {
  const results = new Map<string, number>();
  let isRunning = true;
  let number = 0;
  const runClient = async () => {
    while (isRunning) {
      const result = await pay(`payment ${number++}`);
      results.set(result, (results.get(result) ?? 0) + 1);
      // The pause leaves processor time to the starting servers.
      await sleep(10);
    }
  };
  const whenStopped = Promise.all(Array.from({ length: CLIENTS }, runClient));
  return async () => {
    isRunning = false;
    await whenStopped;
    return Object.fromEntries(results);
  };
}

/** Stops a server and starts it again on its port. */
async function replace(index: number): Promise<void> {
  const [folder, server] = [dataFolders[index], servers[index]] as [DataFolder, Running];
  server.child.kill('SIGTERM');
  expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
  const { port } = new URL(server.origin);
  const env = { ...ENV, DATABASE_URL: url };
  servers[index] = await folder.start(['--drain', '2', '--port', port], env);
  // HAProxy checks twice a second.
  await sleep(1_500);
}

describe.skipIf(!isProxyInstalled())('two servers behind HAProxy', () => {
  let paidCount = 0;

  it('are replaced one after the other without a failed request', async () => {
    const stop = paySteadily();
    await sleep(1_000);
    await replace(0);
    await replace(1);
    const results = await stop();
    expect(Object.keys(results)).toEqual(['201']);
    paidCount = results['201'] ?? 0;
    expect(paidCount).toBeGreaterThan(100);
  }, 120_000);

  it('lose and duplicate no payment', async () => {
    await vi.waitUntil(async () => {
      const { jobs, events } = await countPending(url);
      return jobs === 0 && events === 0;
    }, WAIT);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      `select count(*)::int as payments, count(distinct remittance)::int as texts,
         (select balance::int from ledger_accounts where id = $1) as balance
       from transactions where type = 'OUTGOING' and status = 'COMPLETED'`,
      [account],
    );
    await client.end();
    expect(rows).toEqual([
      { payments: paidCount, texts: paidCount, balance: FUNDS - paidCount * 1_00 },
    ]);
    expect(problemsOf(await readSnapshot(url))).toEqual([]);
    const deliveredIds = receiver.arrivals.map(({ id }) => id);
    expect(new Set(deliveredIds).size).toBe(deliveredIds.length);
  }, 90_000);
});
