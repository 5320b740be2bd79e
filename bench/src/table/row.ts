// A row of the table: two sides, measured alternately, and the target of their ratio. The ratio is
// calculated per round, because a slower machine affects both sides of a round.
import { type Range, type Run, rangeOf } from './stats.ts';

export interface Side {
  name: string;
  /** One value per round, in the unit of the row. */
  values: number[];
  /** Milliseconds, one per round. Empty if the row has no latencies. */
  p50: number[];
  p99: number[];
  errors: number;
}

export interface Row {
  id: string;
  label: string;
  unit: '/s' | 'ms' | 'MB' | 'µs' | 'B';
  railhead: Side;
  peer: Side;
  /** Minimum ratio. */
  target?: number | undefined;
  /** Maximum 99th percentile of Railhead, as the median of the rounds. */
  maxP99Ms?: number | undefined;
  /** Maximum value of Railhead, in the unit of the row. */
  maxValue?: number | undefined;
  /** The ratio is Railhead's time divided by the peer's, at most `maximum`. */
  slowdown?: { maximum?: number | undefined } | undefined;
  /** Shown under the table. */
  remark?: string | undefined;
  /** Requests of the background load that were not answered. */
  unansweredCount?: number | undefined;
}

export interface Settings {
  rounds: number;
  /** Measured seconds of each run. */
  seconds: number;
  warmupMs: number;
  /** Measured seconds of each attempt during tuning. */
  tuningSeconds: number;
}

export const FULL: Settings = { rounds: 2, seconds: 6, warmupMs: 1_500, tuningSeconds: 2 };
export const QUICK_SETTINGS: Settings = {
  rounds: 2,
  seconds: 1.5,
  warmupMs: 500,
  tuningSeconds: 1,
};

/** The ratios of a row: above one Railhead is better, unless the row measures a slowdown. */
export function ratiosOf({ railhead, peer, unit, slowdown }: Row): Range {
  const isDirect = unit === '/s' || slowdown !== undefined;
  const ratio = (railhead: number, peer: number) => (isDirect ? railhead / peer : peer / railhead);
  return rangeOf(railhead.values.map((value, index) => ratio(value, peer.values[index] as number)));
}

export function sideOf(name: string, runs: readonly Run[]): Side {
  return {
    name,
    values: runs.map((run) => run.perSecond),
    p50: runs.map((run) => run.p50),
    p99: runs.map((run) => run.p99),
    errors: runs.reduce((sum, run) => sum + run.errors, 0),
  };
}

const printLine = (line: string) => void process.stderr.write(`${line}\n`);

/** Progress, on standard error. The results are written to standard output. */
export const printProgress = (text: string) => printLine(`  ${text}`);

function report(name: string, run: Run): void {
  const load = run.loadUs === undefined ? '' : `, load generator ${run.loadUs.toFixed(0)} µs each`;
  const latency = `p50 ${run.p50.toFixed(1)} ms, p99 ${run.p99.toFixed(1)} ms`;
  printProgress(`${name}: ${run.perSecond.toFixed(0)}/s, ${latency}, ${run.errors} errors${load}`);
  if (run.firstError) printProgress(`first error: ${run.firstError}`);
}

type Sides = Record<string, () => Promise<Run>>;

/** Runs every side once per round: A B A B … Returns the runs of each side in order. */
export async function alternate<S extends Sides>(
  sides: S,
  rounds: number,
): Promise<Record<keyof S, Run[]>> {
  const names = Object.keys(sides);
  const runs = Object.fromEntries(names.map((name) => [name, [] as Run[]]));
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      const run = await (sides[name] as () => Promise<Run>)();
      report(`round ${round}, ${name}`, run);
      runs[name]?.push(run);
    }
  }
  return runs as Record<keyof S, Run[]>;
}

const PASSES = 2;

/**
 * Runs a side with each setting in two passes, and returns the fastest setting over both. A
 * temporarily slow disk would affect a single pass. A single setting is returned without a run.
 */
export async function bestOf<T extends string | number>(
  name: string,
  choices: readonly T[],
  run: (choice: T) => Promise<Run>,
): Promise<T> {
  if (choices.length === 1) return choices[0] as T;
  const sums = new Map<T, number>();
  for (let pass = 0; pass < PASSES; pass++) {
    for (const choice of choices) {
      const { perSecond, errors, firstError } = await run(choice);
      printProgress(`${name} ${choice}: ${perSecond.toFixed(0)}/s`);
      if (errors) printProgress(`${errors} errors: ${firstError}`);
      sums.set(choice, (sums.get(choice) ?? 0) + perSecond);
    }
  }
  return choices.toSorted((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0))[0] as T;
}
