// An upgrade under load. Two servers behind HAProxy are replaced one after the other by the next
// version, which expands the database. One server is downgraded and upgraded again, and then the
// database is contracted. No request fails, and no payment is lost or duplicated.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
import { scratchFolder } from '../kit/app/scratch.ts';
import { replyProblems } from '../kit/crash/audit.ts';
import { countPending, problemsOf, readSnapshot } from '../kit/crash/books.ts';
import { callOrThrow, createLoad, type Load } from '../kit/crash/load.ts';
import { isProxyInstalled, type RunningProxy, startProxy } from '../kit/crash/proxy.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';
import { earlierVersion, laterVersion, type Version } from '../kit/upgrade/versions.ts';

const CLIENTS = 3;
const PEOPLE = 3;
const STEADY_MS = 100;
/** Minimum time for which each combination of versions serves. HAProxy checks twice a second. */
const SERVE_MS = 1_200;
const WAIT_OPTIONS = { timeout: 60_000, interval: 50 };
const DRAIN_FLAGS = ['--drain', '2'];
const name = `railhead_upgrade_${process.pid}`;
const ENV = {
  RAILHEAD_MASTER_KEY: '07'.repeat(32),
  RAILHEAD_CLIENT_ID: 'upgrade',
  RAILHEAD_CLIENT_SECRET: 'know-this',
  RAILHEAD_RATE_LIMIT: '0',
  RAILHEAD_RATE_LIMIT_QUOTES: '0',
  LOG_LEVEL: 'error',
};

/** Tables that payments read and write, also with statements of the earlier version. */
const TABLES = ['transactions', 'quotes', 'ledger_accounts', 'ledger_transfers', 'jobs'];

const alterTables = (change: string) =>
  TABLES.map((table) => `alter table ${table} ${change};`).join('\n');

/**
 * Both versions write `remittance`. A trigger copies it to `later_remittance`, which represents a
 * column that only the next version reads. `earlier_note` represents a column that only the earlier
 * version uses.
 */
const MIGRATIONS = {
  '9001_expansion.sql': `
    ${alterTables("add column later_note text not null default ''")}
    alter table transactions add column later_remittance text;
    create function copy_remittance() returns trigger language plpgsql as $$
      begin new.later_remittance := new.remittance; return new; end $$;
    create trigger copy_remittance before insert or update on transactions
      for each row execute function copy_remittance();
    update transactions set later_remittance = remittance;
    create index transactions_by_note on transactions (platform_id, later_note, created_at);
    create table later_notes (id text collate "C" primary key);`,
  '9002_contraction.sql': `-- contract after 9001
    ${alterTables('drop column earlier_note')}
    drop trigger copy_remittance on transactions;
    drop function copy_remittance();`,
};

let url: string;
let folder: string;
let earlierRelease: Version;
let laterRelease: Version;
let dataFolders: DataFolder[];
let servers: Running[];
let proxy: RunningProxy;
let receiver: Receiver;
let load: Load;
/** Whether the reader continues. */
let isReading = true;
/** Number of replies to the reader, by status or error. */
const readCounts = new Map<string, number>();
let reader: Promise<void>;

const createSubfolder = (folderName: string) => {
  const createdFolder = path.join(folder, folderName);
  fs.mkdirSync(createdFolder);
  return createdFolder;
};

async function query<R extends object>(text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

const start = (index: number, version: Version, flags: readonly string[] = []) => {
  const dataFolder = dataFolders[index] as DataFolder;
  const env = { ...ENV, DATABASE_URL: url };
  return dataFolder.waitUntilReady(
    dataFolder.launch([...DRAIN_FLAGS, ...flags], env, version.start),
  );
};

/** Reads one list after another until the end of the load. */
async function readSteadily(): Promise<void> {
  const { baseUrl, clientId, clientSecret } = proxy.proxiedServer.credentials;
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const headers = { authorization: `Basic ${basic}` };
  const paths = ['/transactions?limit=20', '/customers/internal-accounts', '/customers', '/config'];
  for (let count = 0; isReading; count++) {
    const address = `${baseUrl}${paths[count % paths.length]}`;
    const status = await fetch(address, { headers }).then(
      async (reply) => (await reply.text()) && String(reply.status),
      (error) => String(error.cause ?? error),
    );
    readCounts.set(status, (readCounts.get(status) ?? 0) + 1);
    await sleep(50);
  }
}

beforeAll(async () => {
  if (!isProxyInstalled()) return;
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `create database ${name}`);
  url = databaseUrl(admin, name);
  folder = fs.mkdtempSync(path.join(scratchFolder(), 'railhead-upgrade-'));
  earlierRelease = earlierVersion(createSubfolder('earlier'));
  laterRelease = laterVersion(createSubfolder('later'), MIGRATIONS);
  receiver = await startReceiver();
  dataFolders = ['one', 'two', 'rejected'].map((label) => createDataFolder(`upgrade-${label}`));
  servers = await Promise.all([start(0, earlierRelease), start(1, earlierRelease)]);
  await execute(url, alterTables("add column earlier_note text not null default ''"));
  proxy = await startProxy(servers, folder);
  await callOrThrow(proxy.proxiedServer, 'PATCH', '/config', { webhookEndpoint: receiver.url });
  const loadOptions = { clients: CLIENTS, people: PEOPLE, steadyMs: STEADY_MS };
  load = await createLoad(proxy.proxiedServer, { seed: Number(runSeed()), ...loadOptions });
  load.hasSlowPayments = false;
  load.open(proxy.proxiedServer);
  reader = readSteadily();
}, 120_000);

afterAll(async () => {
  isReading = false;
  await Promise.all([load?.finish(), reader]);
  proxy?.stop();
  await Promise.all((dataFolders ?? []).map((dataFolder) => dataFolder.remove()));
  await receiver?.close();
  if (!url) return;
  fs.rmSync(folder, { recursive: true, force: true });
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `drop database if exists ${name} with (force)`);
}, 60_000);

/** Stops a server and starts a version in its place. */
async function replace(index: number, version: Version): Promise<void> {
  const { child, origin } = servers[index] as Running;
  child.kill('SIGTERM');
  const endedProcess = await dataFolders[index]?.waitForExit(child);
  expect(endedProcess).toMatchObject({ code: 0, signal: null });
  servers[index] = await start(index, version, ['--port', new URL(origin).port]);
}

/** Number of change sets that a server has committed. */
async function countChangeSets({ origin }: Running): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const lines = [...text.matchAll(/^railhead_change_sets_total(?:\{.*\})? (\d+)$/gm)];
  return lines.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Waits for `SERVE_MS`, and longer if a server has not committed a change set since the call. */
async function serve(): Promise<void> {
  const countsBefore = await Promise.all(servers.map(countChangeSets));
  await sleep(SERVE_MS);
  await vi.waitUntil(async () => {
    const countsAfter = await Promise.all(servers.map(countChangeSets));
    return countsAfter.every((count, index) => count > (countsBefore[index] ?? 0));
  }, WAIT_OPTIONS);
}

/** Runs `railhead-server migrate` of a version. */
const migrate = (version: Version, ...flags: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const env = { ...process.env, ...ENV, DATABASE_URL: url };
    const args = [...version.operator, 'migrate', '--json', ...flags];
    execFile(process.execPath, args, { cwd: folder, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });

describe.skipIf(!isProxyInstalled())('an upgrade under load', () => {
  it('expands the database while two versions serve, and permits a downgrade', async () => {
    await serve();
    await replace(0, laterRelease);
    await serve();
    await replace(1, laterRelease);
    await serve();
    // The earlier version starts on the expanded database.
    await replace(0, earlierRelease);
    await serve();
    const { out } = await migrate(laterRelease, '--dry-run');
    expect(JSON.parse(out)).toEqual({ expansions: [], contractions: ['9002_contraction.sql'] });
  }, 120_000);

  it('does not contract the database while a server of the earlier version runs', async () => {
    const { code, err } = await migrate(laterRelease, '--contract');
    expect(code).not.toBe(0);
    expect(err).toContain(
      '9002_contraction.sql needs servers with migration 9001. A running server has',
    );
    expect(err).toMatch(/ up to \d{4}\. Update it first\./);
    await serve();
  }, 60_000);

  it('contracts the database when only the later version runs, and rejects the earlier version', async () => {
    await replace(0, laterRelease);
    await serve();
    const countSql = `select count(*)::int as rows, count(*) filter (where later_remittance is
      distinct from remittance)::int as different from transactions`;
    const [{ rows, different } = { rows: 0, different: 0 }] = await query<{
      rows: number;
      different: number;
    }>(countSql);
    expect(different).toBe(0);
    expect(rows).toBeGreaterThan(100);
    const contraction = await migrate(laterRelease, '--contract');
    expect({ ...contraction, out: JSON.parse(contraction.out) }).toMatchObject({
      code: 0,
      out: { applied: ['9002_contraction.sql'] },
    });
    await serve();
    await expect(start(2, earlierRelease)).rejects.toThrow('has migration 9002_contraction.sql');
    await serve();
  }, 120_000);

  it('fails no request, and loses or duplicates no payment', async () => {
    isReading = false;
    await Promise.all([load.finish(), reader]);
    expect([...readCounts.keys()], proxy.output()).toEqual(['200']);
    expect(load.unexpectedResults.slice(0, 20), proxy.output()).toEqual([]);
    expect(load.lostCount).toBe(0);
    // Each request succeeded at the first attempt.
    expect(load.requests.filter(({ attempts }) => attempts !== 1)).toEqual([]);
    await vi.waitUntil(async () => {
      const { jobs, events } = await countPending(url);
      return jobs === 0 && events === 0;
    }, WAIT_OPTIONS);
    const snapshot = await readSnapshot(url);
    const problems = [...problemsOf(snapshot), ...replyProblems(snapshot, load.requests)];
    expect(problems.slice(0, 20)).toEqual([]);
    const deliveredIds = receiver.arrivals.map(({ id }) => id);
    expect(new Set(deliveredIds).size).toBe(deliveredIds.length);
    expect(snapshot.events.filter((event) => !event.delivered)).toEqual([]);
    console.info(
      `From ${earlierRelease.name}: ${load.requests.length} requests, ` +
        `${readCounts.get('200')} reads, ${snapshot.payments.length} payments, 0 failed.`,
    );
  }, 90_000);
});
