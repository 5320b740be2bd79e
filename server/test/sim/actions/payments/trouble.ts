// What goes wrong, and time: clocks that jump, jobs in any order, late and twice, receivers in every mood,
// servers that die around a commit, connections that are cut, and crowds that ask for the same at once.
import { deliver, dueJobs, jobsInOrder, look, runOnly } from '../../world/jobs.ts';
import type { Node, Trap } from '../../world/node.ts';
import {
  broken,
  isActive,
  noted,
  type Order,
  type Platform,
  type Purse,
  type Request,
  type Sim,
  spendable,
} from '../../world/sim.ts';
import { MOODS, VERDICTS } from '../../world/world.ts';
import { type Action, inSandbox, living, PAID_IN, purseOf } from '../action.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

const JUMPS = [
  { ms: 1, weight: 4 },
  { ms: SECOND, weight: 20 },
  { ms: 11 * SECOND, weight: 20 },
  { ms: 70 * SECOND, weight: 20 },
  { ms: 400 * SECOND, weight: 12 },
  { ms: 3 * HOUR, weight: 4 },
  { ms: DAY, weight: 2 },
  { ms: 8 * DAY, weight: 1 },
];

async function jump(sim: Sim): Promise<string> {
  const { ms } = sim.chance.weighed(JUMPS);
  const by = sim.chance.between(Math.ceil(ms / 2), ms);
  sim.world.pass(by);
  return `${by} ms`;
}

async function runJob(sim: Sim): Promise<string> {
  const job = sim.chance.of(dueJobs(sim));
  await runOnly(sim, sim.node(), [job]);
  return job.kind;
}

/** Fees that are given back by an account that may run dry depend on the order; those go one by one. */
function commuting(sim: Sim) {
  const seen = new Set<string>();
  return dueJobs(sim).filter(({ transactionId }) => {
    const row = transactionId === null ? null : sim.picture.payments.get(transactionId)?.row;
    if (!row || row.platform_fee_account !== null || seen.has(row.id as string)) return false;
    // Nor do two about one payment, of which only the first finds something to do.
    seen.add(row.id as string);
    return true;
  });
}

/** Which of many meets a trap would be a matter of luck, and the trace must not depend on it. */
function disarm(sim: Sim): void {
  for (const node of sim.nodes) node.trap(undefined);
}

async function runMany(sim: Sim): Promise<string> {
  disarm(sim);
  const jobs = commuting(sim);
  await runOnly(sim, sim.node(), jobs);
  return `${jobs.length}`;
}

const COPY = `insert into jobs (id, kind, input, due_at) select $2, kind, input, $3 from jobs
  where id = $1`;

/** A notice that comes a second time, now or later: the same job, once more. */
async function repeat(sim: Sim): Promise<string> {
  const job = sim.chance.of(jobsInOrder(sim, () => true));
  const at = sim.world.now() + sim.chance.of([0, 0, SECOND, 20 * SECOND, HOUR]);
  await sim.client.query(COPY, [job.id, `Job:again-${sim.next()}`, new Date(at)]);
  return job.kind;
}

/** A worker so slow that its lease runs out: another does the job, and then it comes back with its result. */
async function overtake(sim: Sim): Promise<string> {
  const job = sim.chance.of(dueJobs(sim));
  const [slow, quick] = sim.nodes as [Node, Node];
  const held = slow.hold();
  const slowly = runOnly(sim, slow, [job]);
  const caught = await Promise.race([held.caught.then(() => true), slowly.then(() => false)]);
  if (caught) {
    sim.world.pass(21 * SECOND);
    await look(quick);
  }
  held.letGo();
  await slowly;
  return `${job.kind}${caught ? '' : ' did nothing'}`;
}

async function mood(sim: Sim): Promise<string> {
  const { receiver } = sim.chance.of(sim.platforms);
  receiver.mood = sim.chance.percent(50) ? 'well' : sim.chance.of(MOODS);
  receiver.verdict = sim.chance.percent(50) ? 'accept' : sim.chance.of(VERDICTS);
  return `${receiver.mood}, ${receiver.verdict}`;
}

async function tell(sim: Sim): Promise<string> {
  await deliver(sim, sim.node());
  return '';
}

/** Kills a server around its next commit, which is whatever comes next. */
function setTrap(sim: Sim, at: Trap): Promise<string> {
  const node = sim.node();
  node.trap(at);
  return Promise.resolve(at);
}

async function kill(sim: Sim): Promise<string> {
  sim.node().kill();
  await sim.revive();
  return '';
}

async function dieWhileTelling(sim: Sim): Promise<string> {
  const node = sim.node();
  const telling = deliver(sim, node);
  for (let i = 0; i < 12; i++) await new Promise(setImmediate);
  node.kill();
  await telling;
  await sim.revive();
  return '';
}

/** Sends one request from everywhere at once until it is answered; answers all that came. */
async function crowd(sim: Sim, requests: readonly Request[], cut: boolean) {
  disarm(sim);
  const sent = requests.map((each, at) => sim.once(sim.nodes[at % 2] as Node, each));
  if (cut) {
    await new Promise(setImmediate);
    await sim.client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'railhead committer'`);
  }
  return Promise.all(sent);
}

/** Many fund one account at once, and some never hear: each deposit is there once in the end. */
async function fundTogether(sim: Sim): Promise<string> {
  const purse = purseOf(sim, sim.chance.of(living(sim).filter(inSandbox)), PAID_IN);
  if (!isActive(sim, purse) || !purse.owner.ready) return 'shut';
  const cut = sim.chance.percent(40);
  sim.rough = cut;
  const count = sim.chance.between(2, 12);
  let left: Request[] = Array.from({ length: count }, (_, at) => ({
    method: 'POST',
    path: `/sandbox/internal-accounts/${purse.id}/fund`,
    body: { amount: 100 + at },
    as: purse.owner.platform,
    key: `crowd-${sim.next()}`,
  }));
  for (let tries = 0; left.length; tries++) {
    if (tries > 50) throw broken(`${left.length} deposits are never answered`);
    const answers = await crowd(sim, left, cut && tries === 0);
    left = left.filter((_, at) => {
      const status = answers[at]?.status ?? 500;
      if (status !== 200 && status < 500) throw broken(`a deposit is answered ${status}`);
      return status !== 200;
    });
    if (left.length) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (let at = 0; at < count; at++) purse.due += BigInt(100 + at);
  return `${count}${cut ? ', cut' : ''}`;
}

const ripe = (sim: Sim) =>
  sim.orders.filter((order) => {
    const { source, started, expiresAt, inside, outside } = order;
    if (started || !source || order.quoteId === null || sim.world.now() >= expiresAt) return false;
    if (order.platform.limited || outside?.wallet || order.payload) return false;
    if (order.gated || order.agent) return false;
    if (order.platformFee && order.feePurse && !isActive(sim, order.feePurse)) return false;
    if (!isActive(sim, source) || noted(sim, source)?.owed !== '0') return false;
    if (inside && !isActive(sim, inside)) return false;
    const gone = source.owner.gone || inside?.owner.gone || outside?.gone || outside?.owner.gone;
    return !gone && spendable(sim, source) >= order.sent;
  });

/** Everybody executes one quote, each with a key of their own: one of them does. */
async function executeTogether(sim: Sim): Promise<string> {
  const order = sim.chance.of(ripe(sim)) as Order;
  const same = sim.chance.percent(50) ? `crowd-${sim.next()}` : undefined;
  const requests = Array.from({ length: 6 }, () => ({
    method: 'POST',
    path: `/quotes/${order.quoteId}/execute`,
    body: undefined,
    as: order.platform,
    key: same ?? `crowd-${sim.next()}`,
  }));
  const answers = await crowd(sim, requests, false);
  const done = answers.filter((each) => each?.status === 200);
  const fresh = done.filter((each) => !each?.replayed);
  const others = answers.filter((each) => each?.status !== 200);
  const refused = others.every((each) => each?.status === 409);
  if (fresh.length !== 1 || !refused || (same && others.length)) {
    throw broken(`${order.id}: ${JSON.stringify(answers.map((each) => each?.body?.code ?? 200))}`);
  }
  order.started = true;
  return same ? 'one key' : 'six keys';
}

const WEEK = 7 * DAY;

/** Asks again what was answered before: the same reply, word for word. */
async function replay(sim: Sim): Promise<string> {
  const isKnown = ({ agent }: Platform) => !agent?.gone && !agent?.owner.gone;
  const recent = sim.settled.filter(
    (each) => sim.world.now() - each.at < WEEK - DAY && isKnown(each.platform),
  );
  if (recent.length === 0) return 'nothing';
  const { platform: as, path, key, body, answer } = sim.chance.of(recent);
  disarm(sim);
  const again = await sim.once(sim.node(), { method: 'POST', path, body, as, key });
  const [was, is] = [JSON.stringify(answer.body), JSON.stringify(again?.body)];
  if (again?.status !== answer.status || was !== is) {
    throw broken(`POST ${path} ${key} was answered ${answer.status} ${was}, now ${is}`);
  }
  if (answer.status < 400 && !again.replayed) throw broken(`POST ${path} ${key} was done twice`);
  return `${answer.status}`;
}

const hasPurse = (sim: Sim): Purse | undefined => living(sim)[0]?.purses.get('USD');

export const TROUBLE: readonly Action[] = [
  { name: 'let time pass', weight: 16, run: jump },
  { name: 'run a job', weight: 40, ready: (sim) => dueJobs(sim).length > 0, run: runJob },
  { name: 'run many jobs', weight: 6, run: runMany },
  { name: 'repeat a notice', weight: 3, ready: (sim) => sim.picture.jobs.size > 0, run: repeat },
  { name: 'overtake', weight: 1, ready: (sim) => dueJobs(sim).length > 0, run: overtake },
  { name: 'deliver webhooks', weight: 10, run: tell },
  { name: 'change a mood', weight: 3, run: mood },
  { name: 'trap before a commit', weight: 0.6, run: (sim) => setTrap(sim, 'before') },
  { name: 'trap after a commit', weight: 0.6, run: (sim) => setTrap(sim, 'after') },
  { name: 'kill a server', weight: 0.3, run: kill },
  { name: 'kill a server that delivers', weight: 0.3, run: dieWhileTelling },
  {
    name: 'fund together',
    weight: 1,
    ready: (sim) => hasPurse(sim) !== undefined,
    run: fundTogether,
  },
  {
    name: 'execute together',
    weight: 2,
    ready: (sim) => ripe(sim).length > 0,
    run: executeTogether,
  },
  { name: 'ask again', weight: 4, ready: (sim) => sim.settled.length > 0, run: replay },
];
