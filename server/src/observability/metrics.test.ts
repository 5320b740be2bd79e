// The metrics of a server: the list in docs/metrics.md, payments by state, and the result and age of the
// ledger verification. Values are absent while the database does not respond.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../test/kit/app/fixtures.ts';
import { testApp, testAppForEach } from '../../test/kit/app/test-app.ts';
import { verifyLedger } from '../features/accounting/index.ts';
import { ledgerCheckSweep } from '../features/accounting/ledger-check.ts';
import { projectRoot } from '../runtime/config/root.ts';
import { createMetrics } from '../runtime/observability/metrics.ts';
import { ledgerCheckOf, watchReadiness } from './metrics.ts';

const app = testApp();

const scrape = async (server = app.app.server) => (await server.inject('/metrics')).payload;

/** The value of a sample with the labels of `series`. Undefined if there is none. */
async function sampleOf(series: string): Promise<number | undefined> {
  const line = (await scrape()).split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

interface Family {
  name: string;
  type: string;
  labels: string;
  meaning: string;
}

/** Labels that Prometheus or prom-client adds to the samples of a type. */
const ADDED_LABELS = new Set(['le']);

function labelsIn(text: string, name: string): Set<string> {
  const samples = text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'));
  const names = [...samples].flatMap(([, labels = '']) =>
    [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
  );
  return new Set(names.filter((each) => !ADDED_LABELS.has(each)));
}

const exposedFamilies = (text: string) =>
  [...text.matchAll(/^# HELP (railhead_\w+) (.*)\n# TYPE \w+ (\w+)$/gm)].map(
    ([, name = '', meaning = '', type = '']) => ({ name, type, meaning }),
  );

function documentedFamilies(): Family[] {
  const page = readFileSync(path.join(projectRoot(), 'docs', 'metrics.md'), 'utf8');
  return [...page.matchAll(/^\| `(railhead_\w+)` *\| (\w+) *\| (.*?) *\| (.*?) *\|$/gm)].map(
    ([, name = '', type = '', labels = '', meaning = '']) => ({ name, type, labels, meaning }),
  );
}

async function payOut(): Promise<void> {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'EUR');
  const body = quoteBody(account.id, target.id, 100_00, { immediatelyExecute: true });
  ok(await app.call('POST', '/quotes', body), 201);
  await app.settle();
}

describe('docs/metrics.md', () => {
  it('lists the metrics of /metrics, with their types, meanings and labels', async () => {
    await payOut();
    const text = await scrape();
    const documentedMetrics = documentedFamilies();
    const compareNames = (first: { name: string }, second: { name: string }) =>
      first.name < second.name ? -1 : 1;
    const listedMetrics = documentedMetrics.map(({ name, type, meaning }) => ({
      name,
      type,
      meaning,
    }));
    expect(listedMetrics.sort(compareNames)).toEqual(exposedFamilies(text).sort(compareNames));
    const undocumentedLabels = documentedMetrics.flatMap(({ name, labels }) =>
      [...labelsIn(text, name)]
        .filter((label) => !labels.includes(`\`${label}\``))
        .map((label) => `${name}: ${label}`),
    );
    expect(undocumentedLabels).toEqual([]);
  });
});

describe('railhead_payments_total', () => {
  it('counts each state of a payment once', async () => {
    const count = async (type: string, state: string) =>
      (await sampleOf(`railhead_payments_total{type="${type}",state="${state}"}`)) ?? 0;
    const completedBefore = await count('OUTGOING', 'COMPLETED');
    const processingBefore = await count('OUTGOING', 'PROCESSING');
    await payOut();
    expect(await count('OUTGOING', 'PROCESSING')).toBe(processingBefore + 1);
    expect(await count('OUTGOING', 'COMPLETED')).toBe(completedBefore + 1);
  });
});

describe('connections', () => {
  it('include the pool and the lanes', async () => {
    expect(await sampleOf('railhead_pool_connections{state="maximum"}')).toBe(2);
    expect(await sampleOf('railhead_lanes{state="connected"}')).toBe(2);
    expect(await sampleOf('railhead_replicas{state="synchronous"}')).toBe(0);
    expect(await sampleOf('railhead_replication_required')).toBe(0);
    expect(await sampleOf('railhead_replication_lag_seconds')).toBeUndefined();
    expect(await sampleOf('railhead_ready')).toBe(1);
  });
});

describe('railhead_ready', () => {
  it('is 0 while the database does not respond', async () => {
    const metrics = createMetrics();
    watchReadiness(metrics, { check: () => sleep(1_000, 'database unreachable') });
    expect(await metrics.text()).toContain('railhead_ready 0');
  });
});

describe('verification of the ledger', () => {
  const server = testAppForEach();
  const HOUR_MS = 3_600_000;

  async function ledgerMetrics() {
    const text = await scrape(server.app.server);
    const [, balancedText] = /^railhead_ledger_balanced (\d)$/m.exec(text) ?? [];
    const [, age] = /^railhead_ledger_check_age_seconds (\S+)$/m.exec(text) ?? [];
    return { balanced: balancedText, age };
  }

  it('has no metric before the first run', async () => {
    expect(await ledgerMetrics()).toEqual({ balanced: undefined, age: undefined });
  });

  it('is recorded after a run by an operator', async () => {
    await verifyLedger(server.runtime);
    server.effects.set(server.effects.now() + HOUR_MS);
    expect(await ledgerMetrics()).toEqual({ balanced: '1', age: '3600' });
  });

  it('runs in one of several processes at its interval, and reports a difference', async () => {
    const { runtime, databaseUrl } = server;
    const options = ledgerCheckOf({ databaseUrl, ledgerCheckMs: 24 * HOUR_MS });
    let runCount = 0;
    const countedOptions: typeof options = {
      ...options,
      withConnection(timeoutMs, work) {
        runCount++;
        return options.withConnection(timeoutMs, work);
      },
    };
    const sweeps = [ledgerCheckSweep(countedOptions), ledgerCheckSweep(countedOptions)];
    const runAfter = async (ms: number) => {
      server.effects.set(server.effects.now() + ms);
      await Promise.all(sweeps.map((each) => each.run(runtime)));
      return runCount;
    };
    expect(await runAfter(0)).toBe(0);
    expect(await runAfter(HOUR_MS)).toBe(1);
    expect(await ledgerMetrics()).toEqual({ balanced: '1', age: '0' });
    expect(await runAfter(HOUR_MS)).toBe(1);
    const { query } = runtime.db;
    const [row] = await query<{ id: string; currency: string }>(
      'select id, currency from ledger_accounts where floor is null limit 1',
    );
    const values = [row?.id, row?.currency];
    const addAmount =
      'update ledger_accounts set balance = balance + $3 where id = $1 and currency = $2';
    await query(addAmount, [...values, 1n]);
    expect(await runAfter(24 * HOUR_MS)).toBe(2);
    expect((await ledgerMetrics()).balanced).toBe('0');
    await query(addAmount, [...values, -1n]);
  });

  it('is disabled by an interval of 0', async () => {
    const { runtime, databaseUrl } = server;
    const sweep = ledgerCheckSweep(ledgerCheckOf({ databaseUrl }));
    server.effects.set(server.effects.now() + 1_000 * HOUR_MS);
    await sweep.run(runtime);
    expect((await ledgerMetrics()).age).toBeUndefined();
  });
});

describe('a metric that cannot be read', () => {
  it('is absent, and counted as a failed read', async () => {
    const metrics = createMetrics();
    metrics.watch('failing', 'Fails.', () => Promise.reject(new Error('no database')));
    metrics.watch('waiting', 'Waits.', () => new Promise<number>(() => undefined));
    metrics.watchEach('failing_each', 'Fails.', 'kind', () => {
      throw new Error('no database');
    });
    metrics.watch('working', 'Works.', () => 1);
    const samples = (await metrics.text()).split('\n').filter((line) => !line.startsWith('#'));
    const testedSamples = samples.filter((line) =>
      /^(failing|waiting|working|railhead_metric)/.test(line),
    );
    expect(testedSamples.filter((line) => !line.startsWith('railhead'))).toEqual(['working 1']);
    expect(await metrics.text()).toMatch(/^railhead_metric_reads_failed_total [1-9]/m);
  });
});
