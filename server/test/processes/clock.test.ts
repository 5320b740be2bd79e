// The clock of a sandbox platform with several processes on one database. All processes use the
// time of an acknowledged change. The clock is unchanged after a restart. Another process continues
// a change that a kill interrupts, and returns every payment once.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { accountInfos } from '../kit/app/fixtures.ts';
import { problemsOf, readSnapshot } from '../kit/crash/books.ts';
import { callOrThrow } from '../kit/crash/load.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const CLIENT = { id: 'clocks', secret: 'know-this' };
const PAYMENT_COUNT = 120;
const AMOUNT = 1_00;
const DAY = 24 * 3_600_000;
const name = `railhead_clock_${process.pid}`;
const adminUrl = () => (inject('testServer') as { url: string }).url;

let url: string;
let dataFolders: [DataFolder, DataFolder];
let firstServer: Running;
let secondServer: Running;
let database: pg.Client;
let receiver: Receiver;

const env = () => ({
  DATABASE_URL: url,
  RAILHEAD_MASTER_KEY: '07'.repeat(32),
  RAILHEAD_CLIENT_ID: CLIENT.id,
  RAILHEAD_CLIENT_SECRET: CLIENT.secret,
  RAILHEAD_RATE_LIMIT: '0',
  LOG_LEVEL: 'error',
});

beforeAll(async () => {
  await execute(adminUrl(), `create database ${name}`);
  url = databaseUrl(adminUrl(), name);
  receiver = await startReceiver();
  dataFolders = [createDataFolder('clock-one'), createDataFolder('clock-two')];
  [firstServer, secondServer] = await Promise.all([
    dataFolders[0].start([], env()),
    dataFolders[1].start([], env()),
  ]);
  database = new pg.Client({ connectionString: url });
  await database.connect();
}, 120_000);

afterAll(async () => {
  await database?.end();
  await receiver?.close();
  await Promise.all((dataFolders ?? []).map((folder) => folder.remove()));
  await execute(adminUrl(), `drop database if exists ${name} with (force)`);
}, 60_000);

const clockOf = (server: Running) => callOrThrow(server, 'GET', '/sandbox/clock');
const timeOf = async (server: Running) => Date.parse((await clockOf(server)).currentTime);
const changeClock = (server: Running, body: object) =>
  callOrThrow(server, 'POST', '/sandbox/clock', body);

async function createPayer(server: Running) {
  const { id } = await callOrThrow(server, 'POST', '/customers', {
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
  });
  const query = `customerId=${id}&currency=USD`;
  const accounts = await callOrThrow(server, 'GET', `/customers/internal-accounts?${query}`);
  const account = accounts.data[0].id as string;
  const fundBody = { amount: PAYMENT_COUNT * AMOUNT };
  await callOrThrow(server, 'POST', `/sandbox/internal-accounts/${account}/fund`, fundBody);
  // Transfers to an account with this suffix are returned after 30 seconds.
  const accountInfo = accountInfos.USD?.('005');
  const payee = await callOrThrow(server, 'POST', '/customers/external-accounts', {
    customerId: id,
    currency: 'USD',
    accountInfo,
  });
  return { account, payee: payee.id as string };
}

async function count(condition: string): Promise<number> {
  const text = `select count(*)::int as n from transactions
    where type = 'OUTGOING' and ${condition}`;
  return (await database.query<{ n: number }>(text)).rows[0]?.n ?? 0;
}

describe('the clock of several processes', () => {
  it('is the same in each process when a change is acknowledged', async () => {
    for (let day = 1; day <= 5; day++) {
      const [changingServer, otherServer] =
        day % 2 ? [firstServer, secondServer] : [secondServer, firstServer];
      const { currentTime } = await changeClock(changingServer, { advance: 'P1D', freeze: true });
      expect(await clockOf(otherServer)).toEqual({ currentTime, frozen: true });
      const createdCustomer = await callOrThrow(otherServer, 'POST', '/customers', {
        customerType: 'INDIVIDUAL',
        fullName: 'Grace Hopper',
      });
      expect(createdCustomer.createdAt).toBe(currentTime);
    }
  });

  it('changes during deliveries, and each event is delivered once', async () => {
    await callOrThrow(firstServer, 'PATCH', '/config', { webhookEndpoint: receiver.url });
    for (let index = 0; index < 24; index++) {
      await callOrThrow(firstServer, 'POST', '/customers', {
        customerType: 'INDIVIDUAL',
        fullName: 'Grace Hopper',
      });
      await changeClock(index % 3 ? firstServer : secondServer, { advance: 'PT1S' });
    }
    const pendingPath = '/webhook-deliveries?status=PENDING';
    await vi.waitUntil(
      async () => (await callOrThrow(firstServer, 'GET', pendingPath)).data.length === 0,
      { timeout: 20_000, interval: 200 },
    );
    const ids = receiver.arrivals.map(({ id }) => id);
    expect(ids.length).toBeGreaterThanOrEqual(24);
    expect(new Set(ids).size).toBe(ids.length);
    const { rows } = await database.query('select count(*)::int as count from webhook_attempts');
    expect(rows[0].count).toBe(ids.length);
  }, 60_000);

  it('completes an interrupted change in another process after a kill', async () => {
    const { account, payee } = await createPayer(firstServer);
    for (let index = 0; index < PAYMENT_COUNT; index++) {
      await callOrThrow(secondServer, 'POST', '/transfer-out', {
        source: { accountId: account },
        destination: { accountId: payee },
        amount: AMOUNT,
      });
    }
    const start = await timeOf(secondServer);
    const interruptedChange = changeClock(firstServer, { advance: 'P1D' }).catch(
      (error: unknown) => error,
    );
    await vi.waitUntil(async () => (await count("status = 'FAILED'")) > 5, {
      timeout: 30_000,
      interval: 5,
    });
    await dataFolders[0].kill(firstServer.child, 'node');
    expect(await interruptedChange).toBeInstanceOf(Error);
    const returnedCount = await count("status = 'FAILED'");
    expect(returnedCount).toBeLessThan(PAYMENT_COUNT);

    const { currentTime, target } = await clockOf(secondServer);
    expect(Date.parse(currentTime)).toBeLessThan(start + DAY);
    expect(Date.parse(target)).toBe(start + DAY);
    // The lease of the job would expire within 20 seconds, and the lease of the clock within 40.
    await database.query("update jobs set due_at = now() where state = 'running'");
    await database.query('update sandbox_clocks set held_until = now()');
    const continuedClock = await changeClock(secondServer, { to: target });
    expect(continuedClock).toMatchObject({ currentTime: target, frozen: true });
    expect(await count("status = 'FAILED'")).toBe(PAYMENT_COUNT);
    expect(await count(`updated_at >= '${target}'`)).toBe(0);
    const events = await database.query(
      `select subject, count(*) from events where type = 'OUTGOING_PAYMENT.FAILED'
        group by subject`,
    );
    expect(events.rows.map((row) => row.count)).toEqual(Array(PAYMENT_COUNT).fill('1'));
    expect(problemsOf(await readSnapshot(url))).toEqual([]);
  }, 90_000);

  it('is unchanged after a restart of all processes', async () => {
    const clockBefore = await clockOf(secondServer);
    secondServer.child.kill('SIGTERM');
    await dataFolders[1].waitForExit(secondServer.child);
    [firstServer, secondServer] = await Promise.all([
      dataFolders[0].start([], env()),
      dataFolders[1].start([], env()),
    ]);
    expect(await clockOf(firstServer)).toEqual(clockBefore);
    const { currentTime } = await changeClock(secondServer, { advance: 'PT1H', freeze: false });
    expect(await timeOf(firstServer)).toBeGreaterThanOrEqual(Date.parse(currentTime));
  }, 90_000);
});
