// Resources that a number of payments requires: processors, processes, connections, disk and log. All
// results are computed from the measured costs below and from the stated limits. docs/scaling.md explains
// the model.
import { CONNECTIONS_PER_PROCESS } from '../../../server/src/runtime/db/connections/limits.ts';

export type Kind = 'payout' | 'conversion' | 'deposit';

/** Costs of one operation. Processor time is in microseconds. */
interface Cost {
  nodeUs: number;
  postgresUs: number;
  /** Bytes of the write-ahead log. */
  logBytes: number;
}

/** Storage of a payment in the database, in bytes with indexes. */
interface PaymentCost extends Cost {
  /** Rows that are kept permanently. `largestBytes` counts only the largest table, transactions. */
  keptBytes: number;
  largestBytes: number;
  /** Replies of idempotency keys, kept for a week. */
  replyBytes: number;
  /** Events, and recorded requests without bodies, kept for the retention period. */
  events: number;
  eventBytes: number;
  requestBytes: number;
  /** Masked bodies of requests: in the sandbox, or while an operator allows them. */
  bodyBytes: number;
}

/** Command, machine and versions of the measurement. */
export const MEASUREMENT =
  '`npm run capacity -- --measure` on 29 November 2026, 2 × Intel Xeon, Node 20.20.2, PostgreSQL 18.4';

/** A payment by `POST /transfer-out` to a bank account, with its submission and settlement. */
const PAYOUT: PaymentCost = {
  ...{ nodeUs: 1_090, postgresUs: 655, logBytes: 12_289 },
  ...{ keptBytes: 3_056, largestBytes: 2_081, replyBytes: 827 },
  ...{ events: 5, eventBytes: 2_912, requestBytes: 627, bodyBytes: 1_495 },
};

/** A quote and its execution between two accounts of a customer, in two currencies. */
const CONVERSION: PaymentCost = {
  ...{ nodeUs: 505 + 545, postgresUs: 240 + 300, logBytes: 9_884 + 10_323 },
  ...{ keptBytes: 3_138 + 844, largestBytes: 2_515, replyBytes: 782 + 1_049 },
  ...{ events: 5, eventBytes: 2_691, requestBytes: 659 + 651, bodyBytes: 1_778 + 1_303 },
};

/** A deposit to an account. */
const DEPOSIT: PaymentCost = {
  ...{ nodeUs: 440, postgresUs: 290, logBytes: 7_733 },
  ...{ keptBytes: 2_249, largestBytes: 1_958, replyBytes: 1_085 },
  ...{ events: 2, eventBytes: 1_257, requestBytes: 713, bodyBytes: 954 },
};

export const PAYMENTS: Readonly<Record<Kind, PaymentCost>> = {
  payout: PAYOUT,
  conversion: CONVERSION,
  deposit: DEPOSIT,
};

/** `GET /transactions/{id}`. Recorded reads share rows. */
export const READ = { nodeUs: 140, postgresUs: 25, logBytes: 36, requestBytes: 53 };

/**
 * Delivery of one event to one endpoint: the additional cost of a delivered payout, for each of its events.
 */
export const DELIVERY = { nodeUs: 344, postgresUs: 182, logBytes: 1_253, attemptBytes: 385 };

/** Connections for operators and Patroni. */
const SPARE_CONNECTIONS = 10;
/** Maximum utilization of a processor without queueing of requests. */
export const UTILIZATION = 0.5;
/** Days in a partition. Retention removes whole partitions. */
const PARTITION_DAYS = 7;
const REPLY_DAYS = 7;

/**
 * Limits of one database. `tableBytes` is a limit of PostgreSQL. The others are assumptions or
 * measured values.
 */
export const LIMITS = {
  /** Processors of the largest machine that is assumed for PostgreSQL. */
  processors: 32,
  /** Bytes per second that a replica receives over 1 Gbit/s and flushes. */
  logBytesPerSecond: 100_000_000,
  /**
   * All payments change system accounts, so their batches commit one after another. `batch` is the measured
   * number of payments of a batch. `heldMs` is the time for which a batch locks the accounts until a
   * replica has received the batch.
   */
  batch: 50,
  heldMs: 10,
  /** Maximum size of a table in PostgreSQL. */
  tableBytes: 32 * 2 ** 40,
} as const;

const SHARED_ACCOUNTS_PER_SECOND = (LIMITS.batch * 1_000) / LIMITS.heldMs;
const DAY_S = 86_400;
const YEAR_DAYS = 365;

export interface Demand {
  paymentsPerDay: number;
  kind: Kind;
  /** Events per payment, and how many endpoints receive each. */
  events: number;
  endpoints: number;
  /** `GET` requests per payment. */
  reads: number;
  /** Days for which events and recorded requests are kept. */
  retentionDays: number;
  /** The rate of the busiest minutes divided by the mean. */
  peak: number;
  /** Whether bodies of requests are recorded. */
  bodies: boolean;
}

type LimitName = 'processors' | 'log' | 'shared accounts' | 'size of a table';

export interface Capacity {
  meanPerSecond: number;
  peakPerSecond: number;
  /** Busy processors at the peak. */
  nodeBusy: number;
  postgresBusy: number;
  /** Processes of Railhead, and processors for PostgreSQL, of all clusters. */
  processes: number;
  databaseProcessors: number;
  connections: number;
  /** Bytes per day that are kept permanently, and bytes that are kept for a period. */
  keptPerDay: number;
  retained: number;
  logPerDay: number;
  /** Bytes per second of the log at the peak. */
  logPerSecond: number;
  /** Number of database clusters among which platforms are distributed. */
  clusters: number;
  /** Payments per second at which one cluster reaches each limit, in ascending order. */
  limits: readonly { name: LimitName; perSecond: number }[];
  /** Days until the largest table of a cluster has the size that PostgreSQL permits. */
  daysUntilFull: number;
}

const perPayment = ({ kind, reads, events, endpoints }: Demand) => {
  const payment = PAYMENTS[kind];
  const deliveries = events * endpoints;
  const sum = (name: keyof Cost) =>
    payment[name] + reads * READ[name] + deliveries * DELIVERY[name];
  return { nodeS: sum('nodeUs') / 1e6, postgresS: sum('postgresUs') / 1e6, log: sum('logBytes') };
};

/** Payments per second that one cluster can execute, by limit. */
function clusterLimits(demand: Demand): { name: LimitName; perSecond: number }[] {
  const { postgresS, log } = perPayment(demand);
  // The mean rate at which the largest table reaches its limit after one year.
  const yearLimitPerSecond =
    LIMITS.tableBytes / PAYMENTS[demand.kind].largestBytes / YEAR_DAYS / DAY_S;
  return [
    { name: 'processors', perSecond: (LIMITS.processors * UTILIZATION) / postgresS },
    { name: 'log', perSecond: LIMITS.logBytesPerSecond / log },
    { name: 'shared accounts', perSecond: SHARED_ACCOUNTS_PER_SECOND },
    { name: 'size of a table', perSecond: yearLimitPerSecond * demand.peak },
  ];
}

/** Bytes of one payment that are removed after a period, times the days of that period. */
function retainedPerDailyPayment(demand: Demand): number {
  const { kind, events, endpoints, reads, retentionDays, bodies } = demand;
  const payment = PAYMENTS[kind];
  const eventBytes = events * (payment.eventBytes / payment.events);
  const attemptBytes = events * endpoints * DELIVERY.attemptBytes;
  const requestBytes =
    payment.requestBytes + reads * READ.requestBytes + (bodies ? payment.bodyBytes : 0);
  const days = retentionDays + PARTITION_DAYS;
  return days * (eventBytes + attemptBytes + requestBytes) + REPLY_DAYS * payment.replyBytes;
}

/** The capacity that a demand requires. */
export function capacityFor(demand: Demand): Capacity {
  const { paymentsPerDay, kind, peak } = demand;
  const { nodeS, postgresS, log } = perPayment(demand);
  const meanPerSecond = paymentsPerDay / DAY_S;
  const peakPerSecond = meanPerSecond * peak;
  const limits = clusterLimits(demand).sort((a, b) => a.perSecond - b.perSecond);
  const clusters = Math.max(1, Math.ceil(peakPerSecond / (limits[0]?.perSecond ?? 1)));
  const nodeBusy = peakPerSecond * nodeS;
  const postgresBusy = peakPerSecond * postgresS;
  // Each cluster has at least two processes, so that one can be replaced while the other serves.
  const processes = Math.max(2 * clusters, Math.ceil(nodeBusy / UTILIZATION));
  const largestPerDay = (paymentsPerDay / clusters) * PAYMENTS[kind].largestBytes;
  return {
    ...{ meanPerSecond, peakPerSecond, nodeBusy, postgresBusy, processes, clusters },
    databaseProcessors: Math.max(2 * clusters, Math.ceil(postgresBusy / UTILIZATION)),
    connections: processes * CONNECTIONS_PER_PROCESS + clusters * SPARE_CONNECTIONS,
    keptPerDay: paymentsPerDay * PAYMENTS[kind].keptBytes,
    retained: paymentsPerDay * retainedPerDailyPayment(demand),
    logPerDay: paymentsPerDay * log,
    logPerSecond: peakPerSecond * log,
    limits,
    daysUntilFull: LIMITS.tableBytes / largestPerDay,
  };
}
