// `npm run attack` runs the attacks with one seed. It prints the numbers of requests and replies, and every
// problem.
import { randomInt } from 'node:crypto';
import { type AttackOptions, attack, type Result } from './run.ts';
import { quantile } from './victim.ts';

interface AttackFlags {
  /** Random when absent. */
  seed: string | undefined;
  requests: number;
}

const toMib = (bytes: number) => Math.round(bytes / 1_048_576);

/** Figures of a run, one line each. */
export function linesOf(result: Result, { seed }: AttackOptions, ms: number): string[] {
  const { payments, floodedPayments, memory, reachedOperations, floodCount } = result;
  const describeCounts = (counts: Map<string | number, number>) =>
    [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map((pair) => pair.join(' '));
  const describePayments = (name: string, { paymentCount, failures }: typeof payments) =>
    `${name}: ${paymentCount} payments of the other tenant, ${failures.length} failed`;
  const describeLatency = (measuredPayments: typeof payments) =>
    `p50 ${quantile(measuredPayments, 0.5)} ms, p99 ${quantile(measuredPayments, 0.99)} ms`;
  return [
    `seed ${seed}: ${describeCounts(result.requestCounts).join(', ')}; ${Math.round(ms / 1_000)} s`,
    `statuses: ${describeCounts(result.statuses).join(', ')}`,
    `${reachedOperations.size} operations succeeded`,
    `slowest request: ${result.slowestRequest} ${Math.round(result.slowestMs)} ms`,
    `${describePayments('attacks', payments)}, ${describeLatency(payments)}`,
    `${describePayments(`${floodCount} floods`, floodedPayments)}, ${describeLatency(floodedPayments)}`,
    `memory: ${toMib(memory.start)} MiB before, at most ${toMib(memory.highestBytes)} MiB`,
  ];
}

/** Returns whether the server withstood all attacks. */
export async function main({ seed, requests }: AttackFlags): Promise<boolean> {
  const options = { seed: seed ?? String(randomInt(1_000_000_000)), requests, floodMs: 15_000 };
  const startedAt = performance.now();
  const result = await attack(options);
  for (const line of linesOf(result, options, performance.now() - startedAt)) console.log(line);
  for (const problem of result.problems) console.error(problem);
  if (result.problems.length > 0) {
    console.error(`npm run attack -- --seed ${options.seed} --requests ${requests}`);
  }
  return result.problems.length === 0;
}
