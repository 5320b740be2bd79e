// The alert rules pass their tests, and Prometheus accepts the configuration of the documentation.
// Prometheus scrapes a server that has executed payments. Each query of the dashboards is valid,
// and queries for features of every server return series. No alert fires for this server.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { scratchFolder } from '../kit/app/scratch.ts';
import { createDataFolder, type Running } from '../kit/crash/server.ts';
import {
  isPrometheusInstalled,
  promtool,
  type RunningPrometheus,
  startPrometheus,
} from '../kit/monitoring/prometheus.ts';

const RULES_FOLDER = path.join(projectRoot(), 'deploy', 'prometheus');
const DASHBOARDS_FOLDER = path.join(projectRoot(), 'deploy', 'grafana');
/** At least two scrapes, so that rates have values. */
const SCRAPES_MS = 6_000;

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

const queries = fs.readdirSync(DASHBOARDS_FOLDER).flatMap((name) => {
  const { panels } = JSON.parse(
    fs.readFileSync(path.join(DASHBOARDS_FOLDER, name), 'utf8'),
  ) as Dashboard;
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ name: `${name}: ${title}`, expr })),
  );
});

/**
 * Queries without series for a server without providers, replicas, waiting jobs, failures or card
 * payments.
 */
const QUERIES_WITHOUT_SERIES = [
  /railhead_provider_/,
  /railhead_circuit_state/,
  /railhead_replication_lag/,
  /by \(kind\) \(railhead_jobs_/,
  /result=~"again\|dead"/,
  /type!="OUTGOING"/,
];

async function findFreePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function call({ credentials }: Running, method: string, url: string, body?: object) {
  const { baseUrl, clientId, clientSecret } = credentials;
  const encodedCredentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const response = await fetch(`${baseUrl}${url}`, {
    method,
    headers: { authorization: `Basic ${encodedCredentials}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (response.status >= 300)
    throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  // biome-ignore lint/suspicious/noExplicitAny: replies of several shapes.
  return (await response.json()) as any;
}

const PAYEE = {
  currency: 'EUR',
  accountInfo: {
    accountType: 'EUR_ACCOUNT',
    iban: 'DE89370400440532013000',
    beneficiary: {
      ...{ beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper', countryOfResidence: 'DE' },
    },
  },
};

/** Executes a payment, with an endpoint that receives its events. */
async function pay(server: Running): Promise<void> {
  const person = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
  const { id: customerId } = await call(server, 'POST', '/customers', person);
  const accountsPath = `/customers/internal-accounts?customerId=${customerId}&currency=USD`;
  const account = (await call(server, 'GET', accountsPath)).data[0].id;
  await call(server, 'POST', `/sandbox/internal-accounts/${account}/fund`, { amount: 100_000 });
  const payee = { customerId, ...PAYEE };
  const { id } = await call(server, 'POST', '/customers/external-accounts', payee);
  const quote = await call(server, 'POST', '/quotes', {
    source: { sourceType: 'ACCOUNT', accountId: account },
    destination: { destinationType: 'ACCOUNT', accountId: id },
    ...{ lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 25_000, immediatelyExecute: true },
  });
  for (let attempt = 0; attempt < 300; attempt++) {
    const { status } = await call(server, 'GET', `/transactions/${quote.transactionId}`);
    if (status === 'COMPLETED') return;
    await sleep(100);
  }
  throw new Error('the payment did not complete within 30 seconds');
}

/** The configuration of the documentation, for this server and with short intervals. */
function configurationFor(origin: string): string {
  const page = fs.readFileSync(path.join(projectRoot(), 'docs', 'alerts', 'index.md'), 'utf8');
  const documentedConfiguration = /```yml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  return documentedConfiguration
    .replace('127.0.0.1:4000', new URL(origin).host)
    .replace('/opt/railhead/current/deploy/prometheus', RULES_FOLDER)
    .replace('global:', 'global:\n  scrape_interval: 1s\n  evaluation_interval: 1s');
}

describe.skipIf(!isPrometheusInstalled())('Prometheus', () => {
  let folder: string | undefined;
  const dataFolder = createDataFolder('monitoring');
  let prometheus: RunningPrometheus | undefined;

  const runningPrometheus = () => prometheus as RunningPrometheus;

  beforeAll(async () => {
    const receiverPort = await findFreePort();
    const server = await dataFolder.start();
    const webhookEndpoint = `http://127.0.0.1:${receiverPort}/hook`;
    await call(server, 'PATCH', '/config', { webhookEndpoint });
    await pay(server);
    const client = new pg.Client({ connectionString: await dataFolder.database() });
    await client.connect();
    const checkSql = `insert into ledger_checks (id, due_at, checked_at, balanced, ms)
      values ('ledger', 'infinity', now(), true, 1)
      on conflict (id) do update set checked_at = now(), balanced = true, ms = 1`;
    await client.query(checkSql);
    await client.end();
    folder = fs.mkdtempSync(path.join(scratchFolder(), 'prometheus-'));
    prometheus = await startPrometheus(
      folder,
      configurationFor(server.origin),
      await findFreePort(),
    );
    await sleep(SCRAPES_MS);
    // Counters that first appear with a value have a rate only after a change.
    await pay(server);
    await sleep(SCRAPES_MS / 2);
  }, 180_000);

  afterAll(async () => {
    await prometheus?.stop();
    await dataFolder.remove();
    if (folder) fs.rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('accepts the rules, which pass their tests', () => {
    expect(promtool(RULES_FOLDER, 'check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
    const { status, output } = promtool(RULES_FOLDER, 'test', 'rules', 'alerts.test.yaml');
    expect(status, output).toBe(0);
  }, 120_000);

  it('evaluates every rule without an error, and none fires', async () => {
    const { groups } = (await runningPrometheus().get('rules')) as {
      groups: { rules: { name: string; health: string; state: string; lastError?: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(20);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(rules.filter(({ state }) => state === 'firing').map(({ name }) => name)).toEqual([]);
  });

  it.each(queries)('evaluates the query of $name', async ({ expr }) => {
    const series = await runningPrometheus().query(expr);
    const mayBeEmpty = QUERIES_WITHOUT_SERIES.some((pattern) => pattern.test(expr));
    if (!mayBeEmpty) expect(series).not.toEqual([]);
  });
});
