// A payment with a card: how its row changes and what that moves, whoever asks for it. Its money is set aside
// on the account that pays, taken into our keeping once the pull is confirmed, and leaves that when the
// network clears it. What was taken and will not be cleared goes back by itself. All amounts here are those
// of the card; an account in another unit of the same money has more digits.

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
import { awaitDecision, cancelDecision, inSuspense } from '../../payments/suspense/index.ts';
import {
  type CardPaymentRow,
  changeTransaction,
  readTransaction,
  requireTransaction,
  type TransactionRow,
} from '../../payments/transactions/index.ts';
import { cardExceptions, openPayments } from '../store.ts';
import { type Change, paidOf, pullStep, type Step } from './arithmetic.ts';

/** What cards show their amounts in. */
export const CARD_CURRENCY = 'USD';

/** What can be spent of an account. */
export const spendableOf = ({ currency, balance, held, floor }: LedgerAccountRow): Money => ({
  currency,
  amount: balance - held - (floor ?? 0n),
});

/** Currencies that may pay for a card, with their units in one of the card's. */
const UNITS: Readonly<Record<string, bigint>> = { USD: 1n, USDB: 10_000n };

export const mayPayFor = (currency: string): boolean => UNITS[currency] !== undefined;

/** An amount of a card in an account's currency. */
export const inAccountCurrency = (amount: bigint, currency: string): Money => ({
  currency,
  amount: amount * (UNITS[currency] as bigint),
});

/** The most that a payment is for: in the finest unit of an account, and far from where the books end. */
export const MAX_CENTS = MAX_AMOUNT / inAccountCurrency(1n, 'USDB').amount;

/** A payment with a card of the calling platform; TRANSACTION_NOT_FOUND for every other id. */
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

/** Leans on it as read, also where nothing of it changes. */
export const leanOnPayment = (ctx: Ctx, row: CardPaymentRow): void => requireTransaction(ctx, row);

/** The currency of that account. */
export const currencyOfAccount = (row: CardPaymentRow): string => row.sent_currency;

export const tellCard = (ctx: Ctx, row: CardPaymentRow): void =>
  ctx.emit(cardTransaction[row.status], row.id, presentCardPayment(row));

/** Where its money is, for whoever asks whether its account is still used. */
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

/** Stages a change of it. With `event` it moves on, and that is told. */
export function changePayment(
  ctx: Ctx,
  row: CardPaymentRow,
  facts: Partial<CardFacts>,
  event?: CardEvent,
): CardPaymentRow {
  const status = event ? cardPaymentFeature.states.cardPayment.next(row.status, event) : row.status;
  const after = { ...factsOf(row), ...facts };
  const done = status === 'SETTLED' || status === 'REFUNDED';
  const changed = changeTransaction(ctx, row, {
    status,
    ...columnsOf(after),
    card_last_event_at: ctx.now,
    funds: fundsOf(status, after),
    settled_at: done ? (row.settled_at ?? ctx.now) : row.settled_at,
  });
  const waits = { id: row.id, platform_id: row.platform_id, since: ctx.now };
  if (event === 'except') ctx.insert(cardExceptions, waits);
  // Nobody changes such a row, so its version is known.
  if (event === 'resolve') ctx.remove(cardExceptions, { ...waits, version: 1 });
  if (event) tellCard(ctx, changed);
  return changed;
}

/** Stages that its network is waited for, for a while. */
export const awaitNetwork = (ctx: Ctx, { id, platform_id }: CardPaymentRow): void =>
  void ctx.insert(openPayments, { id, platform_id, opened_at: ctx.now });

/** Stages a change of a payment. Where nothing more is expected of it then, its network is not waited for. */
export async function whileOpen(
  ctx: Ctx,
  row: CardPaymentRow,
  change: () => Promise<CardPaymentRow>,
): Promise<CardPaymentRow> {
  const { id, platform_id, created_at: opened_at } = row;
  const wasOpen = !row.card_closed;
  const changed = await change();
  // Nobody changes such a row, so its version is known.
  const open = { id, platform_id, opened_at, version: 1 };
  if (wasOpen && changed.card_closed) ctx.remove(openPayments, open);
  return changed;
}

/** Stages one movement of it; balances are told by whoever stages it, within `postAndNotify`. */
function moveCard(ctx: Ctx, row: CardPaymentRow, verb: TransferVerb, given: Step): void {
  const { step, amount, from, to, force = false } = given;
  if (amount === 0n) return;
  const currency = currencyOfAccount(row);
  const end = (at: Step['from']) =>
    at === 'account' ? cardAccountOf(row) : systemAccount(ctx.caller.environment, at, currency);
  const ends = { debit: end(from), credit: end(to) };
  const money = inAccountCurrency(amount, currency);
  ctx[verb]({ transactionId: row.id, step, ...ends, ...money, force });
}

/** Its account, if that takes money back: not closed, and its owner still there. */
export async function takerOf(
  ctx: Ctx,
  row: CardPaymentRow,
): Promise<InternalAccountRow | undefined> {
  const account = await readInternalAccount(ctx, cardAccountOf(row));
  return account && (await canReceiveRefund(ctx.db, account)) ? account : undefined;
}

/**
 * Puts what the payment has in suspense before a person, now that it changes by `change`. Where nothing is
 * left of it there, nobody need look. Whoever calls this changes the payment's row, as whoever decides does
 * (`transactions/resolve.ts`): so what is read here is still so at the commit.
 */
async function askPerson(ctx: Ctx, row: CardPaymentRow, change: bigint): Promise<void> {
  const nets = await inSuspense(ctx.db, [row.id]);
  const { amount } = inAccountCurrency(change, currencyOfAccount(row));
  const isEven = (nets.get(row.id) ?? 0n) + amount === 0n;
  return isEven ? cancelDecision(ctx, row) : awaitDecision(ctx, row);
}

/** The same, leaned on: its gate is not asked, so that its owner goes not meanwhile is asked of the row. */
async function heldTakerOf(ctx: Ctx, row: CardPaymentRow): ReturnType<typeof takerOf> {
  const account = await takerOf(ctx, row);
  const owner = account?.customer_id && (await readCustomer(ctx, account.customer_id));
  if (owner) requireCustomer(ctx, owner);
  return account;
}

/** Money for the account: into suspense where it takes none any more. What its owner owes comes first. */
async function give(ctx: Ctx, row: CardPaymentRow, step: Step): Promise<void> {
  const account = await heldTakerOf(ctx, row);
  if (!account) {
    moveCard(ctx, row, 'transfer', { ...step, to: 'suspense' });
    return askPerson(ctx, row, step.amount);
  }
  // Neither is it closed meanwhile; one that owes is changed by this.
  if (account.owed === 0n) requireInternalAccount(ctx, account);
  moveCard(ctx, row, 'transfer', { ...step, force: true });
  const given = inAccountCurrency(step.amount, currencyOfAccount(row));
  repayShortfall(ctx, account, { transactionId: row.id, step: `${step.step}.owed`, ...given });
}

/** Money that must leave the account, owed where it is spent. Of a closed one a person looks for it. */
async function take(ctx: Ctx, row: CardPaymentRow, step: Step): Promise<void> {
  const account = await heldTakerOf(ctx, row);
  if (!account) {
    moveCard(ctx, row, 'transfer', { ...step, from: 'suspense' });
    return askPerson(ctx, row, -step.amount);
  }
  const currency = currencyOfAccount(row);
  const creditTo = systemAccount(ctx.caller.environment, step.to as SystemAccount, currency);
  const money = inAccountCurrency(step.amount, currency);
  const by = { transactionId: row.id, step: step.step, ...money, creditTo };
  // An attempt, so that an account which pays in the same moment owes more, and nothing is refused.
  const taken = await ctx.attempt(() => debitWithShortfall(ctx, account, by));
  if (taken instanceof Fault) throw taken;
}

/** Stages what a change moves, with the balances told. */
export const moveSteps = (ctx: Ctx, row: CardPaymentRow, steps: Change['steps']): Promise<void> =>
  postAndNotify(ctx, async () => {
    for (const { verb, ...step } of steps) {
      if (verb !== 'transfer') moveCard(ctx, row, verb, step);
      else if (step.to === 'account') await give(ctx, row, step);
      else if (step.from === 'account') await take(ctx, row, step);
      else moveCard(ctx, row, verb, step);
    }
  });

/** Asks the issuer to take what is set aside. */
export const PULL = defineJob(
  'cards.pull',
  Type.Object({
    transactionId: Type.String(),
    /** The pull's place among those of its payment, from zero. */
    at: Type.Number(),
    /** When it was opened. */
    since: Type.Number(),
    /** Whether the issuer knows of it. */
    asked: Type.Optional(Type.Boolean()),
    /** How often it was asked by other jobs, before its last answer. */
    tries: Type.Optional(Type.Number()),
  }),
);

/**
 * Sets a further amount aside and has it taken. Throws, or lets the commit throw, where the account cannot
 * pay it or is shut.
 */
export async function openPull(
  ctx: Ctx,
  row: CardPaymentRow,
  amount: bigint,
): Promise<CardFacts['fundingDebits']> {
  const { fundingDebits } = factsOf(row);
  const at = fundingDebits.length;
  await postAndNotify(ctx, () =>
    moveCard(ctx, row, 'hold', { step: pullStep(at), amount, from: 'account', to: 'cards' }),
  );
  ctx.later(PULL, { transactionId: row.id, at, since: ctx.now });
  return [...fundingDebits, { amount, status: 'PENDING' }];
}

/** What the network had of it, less what came back. */
export const netOf = (facts: CardFacts): bigint => settledOf(facts) - refundedOf(facts);

/** What a payment has debited from or credited to its account by now, in units of the account's currency. */
export const postedAmountOf = (
  facts: CardFacts,
  direction: 'debit' | 'credit',
  currency: string,
): bigint =>
  inAccountCurrency(direction === 'debit' ? paidOf(facts) : settledOf(facts), currency).amount;
