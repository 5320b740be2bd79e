// The facts of a card payment, in smallest units of the card's currency: what was authorized, and each
// piece that was cleared, refunded, or taken from the account that pays. Everything else about the payment
// is summed from these, so no total can disagree with its parts. Pure.
import type { CardMerchant } from '../../../connectors/ports/cards.ts';
import type { Time } from '../../../kernel/effects.ts';

/** STUCK: held and not taken, because the issuer could not; an operator decides. FAILED: nothing is held. */
export type FundingDebitStatus = 'PENDING' | 'CONFIRMED' | 'STUCK' | 'FAILED';

/** Money taken from the account that pays. */
export interface FundingDebit {
  amount: bigint;
  status: FundingDebitStatus;
}

export interface CardFacts {
  authorized: bigint;
  /** Nothing more will be cleared. */
  closed: boolean;
  clearings: readonly bigint[];
  /** What merchants gave back, without refunds that were reversed. */
  refunds: readonly bigint[];
  fundingDebits: readonly FundingDebit[];
  /** Given back to the account of what was taken, beside refunds. */
  released: bigint;
  /** Paid to the network and taken from no account. */
  writtenOff: bigint;
  /** What of the refunds the operator keeps, because the account had not paid it. */
  recovered: bigint;
  /** Clearings undone with a late approval, which are not in `clearings`; null where it was not late. */
  undoneClearings: number | null;
  /** How many refunds were reversed, and are not in `refunds`. */
  reversedRefunds: number;
}

/** What identifies a card payment. */
export interface CardDetails {
  cardId: string;
  /** The issuer's id of the payment. */
  token: string;
  merchant: CardMerchant;
  currency: string;
}

/** The facts as columns; `transactions_card_amounts` holds how they relate. */
export type CardFactColumns = {
  card_authorized: bigint;
  card_closed: boolean;
  card_clearings: readonly bigint[];
  card_refunds: readonly bigint[];
  card_funding_debits: readonly bigint[];
  /** The status of each pull, at its place in `card_funding_debits`. */
  card_funding_debit_statuses: readonly FundingDebitStatus[];
  card_released: bigint;
  card_written_off: bigint;
  card_recovered: bigint;
  card_undone_clearings: number | null;
  card_reversed_refunds: number;
};

/** The columns of a card payment. */
export type CardColumns = CardFactColumns & { card: CardDetails; card_last_event_at: Time };

/** A payment as it is authorized. */
export const newFacts = (authorized: bigint): CardFacts => ({
  authorized,
  closed: false,
  clearings: [],
  refunds: [],
  fundingDebits: [],
  released: 0n,
  writtenOff: 0n,
  recovered: 0n,
  undoneClearings: null,
  reversedRefunds: 0,
});

function fundingDebitsOf({
  card_funding_debits,
  card_funding_debit_statuses,
}: CardFactColumns): FundingDebit[] {
  return card_funding_debits.map((amount, at) => {
    const status = card_funding_debit_statuses[at];
    if (status === undefined) throw new Error(`pull ${at + 1} has no status`);
    return { amount, status };
  });
}

export const factsOf = (row: CardFactColumns): CardFacts => ({
  authorized: row.card_authorized,
  closed: row.card_closed,
  clearings: row.card_clearings,
  refunds: row.card_refunds,
  fundingDebits: fundingDebitsOf(row),
  released: row.card_released,
  writtenOff: row.card_written_off,
  recovered: row.card_recovered,
  undoneClearings: row.card_undone_clearings,
  reversedRefunds: row.card_reversed_refunds,
});

export const columnsOf = (facts: CardFacts): CardFactColumns => ({
  card_authorized: facts.authorized,
  card_closed: facts.closed,
  card_clearings: facts.clearings,
  card_refunds: facts.refunds,
  card_funding_debits: facts.fundingDebits.map(({ amount }) => amount),
  card_funding_debit_statuses: facts.fundingDebits.map(({ status }) => status),
  card_released: facts.released,
  card_written_off: facts.writtenOff,
  card_recovered: facts.recovered,
  card_undone_clearings: facts.undoneClearings,
  card_reversed_refunds: facts.reversedRefunds,
});

export const sumOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((sum, each) => sum + each, 0n);

export const settledOf = ({ clearings }: Pick<CardFacts, 'clearings'>): bigint => sumOf(clearings);
export const refundedOf = ({ refunds }: Pick<CardFacts, 'refunds'>): bigint => sumOf(refunds);

/** What was pulled with one of these outcomes. */
export const fundingDebitAmountOf = (
  { fundingDebits }: CardFacts,
  ...statuses: FundingDebitStatus[]
): bigint =>
  sumOf(fundingDebits.filter((each) => statuses.includes(each.status)).map((each) => each.amount));

export const hasPendingFundingDebit = ({
  fundingDebits,
}: Pick<CardFacts, 'fundingDebits'>): boolean =>
  fundingDebits.some((each) => each.status === 'PENDING');

type Sides =
  | { direction: 'DEBIT'; source_account: string }
  | { direction: 'CREDIT'; destination_account: string };

/** The account that pays, or that a merchant credit goes to. */
export const cardAccountOf = (row: Sides): string =>
  row.direction === 'DEBIT' ? row.source_account : row.destination_account;
