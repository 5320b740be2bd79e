// Failures and time. The clock jumps, jobs run in any order, late and twice, receivers fail, and
// servers crash before or after a commit. Clients lose connections and send concurrent identical
// requests.
import { deliver, dueJobs, jobsInOrder, runDueJobs, runOnly } from '../../harness/jobs.ts';
import type { Node, Trap } from '../../harness/node.ts';
import {
  accountRow,
  type InternalAccount,
  isActive,
  type Order,
  type Platform,
  type Request,
  type Sim,
  spendableAmount,
  violation,
} from '../../harness/sim.ts';
import { BEHAVIORS, VERDICTS } from '../../harness/sim-effects.ts';
import {
  type Action,
  activePeople,
  isInSandbox,
  PAYMENT_CURRENCIES,
  pickInternalAccount,
} from '../action.ts';

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

async function advanceClock(sim: Sim): Promise<string> {
  const { ms } = sim.chance.pickWeighted(JUMPS);
  const delayMs = sim.chance.integerBetween(Math.ceil(ms / 2), ms);
  sim.effects.advance(delayMs);
  return `${delayMs} ms`;
}

async function runJob(sim: Sim): Promise<string> {
  const job = sim.chance.pick(dueJobs(sim));
  await runOnly(sim, sim.pickNode(), [job]);
  return job.kind;
}

/**
 * Due jobs that can run concurrently. The refund of a platform fee depends on the remaining balance
 * of the fee account. Jobs of payments with such a fee run one by one.
 */
function independentJobs(sim: Sim) {
  const paymentIds = new Set<string>();
  return dueJobs(sim).filter(({ transactionId }) => {
    const row = transactionId === null ? null : sim.model.payments.get(transactionId)?.row;
    if (!row || row.platform_fee_account !== null || paymentIds.has(row.id as string)) return false;
    // Of two jobs about one payment only the first has an effect, so these run one by one.
    paymentIds.add(row.id as string);
    return true;
  });
}

/**
 * Removes the traps before concurrent commits. Timing would select the commit that a trap catches,
 * and the trace must not depend on timing.
 */
function removeTraps(sim: Sim): void {
  for (const node of sim.nodes) node.setTrap(undefined);
}

async function runManyJobs(sim: Sim): Promise<string> {
  removeTraps(sim);
  const jobs = independentJobs(sim);
  await runOnly(sim, sim.pickNode(), jobs);
  return `${jobs.length}`;
}

const COPY_JOB = `insert into jobs (id, kind, input, due_at) select $2, kind, input, $3 from jobs
  where id = $1`;

/** A duplicate job, due now or later. */
async function duplicateJob(sim: Sim): Promise<string> {
  const job = sim.chance.pick(jobsInOrder(sim, () => true));
  const dueAt = sim.effects.now() + sim.chance.pick([0, 0, SECOND, 20 * SECOND, HOUR]);
  await sim.client.query(COPY_JOB, [job.id, `Job:again-${sim.nextNumber()}`, new Date(dueAt)]);
  return job.kind;
}

/**
 * The lease of a worker expires. Another worker runs the job before the first one reports its
 * result.
 */
async function expireLease(sim: Sim): Promise<string> {
  const job = sim.chance.pick(dueJobs(sim));
  const [slowNode, otherNode] = sim.nodes as [Node, Node];
  const heldCommit = slowNode.holdNextCommit();
  const slowRun = runOnly(sim, slowNode, [job]);
  const isCaught = await Promise.race([
    heldCommit.whenCaught.then(() => true),
    slowRun.then(() => false),
  ]);
  if (isCaught) {
    sim.effects.advance(21 * SECOND);
    await runDueJobs(otherNode);
  }
  heldCommit.release();
  await slowRun;
  return `${job.kind}${isCaught ? '' : ' without a commit'}`;
}

async function changeReceiver(sim: Sim): Promise<string> {
  const { receiver } = sim.chance.pick(sim.platforms);
  receiver.behavior = sim.chance.percent(50) ? 'accepts' : sim.chance.pick(BEHAVIORS);
  receiver.verdict = sim.chance.percent(50) ? 'accept' : sim.chance.pick(VERDICTS);
  return `${receiver.behavior}, ${receiver.verdict}`;
}

async function deliverWebhooks(sim: Sim): Promise<string> {
  await deliver(sim, sim.pickNode());
  return '';
}

/** Kills a server before or after its next commit. */
function crashAtCommit(sim: Sim, crashPoint: Trap): Promise<string> {
  const node = sim.pickNode();
  node.setTrap(crashPoint);
  return Promise.resolve(crashPoint);
}

async function killServer(sim: Sim): Promise<string> {
  sim.pickNode().kill();
  await sim.replaceDeadNodes();
  return '';
}

async function killDuringDelivery(sim: Sim): Promise<string> {
  const node = sim.pickNode();
  const delivery = deliver(sim, node);
  for (let i = 0; i < 12; i++) await new Promise(setImmediate);
  node.kill();
  await delivery;
  await sim.replaceDeadNodes();
  return '';
}

/** Sends requests to both servers concurrently. Returns all replies. */
async function sendConcurrently(
  sim: Sim,
  requests: readonly Request[],
  areConnectionsCut: boolean,
) {
  removeTraps(sim);
  const responses = requests.map((request, index) =>
    sim.sendOnce(sim.nodes[index % 2] as Node, request),
  );
  if (areConnectionsCut) {
    await new Promise(setImmediate);
    await sim.client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'railhead committer'`);
  }
  return Promise.all(responses);
}

/**
 * Many clients fund one account concurrently, and some lose the reply. Each deposit is posted once.
 */
async function fundConcurrently(sim: Sim): Promise<string> {
  const internalAccount = pickInternalAccount(
    sim,
    sim.chance.pick(activePeople(sim).filter(isInSandbox)),
    PAYMENT_CURRENCIES,
  );
  if (!isActive(sim, internalAccount) || !internalAccount.owner.mayPay) return 'frozen or closed';
  const areConnectionsCut = sim.chance.percent(40);
  sim.errorsExpected = areConnectionsCut;
  const count = sim.chance.integerBetween(2, 12);
  let remainingRequests: Request[] = Array.from({ length: count }, (_, index) => ({
    method: 'POST',
    path: `/sandbox/internal-accounts/${internalAccount.id}/fund`,
    body: { amount: 100 + index },
    platform: internalAccount.owner.platform,
    key: `crowd-${sim.nextNumber()}`,
  }));
  for (let attempts = 0; remainingRequests.length; attempts++) {
    if (attempts > 50) throw violation(`${remainingRequests.length} deposits have no reply`);
    const responses = await sendConcurrently(
      sim,
      remainingRequests,
      areConnectionsCut && attempts === 0,
    );
    remainingRequests = remainingRequests.filter((_, index) => {
      const status = responses[index]?.status ?? 500;
      if (status !== 200 && status < 500) throw violation(`a deposit returned ${status}`);
      return status !== 200;
    });
    if (remainingRequests.length) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (let index = 0; index < count; index++)
    internalAccount.expectedBalance += BigInt(100 + index);
  return `${count}${areConnectionsCut ? ', cut' : ''}`;
}

const executableOrders = (sim: Sim) =>
  sim.orders.filter((order) => {
    const { source, isStarted, expiresAt, internalAccount: toAccount, externalAccount } = order;
    if (isStarted || !source || order.quoteId === null || sim.effects.now() >= expiresAt)
      return false;
    if (order.platform.hadDailyLimit || externalAccount?.wallet || order.payload) return false;
    if (order.requiresSca || order.agent) return false;
    if (order.platformFee && order.feeAccount && !isActive(sim, order.feeAccount)) return false;
    if (!isActive(sim, source) || accountRow(sim, source)?.owed !== '0') return false;
    if (toAccount && !isActive(sim, toAccount)) return false;
    const isAnyDeleted =
      source.owner.isDeleted ||
      toAccount?.owner.isDeleted ||
      externalAccount?.isDeleted ||
      externalAccount?.owner.isDeleted;
    return !isAnyDeleted && spendableAmount(sim, source) >= order.sentAmount;
  });

/**
 * Sends six concurrent executions of one quote under one key or six keys. The quote executes once.
 */
async function executeConcurrently(sim: Sim): Promise<string> {
  const order = sim.chance.pick(executableOrders(sim)) as Order;
  const sharedKey = sim.chance.percent(50) ? `crowd-${sim.nextNumber()}` : undefined;
  const requests = Array.from({ length: 6 }, () => ({
    method: 'POST',
    path: `/quotes/${order.quoteId}/execute`,
    body: undefined,
    platform: order.platform,
    key: sharedKey ?? `crowd-${sim.nextNumber()}`,
  }));
  const responses = await sendConcurrently(sim, requests, false);
  const successes = responses.filter((response) => response?.status === 200);
  const newResponses = successes.filter((response) => !response?.isReplayed);
  const rejections = responses.filter((response) => response?.status !== 200);
  const isRejected = rejections.every((rejection) => rejection?.status === 409);
  if (newResponses.length !== 1 || !isRejected || (sharedKey && rejections.length)) {
    throw violation(
      `${order.id} was not executed exactly once: ` +
        JSON.stringify(responses.map((response) => response?.body?.code ?? 200)),
    );
  }
  order.isStarted = true;
  return sharedKey ? 'one key' : 'six keys';
}

const WEEK = 7 * DAY;

/** Repeats an earlier request, whose reply must have the same bytes. */
async function repeatRequest(sim: Sim): Promise<string> {
  const canSend = ({ agent }: Platform) => !agent?.isDeleted && !agent?.owner.isDeleted;
  const recentRequests = sim.completedRequests.filter(
    (request) => sim.effects.now() - request.at < WEEK - DAY && canSend(request.platform),
  );
  if (recentRequests.length === 0) return 'none';
  const { platform, path, key, body, response } = sim.chance.pick(recentRequests);
  removeTraps(sim);
  const repeatedResponse = await sim.sendOnce(sim.pickNode(), {
    method: 'POST',
    path,
    body,
    platform,
    key,
  });
  const [expectedBody, actualBody] = [
    JSON.stringify(response.body),
    JSON.stringify(repeatedResponse?.body),
  ];
  if (repeatedResponse?.status !== response.status || expectedBody !== actualBody) {
    throw violation(
      `POST ${path} ${key} returned ${response.status} ${expectedBody}, and ` +
        `${repeatedResponse?.status} ${actualBody} when repeated`,
    );
  }
  if (response.status < 400 && !repeatedResponse.isReplayed)
    throw violation(`POST ${path} ${key} was executed twice`);
  return `${response.status}`;
}

const firstInternalAccount = (sim: Sim): InternalAccount | undefined =>
  activePeople(sim)[0]?.internalAccounts.get('USD');

export const FAILURE_ACTIONS: readonly Action[] = [
  { name: 'advance the clock', weight: 16, run: advanceClock },
  { name: 'run a job', weight: 40, isPossible: (sim) => dueJobs(sim).length > 0, run: runJob },
  { name: 'run many jobs', weight: 6, run: runManyJobs },
  {
    name: 'repeat a job',
    weight: 3,
    isPossible: (sim) => sim.model.jobs.size > 0,
    run: duplicateJob,
  },
  {
    name: 'expire a lease',
    weight: 1,
    isPossible: (sim) => dueJobs(sim).length > 0,
    run: expireLease,
  },
  { name: 'deliver webhooks', weight: 10, run: deliverWebhooks },
  { name: 'change a receiver', weight: 3, run: changeReceiver },
  { name: 'crash before a commit', weight: 0.6, run: (sim) => crashAtCommit(sim, 'before') },
  { name: 'crash after a commit', weight: 0.6, run: (sim) => crashAtCommit(sim, 'after') },
  { name: 'kill a server', weight: 0.3, run: killServer },
  { name: 'kill a server that delivers', weight: 0.3, run: killDuringDelivery },
  {
    name: 'fund concurrently',
    weight: 1,
    isPossible: (sim) => firstInternalAccount(sim) !== undefined,
    run: fundConcurrently,
  },
  {
    name: 'execute concurrently',
    weight: 2,
    isPossible: (sim) => executableOrders(sim).length > 0,
    run: executeConcurrently,
  },
  {
    name: 'repeat a request',
    weight: 4,
    isPossible: (sim) => sim.completedRequests.length > 0,
    run: repeatRequest,
  },
];
