// Two server processes on one PostgreSQL, as for a rolling update. Both processes start on an empty
// database and create one platform. The test then sends each payment to both processes concurrently
// under one idempotency key. Each key creates at most one payment.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { accountInfos } from '../kit/app/fixtures.ts';
import { countPending, problemsOf, readSnapshot } from '../kit/crash/books.ts';
import { callOrThrow } from '../kit/crash/load.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const CLIENT = { id: 'both', secret: 'know-this' };
const PAYMENTS = 60;
const AMOUNT = 3_00;
const FUNDS = 100_00;
const name = `railhead_two_${process.pid}`;

let url: string;
let dataFolders: DataFolder[];
let servers: Running[];
let receiver: Receiver;
let usdAccountId: string;
let payeeId: string;
/** IDs of the events that the receiver rejected once. */
const rejectedIds = new Set<string>();

beforeAll(async () => {
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `create database ${name}`);
  url = databaseUrl(admin, name);
  dataFolders = [createDataFolder('one'), createDataFolder('two')];
  receiver = await startReceiver((response, { id, type }) => {
    const isRejected = type !== 'TEST' && rejectedIds.size < 5 && !rejectedIds.has(id);
    if (isRejected) rejectedIds.add(id);
    response.writeHead(isRejected ? 500 : 200).end();
  });
  const env = {
    DATABASE_URL: url,
    RAILHEAD_MASTER_KEY: '07'.repeat(32),
    RAILHEAD_CLIENT_ID: CLIENT.id,
    RAILHEAD_CLIENT_SECRET: CLIENT.secret,
    RAILHEAD_RATE_LIMIT: '0',
    LOG_LEVEL: 'error',
  };
  servers = await Promise.all(dataFolders.map((folder) => folder.start([], env)));
}, 120_000);

afterAll(async () => {
  await Promise.all((dataFolders ?? []).map((folder) => folder.remove()));
  await receiver?.close();
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `drop database if exists ${name} with (force)`);
}, 60_000);

async function queryRows<R extends object>(sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(sql)).rows;
  } finally {
    await client.end();
  }
}

interface Reply {
  status: number;
  body: { id?: string; code?: string };
}

async function post(server: Running, path: string, body: object, key: string): Promise<Reply> {
  const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64');
  const reply = await fetch(`${server.credentials.baseUrl}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${basic}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as Reply['body'] };
}

async function remove(server: Running, path: string): Promise<void> {
  const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64');
  const reply = await fetch(`${server.credentials.baseUrl}${path}`, {
    method: 'DELETE',
    headers: { authorization: `Basic ${basic}` },
  });
  expect(reply.status).toBe(204);
}

/** The same request to both processes concurrently. */
const postToBoth = (path: string, body: object, key: string) =>
  Promise.all(servers.map((server) => post(server, path, body, key)));

/** A metric summed over both processes. */
async function readCounter(metric: string): Promise<number> {
  const texts = await Promise.all(
    servers.map(async ({ origin }) => (await fetch(`${origin}/metrics`)).text()),
  );
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line.startsWith(metric));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('two processes on one database', () => {
  it('create one first platform, with one token and one set of keys', async () => {
    expect(await queryRows('select name from platforms')).toEqual([{ name: 'Sandbox' }]);
    expect(await queryRows('select client_id from tokens')).toEqual([{ client_id: CLIENT.id }]);
    const keys = servers.map((server) => server.credentials.webhookPublicKey);
    expect(keys[0]).toBe(keys[1]);
    for (const server of servers) expect(server.credentials.clientSecret).toBe(CLIENT.secret);
    const [firstServer, secondServer] = servers as [Running, Running];
    await callOrThrow(firstServer, 'PATCH', '/config', { webhookEndpoint: receiver.url });
    const { id } = await callOrThrow(secondServer, 'POST', '/customers', {
      customerType: 'INDIVIDUAL',
      fullName: 'Ada Lovelace',
    });
    const query = `customerId=${id}&currency=USD`;
    const internalAccounts = await callOrThrow(
      firstServer,
      'GET',
      `/customers/internal-accounts?${query}`,
    );
    usdAccountId = internalAccounts.data[0].id;
    await callOrThrow(secondServer, 'POST', `/sandbox/internal-accounts/${usdAccountId}/fund`, {
      amount: FUNDS,
    });
    const createdExternalAccount = await callOrThrow(
      firstServer,
      'POST',
      '/customers/external-accounts',
      {
        customerId: id,
        currency: 'USD',
        accountInfo: accountInfos.USD?.('000'),
      },
    );
    payeeId = createdExternalAccount.id;
  });

  it('do not overdraw an account, and accept each key once', async () => {
    const responses = await Promise.all(
      Array.from({ length: PAYMENTS }, (_, index) => {
        const transfer = {
          source: { accountId: usdAccountId },
          destination: { accountId: payeeId },
          amount: AMOUNT,
          remittanceInformation: `payment ${index}`,
        };
        return postToBoth('/transfer-out', transfer, randomUUID());
      }),
    );
    for (const [firstReply, secondReply] of responses) expect(firstReply).toEqual(secondReply);
    const statuses = responses.map(([firstReply]) => firstReply?.status);
    const paidCount = Math.floor(FUNDS / AMOUNT);
    expect(statuses.filter((status) => status === 201)).toHaveLength(paidCount);
    const codes = responses.flatMap(([firstReply]) =>
      firstReply?.status === 201 ? [] : [firstReply?.body.code],
    );
    expect(codes).toEqual(Array(PAYMENTS - paidCount).fill('INSUFFICIENT_FUNDS'));
    const [{ payments } = { payments: 0 }] = await queryRows<{ payments: number }>(
      "select count(*)::int as payments from transactions where type = 'OUTGOING'",
    );
    expect(payments).toBe(paidCount);
    const [accountRow] = await queryRows(
      `select balance - held as available from ledger_accounts where id = '${usdAccountId}'`,
    );
    expect(accountRow).toEqual({ available: String(FUNDS - paidCount * AMOUNT) });
  });

  it('run each job once', async () => {
    await vi.waitUntil(async () => (await countPending(url)).jobs === 0, {
      timeout: 30_000,
      interval: 100,
    });
    const [{ completed } = { completed: 0 }] = await queryRows<{ completed: number }>(
      `select count(*)::int as completed from transactions
        where type = 'OUTGOING' and status = 'COMPLETED'`,
    );
    expect(completed).toBe(Math.floor(FUNDS / AMOUNT));
    expect(await readCounter('railhead_jobs_total{kind="payout.send",result="done"}')).toBe(
      completed,
    );
    expect(await readCounter('railhead_jobs_total{kind="payout.send",result="again"}')).toBe(0);
    expect(await readCounter('railhead_jobs_total{kind="payout.send",result="failed"}')).toBe(0);
  }, 40_000);

  it('deliver each event once, and repeat only rejected deliveries', async () => {
    await vi.waitUntil(async () => (await countPending(url)).events === 0, {
      timeout: 30_000,
      interval: 100,
    });
    const receivedCounts = new Map<string, number>();
    for (const { id } of receiver.arrivals)
      receivedCounts.set(id, (receivedCounts.get(id) ?? 0) + 1);
    const deliveries = await queryRows<{
      id: string;
      type: string;
      attempts: number;
      results: string;
    }>(
      `select e.id, e.type, count(a.attempt)::int as attempts,
          string_agg(concat_ws(' ', a.result, a.status, a.error), ', ' order by a.attempt) as results
        from events e join webhook_attempts a on a.event_id = e.id group by e.id`,
    );
    expect(deliveries.length).toBeGreaterThan(2 * PAYMENTS);
    const wrongDeliveries = deliveries
      .map((delivery) => ({ ...delivery, received: receivedCounts.get(delivery.id) ?? 0 }))
      .filter((delivery) => delivery.received !== delivery.attempts);
    expect(wrongDeliveries).toEqual([]);
    expect(
      deliveries
        .filter(({ attempts }) => attempts > 1)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...rejectedIds].sort());
    expect(receivedCounts.size).toBe(deliveries.length);
  }, 40_000);

  it('apply a configuration change immediately', async () => {
    const [firstServer, secondServer] = servers as [Running, Running];
    await callOrThrow(secondServer, 'GET', '/config');
    for (const bps of [10, 20, 30]) {
      const fixedFee = { amount: 1, currency: 'USD' };
      const fee = { sourceCurrency: 'USD', variableFeeBps: bps, fixedFee };
      const feeConfigs = [{ feeType: 'CROSS_CURRENCY_TRANSACTION', ...fee }];
      await callOrThrow(firstServer, 'PATCH', '/config', { feeConfigs });
      expect((await callOrThrow(secondServer, 'GET', '/config')).feeConfigs).toMatchObject(
        feeConfigs,
      );
    }
  });

  it('reject a deleted token within two seconds', async () => {
    const [firstServer, secondServer] = servers as [Running, Running];
    const createdToken = await callOrThrow(firstServer, 'POST', '/tokens', {
      name: 'Short',
      permissions: ['VIEW'],
    });
    const basic = Buffer.from(`${createdToken.clientId}:${createdToken.clientSecret}`).toString(
      'base64',
    );
    const readStatus = async () =>
      (
        await fetch(`${secondServer.credentials.baseUrl}/config`, {
          headers: { authorization: `Basic ${basic}` },
        })
      ).status;
    expect(await readStatus()).toBe(200);
    await remove(firstServer, `/tokens/${createdToken.id}`);
    await sleep(2_000);
    expect(await readStatus()).toBe(401);
  });

  it('leave a balanced ledger', async () => {
    expect(problemsOf(await readSnapshot(url))).toEqual([]);
  });
});
