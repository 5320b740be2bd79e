// Statistics: percentiles of latencies inside one run, medians and ranges over the rounds of a row.
// A median over interleaved rounds is robust against other load during one of them.

/** Result of one run of one side. */
export interface Run {
  /** Completed requests per second in the measured time. */
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  errors: number;
  /** Message of the first error. */
  firstError?: string | undefined;
  /** All successes including the warm-up, for comparison with the database. */
  done: number;
  /** Measured seconds. Fewer than requested if no prepared requests were left. */
  measuredS?: number | undefined;
  /** Processor time of the load generator, in microseconds per request. */
  loadUs?: number | undefined;
}

export interface Range {
  median: number;
  min: number;
  max: number;
}

const ascending = (a: number, b: number) => a - b;

/** The smallest value that at least `share` of all values do not exceed. 0 if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted(ascending);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 ? high : (high + (sorted[middle - 1] ?? 0)) / 2;
}

export const rangeOf = (values: readonly number[]): Range => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

/** Collects completed requests during a run. Latencies count only inside the measured time. */
export function createTally(warmupMs: number, seconds: number) {
  const from = performance.now() + warmupMs;
  const until = from + seconds * 1000;
  const latencies: number[] = [];
  let done = 0;
  let errors = 0;
  let firstError: string | undefined;
  let ended: number | undefined;
  return {
    /** Whether to start another request. */
    isRunning: () => performance.now() < until,
    ok(startMs: number): void {
      const now = performance.now();
      done++;
      if (now >= from && now < until) latencies.push(now - startMs);
    },
    error(message: string): void {
      errors++;
      firstError ??= message;
    },
    /** Ends the measured time, because no prepared requests are left. */
    ranOut(): void {
      ended ??= Math.min(until, performance.now());
    },
    result(): Run {
      const measured = Math.max(1, (ended ?? until) - from) / 1000;
      return {
        perSecond: latencies.length / measured,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        errors,
        firstError,
        done,
        measuredS: measured,
      };
    },
  };
}

export type Tally = ReturnType<typeof createTally>;
