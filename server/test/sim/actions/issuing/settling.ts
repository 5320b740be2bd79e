// Settling at the end of a run. Receivers respond, no server crashes, and time advances until no
// work remains. Then every payment and account must be as the actors predicted from their orders
// and the sandbox tables.

import { authorizationProblems } from '../../harness/authorizations.ts';
import { deliver, runDueJobs } from '../../harness/jobs.ts';
import { checkOutcome, runVerb } from '../../harness/operator.ts';
import { EXPIRED_OUTCOME, type Outcome } from '../../harness/outcomes.ts';
import {
  accountRow,
  type InternalAccount,
  internalAccountsOf,
  type Order,
  type Sim,
  violation,
} from '../../harness/sim.ts';
import { accountOf, amountOutsideAccount, chargeOf } from '../../model/card-facts.ts';
import { refundOf } from '../../model/lifecycles.ts';
import { amountIn } from '../../model/model.ts';
import { awaitedOf } from '../../model/queue-and-limits.ts';
import { applyStep } from '../../rules/invariants.ts';
import { openExceptions, resolveException } from './cards.ts';
import { restoreAccess, settleOrders } from './mints.ts';

const MAX_ROUNDS = 4_000;
const LEASE_MS = 21_000;

/** Reads the change log. Returns the number of changes. Throws when an invariant is broken. */
export async function observe(sim: Sim): Promise<number> {
  const changes = await sim.changeLog.read();
  sim.model.now = sim.effects.now();
  const problems = applyStep(sim.model, changes, sim.effects.deliveredIds);
  problems.push(...(await authorizationProblems(sim, changes)));
  for (const node of sim.nodes) {
    problems.push(
      ...node.contractViolations().map((violation) => `a reply breaks its contract: ${violation}`),
    );
    const errors = node.errors();
    if (!node.isDead && !sim.errorsExpected)
      problems.push(...errors.map((error) => `logged: ${error}`));
  }
  if (problems.length) throw violation(problems.join('\n'));
  return changes.length;
}

/** Time at which the next job or event is due, or undefined if there is none. */
function nextDueTime({ model }: Sim): number | undefined {
  const dueTimes = [
    ...[...model.jobs.values()].map((job) => job.dueAt),
    ...model.webhookQueue.values(),
  ];
  return dueTimes.length ? Math.min(...dueTimes) : undefined;
}

async function runUntilIdle(sim: Sim): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    for (const node of sim.nodes) await runDueJobs(node);
    for (const node of sim.nodes) await deliver(sim, node);
    if ((await observe(sim)) > 0) continue;
    const nextDueAt = nextDueTime(sim);
    if (nextDueAt === undefined) return;
    // Due work that remains is leased to a killed server.
    const waitMs = nextDueAt > sim.effects.now() ? nextDueAt - sim.effects.now() : LEASE_MS;
    sim.effects.advance(waitMs);
  }
  throw violation(`after ${MAX_ROUNDS} rounds work remains`);
}

/**
 * Whether no party of the payment is deleted. After a deletion a payment may have other outcomes.
 */
function hasNoDeletedParty(order: Order): boolean {
  if (order.kind === 'balance') return true;
  const { internalAccount: toAccount, externalAccount, debitedAccount, payer } = order;
  const parties = [
    toAccount?.owner,
    externalAccount,
    externalAccount?.owner,
    debitedAccount,
    debitedAccount?.owner,
    payer,
  ];
  return !parties.some((party) => party?.isDeleted);
}

function outcomeOf(sim: Sim, order: Order): Outcome | string {
  const row = sim.model.payments.get(order.id)?.row;
  if (!row) return `${order.id} does not exist`;
  const outcome = { status: row.status, refund: refundOf(row) } as Outcome;
  const expectedOutcome = order.isStarted
    ? order.expectedOutcome
    : (order.outcomeUnlessStarted ?? EXPIRED_OUTCOME);
  const isExpected =
    outcome.status === expectedOutcome?.status && outcome.refund === expectedOutcome.refund;
  if (expectedOutcome === null || isExpected || !hasNoDeletedParty(order)) return outcome;
  const destination = order.externalAccount ? `…${order.externalAccount.suffix}` : 'internal';
  const [outcomeText, expectedText] = [
    `${outcome.status}, ${outcome.refund}`,
    `${expectedOutcome.status}, ${expectedOutcome.refund}`,
  ];
  return `${order.id} (${order.kind}) to ${destination} ended with ${outcomeText}, expected ${expectedText}`;
}

/** A digital asset refunded without a wallet is credited to its owner's account. */
function creditRefundedAsset(sim: Sim, { id }: Order): void {
  for (const { step, credit, amount } of sim.model.payments.get(id)?.transfers ?? []) {
    const internalAccount = step === 'refund.out' && internalAccountById(sim, credit);
    if (internalAccount) internalAccount.expectedBalance += amount;
  }
}

export function internalAccountById(
  { people, model }: Sim,
  id: string,
): InternalAccount | undefined {
  const { customer_id, platform_id, currency } = model.internal.get(id) ?? {};
  if (!currency) return undefined;
  const owner = people.find(
    (person) => person.id === customer_id && person.platform.id === platform_id,
  );
  return owner && internalAccountsOf(owner).find((internalAccount) => internalAccount.id === id);
}

function settleOrder(sim: Sim, order: Order): string | undefined {
  const {
    source,
    internalAccount: toAccount,
    feeAccount: feeOwnerAccount,
    sentAmount,
    receivedAmount,
    platformFee,
  } = order;
  const outcome = outcomeOf(sim, order);
  if (typeof outcome === 'string') return outcome;
  creditRefundedAsset(sim, order);
  if (outcome.status === 'EXPIRED') return undefined;
  const isCompleted = outcome.status === 'COMPLETED' && outcome.refund === 'NONE';
  const isSuspended = outcome.refund === 'FAILED';
  if (source && (isCompleted || isSuspended)) source.expectedBalance -= sentAmount;
  // A platform that pays a fee to itself sends less.
  if (source && source === feeOwnerAccount && isSuspended) source.expectedBalance += platformFee;
  // Funds received over UMA may go to an external account immediately.
  const isCredited = sim.model.payments.get(order.id)?.row.destination_account === toAccount?.id;
  if (isCompleted && toAccount && isCredited) toAccount.expectedBalance += receivedAmount;
  if (feeOwnerAccount && isCompleted) feeOwnerAccount.expectedBalance += platformFee;
  return undefined;
}

/** Records the cost of card payments since the last settling. */
function chargeCards(sim: Sim): void {
  for (const [id, row] of sim.model.cardRecords.payments) {
    const { transfers = [] } = sim.model.payments.get(id) ?? {};
    const cost = chargeOf(row) + amountOutsideAccount(transfers);
    const internalAccount = internalAccountById(sim, accountOf(row));
    if (internalAccount) internalAccount.expectedBalance -= cost - (sim.cardCosts.get(id) ?? 0n);
    sim.cardCosts.set(id, cost);
  }
}

/** Cards of deleted customers that are not closed. */
function* openCardProblems({ people, model }: Sim): Iterable<string> {
  const deletedIds = new Set(people.flatMap((person) => (person.isDeleted ? person.id : [])));
  for (const { id, customer_id, state } of model.cardRecords.cards.values()) {
    if (state !== 'CLOSED' && deletedIds.has(customer_id as string))
      yield `${id} of a deleted customer is ${state}, not CLOSED`;
  }
}

function* balanceProblems(sim: Sim): Iterable<string> {
  for (const person of sim.people) {
    for (const internalAccount of internalAccountsOf(person)) {
      const { id, currency, expectedBalance } = internalAccount;
      const account = sim.model.accounts.get(id);
      const owedAmount = amountIn(accountRow(sim, internalAccount)?.owed);
      const { balance = 0n, held = 0n } = account ?? {};
      if (balance - owedAmount === expectedBalance && held === 0n) continue;
      yield `${id} has ${balance}, ${held} held, ${owedAmount} owed, expected ${expectedBalance} ${currency}`;
    }
  }
}

/**
 * After settling, no payment is in progress, no funds are held, and system accounts hold no funds
 * in progress.
 */
function* progressProblems({ model }: Sim): Iterable<string> {
  for (const { row } of model.payments.values()) {
    const isRequested = row.type === 'INCOMING' && row.status === 'PENDING';
    const isWaiting = isRequested || row.status === 'PENDING_AUTHORIZATION';
    const isInProgress = row.status === 'PROCESSING' || refundOf(row) === 'PENDING' || isWaiting;
    if (isInProgress) yield `${row.id} is still ${row.status}, funds ${row.funds}`;
  }
  for (const { id, balance, held } of model.accounts.values()) {
    if (held !== 0n) yield `${held} is still held on ${id}`;
    if (id.includes(':inbound:') && balance !== 0n) yield `${balance} remains on ${id}`;
  }
}

/** Undecided agent actions are rejected. */
async function rejectPendingActions(sim: Sim): Promise<void> {
  for (const { id, agent } of sim.pendingActions) {
    const path = `/agents/${agent.id}/actions/${id}/reject`;
    const { status, body } = await sim.call('POST', path, {}, agent.owner.platform);
    if (status !== 200 && body?.code !== 'CONFLICT')
      throw violation(`${id} was not rejected: ${status} ${body?.code}`);
  }
  sim.pendingActions = [];
}

/** The operator unfreezes accounts and processes the queue. */
async function processQueue(sim: Sim): Promise<void> {
  for (const { id, status } of [...sim.model.internal.values()]) {
    const isOwnerDeleted = internalAccountById(sim, id as string)?.owner.isDeleted ?? true;
    if (status === 'FROZEN' && !isOwnerDeleted)
      await runVerb(sim, 'accounts', 'unfreeze', id as string);
  }
  for (;;) {
    await runUntilIdle(sim);
    const waitingIds = [...sim.model.awaitedResults.keys()].filter((id) => {
      const payment = sim.model.payments.get(id);
      return payment && awaitedOf(sim.model, payment) !== undefined;
    });
    const exceptions = openExceptions(sim);
    for (const row of exceptions) await resolveException(sim, row);
    if (waitingIds.length + exceptions.length === 0) return;
    for (const id of waitingIds)
      checkOutcome(await runVerb(sim, 'payouts', 'settle', id), true, id);
  }
}

/** Settles all work and compares it with the expectations. */
export async function settleAll(sim: Sim): Promise<string> {
  await sim.replaceDeadNodes();
  for (const node of sim.nodes) node.setTrap(undefined);
  for (const platform of sim.platforms) platform.receiver.behavior = 'accepts';
  await rejectPendingActions(sim);
  await restoreAccess(sim);
  await processQueue(sim);
  sim.effects.advance(3_600_000);
  await processQueue(sim);
  const problems = sim.orders.flatMap((order) => settleOrder(sim, order) ?? []);
  chargeCards(sim);
  problems.push(
    ...balanceProblems(sim),
    ...progressProblems(sim),
    ...openCardProblems(sim),
    ...settleOrders(sim),
  );
  if (problems.length) throw violation(`after settling: ${problems.join('\n')}`);
  const { length } = sim.orders;
  sim.orders = [];
  return `${length} payments completed`;
}
