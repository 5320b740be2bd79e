// The facts of a card payment: the authorized amount, and each clearing, refund and funding debit.
// Amounts are in minor units of the currency of the card. All totals are sums of these facts, so a
// total always equals its parts. The functions are pure.
import type { CardMerchant } from '../../../connectors/ports/cards.ts';
import type { Time } from '../../../kernel/effects.ts';

/**
 * STUCK: the debit failed and the funds are held until an operator decides. FAILED: the debit
 * failed and no funds are held.
 */
export type FundingDebitStatus = 'PENDING' | 'CONFIRMED' | 'STUCK' | 'FAILED';

/** A debit of the account that funds the card. */
export interface FundingDebit {
  amount: bigint;
  status: FundingDebitStatus;
}

export interface CardFacts {
  authorized: bigint;
  /** No further clearing is expected. */
  closed: boolean;
  clearings: readonly bigint[];
  /** Refunds by merchants, without reversed refunds. */
  refunds: readonly bigint[];
  fundingDebits: readonly FundingDebit[];
  /** Debited and then returned to the account, other than by refunds. */
  released: bigint;
  /** Paid to the network and not debited from an account. */
  writtenOff: bigint;
  /** The part of the refunds that the operator keeps, because the account did not pay it. */
  recovered: bigint;
  /**
   * Number of clearings reversed with a late approval, which `clearings` excludes. Null if the
   * approval was in time.
   */
  undoneClearings: number | null;
  /** Number of reversed refunds, which `refunds` excludes. */
  reversedRefunds: number;
}

export interface CardDetails {
  cardId: string;
  /** The issuer's ID of the payment. */
  token: string;
  merchant: CardMerchant;
  currency: string;
}

/**
 * The facts as columns. The constraint `transactions_card_amounts` states the relations of the
 * facts.
 */
export type CardFactColumns = {
  card_authorized: bigint;
  card_closed: boolean;
  card_clearings: readonly bigint[];
  card_refunds: readonly bigint[];
  card_funding_debits: readonly bigint[];
  /** Status of the funding debit at the same index of `card_funding_debits`. */
  card_funding_debit_statuses: readonly FundingDebitStatus[];
  card_released: bigint;
  card_written_off: bigint;
  card_recovered: bigint;
  card_undone_clearings: number | null;
  card_reversed_refunds: number;
};

export type CardColumns = CardFactColumns & { card: CardDetails; card_last_event_at: Time };

/** The facts at authorization. */
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
  return card_funding_debits.map((amount, index) => {
    const status = card_funding_debit_statuses[index];
    if (status === undefined) throw new Error(`funding debit ${index + 1} has no status`);
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

/** Sum of the funding debits in one of these statuses. */
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

/** The debited account, or the account that a merchant credit is posted to. */
export const cardAccountOf = (row: Sides): string =>
  row.direction === 'DEBIT' ? row.source_account : row.destination_account;
