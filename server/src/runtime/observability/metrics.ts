// The metrics at /metrics for Prometheus, such as requests by operation and status. Values of
// labels are bounded, such as operation IDs and statuses, and never IDs of customers or platforms.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { installedVersion } from '../config/version.ts';
import { within } from './within.ts';

/** Numbers by label value. */
type ReadEach = () => ReadonlyMap<string, number> | Promise<ReadonlyMap<string, number>>;

/** A number, or undefined if there is none at the time. */
type Read = () => number | undefined | Promise<number | undefined>;

/** Adds one to the counter with these values of its labels, in their order. */
type Count = (...labels: string[]) => void;

export interface Metrics {
  request(operationId: string, status: number, ms: number): void;
  /** Counts a request that a rate limit rejected. `limit` is the name of the limit. */
  recordRateLimit(limit: string): void;
  batch(changeSets: number, ms: number, mode: string): void;
  job(kind: string, result: 'done' | 'again' | 'postponed' | 'dead'): void;
  delivery(result: 'delivered' | 'retry' | 'dropped' | 'failed'): void;
  /** A counter with labels, whose values must be bounded. */
  counter(name: string, help: string, labels: readonly string[]): Count;
  /** A number read at each scrape. */
  watch(name: string, help: string, read: Read): void;
  /** A number for each value of a label, read at each scrape. */
  watchEach(name: string, help: string, label: string, read: ReadEach): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/**
 * Interval at which the event loop is measured. A timer never runs before its time, so this interval is
 * subtracted from the delay.
 */
const RESOLUTION_MS = 5;

/** A single monitor per process, because a process has one event loop and each monitor is a timer. */
let monitor: IntervalHistogram | undefined;

function eventLoopDelays(): IntervalHistogram {
  if (!monitor) {
    monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    monitor.enable();
  }
  return monitor;
}

const delayMs = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS);

/** Delay of the event loop since the last scrape of the metrics, in milliseconds. */
export function eventLoopDelay(): { p50: number; p99: number; max: number } {
  const delays = eventLoopDelays();
  if (delays.count === 0) return { p50: 0, p99: 0, max: 0 };
  return {
    p50: delayMs(delays.percentile(50)),
    p99: delayMs(delays.percentile(99)),
    max: delayMs(delays.max),
  };
}

/**
 * Delay of the event loop since the last reading, which is the time that a request waits before it is
 * processed.
 */
function watchEventLoop(registers: Registry[]): void {
  const delays = eventLoopDelays();
  const quantiles = new Gauge({
    name: 'railhead_event_loop_delay_seconds',
    help: 'Event loop delay since the last scrape. Quantile 1 is the maximum.',
    labelNames: ['quantile'] as const,
    registers,
    collect() {
      for (const quantile of [0.5, 0.99, 1]) {
        const ns = quantile === 1 ? delays.max : delays.percentile(quantile * 100);
        const seconds = delays.count > 0 ? ns / 1e9 - RESOLUTION_MS / 1000 : 0;
        quantiles.set({ quantile: String(quantile) }, Math.max(0, seconds));
      }
      delays.reset();
    },
  });
}

function addBuildInfo(registers: Registry[]): void {
  const buildInfo = new Gauge({
    name: 'railhead_build_info',
    help: 'Always 1, with the version of this server.',
    labelNames: ['version'] as const,
    registers,
  });
  buildInfo.set({ version: installedVersion() }, 1);
}

/** Shorter than the time in which the processes of a machine report to the scraped process. */
const READ_MS = 700;

/** Returns a value, or undefined if it cannot be read within READ_MS. */
async function readInTime<R>(read: () => R | Promise<R>, countFailure: () => void) {
  const result: { value?: R } = {};
  let isRead = false;
  const work = Promise.resolve()
    .then(read)
    .then((value) => {
      result.value = value;
      isRead = true;
    });
  await within(READ_MS, work).catch(() => undefined);
  if (!isRead) countFailure();
  return result.value;
}

/**
 * Gauges that are read at each scrape. A value that cannot be read, for example while the database is
 * unavailable, is absent. The other metrics are shown.
 */
function gaugesIn(registers: Registry[]): Pick<Metrics, 'watch' | 'watchEach'> {
  const failures = new Counter({
    name: 'railhead_metric_reads_failed_total',
    help: 'Metrics that could not be read for a scrape and were absent from it.',
    registers,
  });
  const countFailure = () => failures.inc();
  return {
    watch(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const value = await readInTime(read, countFailure);
          if (value === undefined) this.remove();
          else this.set(value);
        },
      });
    },
    watchEach(name, help, label, read) {
      new Gauge({
        name,
        help,
        registers,
        labelNames: [label],
        async collect() {
          const values = await readInTime(read, countFailure);
          this.reset();
          for (const [each, value] of values ?? []) this.set({ [label]: each }, value);
        },
      });
    },
  };
}

const countersIn = (registers: Registry[]): Pick<Metrics, 'counter'> => ({
  counter(name, help, labels) {
    const counter = new Counter({ name, help, labelNames: [...labels], registers });
    return (...values) => counter.labels(...values).inc();
  },
});

interface MetricsOptions {
  /** Number of the process among the processes that share a port. A label of every sample. */
  process?: number | undefined;
}

/** Metrics of one server. Several servers in one process are separate. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  if (options.process !== undefined) {
    registry.setDefaultLabels({ process: String(options.process) });
  }
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  watchEventLoop(registers);
  addBuildInfo(registers);
  const requestHistogram = new Histogram({
    name: 'railhead_request_seconds',
    help: 'Duration of requests.',
    labelNames: ['operation', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const batchHistogram = new Histogram({
    name: 'railhead_commit_seconds',
    help: 'Duration of commits of change set batches.',
    labelNames: ['mode'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
    registers,
  });
  const changeSetCounter = new Counter({
    name: 'railhead_change_sets_total',
    help: 'Change sets sent to the database.',
    registers,
  });
  const rateLimitCounter = new Counter({
    name: 'railhead_rate_limited_total',
    help: 'Requests rejected by a rate limit.',
    labelNames: ['limit'] as const,
    registers,
  });
  const jobCounter = new Counter({
    name: 'railhead_jobs_total',
    help: 'Job runs, by result.',
    labelNames: ['kind', 'result'] as const,
    registers,
  });
  const deliveryCounter = new Counter({
    name: 'railhead_deliveries_total',
    help: 'Webhook delivery attempts, by result. `failed`: a failed test event or approval request.',
    labelNames: ['result'] as const,
    registers,
  });
  // Series are cached, because finding a series by its labels costs more than counting.
  const series = new Map<string, { observe(seconds: number): void }>();
  function requestsOf(operation: string, status: number) {
    const key = `${operation} ${status}`;
    const requestSeries = series.get(key) ?? requestHistogram.labels(operation, String(status));
    series.set(key, requestSeries);
    return requestSeries;
  }
  return {
    request: (operation, status, ms) => requestsOf(operation, status).observe(ms / 1000),
    batch(count, ms, mode) {
      batchHistogram.observe({ mode }, ms / 1000);
      changeSetCounter.inc(count);
    },
    recordRateLimit: (limit) => rateLimitCounter.inc({ limit }),
    job: (kind, result) => jobCounter.inc({ kind, result }),
    delivery: (result) => deliveryCounter.inc({ result }),
    ...countersIn(registers),
    ...gaugesIn(registers),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
