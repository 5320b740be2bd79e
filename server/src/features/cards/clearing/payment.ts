// A card payment: the changes of its row, and its postings. The amount is held on the funding
// account until the funding debit is confirmed, and on the system account `cards` until the network
// clears it. Debited amounts that cannot be cleared are released automatically. Amounts are in
// cents of the card and are converted to the units of the funding account.

import { Type } from '@sinclair/typebox';
import { assertNever } from '../../../kernel/assert-never.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { MAX_AMOUNT, type Money } from '../../../kernel/money.ts';
import { type SystemAccount, systemAccount } from '../../../ledger/chart.ts';
import type { TransferVerb } from '../../../ledger/transfer.ts';
import type { LedgerAccountRow } from '../../../runtime/committer/ledger-accounts.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
  requireInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { debitWithShortfall, repayShortfall } from '../../balances/shortfalls/index.ts';
import { readCustomer, requireCustomer } from '../../customers/records/index.ts';
import {
  type CardEvent,
  type CardFacts,
  type CardStatus,
  cardAccountOf,
  cardPaymentFeature,
  columnsOf,
  factsOf,
  hasPendingFundingDebit,
  refundedOf,
  settledOf,
} from '../../payments/card-payments/index.ts';
import { onAnyTransaction } from '../../payments/manual/index.ts';
import {
  cardTransaction,
  postAndNotify,
  presentCardPayment,
} from '../../payments/presentation/index.ts';
import { canReceiveRefund } from '../../payments/refunds/index.ts';
import {
  awaitDecision,
  cancelDecision,
  readSuspenseAmounts,
} from '../../payments/suspense/index.ts';
import {
  type CardPaymentRow,
  changeTransaction,
  readTransaction,
  requireTransaction,
  type TransactionRow,
} from '../../payments/transactions/index.ts';
import { closeOnClock } from '../expiry.ts';
import { cardExceptions, openPayments } from '../store.ts';
import { type Change, fundingDebitStep, paidOf, type Step } from './arithmetic.ts';

/** Currency in which cards show amounts. */
export const CARD_CURRENCY = 'USD';

/** Balance of an account less held amounts and floor. */
export const spendableOf = ({ currency, balance, held, floor }: LedgerAccountRow): Money => ({
  currency,
  amount: balance - held - (floor ?? 0n),
});

/** Currencies that can fund a card, each with its number of minor units in one cent of the card. */
const UNITS_PER_CENT: Readonly<Record<string, bigint>> = { USD: 1n, USDB: 10_000n };

export const canFundCards = (currency: string): boolean => UNITS_PER_CENT[currency] !== undefined;

/** Converts an amount of the card to the currency of the account. */
export const inAccountCurrency = (amount: bigint, currency: string): Money => ({
  currency,
  amount: amount * (UNITS_PER_CENT[currency] as bigint),
});

/**
 * Maximum amount of a payment, in cents. Its amount in minor units of a funding account is at most
 * `MAX_AMOUNT`.
 */
export const MAX_CENTS = MAX_AMOUNT / inAccountCurrency(1n, 'USDB').amount;

/** A card payment of the calling platform. Throws TRANSACTION_NOT_FOUND. */
export async function cardPaymentOf(ctx: Ctx, id: string): Promise<CardPaymentRow> {
  const row = isId(id, 'CardTransaction') ? await readTransaction(ctx, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId || row.type !== 'CARD') {
    throw new Fault('TRANSACTION_NOT_FOUND', 'Transaction not found.');
  }
  return row;
}

/** Runs `work` on a card payment of any platform, as the server. Throws TRANSACTION_NOT_FOUND. */
export const onCardPayment = <R>(
  runtime: Runtime,
  id: string,
  work: (ctx: Ctx, row: CardPaymentRow) => Promise<R>,
): Promise<R> =>
  onAnyTransaction(runtime, id, (ctx, row) => {
    if (row.type === 'CARD') return work(ctx, row);
    throw new Fault('TRANSACTION_NOT_FOUND', 'Card payment not found.');
  });

/** Throws for a transaction of another type. */
export function asCardPayment(row: TransactionRow): CardPaymentRow {
  if (row.type === 'CARD') return row;
  throw new Error(`${row.id} is ${row.type}, not CARD`);
}

/** Requires the row as read, even if it does not change. */
export const requirePayment = (ctx: Ctx, row: CardPaymentRow): void => requireTransaction(ctx, row);

/** Currency of the funding account. */
export const currencyOfAccount = (row: CardPaymentRow): string => row.sent_currency;

export const emitCardPayment = (ctx: Ctx, row: CardPaymentRow): void =>
  ctx.emit(cardTransaction[row.status], row.id, presentCardPayment(row));

/** State of the funds of a payment, for checks whether its account is in use. */
function fundsOf(status: CardStatus, facts: CardFacts): CardPaymentRow['funds'] {
  switch (status) {
    case 'EXCEPTION':
      return 'SUSPENSE';
    case 'AUTHORIZED':
    case 'PARTIALLY_SETTLED':
      return 'HELD';
    case 'SETTLED':
    case 'REFUNDED':
      return hasPendingFundingDebit(facts) ? 'HELD' : 'SETTLED';
    default:
      return assertNever(status, 'status of a card payment');
  }
}

/**
 * Stages a change of a payment. With `event` the lifecycle event is applied and an event is
 * emitted.
 */
export function changePayment(
  ctx: Ctx,
  row: CardPaymentRow,
  facts: Partial<CardFacts>,
  event?: CardEvent,
): CardPaymentRow {
  const status = event ? cardPaymentFeature.states.cardPayment.next(row.status, event) : row.status;
  const updatedFacts = { ...factsOf(row), ...facts };
  const isFinal = status === 'SETTLED' || status === 'REFUNDED';
  const changedPayment = changeTransaction(ctx, row, {
    status,
    ...columnsOf(updatedFacts),
    card_last_event_at: ctx.now,
    funds: fundsOf(status, updatedFacts),
    settled_at: isFinal ? (row.settled_at ?? ctx.now) : row.settled_at,
  });
  const exception = { id: row.id, platform_id: row.platform_id, since: ctx.now };
  if (event === 'except') ctx.insert(cardExceptions, exception);
  // Rows of this table are never updated, so the version is constant.
  if (event === 'resolve') ctx.remove(cardExceptions, { ...exception, version: 1 });
  if (event) emitCardPayment(ctx, changedPayment);
  return changedPayment;
}

/**
 * Stages the payment as open. A payment that is still open after `CARD_AUTHORIZATION_MS` expires.
 */
export function awaitNetwork(ctx: Ctx, { id, platform_id }: CardPaymentRow): void {
  closeOnClock(ctx, ctx.insert(openPayments, { id, platform_id, opened_at: ctx.now }));
}

/** Stages a change of a payment. A payment that the change closes is no longer open. */
export async function changeOpenPayment(
  ctx: Ctx,
  row: CardPaymentRow,
  change: () => Promise<CardPaymentRow>,
): Promise<CardPaymentRow> {
  const { id, platform_id, created_at: opened_at } = row;
  const wasOpen = !row.card_closed;
  const changedPayment = await change();
  // Rows of this table are never updated, so the version is constant.
  const openPayment = { id, platform_id, opened_at, version: 1 };
  if (wasOpen && changedPayment.card_closed) ctx.remove(openPayments, openPayment);
  return changedPayment;
}

/** Stages one posting. The caller emits balance events, within `postAndNotify`. */
function stagePosting(
  ctx: Ctx,
  row: CardPaymentRow,
  verb: TransferVerb,
  { step, amount, from, to, force = false }: Step,
): void {
  if (amount === 0n) return;
  const currency = currencyOfAccount(row);
  const ledgerAccountOf = (side: Step['from']) =>
    side === 'account' ? cardAccountOf(row) : systemAccount(ctx.caller.environment, side, currency);
  const accounts = { debit: ledgerAccountOf(from), credit: ledgerAccountOf(to) };
  const money = inAccountCurrency(amount, currency);
  ctx[verb]({ transactionId: row.id, step, ...accounts, ...money, force });
}

/** The account, or undefined if it is closed or its owner is deleted. */
export async function creditableAccountOf(
  ctx: Ctx,
  row: CardPaymentRow,
): Promise<InternalAccountRow | undefined> {
  const account = await readInternalAccount(ctx, cardAccountOf(row));
  return account && (await canReceiveRefund(ctx.db, account)) ? account : undefined;
}

/**
 * Stages the suspense item of a payment whose amount in suspense changes by `change`, or removes
 * the item if the amount becomes zero. The caller changes the row of the payment, as a decision
 * does (`payments/payouts/resolve.ts`), so the amount read here is still current at the commit.
 */
async function changeSuspense(ctx: Ctx, row: CardPaymentRow, change: bigint): Promise<void> {
  const suspenseAmounts = await readSuspenseAmounts(ctx.db, [row.id]);
  const { amount } = inAccountCurrency(change, currencyOfAccount(row));
  const isZero = (suspenseAmounts.get(row.id) ?? 0n) + amount === 0n;
  return isZero ? cancelDecision(ctx, row) : awaitDecision(ctx, row);
}

/**
 * The creditable account, with its owner required as read. A freeze of the account is not checked.
 */
async function requireCreditableAccount(
  ctx: Ctx,
  row: CardPaymentRow,
): ReturnType<typeof creditableAccountOf> {
  const account = await creditableAccountOf(ctx, row);
  const owner = account?.customer_id && (await readCustomer(ctx, account.customer_id));
  if (owner) requireCustomer(ctx, owner);
  return account;
}

/** Credits the account, or suspense if it is closed. The credit repays a shortfall. */
async function creditAccount(ctx: Ctx, row: CardPaymentRow, step: Step): Promise<void> {
  const account = await requireCreditableAccount(ctx, row);
  if (!account) {
    stagePosting(ctx, row, 'transfer', { ...step, to: 'suspense' });
    return changeSuspense(ctx, row, step.amount);
  }
  // The commit fails if the account is closed concurrently. Repaying a shortfall changes the row.
  if (account.owed === 0n) requireInternalAccount(ctx, account);
  stagePosting(ctx, row, 'transfer', { ...step, force: true });
  const creditedAmount = inAccountCurrency(step.amount, currencyOfAccount(row));
  repayShortfall(ctx, account, {
    transactionId: row.id,
    step: `${step.step}.owed`,
    ...creditedAmount,
  });
}

/**
 * Debits the account. The part that was already spent becomes a shortfall. For a closed account the
 * amount is debited from suspense.
 */
async function debitAccount(ctx: Ctx, row: CardPaymentRow, step: Step): Promise<void> {
  const account = await requireCreditableAccount(ctx, row);
  if (!account) {
    stagePosting(ctx, row, 'transfer', { ...step, from: 'suspense' });
    return changeSuspense(ctx, row, -step.amount);
  }
  const currency = currencyOfAccount(row);
  const creditTo = systemAccount(ctx.caller.environment, step.to as SystemAccount, currency);
  const money = inAccountCurrency(step.amount, currency);
  const transferDetails = { transactionId: row.id, step: step.step, ...money, creditTo };
  // The debit is an attempt, so that funds that are spent concurrently increase the shortfall.
  const debitResult = await ctx.attempt(() => debitWithShortfall(ctx, account, transferDetails));
  if (debitResult instanceof Fault) throw debitResult;
}

/** Stages the postings of a change, with balance events. */
export const postSteps = (ctx: Ctx, row: CardPaymentRow, steps: Change['steps']): Promise<void> =>
  postAndNotify(ctx, async () => {
    for (const { verb, ...step } of steps) {
      if (verb !== 'transfer') stagePosting(ctx, row, verb, step);
      else if (step.to === 'account') await creditAccount(ctx, row, step);
      else if (step.from === 'account') await debitAccount(ctx, row, step);
      else stagePosting(ctx, row, verb, step);
    }
  });

/** Requests a funding debit from the issuer, then its result. */
export const FUNDING_DEBIT = defineJob(
  'cards.funding-debit',
  Type.Object({
    transactionId: Type.String(),
    /** Index of the debit within its payment, from zero. */
    at: Type.Number(),
    /** Time at which the debit was opened. */
    since: Type.Number(),
    /** Whether the issuer has received the debit. */
    requested: Type.Optional(Type.Boolean()),
    /** Number of attempts of earlier jobs, before the last response. */
    attempts: Type.Optional(Type.Number()),
  }),
);

/**
 * Stages a further hold and its funding debit. Throws, or makes the commit fail, if the account
 * cannot pay or is closed.
 */
export async function openFundingDebit(
  ctx: Ctx,
  row: CardPaymentRow,
  amount: bigint,
): Promise<CardFacts['fundingDebits']> {
  const { fundingDebits } = factsOf(row);
  const index = fundingDebits.length;
  await postAndNotify(ctx, () =>
    stagePosting(ctx, row, 'hold', {
      step: fundingDebitStep(index),
      amount,
      from: 'account',
      to: 'cards',
    }),
  );
  ctx.later(FUNDING_DEBIT, { transactionId: row.id, at: index, since: ctx.now });
  return [...fundingDebits, { amount, status: 'PENDING' }];
}

/** Settled amount less refunds. */
export const netOf = (facts: CardFacts): bigint => settledOf(facts) - refundedOf(facts);

/** Net amount debited from or credited to the account, in units of its currency. */
export const postedAmountOf = (
  facts: CardFacts,
  direction: 'debit' | 'credit',
  currency: string,
): bigint =>
  inAccountCurrency(direction === 'debit' ? paidOf(facts) : settledOf(facts), currency).amount;
