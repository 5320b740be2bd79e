// What speaks to cards in the simulation: the handler of an issuer, on any server and over a line that may
// break, and what each message must come to by the state of the card, its holder and the account that
// pays. Foretold from the specification, so that a decision which leans on too little shows.
import type { CardNotice } from '../../../src/connectors/ports/cards.ts';
import { connectorRegistry, custodyKeysOf } from '../../../src/connectors/registry.ts';
import { cardNetworkHandler } from '../../../src/features/cards/index.ts';
import { assertNever } from '../../../src/kernel/assert-never.ts';
import type { ChangeSet, Outcome } from '../../../src/runtime/committer/change-set.ts';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';
import { accountOf, type Facts, factsOf, unitsIn } from '../picture/card-facts.ts';
import type { Noted } from '../picture/picture.ts';
import type { Node } from './node.ts';
import { broken, type Person, type Sim } from './sim.ts';

/** What becomes of the first commit of a message. */
export type Line = 'well' | 'slow' | 'lost before' | 'lost after';

const lost = () => Object.assign(new Error('the line broke'), { code: 'OUTCOME_UNKNOWN' });

/** A server whose line to its database fails once, or takes five milliseconds. */
function through(sim: Sim, { app }: Node, line: Line): Runtime {
  const { committer } = app.runtime;
  let first = true;
  async function commit(set: ChangeSet): Promise<Outcome> {
    const at = first ? line : 'well';
    first = false;
    if (at === 'lost before') throw lost();
    const outcome = await committer.commit(set);
    if (at === 'slow') sim.world.pass(5);
    if (at === 'lost after') throw lost();
    return outcome;
  }
  return line === 'well' ? app.runtime : { ...app.runtime, committer: { commit } };
}

/** The handler that an issuer of the sandbox is given. */
export function handlerOf(sim: Sim, node: Node, line: Line = 'well') {
  for (const each of sim.nodes) each.trap(undefined);
  const runtime = through(sim, node, line);
  const custodyKeys = custodyKeysOf(runtime.vault);
  const connectors = connectorRegistry(sim.world, { custodyKeys });
  return cardNetworkHandler(runtime, { connectors, origin: () => 'http://localhost' }, 'sandbox');
}

export const holderOf = ({ people }: Sim, { customer_id: id }: Noted): Person | undefined =>
  people.find((each) => each.id === id && !each.gone);

const fundingOf = ({ funding }: Noted): string[] => JSON.parse(funding ?? '[]');
export const firstOf = (card: Noted): string => fundingOf(card)[0] as string;

/** The key that may sign for a card at an account. */
function signerOf({ picture }: Sim, cardId: string, account: string): Noted | undefined {
  const { bindings, keys } = picture.cardBook;
  const open = [...(bindings.get(cardId)?.values() ?? [])].find(
    (each) => each.account_id === account && !each.ended_at,
  );
  return [...(keys.get(cardId)?.values() ?? [])].find(
    (key) => key.funding_source_id === open?.id && key.status === 'ACTIVE',
  );
}

/** What an account can spend, undefined where it can pay nothing at all. */
function payable(sim: Sim, cardId: string, account: string): bigint | undefined {
  const row = sim.picture.internal.get(account);
  const money = sim.picture.accounts.get(account);
  if (row?.status !== 'ACTIVE' || row.owed !== '0' || !money) return undefined;
  const signs = row.type !== 'EMBEDDED_WALLET' || signerOf(sim, cardId, account);
  return signs ? money.balance - money.held : undefined;
}

export interface Asked {
  kind: string;
  amount: bigint;
  currency: string;
  descriptor: string;
}

const isCredit = (kind: string) => kind.includes('CREDIT');

/** `approved`, or why not. */
export function decisionOn(sim: Sim, card: Noted, asked: Asked): string {
  const { kind, amount, currency, descriptor } = asked;
  const advice = kind === 'CREDIT_AUTHORIZATION_ADVICE';
  if (card.state !== 'ACTIVE' && card.state !== 'FROZEN') return 'CARD_NOT_ACTIVE';
  if (card.state === 'FROZEN' && !advice) return 'CARD_PAUSED';
  if (descriptor.endsWith('002')) return 'INSUFFICIENT_FUNDS';
  if (descriptor.endsWith('003')) return 'CARD_PAUSED';
  if (currency !== 'USD') return 'CURRENCY_NOT_SUPPORTED';
  if (!holderOf(sim, card)) return 'CARDHOLDER_NOT_READY';
  if (advice) return 'approved';
  const account = firstOf(card);
  const { status, currency: unit = null } = sim.picture.internal.get(account) ?? {};
  if (isCredit(kind)) return status === 'CLOSED' ? 'NO_FUNDING_SOURCE' : 'approved';
  if (card.max_spend && amount > BigInt(card.max_spend)) return 'SPEND_LIMIT_EXCEEDED';
  const there = payable(sim, card.id as string, account);
  if (there === undefined) return 'NO_FUNDING_SOURCE';
  return amount * unitsIn({ sent_currency: unit }) > there ? 'INSUFFICIENT_FUNDS' : 'approved';
}

/** What a network tells of a payment. */
export interface News {
  kind: CardNotice['kind'];
  amount: bigint;
}

const OPEN = ['AUTHORIZED', 'PARTIALLY_SETTLED'];

/** Whether it cannot be true of the payment. The sandbox takes only what fits its state. */
export function isUntrue(row: Noted, { kind, amount }: News, inSandbox: boolean): boolean {
  const { direction, settled, refunded, returns } = factsOf(row);
  const isOpen = OPEN.includes(row.status as string);
  switch (kind) {
    case 'RETURN':
      return direction === 'CREDIT' || amount > settled - refunded;
    case 'RETURN_REVERSAL':
      return inSandbox ? row.status !== 'REFUNDED' : returns.length === 0;
    case 'AUTHORIZATION_ADVICE':
      return direction === 'CREDIT' || (inSandbox && !isOpen);
    case 'CLEARING':
    case 'AUTHORIZATION_EXPIRY':
      return inSandbox && !isOpen;
    default:
      return assertNever(kind, 'card notice');
  }
}

/** What has to be taken from the account for it beyond what was. */
function needOf(facts: Facts, { kind, amount }: News): bigint {
  const { confirmed, pending, stuck, back, lost: gone, settled, authorized } = facts;
  const covered = confirmed + pending + stuck - back + gone;
  const least = (a: bigint, b: bigint) => (a < b ? a : b);
  const wanted =
    kind === 'CLEARING'
      ? least(amount, settled + amount - covered)
      : least(amount - authorized, amount - covered);
  return wanted > 0n && facts.direction === 'DEBIT' ? wanted : 0n;
}

const pullsOf = ({ pulls }: Facts) => pulls.map(({ amount, status }) => `${amount} ${status}`);

/** Checks what became of a payment that such news was told of. */
export function checkHeeded(sim: Sim, was: Noted, now: Noted, news: News): void {
  const [before, after] = [factsOf(was), factsOf(now)];
  // What is cleared is a fact also of a payment that is over; what it was for in all is not asked any more.
  const kinds = before.closed ? ['CLEARING'] : ['CLEARING', 'AUTHORIZATION_ADVICE'];
  const takes = kinds.includes(news.kind) && news.amount > 0n;
  const need = takes ? needOf(before, news) : 0n;
  const card = sim.picture.cardBook.cards.get(before.cardId);
  // One whose holder is gone is about to be.
  const closed = card?.state === 'CLOSED' || !holderOf(sim, was);
  const there = payable(sim, before.cardId, accountOf(was));
  const pays = there !== undefined && need * unitsIn(was) <= there;
  const loses = closed && news.kind === 'CLEARING';
  const pulls = pullsOf(before);
  // What an advice cannot set aside is asked for when it is cleared.
  const asks = pays || news.kind === 'CLEARING';
  if (need > 0n && !closed && asks) pulls.push(`${need} ${pays ? 'PENDING' : 'FAILED'}`);
  const due = { pulls: pulls.join(), lost: before.lost + (loses ? need : 0n) };
  const is = { pulls: pullsOf(after).join(), lost: after.lost };
  if (due.pulls !== is.pulls || due.lost !== is.lost) {
    const [a, b] = [`${is.pulls}; lost ${is.lost}`, `${due.pulls}; lost ${due.lost}`];
    throw broken(`${now.id}, told ${news.kind} ${news.amount}: pulls ${a}, not ${b}`);
  }
  const excepts = was.status === 'EXCEPTION' || (need > 0n && !closed && asks && !pays);
  if ((now.status === 'EXCEPTION') !== excepts) {
    throw broken(`${now.id}, told ${news.kind} ${news.amount}, is ${now.status}`);
  }
}
