// Runs jobs in the order that the seed selects. All other due jobs are postponed far into the
// future while a server claims work, and restored afterwards. Their versions remain unchanged.

import type { Job } from '../model/model.ts';
import type { Node } from './node.ts';
import type { Sim } from './sim.ts';

const POSTPONEMENT = "interval '365000 days'";
const POSTPONE_OTHER_JOBS = `update jobs set due_at = due_at + ${POSTPONEMENT}
  where due_at <= $1 and not id = any($2)`;
const RESTORE_JOBS = `update jobs set due_at = due_at - ${POSTPONEMENT} where due_at > '2500-01-01'`;

/** Jobs in an order that does not depend on which of two concurrent commits was first. */
export function jobsInOrder({ model }: Sim, matches: (job: Job) => boolean): Job[] {
  const sequenceOf = ({ transactionId }: Job) =>
    model.payments.get(transactionId ?? '')?.sequence ?? -1;
  return [...model.jobs.values()]
    .filter(matches)
    .sort(
      (a, b) => a.dueAt - b.dueAt || sequenceOf(a) - sequenceOf(b) || (a.kind < b.kind ? -1 : 1),
    );
}

export const dueJobs = (sim: Sim): Job[] =>
  jobsInOrder(sim, (job) => job.dueAt <= sim.effects.now());

/** Runs only these jobs on a server. */
export async function runOnly(sim: Sim, node: Node, jobs: readonly Job[]): Promise<void> {
  const jobsDue = dueJobs(sim);
  const hasOtherJobs = jobsDue.length > jobs.length;
  const ids = jobs.map((job) => job.id);
  if (hasOtherJobs) await sim.client.query(POSTPONE_OTHER_JOBS, [new Date(sim.effects.now()), ids]);
  try {
    await runDueJobs(node);
  } finally {
    if (hasOtherJobs) await sim.client.query(RESTORE_JOBS);
  }
}

/** Runs due jobs once. Jobs of a killed server remain. */
export async function runDueJobs(node: Node): Promise<void> {
  try {
    await node.app.worker.runDue();
  } catch (error) {
    if (!node.isDead) throw error;
  }
}

/** Delivers webhooks that are due. */
export async function deliver(sim: Sim, node: Node): Promise<void> {
  try {
    await node.app.deliverer.runDue(sim.effects.now());
  } catch (error) {
    if (!node.isDead) throw error;
  }
}
