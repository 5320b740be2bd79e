// The end of all trouble: receivers listen, nobody dies, and time passes until nothing is left to do. Then
// nothing may be stuck, and every payment and every account must be what the actors expect of them, which
// they worked out from their own orders and from the sandbox's tables alone.

import { accountOf, besideAccount, chargeOf } from '../../picture/card-facts.ts';
import { refundOf } from '../../picture/lifecycles.ts';
import { amountIn } from '../../picture/picture.ts';
import { awaitedOf } from '../../picture/standing.ts';
import { takeIn } from '../../rules/invariants.ts';
import { type Ending, LAPSED } from '../../world/endings.ts';
import { deliver, look } from '../../world/jobs.ts';
import { operator, outcome } from '../../world/operator.ts';
import { proofProblems } from '../../world/proofs.ts';
import { broken, noted, type Order, type Purse, pursesOf, type Sim } from '../../world/sim.ts';
import { decide, exceptions } from './cards.ts';
import { restore, settleOrders } from './mints.ts';

const MOST_ROUNDS = 4_000;
const LEASES_END_MS = 21_000;

/** Takes in what was noted; throws where an invariant is broken. */
export async function observe(sim: Sim): Promise<number> {
  const notes = await sim.diary.read();
  sim.picture.now = sim.world.now();
  const problems = takeIn(sim.picture, notes, sim.world.heard);
  problems.push(...(await proofProblems(sim, notes)));
  for (const node of sim.nodes) {
    problems.push(...node.broken().map((each) => `a reply breaks its contract: ${each}`));
    const errors = node.errors();
    if (!node.dead && !sim.rough) problems.push(...errors.map((each) => `logged: ${each}`));
  }
  if (problems.length) throw broken(problems.join('\n'));
  return notes.length;
}

/** When the next thing is due; undefined when nothing is. */
function nextDue({ picture }: Sim): number | undefined {
  const dues = [...picture.jobs.values()].map((job) => job.dueAt);
  for (const { row } of picture.events.values()) {
    if (row.due_at !== null && row.due_at !== undefined) dues.push(Date.parse(row.due_at));
  }
  return dues.length ? Math.min(...dues) : undefined;
}

async function untilIdle(sim: Sim): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    for (const node of sim.nodes) await look(node);
    for (const node of sim.nodes) await deliver(sim, node);
    if ((await observe(sim)) > 0) continue;
    const next = nextDue(sim);
    if (next === undefined) return;
    // What is due and was not done is leased to somebody who died.
    const wait = next > sim.world.now() ? next - sim.world.now() : LEASES_END_MS;
    sim.world.pass(wait);
  }
  throw broken(`after ${MOST_ROUNDS} rounds there is still work to do`);
}

/** Whether payer and payee stayed as they were; if not, a payment may end in other ways. */
function isUndisturbed(order: Order): boolean {
  if (order.kind === 'balance') return true;
  const { inside, outside, from, payer } = order;
  const all = [inside?.owner, outside, outside?.owner, from, from?.owner, payer];
  return !all.some((each) => each?.gone);
}

function endingOf(sim: Sim, order: Order): Ending | string {
  const row = sim.picture.payments.get(order.id)?.row;
  if (!row) return `${order.id} is not there`;
  const was = { status: row.status, refund: refundOf(row) } as Ending;
  const due = order.started ? order.ending : (order.unstarted ?? LAPSED);
  const same = was.status === due?.status && was.refund === due.refund;
  if (due === null || same || !isUndisturbed(order)) return was;
  const where = order.outside ? `…${order.outside.suffix}` : 'inside';
  const [is, should] = [`${was.status}, ${was.refund}`, `${due.status}, ${due.refund}`];
  return `${order.id} (${order.kind}) to ${where} ended ${is} and not ${should}`;
}

/** A digital asset that came for nothing stays with its owner, on their account. */
function keepStray(sim: Sim, { id }: Order): void {
  for (const { step, credit, amount } of sim.picture.payments.get(id)?.transfers ?? []) {
    const purse = step === 'refund.out' && purseById(sim, credit);
    if (purse) purse.due += amount;
  }
}

export function purseById({ people, picture }: Sim, id: string): Purse | undefined {
  const { customer_id, platform_id, currency } = picture.internal.get(id) ?? {};
  if (!currency) return undefined;
  const owner = people.find((each) => each.id === customer_id && each.platform.id === platform_id);
  return owner && pursesOf(owner).find((each) => each.id === id);
}

function settle(sim: Sim, order: Order): string | undefined {
  const { source, inside, feePurse, sent, received, platformFee } = order;
  const ending = endingOf(sim, order);
  if (typeof ending === 'string') return ending;
  keepStray(sim, order);
  if (ending.status === 'EXPIRED') return undefined;
  const kept = ending.status === 'COMPLETED' && ending.refund === 'NONE';
  const parked = ending.refund === 'FAILED';
  if (source && (kept || parked)) source.due -= sent;
  // A platform that pays a fee to itself sends less.
  if (source && source === feePurse && parked) source.due += platformFee;
  // What comes over UMA may go to an account outside at once.
  const there = sim.picture.payments.get(order.id)?.row.destination_account === inside?.id;
  if (kept && inside && there) inside.due += received;
  if (feePurse && kept) feePurse.due += platformFee;
  return undefined;
}

/** Takes down what payments with cards have cost since all was last at rest. */
function chargeCards(sim: Sim): void {
  for (const [id, row] of sim.picture.cardBook.payments) {
    const { transfers = [] } = sim.picture.payments.get(id) ?? {};
    const cost = chargeOf(row) + besideAccount(transfers);
    const purse = purseById(sim, accountOf(row));
    if (purse) purse.due -= cost - (sim.charged.get(id) ?? 0n);
    sim.charged.set(id, cost);
  }
}

/** Cards of whoever is gone are closed. */
function* cardsLeft({ people, picture }: Sim): Iterable<string> {
  const gone = new Set(people.flatMap((each) => (each.gone ? each.id : [])));
  for (const { id, customer_id, state } of picture.cardBook.cards.values()) {
    if (state !== 'CLOSED' && gone.has(customer_id as string)) yield `${id} is ${state}`;
  }
}

function* pursesLeft(sim: Sim): Iterable<string> {
  for (const person of sim.people) {
    for (const purse of pursesOf(person)) {
      const { id, currency, due } = purse;
      const account = sim.picture.accounts.get(id);
      const owed = amountIn(noted(sim, purse)?.owed);
      const { balance = 0n, held = 0n } = account ?? {};
      if (balance - owed === due && held === 0n) continue;
      yield `${id} has ${balance}, ${held} set aside, ${owed} owed; due is ${due} ${currency}`;
    }
  }
}

/** At rest nothing is under way or set aside, and nothing waits in the house to go on. */
function* strays({ picture }: Sim): Iterable<string> {
  for (const { row } of picture.payments.values()) {
    const asked = row.type === 'INCOMING' && row.status === 'PENDING';
    const waits = asked || row.status === 'PENDING_AUTHORIZATION';
    const open = row.status === 'PROCESSING' || refundOf(row) === 'PENDING' || waits;
    if (open) yield `${row.id} is still ${row.status}, money ${row.funds}`;
  }
  for (const { id, balance, held } of picture.accounts.values()) {
    if (held !== 0n) yield `${held} is left aside on ${id}`;
    if (id.includes(':inbound:') && balance !== 0n) yield `${balance} is left on ${id}`;
  }
}

/** What agents asked for and nobody has decided is rejected. */
async function rejectAll(sim: Sim): Promise<void> {
  for (const { id, agent } of sim.waiting) {
    const path = `/agents/${agent.id}/actions/${id}/reject`;
    const { status, body } = await sim.ask('POST', path, {}, agent.owner.platform);
    if (status !== 200 && body?.code !== 'CONFLICT') throw broken(`${id} is not rejected`);
  }
  sim.waiting = [];
}

/** The operator lets frozen accounts go and works off the queue. */
async function workOff(sim: Sim): Promise<void> {
  for (const { id, status } of [...sim.picture.internal.values()]) {
    const gone = purseById(sim, id as string)?.owner.gone ?? true;
    if (status === 'FROZEN' && !gone) await operator(sim, 'accounts', 'release', id as string);
  }
  for (;;) {
    await untilIdle(sim);
    const waiting = [...sim.picture.waits.keys()].filter((id) => {
      const payment = sim.picture.payments.get(id);
      return payment && awaitedOf(sim.picture, payment) !== undefined;
    });
    const open = exceptions(sim);
    for (const row of open) await decide(sim, row);
    if (waiting.length + open.length === 0) return;
    for (const id of waiting) outcome(await operator(sim, 'payouts', 'settle', id), true, id);
  }
}

/** Lets everything come to rest and compares it with what must be. */
export async function quiesce(sim: Sim): Promise<string> {
  await sim.revive();
  for (const node of sim.nodes) node.trap(undefined);
  for (const platform of sim.platforms) platform.receiver.mood = 'well';
  await rejectAll(sim);
  await restore(sim);
  await workOff(sim);
  sim.world.pass(3_600_000);
  await workOff(sim);
  const problems = sim.orders.flatMap((order) => settle(sim, order) ?? []);
  chargeCards(sim);
  problems.push(...pursesLeft(sim), ...strays(sim), ...cardsLeft(sim), ...settleOrders(sim));
  if (problems.length) throw broken(`at rest: ${problems.join('\n')}`);
  const { length } = sim.orders;
  sim.orders = [];
  return `${length} payments over`;
}
