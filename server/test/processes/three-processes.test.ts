// Three processes below one supervisor poll for the same work. Quotes expire once, jobs run once,
// and events are delivered once.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { accountInfos } from '../kit/app/fixtures.ts';
import { countPending, problemsOf, readSnapshot } from '../kit/crash/books.ts';
import { callOrThrow } from '../kit/crash/load.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const PROCESSES = 3;
const QUOTES = 60;
const PAYOUTS = 40;
const INITIAL_BALANCE = 1_000_00;
const AMOUNT = 5_00;
const ENV = { RAILHEAD_RATE_LIMIT: '0', RAILHEAD_RATE_LIMIT_QUOTES: '0', LOG_LEVEL: 'error' };
const WAIT_OPTIONS = { timeout: 40_000, interval: 100 };

let dataFolder: DataFolder;
let server: Running;
let receiver: Receiver;
let url: string;
let customerId: string;
let usdAccountId: string;
let eurAccountId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  dataFolder = createDataFolder('three');
  server = await dataFolder.start(['--processes', String(PROCESSES)], ENV);
  url = await dataFolder.database();
  await callOrThrow(server, 'PATCH', '/config', { webhookEndpoint: receiver.url });
  const person = { customerType: 'INDIVIDUAL', fullName: 'Ada', currencies: ['USD', 'EUR'] };
  customerId = (await callOrThrow(server, 'POST', '/customers', person)).id;
  [usdAccountId, eurAccountId] = (await Promise.all(['USD', 'EUR'].map(findAccountId))) as [
    string,
    string,
  ];
  await callOrThrow(server, 'POST', `/sandbox/internal-accounts/${usdAccountId}/fund`, {
    amount: INITIAL_BALANCE,
  });
}, 120_000);

afterAll(async () => {
  await dataFolder?.remove();
  await receiver?.close();
}, 60_000);

async function findAccountId(currency: string): Promise<string> {
  const query = `customerId=${customerId}&currency=${currency}`;
  return (await callOrThrow(server, 'GET', `/customers/internal-accounts?${query}`)).data[0].id;
}

async function queryRows<R extends object>(sql: string, values: unknown[] = []): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

const repeatWork = <R>(count: number, work: (index: number) => Promise<R>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

/** A metric by process. A scrape shows the metrics of all processes. */
async function readMetric(name: string, ...labels: string[]): Promise<number[]> {
  const text = await (await fetch(`${server.origin}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  const matchingLines = lines.filter((line) => labels.every((label) => line.includes(label)));
  return matchingLines.map((line) => Number(line.split(' ').at(-1)));
}

const readJobCounts = (result: string) =>
  readMetric('railhead_jobs_total', 'kind="payout.send"', `result="${result}"`);

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('three processes', () => {
  it('expire each quote once', async () => {
    const quotes = await repeatWork(QUOTES, () =>
      callOrThrow(server, 'POST', '/quotes', {
        source: { sourceType: 'ACCOUNT', accountId: usdAccountId },
        destination: { destinationType: 'ACCOUNT', accountId: eurAccountId },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: AMOUNT,
      }),
    );
    const ids = quotes.map(({ id }) => id as string);
    const expireSql =
      "update quotes set expires_at = now() + interval '1 second' where id = any($1)";
    await queryRows(expireSql, [ids]);
    const readStates = () =>
      queryRows<{ status: string; events: number }>(
        `select t.status, (select count(*)::int from events e where e.subject = t.id
            and e.type = 'OUTGOING_PAYMENT.EXPIRED') as events
          from transactions t where t.quote_id = any($1)`,
        [ids],
      );
    await vi.waitUntil(
      async () => (await readStates()).every(({ status }) => status === 'EXPIRED'),
      WAIT_OPTIONS,
    );
    expect(await readStates()).toEqual(Array(QUOTES).fill({ status: 'EXPIRED', events: 1 }));
  }, 60_000);

  it('run each job once', async () => {
    const payee = await callOrThrow(server, 'POST', '/customers/external-accounts', {
      customerId,
      currency: 'USD',
      accountInfo: accountInfos.USD?.('000'),
    });
    await repeatWork(PAYOUTS, () =>
      callOrThrow(server, 'POST', '/transfer-out', {
        source: { accountId: usdAccountId },
        destination: { accountId: payee.id },
        amount: AMOUNT,
        remittanceInformation: randomUUID(),
      }),
    );
    await vi.waitUntil(async () => (await countPending(url)).jobs === 0, WAIT_OPTIONS);
    const states = await queryRows(
      `select status, count(*)::int as payments from transactions
        where type = 'OUTGOING' and quote_id is null group by status`,
    );
    expect(states).toEqual([{ status: 'COMPLETED', payments: PAYOUTS }]);
    expect(sum(await readJobCounts('done'))).toBe(PAYOUTS);
    expect(sum(await readJobCounts('again'))).toBe(0);
    expect(sum(await readJobCounts('failed'))).toBe(0);
  }, 60_000);

  it('deliver each event once', async () => {
    await vi.waitUntil(async () => (await countPending(url)).events === 0, WAIT_OPTIONS);
    const events = await queryRows<{ id: string; attempts: number }>(
      `select e.id, count(a.attempt)::int as attempts
        from events e join webhook_attempts a on a.event_id = e.id group by e.id`,
    );
    expect(events.length).toBeGreaterThan(QUOTES + PAYOUTS);
    expect(events.filter(({ attempts }) => attempts !== 1)).toEqual([]);
    const receivedIds = receiver.arrivals.map(({ id }) => id);
    expect(receivedIds.sort()).toEqual(events.map(({ id }) => id).sort());
  }, 60_000);

  it('leave balanced books', async () => {
    expect(problemsOf(await readSnapshot(url))).toEqual([]);
  });
});
