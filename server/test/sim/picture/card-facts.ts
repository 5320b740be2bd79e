// What a payment with a card must have moved and how it must stand, told from its facts by arithmetic of
// our own: sums of the pieces that its row lists, written from the specification and the tables of money.
// The account that pays, what its owner owes, and what waits in suspense or was sent by hand in its stead
// count as one.
import { add, type Sums } from './effects.ts';
import type { Noted, Transfer } from './picture.ts';

export interface Facts {
  cardId: string;
  token: string;
  direction: string;
  authorized: bigint;
  closed: boolean;
  settlements: string[];
  returns: string[];
  reversed: number;
  /** Sums of all that was cleared, came back, and was pulled with each outcome. */
  settled: bigint;
  refunded: bigint;
  confirmed: bigint;
  pending: bigint;
  stuck: bigint;
  failed: bigint;
  back: bigint;
  lost: bigint;
  recouped: bigint;
  pulls: { amount: string; status: string }[];
}

const sum = (amounts: readonly string[]) => amounts.reduce((all, each) => all + BigInt(each), 0n);

/** A list as PostgreSQL writes it. */
const listOf = (text: string | null | undefined): string[] =>
  (text ?? '{}').slice(1, -1).split(',').filter(Boolean);

export const hasPendingFundingDebit = ({ card_funding_debit_statuses: statuses }: Noted): boolean =>
  listOf(statuses).includes('PENDING');

export function factsOf(row: Noted): Facts {
  const { cardId, token } = JSON.parse(row.card ?? '{}');
  const statuses = listOf(row.card_funding_debit_statuses);
  const pulls = listOf(row.card_funding_debits).map((amount, at) => ({
    amount,
    status: statuses[at] ?? '',
  }));
  const pulled = (status: string) =>
    sum(pulls.flatMap((pull) => (pull.status === status ? pull.amount : [])));
  const [settlements, returns] = [listOf(row.card_clearings), listOf(row.card_refunds)];
  return {
    ...{ cardId, token, settlements, returns, pulls },
    direction: row.direction as string,
    authorized: BigInt(row.card_authorized ?? 0),
    closed: row.card_closed === 'true',
    reversed: Number(row.card_reversed_refunds),
    settled: sum(settlements),
    refunded: sum(returns),
    confirmed: pulled('CONFIRMED'),
    pending: pulled('PENDING'),
    stuck: pulled('STUCK'),
    failed: pulled('FAILED'),
    back: BigInt(row.card_released ?? 0),
    lost: BigInt(row.card_written_off ?? 0),
    recouped: BigInt(row.card_recovered ?? 0),
  };
}

/** A cent of the card in smallest units of what pays. */
const UNITS: Readonly<Record<string, bigint>> = { USD: 1n, USDB: 10_000n };

export const unitsIn = (row: Noted): bigint => UNITS[row.sent_currency ?? ''] ?? 0n;

export const accountOf = (row: Noted): string =>
  (row.source_account ?? row.destination_account) as string;

/** What of a payment is in our keeping until the network clears it, in units of its account. */
export function keptOf(row: Noted): bigint {
  const { direction, confirmed, back, lost, settled } = factsOf(row);
  return direction === 'CREDIT' ? 0n : (confirmed - back + lost - settled) * unitsIn(row);
}

/** What a payment has cost the account that pays, or whoever stands for it. */
export function chargeOf(row: Noted): bigint {
  const { direction, confirmed, back, settled, refunded, recouped } = factsOf(row);
  const cents = direction === 'CREDIT' ? -settled : confirmed - back - (refunded - recouped);
  return cents * unitsIn(row);
}

/** What all its transfers together must have done. */
export function cardEffect(row: Noted, environment: string): Sums {
  const due: Sums = new Map();
  const { direction, pending, stuck, lost, settled, refunded, recouped } = factsOf(row);
  const units = unitsIn(row);
  const systemAccount = (purpose: string) =>
    `system:${environment}:${purpose}:${row.sent_currency}`;
  const account = accountOf(row);
  add(due, account, -chargeOf(row));
  add(due, `${account} held`, (pending + stuck) * units);
  add(due, systemAccount('cards'), keptOf(row));
  const cleared = direction === 'CREDIT' ? -settled : settled - refunded;
  add(due, systemAccount('external_settlement'), cleared * units);
  add(due, systemAccount('losses'), (recouped - lost) * units);
  return due;
}

const STAND_INS = /^system:\w+:(suspense|receivable|rail_in_transit):/;

/** The transfers as if the account itself had paid and had got everything. */
export function ofAccount(row: Noted, transfers: readonly Transfer[]): Transfer[] {
  const own = (id: string) => (STAND_INS.test(id) ? accountOf(row) : id);
  return transfers.map((each) => ({ ...each, debit: own(each.debit), credit: own(each.credit) }));
}

/** What of it waits in suspense; below zero where more was taken from there. */
export function inSuspense(transfers: readonly Transfer[]): bigint {
  const isThere = (id: string) => id.includes(':suspense:');
  return transfers.reduce((net, { debit, credit, amount }) => {
    const came = isThere(credit) ? amount : 0n;
    return net + came - (isThere(debit) ? amount : 0n);
  }, 0n);
}

/** What stands for the account in suspense, and was sent to its owner by hand. */
export function besideAccount(transfers: readonly Transfer[]): bigint {
  const isThere = (id: string) => id.includes(':suspense:') || id.includes(':rail_in_transit:');
  return transfers.reduce((net, { debit, credit, amount }) => {
    const came = isThere(credit) ? amount : 0n;
    return net + came - (isThere(debit) ? amount : 0n);
  }, 0n);
}

/** How it must stand; `excepted` says that a person is asked. */
export function statusDue({ closed, settled, refunded }: Facts, excepted: boolean): string {
  if (excepted) return 'EXCEPTION';
  if (!closed) return settled > 0n ? 'PARTIALLY_SETTLED' : 'AUTHORIZED';
  return settled > 0n && settled === refunded ? 'REFUNDED' : 'SETTLED';
}

/** Where its money must be said to be. */
export function fundsDue({ pending, closed }: Facts, excepted: boolean): string {
  if (excepted) return 'SUSPENSE';
  return !closed || pending > 0n ? 'HELD' : 'SETTLED';
}

/** What is wrong with what is taken, against what is cleared and may yet be. */
export function takenProblem(facts: Facts, excepted: boolean): string | undefined {
  const { direction, confirmed, pending, stuck, back, lost, settled, authorized, closed } = facts;
  const { refunded, recouped } = facts;
  if (refunded > settled) return `got ${refunded} back of ${settled}`;
  if (direction === 'CREDIT') return undefined;
  const given = refunded - recouped;
  if (given > confirmed + pending + stuck - back) return 'gave its account more than that had paid';
  if (excepted || pending > 0n) return undefined;
  const kept = confirmed - back + lost;
  if (kept < settled) return `has ${kept} for ${settled} that were cleared`;
  if (closed && kept !== settled) return `is over and keeps ${kept - settled}`;
  if (kept <= authorized || kept <= settled) return undefined;
  return `has taken ${kept}, and is for ${authorized}`;
}
