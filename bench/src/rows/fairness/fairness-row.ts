// Row 8: sequential payments of one platform without other load, and during load from other
// clients. These clients post large bodies without a credential, with the credential of another
// platform, or to an unknown path. In another case, text messages are queued while the text message
// service does not respond. All rate limits except the limit of bytes are enabled.
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE, FUNDS, mapConcurrently } from '../../machine/api.ts';
import type { Bench } from '../../machine/bench.ts';
import { startWorker, type Worker } from '../../machine/children.ts';
import { familyOf, watchProcessor } from '../../machine/proc.ts';
import { type Attack, type AttackReport, emptyReport } from '../../processes/attack.ts';
import { alternate, printProgress, type Row, type Side, sideOf } from '../../table/row.ts';
import type { Run } from '../../table/stats.ts';
import {
  type Bounds,
  createPayer,
  PAYOUT,
  type Payer,
  paySequentially,
  TRANSFER,
} from './fairness-payer.ts';
import { FAIRNESS_DATABASE, type FairnessSetup, prepareFairness } from './fairness-setup.ts';

/** Target: maximum time of a payment during load, as a multiple of its time without load. */
const MAX_SLOWDOWN = 3;
/** Number of attacks after each run without load. */
const ATTACKS_PER_BASELINE = 2;
/** Number of keys in a body, which has about 800 kB of JSON. */
const KEYS = 75_000;
/** Time for the attack to reach its rate before the measurement. */
const ONSET_MS = 1_500;
const DRAIN_MS = 240_000;
const POLL_MS = 200;
/**
 * Number of groups of customers. Rounds alternate between them, because a customer may receive one
 * code per 30 s.
 */
const CUSTOMER_GROUPS = 2;

interface RowContext {
  bench: Bench;
  setup: FairnessSetup;
  attacker: Worker;
  /** Payments that were accepted or COMPLETED. */
  acknowledged: { transfers: number; payouts: number };
}

interface Case {
  id: string;
  loadLabel: string;
  attack: Omit<Attack, 'port' | 'keys'>;
  maximum?: number;
}

const casesOf = ({ otherAuthorization }: FairnessSetup): Case[] => {
  const path = `${BASE}/quotes`;
  return [
    {
      id: '8a',
      loadLabel: '8 connections without a credential',
      attack: { connections: 8, path },
      maximum: MAX_SLOWDOWN,
    },
    {
      id: '8b',
      loadLabel: '8 connections of another platform',
      attack: { connections: 8, path, authorization: otherAuthorization },
      maximum: MAX_SLOWDOWN,
    },
    {
      id: '8c',
      loadLabel: '8 connections to an unknown path',
      attack: { connections: 8, path: `${BASE}/no-such-path` },
      maximum: MAX_SLOWDOWN,
    },
    {
      id: '8e',
      loadLabel: '32 connections without a credential',
      attack: { connections: 32, path },
    },
  ];
};

const boundsOf = ({ settings, quick }: Bench): Bounds => ({
  seconds: settings.seconds,
  minPayments: quick ? 1 : 3,
  maxSeconds: 90,
});

/** Runs `work` with a payer whose connection is open and warmed up. */
async function withPayer(
  { bench, setup, acknowledged }: RowContext,
  kind: 'transfer' | 'payout',
  work: (pay: () => Promise<number>) => Promise<Run>,
): Promise<Run> {
  await bench.cluster.checkpoint();
  const payer: Payer = createPayer(setup.port, setup.accounts);
  const pay = async () => {
    const ms = await payer[kind]();
    acknowledged[kind === 'transfer' ? 'transfers' : 'payouts']++;
    return ms;
  };
  try {
    const seconds = bench.settings.warmupMs / 1000;
    const warmUp = await paySequentially(pay, { seconds, minPayments: 1, maxSeconds: seconds });
    const run = await work(pay);
    return {
      ...run,
      errors: run.errors + warmUp.errors,
      firstError: warmUp.firstError ?? run.firstError,
    };
  } finally {
    payer.close();
  }
}

const countTextsOf = (countsByName: Record<string, number>) =>
  Object.entries(countsByName).map(([name, times]) => `${name} × ${times}`);

const sum = (countsByName: Record<string, number>) =>
  Object.values(countsByName).reduce((a, b) => a + b, 0);

function addReport(target: AttackReport, addition: AttackReport): void {
  for (const counter of ['responses', 'unansweredCounts', 'connectionErrors'] as const) {
    for (const [name, times] of Object.entries(addition[counter])) {
      target[counter][name] = (target[counter][name] ?? 0) + times;
    }
  }
  target.connections += addition.connections;
  target.bodyBytes = addition.bodyBytes;
}

function summaryOf(report: AttackReport): string {
  const { responses, unansweredCounts, connectionErrors, connections, bodyBytes } = report;
  const names = (countsByName: Record<string, number>) =>
    countTextsOf(countsByName).join(', ') || 'none';
  const connectionText =
    sum(connectionErrors) === 0 ? '' : `. Not connected: ${names(connectionErrors)}`;
  return (
    `bodies of ${(bodyBytes / 1000).toFixed(0)} kB, connections opened: ${connections}; ` +
    `responses: ${names(responses)}; ` +
    `requests without a response: ${names(unansweredCounts)}${connectionText}`
  );
}

/**
 * A run during an attack. The attack and all its requests are complete when the promise resolves.
 */
async function runDuringAttack(
  context: RowContext,
  attack: Attack,
  total: AttackReport,
): Promise<Run> {
  const { bench, setup, attacker } = context;
  return withPayer(context, 'transfer', async (pay) => {
    await attacker.call('start', attack);
    await sleep(ONSET_MS);
    const processorUse = watchProcessor({
      server: () => [setup.process.pid],
      PostgreSQL: () => familyOf(bench.cluster.pid),
      attack: () => [attacker.pid],
    });
    const run = await paySequentially(pay, boundsOf(bench));
    printProgress(processorUse.report(run.completedCount));
    const report = await attacker.call<AttackReport>('stop');
    printProgress(summaryOf(report));
    addReport(total, report);
    return run;
  });
}

const QUEUED_MESSAGES = "select count(*)::int as n from messages where status = 'QUEUED'";
const UNFINISHED = `select count(*)::int as n from transactions
  where type = 'OUTGOING' and status in ('PENDING', 'PROCESSING')
    and exists (select from ledger_transfers l where l.transaction_id = transactions.id)`;

/** Waits until a statement counts zero rows, at most `DRAIN_MS`. Returns the last count. */
async function waitUntilEmpty({ bench }: RowContext, statement: string): Promise<number> {
  for (const startedAt = performance.now(); ; await sleep(POLL_MS)) {
    const [row] = await bench.cluster.rows<{ n: number }>(FAIRNESS_DATABASE, statement);
    if (!row?.n || performance.now() - startedAt > DRAIN_MS) return row?.n ?? 0;
  }
}

/** Counts of text messages. */
interface MessageCounts {
  sentCount: number;
  /** Maximum number of concurrent requests at the service. */
  maxConcurrent: number;
  /** Minimum number of queued messages at the end of a round. */
  minQueuedCount: number;
  /** Number of messages that were not sent in time after the service recovered. */
  unsent: number;
}

/**
 * A run while text messages are queued for the unresponsive service. Resolves when all messages are
 * sent, or after `DRAIN_MS`.
 */
async function runDuringServiceOutage(
  context: RowContext,
  customers: readonly string[],
  total: MessageCounts,
): Promise<Run> {
  const { bench, setup } = context;
  const { production, service } = setup;
  const run = await withPayer(context, 'payout', async (pay) => {
    await service.call('hang');
    await mapConcurrently(customers, (id) => production('POST', `/customers/${id}/verify-phone`));
    await sleep(ONSET_MS);
    return paySequentially(pay, { ...boundsOf(bench), minPayments: 1 });
  });
  const [queuedRow] = await bench.cluster.rows<{ n: number }>(FAIRNESS_DATABASE, QUEUED_MESSAGES);
  const concurrent = await service.call<number>('release');
  const releasedAt = performance.now();
  const unsent = await waitUntilEmpty(context, QUEUED_MESSAGES);
  const seconds = ((performance.now() - releasedAt) / 1000).toFixed(1);
  printProgress(
    `${queuedRow?.n} of ${customers.length} messages were queued at the end, ` +
      `at most ${concurrent} concurrently at the service`,
  );
  printProgress(`${seconds} s after the service recovered, ${unsent} messages are still queued`);
  total.sentCount += customers.length;
  total.maxConcurrent = Math.max(total.maxConcurrent, concurrent);
  total.minQueuedCount = Math.min(total.minQueuedCount, queuedRow?.n ?? 0);
  total.unsent += unsent;
  return run;
}

const CHECK = `select
  (select count(*) from transactions t where type = 'OUTGOING' and status = 'COMPLETED') as completed,
  (select count(*) from transactions t where type = 'OUTGOING' and status <> 'COMPLETED'
    and exists (select from ledger_transfers l where l.transaction_id = t.id)) as unfinished,
  (select count(*) from transactions t where type = 'OUTGOING' and status = 'COMPLETED'
    and not exists (select from ledger_transfers l where l.transaction_id = t.id)) as unpaid,
  (select $2::bigint - balance from ledger_accounts where id = $1) as spent,
  (select held from ledger_accounts where id = $1) as held,
  (select count(*) from (select currency from ledger_accounts
    group by currency having sum(balance) <> 0) unbalanced) as unbalanced`;

/** Compares the database with the payer's acknowledged payments. Any difference is an error. */
async function countDifferences(context: RowContext): Promise<number> {
  const { bench, setup, acknowledged } = context;
  await waitUntilEmpty(context, UNFINISHED);
  const values = [setup.accounts.source, FUNDS];
  const [row] = await bench.cluster.rows<Record<string, string>>(FAIRNESS_DATABASE, CHECK, values);
  const totals = Object.entries(row ?? {}).map(([kind, count]) => `${count} ${kind}`);
  printProgress(
    `${acknowledged.transfers} transfers and ${acknowledged.payouts} payouts acknowledged, ` +
      totals.join(', '),
  );
  const countOf = (column: string) => Number(row?.[column]);
  const missingCount = Math.abs(
    countOf('completed') - acknowledged.transfers - acknowledged.payouts,
  );
  const difference =
    countOf('spent') - acknowledged.transfers * TRANSFER - acknowledged.payouts * PAYOUT;
  const wrongCount = countOf('unfinished') + countOf('unpaid') + countOf('unbalanced');
  return missingCount + wrongCount + (difference === 0 ? 0 : 1) + (countOf('held') === 0 ? 0 : 1);
}

/** A side whose value per round is its median latency. */
const latencySide = (name: string, runs: readonly Run[]): Side => {
  const side = sideOf(name, runs);
  return { ...side, values: side.p50 };
};

/** Name of the run without load that precedes the attack with this index. */
const baselineLabel = (index: number) =>
  `without load, ${1 + Math.floor(index / ATTACKS_PER_BASELINE)}`;
const PAYOUT_BASELINE = '8d, without load';

export async function fairnessRows(bench: Bench): Promise<Row[]> {
  const { rounds } = bench.settings;
  const messageCount = bench.quick ? 150 : 450;
  const setup = await prepareFairness(bench, messageCount * CUSTOMER_GROUPS);
  const attacker = startWorker('attack');
  const context: RowContext = {
    bench,
    setup,
    attacker,
    acknowledged: { transfers: 0, payouts: 0 },
  };
  const cases = casesOf(setup);
  const reports = new Map(cases.map(({ id }) => [id, emptyReport()]));
  const messageCounts: MessageCounts = {
    sentCount: 0,
    maxConcurrent: 0,
    minQueuedCount: messageCount,
    unsent: 0,
  };
  const runBaseline = (kind: 'transfer' | 'payout') => () =>
    withPayer(context, kind, (pay) => paySequentially(pay, boundsOf(bench)));
  const sides: Record<string, () => Promise<Run>> = {};
  for (const [index, { id, attack }] of cases.entries()) {
    const fullAttack = { ...attack, port: setup.port, keys: KEYS };
    if (index % ATTACKS_PER_BASELINE === 0) sides[baselineLabel(index)] = runBaseline('transfer');
    sides[`${id}, under load`] = () =>
      runDuringAttack(context, fullAttack, reports.get(id) as AttackReport);
  }
  let round = 0;
  sides[PAYOUT_BASELINE] = runBaseline('payout');
  sides['8d, under load'] = () => {
    const from = (round++ % CUSTOMER_GROUPS) * messageCount;
    return runDuringServiceOutage(
      context,
      setup.customers.slice(from, from + messageCount),
      messageCounts,
    );
  };
  const runs = await alternate(sides, rounds);
  const wrongCount = await countDifferences(context);
  for (const child of [attacker, setup.process, setup.service]) await child.stop();
  const row = (id: string, subject: string, load: string, baselineName: string): Row => {
    const serverSide = latencySide(`with ${load}`, runs[`${id}, under load`] as Run[]);
    const peer = latencySide('without load', runs[baselineName] as Run[]);
    return {
      id,
      label: subject,
      unit: 'ms',
      railhead: { ...serverSide, errors: serverSide.errors + wrongCount },
      peer,
    };
  };
  const attackRows = cases.map(({ id, loadLabel, maximum }, index): Row => {
    const report = reports.get(id) as AttackReport;
    const transferRow = row(
      id,
      'a transfer out, during requests with 800 kB bodies',
      loadLabel,
      baselineLabel(index),
    );
    const unansweredCount = sum(report.unansweredCounts);
    return {
      ...transferRow,
      slowdown: { maximum },
      remark: summaryOf(report),
      unansweredCount,
    };
  });
  const { sentCount, maxConcurrent, minQueuedCount, unsent } = messageCounts;
  const remark =
    `${sentCount} messages, at most ${maxConcurrent} concurrently at the service, ` +
    `at least ${minQueuedCount} queued at the end of a round, ${unsent} unsent after the service recovered`;
  const outage = `${messageCount} messages without a response`;
  const payoutRow = row('8d', 'a payout, until it is COMPLETED', outage, PAYOUT_BASELINE);
  return [...attackRows, { ...payoutRow, slowdown: { maximum: MAX_SLOWDOWN }, remark }];
}
