// Statistics: percentiles of latencies inside one run, medians and ranges over the rounds of a row.
// With at least three rounds, their median is robust against other load during one of them.

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
  completedCount: number;
  /** Measured seconds. Fewer than requested if the prepared requests were used up. */
  measuredS?: number | undefined;
  /** Processor time of the load generator, in microseconds per request. */
  loadUs?: number | undefined;
}

export interface Range {
  median: number;
  min: number;
  max: number;
}

const compareAscending = (a: number, b: number) => a - b;

/** The smallest value that at least `share` of all values do not exceed. 0 if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sortedValues = Float64Array.from(values).sort();
  return sortedValues[Math.max(0, Math.ceil(sortedValues.length * share) - 1)] ?? 0;
}

export function median(values: readonly number[]): number {
  const sortedValues = values.toSorted(compareAscending);
  const middle = sortedValues.length >> 1;
  const middleValue = sortedValues[middle] ?? 0;
  return sortedValues.length % 2
    ? middleValue
    : (middleValue + (sortedValues[middle - 1] ?? 0)) / 2;
}

export const rangeOf = (values: readonly number[]): Range => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

/** Collects completed requests during a run. Latencies count only inside the measured time. */
export function createTally(warmupMs: number, seconds: number) {
  const measuredFrom = performance.now() + warmupMs;
  const endMs = measuredFrom + seconds * 1000;
  const latencies: number[] = [];
  let completedCount = 0;
  let errors = 0;
  let firstError: string | undefined;
  let endedAt: number | undefined;
  return {
    /** Whether to start another request. */
    isRunning: () => performance.now() < endMs,
    ok(startMs: number): void {
      const now = performance.now();
      completedCount++;
      if (now >= measuredFrom && now < endMs) latencies.push(now - startMs);
    },
    error(message: string): void {
      errors++;
      firstError ??= message;
    },
    /** Ends the measured time, because no prepared requests remain. */
    ranOut(): void {
      endedAt ??= Math.min(endMs, performance.now());
    },
    result(): Run {
      const measuredS = Math.max(1, (endedAt ?? endMs) - measuredFrom) / 1000;
      return {
        perSecond: latencies.length / measuredS,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        errors,
        firstError,
        completedCount,
        measuredS,
      };
    },
  };
}

export type Tally = ReturnType<typeof createTally>;
