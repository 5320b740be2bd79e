// What transfers do to ledger accounts, as plain arithmetic: the committer sums a batch up with it, and
// judges change sets one by one with it when a batch was refused. Nothing here knows a database.
//
//   phase     debit account                     credit account
//   posted    balance - amount                  balance + amount
//   pending   held + amount
//   post      held - amount, balance - amount   balance + amount
//   release   held - amount
import type { Refusal, TransferRow } from './change-set.ts';

/** What a batch does to one account. */
export interface Effect {
  id: string;
  currency: string;
  /** Change of balance. */
  net: bigint;
  /** Change of held. */
  hold: bigint;
  /** Lowest point of the change of what can be spent (balance - held) on the way; zero or below. */
  low: bigint;
}

/** Ends the stored step of a `post` or `release`; the pending step is the same without it. */
const RESOLVED = '!';

export const resolves = (transfer: TransferRow): boolean =>
  transfer.phase === 'post' || transfer.phase === 'release';

/** The step a transfer is stored under: the primary key then lets a hold be resolved only once. */
export const storedStep = (transfer: TransferRow): string =>
  resolves(transfer) ? transfer.step + RESOLVED : transfer.step;

const broken = (constraint: string): Refusal => ({ why: 'constraint', constraint });

const NO_ACCOUNT = broken('ledger_account');
const OTHER_CURRENCY = broken('ledger_currency');
const NOT_PENDING = broken('ledger_pending');
const STEP_TAKEN = broken('ledger_transfers_pkey');
const BAD_AMOUNT = broken('ledger_transfers_amount_check');
const SAME_ACCOUNT = broken('ledger_transfers_check');
const BAD_STEP = broken('ledger_step');

/** What is wrong with the transfers of one change set by themselves, before any account is looked at. */
export function slipIn(transfers: readonly TransferRow[]): Refusal | undefined {
  for (const transfer of transfers) {
    if (transfer.amount <= 0n) return BAD_AMOUNT;
    if (transfer.debit === transfer.credit) return SAME_ACCOUNT;
    if (transfer.step.endsWith(RESOLVED)) return BAD_STEP;
  }
  if (transfers.length < 2) return undefined;
  const currencies = new Map<string, string>();
  for (const { debit, credit, currency } of transfers) {
    for (const account of [debit, credit]) {
      if ((currencies.get(account) ?? currency) !== currency) return OTHER_CURRENCY;
      currencies.set(account, currency);
    }
  }
  return undefined;
}

function effectOn(effects: Map<string, Effect>, id: string, currency: string): Effect {
  let known = effects.get(id);
  if (!known) {
    known = { id, currency, net: 0n, hold: 0n, low: 0n };
    effects.set(id, known);
  }
  return known;
}

/** Adds one transfer to the effects; false when an account is met in a second currency. */
function add(effects: Map<string, Effect>, transfer: TransferRow): boolean {
  const { phase, currency, amount } = transfer;
  const debit = effectOn(effects, transfer.debit, currency);
  if (phase === 'pending') debit.hold += amount;
  else if (phase !== 'posted') debit.hold -= amount;
  if (phase === 'posted' || phase === 'post') debit.net -= amount;
  const spendable = debit.net - debit.hold;
  if (spendable < debit.low) debit.low = spendable;
  if (debit.currency !== currency) return false;
  if (phase === 'pending' || phase === 'release') return true;
  const credit = effectOn(effects, transfer.credit, currency);
  credit.net += amount;
  return credit.currency === currency;
}

const byId = (a: Effect, b: Effect) => (a.id < b.id ? -1 : 1);

/**
 * The effects of transfers applied in order, sorted by account. Undefined when an account is met in two
 * currencies: one change set is wrong, and each has to be judged by itself.
 */
export function effectsOf(transfers: readonly TransferRow[]): Effect[] | undefined {
  const effects = new Map<string, Effect>();
  let agree = true;
  for (const transfer of transfers) agree = add(effects, transfer) && agree;
  return agree ? [...effects.values()].sort(byId) : undefined;
}

/** A ledger account as it is known while change sets are judged. */
export interface Account {
  readonly currency: string;
  readonly balance: bigint;
  readonly held: bigint;
  readonly floor: bigint | null;
}

/** A transfer that is stored already, or will be. */
export type Stored = Pick<TransferRow, 'phase' | 'debit' | 'credit' | 'currency' | 'amount'>;

/** Accounts by id and transfers by `transferKey`: as the database holds them, plus what was accepted. */
export interface Books {
  accounts: Map<string, Account>;
  transfers: Map<string, Stored>;
}

export const emptyBooks = (): Books => ({ accounts: new Map(), transfers: new Map() });

export const transferKey = (transactionId: string, step: string) => `${transactionId} ${step}`;

const matches = (pending: Stored | undefined, transfer: TransferRow) =>
  pending?.phase === 'pending' &&
  pending.debit === transfer.debit &&
  pending.credit === transfer.credit &&
  pending.currency === transfer.currency &&
  pending.amount === transfer.amount;

/** The debit account after a transfer. */
function debited(account: Account, { phase, amount }: TransferRow): Account {
  const { balance, held } = account;
  if (phase === 'posted') return { ...account, balance: balance - amount };
  if (phase === 'pending') return { ...account, held: held + amount };
  if (phase === 'release') return { ...account, held: held - amount };
  return { ...account, held: held - amount, balance: balance - amount };
}

const belowFloor = ({ floor, balance, held }: Account) => floor !== null && balance - held < floor;

/**
 * Applies the transfers of one change set to the books, in order, or says why not. After a refusal
 * `draft` is worth nothing; `books` is only read.
 */
function enter(transfers: readonly TransferRow[], books: Books, draft: Books): Refusal | undefined {
  const accountOf = (id: string) => draft.accounts.get(id) ?? books.accounts.get(id);
  const transferOf = (key: string) => draft.transfers.get(key) ?? books.transfers.get(key);
  for (const transfer of transfers) {
    const { transaction_id, step, phase, debit, credit, currency, amount } = transfer;
    const key = transferKey(transaction_id, storedStep(transfer));
    if (transferOf(key)) return STEP_TAKEN;
    const pending = resolves(transfer) ? transferOf(transferKey(transaction_id, step)) : undefined;
    if (resolves(transfer) && !matches(pending, transfer)) return NOT_PENDING;
    const from = accountOf(debit);
    const to = accountOf(credit);
    if (!from || !to) return NO_ACCOUNT;
    if (from.currency !== currency || to.currency !== currency) return OTHER_CURRENCY;
    const after = debited(from, transfer);
    if (phase !== 'release' && belowFloor(after)) return { why: 'funds', account: debit };
    draft.accounts.set(debit, after);
    if (phase === 'posted' || phase === 'post') {
      draft.accounts.set(credit, { ...to, balance: to.balance + amount });
    }
    draft.transfers.set(key, transfer);
  }
  return undefined;
}

/** Judges the transfers of one change set, with the accounts it opens, and enters them when they hold. */
export function judgeTransfers(
  transfers: readonly TransferRow[],
  opened: ReadonlyMap<string, Account>,
  books: Books,
): Refusal | undefined {
  const draft: Books = { accounts: new Map(opened), transfers: new Map() };
  const refusal = enter(transfers, books, draft);
  if (refusal) return refusal;
  for (const [id, account] of draft.accounts) books.accounts.set(id, account);
  for (const [key, stored] of draft.transfers) books.transfers.set(key, stored);
  return undefined;
}
