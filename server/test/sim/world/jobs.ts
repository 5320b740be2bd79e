// Running jobs when and in the order the seed says. All that are due but one are put far into the future
// while a server looks, so it finds just that one; then they come back as they were. Their versions do not
// change, so nobody can tell.

import type { Job } from '../picture/picture.ts';
import type { Node } from './node.ts';
import type { Sim } from './sim.ts';

const AWAY = "interval '365000 days'";
const HIDE = `update jobs set due_at = due_at + ${AWAY} where due_at <= $1 and not id = any($2)`;
const SHOW = `update jobs set due_at = due_at - ${AWAY} where due_at > '2500-01-01'`;

/** Jobs in an order that does not depend on which of two commits that met was first. */
export function jobsInOrder({ picture }: Sim, which: (job: Job) => boolean): Job[] {
  const place = ({ transactionId }: Job) => picture.payments.get(transactionId ?? '')?.place ?? -1;
  return [...picture.jobs.values()]
    .filter(which)
    .sort((a, b) => a.dueAt - b.dueAt || place(a) - place(b) || (a.kind < b.kind ? -1 : 1));
}

export const dueJobs = (sim: Sim): Job[] => jobsInOrder(sim, (job) => job.dueAt <= sim.world.now());

/** Has a server look for work while it finds only these jobs. */
export async function runOnly(sim: Sim, node: Node, jobs: readonly Job[]): Promise<void> {
  const due = dueJobs(sim);
  const hides = due.length > jobs.length;
  const ids = jobs.map((job) => job.id);
  if (hides) await sim.client.query(HIDE, [new Date(sim.world.now()), ids]);
  try {
    await look(node);
  } finally {
    if (hides) await sim.client.query(SHOW);
  }
}

/** One look for jobs; what a dead server does not finish is left. */
export async function look(node: Node): Promise<void> {
  try {
    await node.app.worker.runDue();
  } catch (error) {
    if (!node.dead) throw error;
  }
}

/** Sends webhooks that are due. */
export async function deliver(sim: Sim, node: Node): Promise<void> {
  try {
    await node.app.deliverer.runDue(sim.world.now());
  } catch (error) {
    if (!node.dead) throw error;
  }
}
