// Effects of transfers on ledger accounts, as arithmetic without I/O (transfer.ts describes the
// phases). The committer sums up a batch with these functions. After the rejection of a batch it
// validates and applies the change sets one by one.
import { type CurrencyCode, sameCurrency } from '../kernel/money.ts';
import {
  type FreezeRow,
  type LedgerRejection,
  needsUnfrozen,
  RESOLVED_SUFFIX,
  resolves,
  storedStep,
  type TransferRow,
} from './transfer.ts';

/** The postings of a change set. */
export interface Postings {
  transfers: readonly TransferRow[];
  freezes: readonly FreezeRow[];
}

/** The effect of a batch on one account. */
interface Effect {
  id: string;
  currency: CurrencyCode;
  /** Change of `balance`. */
  net: bigint;
  /** Change of `held`. */
  hold: bigint;
  /** Lowest intermediate change of the available balance (`balance - held`), zero or below. */
  low: bigint;
  /** Whether the account must not be frozen before the batch. */
  guarded: boolean;
}

/** The credit account of a pending transfer, to which nothing is posted yet. */
interface NamedAccount {
  id: string;
  currency: CurrencyCode;
  guarded: boolean;
}

/**
 * Whether an account is frozen after a batch, and its required `balance` and `held` then. Null for any
 * amount.
 */
interface Freeze {
  id: string;
  frozen: boolean;
  balance: bigint | null;
  held: bigint | null;
}

/** The effect of a batch on ledger accounts. */
interface Sum {
  effects: Effect[];
  named: NamedAccount[];
  freezes: Freeze[];
}

const constraintViolation = (constraint: string): LedgerRejection => ({
  reason: 'constraint',
  constraint,
});

const NO_ACCOUNT = constraintViolation('ledger_account');
const OTHER_CURRENCY = constraintViolation('ledger_currency');
const NOT_PENDING = constraintViolation('ledger_pending');
const DUPLICATE_STEP = constraintViolation('ledger_transfers_pkey');
const BAD_AMOUNT = constraintViolation('ledger_transfers_amount_check');
const SAME_ACCOUNT = constraintViolation('ledger_transfers_check');
const BAD_STEP = constraintViolation('ledger_step');

/** Validates the transfers of a change set without the state of accounts. Returns the rejection. */
export function validateTransfers(transfers: readonly TransferRow[]): LedgerRejection | undefined {
  for (const transfer of transfers) {
    if (transfer.amount <= 0n) return BAD_AMOUNT;
    if (transfer.debit === transfer.credit) return SAME_ACCOUNT;
    if (transfer.step.endsWith(RESOLVED_SUFFIX)) return BAD_STEP;
  }
  if (transfers.length < 2) return undefined;
  const currencies = new Map<string, CurrencyCode>();
  for (const { debit, credit, currency } of transfers) {
    for (const account of [debit, credit]) {
      if (!sameCurrency(currencies.get(account) ?? currency, currency)) return OTHER_CURRENCY;
      currencies.set(account, currency);
    }
  }
  return undefined;
}

interface BatchSum {
  effects: Map<string, Effect>;
  named: Map<string, NamedAccount>;
  /**
   * The last freeze of each account, and the effect of the batch up to the point at which the account
   * had to be empty.
   */
  freezes: Map<string, { frozen: boolean; empty: { net: bigint; hold: bigint } | null }>;
}

function effectOn(effects: Map<string, Effect>, id: string, currency: CurrencyCode): Effect {
  let effect = effects.get(id);
  if (!effect) {
    effect = { id, currency, net: 0n, hold: 0n, low: 0n, guarded: false };
    effects.set(id, effect);
  }
  return effect;
}

function namedAccount(
  namedAccounts: Map<string, NamedAccount>,
  id: string,
  currency: CurrencyCode,
): NamedAccount {
  let reference = namedAccounts.get(id);
  if (!reference) {
    reference = { id, currency, guarded: false };
    namedAccounts.set(id, reference);
  }
  return reference;
}

/** Requires an unfrozen account. False if the batch itself has frozen the account. */
function requireUnfrozen(
  { freezes }: BatchSum,
  account: { id: string; guarded: boolean },
): boolean {
  const freeze = freezes.get(account.id);
  if (!freeze) account.guarded = true;
  return !freeze?.frozen;
}

/** Adds one transfer. False if an account occurs in a second currency, or is frozen. */
function addTransfer(sum: BatchSum, transfer: TransferRow): boolean {
  const { phase, currency, amount } = transfer;
  const debit = effectOn(sum.effects, transfer.debit, currency);
  if (phase === 'pending') debit.hold += amount;
  else if (phase !== 'posted') debit.hold -= amount;
  if (phase === 'posted' || phase === 'post') debit.net -= amount;
  const available = debit.net - debit.hold;
  if (available < debit.low) debit.low = available;
  if (!sameCurrency(debit.currency, currency)) return false;
  const mustBeUnfrozen = needsUnfrozen(transfer);
  if (mustBeUnfrozen && !requireUnfrozen(sum, debit)) return false;
  if (phase === 'void') return true;
  if (phase === 'pending') {
    const credit = namedAccount(sum.named, transfer.credit, currency);
    return (
      sameCurrency(credit.currency, currency) && (!mustBeUnfrozen || requireUnfrozen(sum, credit))
    );
  }
  const credit = effectOn(sum.effects, transfer.credit, currency);
  credit.net += amount;
  return (
    sameCurrency(credit.currency, currency) && (!mustBeUnfrozen || requireUnfrozen(sum, credit))
  );
}

/** Adds one freeze. False if the account would have to be empty at two different amounts. */
function addFreeze({ effects, freezes }: BatchSum, { account, frozen, empty }: FreezeRow): boolean {
  const previousEmpty = freezes.get(account)?.empty ?? null;
  if (!empty) {
    freezes.set(account, { frozen, empty: previousEmpty });
    return true;
  }
  const { net, hold } = effects.get(account) ?? { net: 0n, hold: 0n };
  freezes.set(account, { frozen, empty: { net, hold } });
  return previousEmpty === null || (previousEmpty.net === net && previousEmpty.hold === hold);
}

const compareIds = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** The required final amounts of accounts that had to be empty: the amounts posted afterwards. */
function freezesOf({ effects, freezes }: BatchSum): Freeze[] {
  return [...freezes].map(([id, { frozen, empty }]) => {
    const { net, hold } = effects.get(id) ?? { net: 0n, hold: 0n };
    return {
      id,
      frozen,
      balance: empty && net - empty.net,
      held: empty && hold - empty.hold,
    };
  });
}

/**
 * The effect of consecutive change sets on ledger accounts, sorted by account. Undefined for a conflict
 * within the batch, such as an account in two currencies or a transfer after a freeze. Each change set
 * must then be validated separately.
 */
export function sumOf(sets: readonly Postings[]): Sum | undefined {
  const sum: BatchSum = { effects: new Map(), named: new Map(), freezes: new Map() };
  for (const { transfers, freezes } of sets) {
    for (const transfer of transfers) if (!addTransfer(sum, transfer)) return undefined;
    for (const freeze of freezes) if (!addFreeze(sum, freeze)) return undefined;
  }
  return {
    effects: [...sum.effects.values()].sort(compareIds),
    named: [...sum.named.values()],
    freezes: freezesOf(sum),
  };
}

/**
 * The floor of an account: no transfer and no hold may leave `balance - held` below it. Zero for a
 * balance of a customer or a platform, which therefore cannot be overdrawn. Negative for a count
 * with a limit: the floor of a velocity limit is the negated limit. Null, which means no floor, for
 * system accounts and for counts without a limit. A void is not checked, because it only raises the
 * available balance. A floor is never set above the available balance, so it is always satisfied.
 */
type Floor = bigint | null;

/** A ledger account during validation. */
export interface Account {
  readonly currency: CurrencyCode;
  readonly balance: bigint;
  readonly held: bigint;
  readonly floor: Floor;
  readonly frozen: boolean;
}

/** A stored or accepted transfer. */
export type StoredTransfer = Pick<
  TransferRow,
  'phase' | 'debit' | 'credit' | 'currency' | 'amount'
>;

/** Accounts by ID and transfers by `transferKey`: stored rows and accepted change sets. */
export interface Books {
  accounts: Map<string, Account>;
  transfers: Map<string, StoredTransfer>;
}

export const emptyBooks = (): Books => ({ accounts: new Map(), transfers: new Map() });

export const transferKey = (transactionId: string, step: string) => `${transactionId} ${step}`;

const matches = (pendingTransfer: StoredTransfer | undefined, transfer: TransferRow) =>
  pendingTransfer?.phase === 'pending' &&
  pendingTransfer.debit === transfer.debit &&
  pendingTransfer.credit === transfer.credit &&
  sameCurrency(pendingTransfer.currency, transfer.currency) &&
  pendingTransfer.amount === transfer.amount;

/** The debit account after a transfer. */
function accountAfter(account: Account, { phase, amount }: TransferRow): Account {
  const { balance, held } = account;
  if (phase === 'posted') return { ...account, balance: balance - amount };
  if (phase === 'pending') return { ...account, held: held + amount };
  if (phase === 'void') return { ...account, held: held - amount };
  return { ...account, held: held - amount, balance: balance - amount };
}

const isBelowFloor = ({ floor, balance, held }: Account) =>
  floor !== null && balance - held < floor;

/**
 * Applies the transfers of one change set to `draft` in order, or returns the rejection. `draft` is
 * invalid after a rejection. `books` is not changed.
 */
function applyTransfers(
  transfers: readonly TransferRow[],
  books: Books,
  draft: Books,
): LedgerRejection | undefined {
  const accountOf = (id: string) => draft.accounts.get(id) ?? books.accounts.get(id);
  const transferOf = (key: string) => draft.transfers.get(key) ?? books.transfers.get(key);
  for (const transfer of transfers) {
    const { transaction_id, step, phase, debit, credit, currency, amount } = transfer;
    const key = transferKey(transaction_id, storedStep(transfer));
    if (transferOf(key)) return DUPLICATE_STEP;
    const pendingTransfer = resolves(transfer)
      ? transferOf(transferKey(transaction_id, step))
      : undefined;
    if (resolves(transfer) && !matches(pendingTransfer, transfer)) return NOT_PENDING;
    const debitAccount = accountOf(debit);
    const creditAccount = accountOf(credit);
    if (!debitAccount || !creditAccount) return NO_ACCOUNT;
    if (!sameCurrency(debitAccount.currency, currency)) return OTHER_CURRENCY;
    if (!sameCurrency(creditAccount.currency, currency)) return OTHER_CURRENCY;
    if (needsUnfrozen(transfer)) {
      if (debitAccount.frozen) return { reason: 'frozen', account: debit };
      if (creditAccount.frozen) return { reason: 'frozen', account: credit };
    }
    const debitAccountAfter = accountAfter(debitAccount, transfer);
    if (phase !== 'void' && isBelowFloor(debitAccountAfter))
      return { reason: 'insufficient-funds', account: debit };
    draft.accounts.set(debit, debitAccountAfter);
    if (phase === 'posted' || phase === 'post') {
      draft.accounts.set(credit, { ...creditAccount, balance: creditAccount.balance + amount });
    }
    draft.transfers.set(key, transfer);
  }
  return undefined;
}

/** Applies the freezes of one change set to the draft, or returns the rejection. */
function applyFreezes(
  freezes: readonly FreezeRow[],
  books: Books,
  draft: Books,
): LedgerRejection | undefined {
  for (const { account, frozen, empty } of freezes) {
    const currentAccount = draft.accounts.get(account) ?? books.accounts.get(account);
    if (!currentAccount) return NO_ACCOUNT;
    if (empty && (currentAccount.balance !== 0n || currentAccount.held !== 0n))
      return { reason: 'not-empty', account };
    draft.accounts.set(account, { ...currentAccount, frozen });
  }
  return undefined;
}

/**
 * Validates the postings of one change set with the accounts that it opens, and applies them if they
 * are valid.
 */
export function applyPostings(
  { transfers, freezes }: Postings,
  openedAccounts: ReadonlyMap<string, Account>,
  books: Books,
): LedgerRejection | undefined {
  const draft: Books = { accounts: new Map(openedAccounts), transfers: new Map() };
  const rejection = applyTransfers(transfers, books, draft) ?? applyFreezes(freezes, books, draft);
  if (rejection) return rejection;
  for (const [id, account] of draft.accounts) books.accounts.set(id, account);
  for (const [key, transfer] of draft.transfers) books.transfers.set(key, transfer);
  return undefined;
}
