// `deposits …`: money on the operator's own bank statement or wallet, taken in by hand. Each entry of a
// statement has the bank's own reference, which is its key here: recorded twice, it is taken in once. A
// deposit names an account, or the reference that a payer was told, which leads to an account or a payment.
import { ACCOUNT_TYPE_ROWS } from '../../catalog/accounts/account-types.ts';
import { PAYMENT_RAILS } from '../../catalog/rails/rails.ts';
import { accountOfReference } from '../../connectors/manual/reference.ts';
import { internalAccounts } from '../../features/balances/internal-accounts/index.ts';
import {
  type FailureReason,
  PENDING_REASONS,
  type PendingReason,
  type TransactionRow,
  transactionOfReference,
  transactions,
} from '../../features/payments/lifecycle/index.ts';
import {
  broughtMoney,
  isHeld,
  refuseDeposit,
  releaseDeposit,
  returnDeposit,
} from '../../features/payments/pay-ins/index.ts';
import { type Notice, takeBackFunds, takeDeposit } from '../../features/payments/quotes/index.ts';
import { platforms, systemCaller } from '../../features/tenancy/platform/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { isKeyTaken, operate } from '../../runtime/operation/operate.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { onAnyTransaction, refused } from '../cli/notice.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { amountIn, currencyIn } from '../platforms/limits.ts';
import { heldList } from './held.ts';

/** Entries of a statement that were taken in. The id is environment, currency and the bank's reference. */
const deposits = table(
  'deposits',
  {
    id: col.text,
    platform_id: col.text,
    transaction_id: col.text,
    currency: col.text,
    amount: col.int8,
    target: col.text,
    created_at: col.time,
  },
  { clientKeyed: true },
);

type DepositRow = RowOf<typeof deposits>;

const NETWORKS = [...new Set(Object.values(ACCOUNT_TYPE_ROWS).flatMap((row) => row.network ?? []))];

const RECORD: Flags = {
  reference: { value: 'REFERENCE', required: true, help: "The bank's own reference; once only" },
  amount: { value: '100.00', required: true, help: 'What came in' },
  currency: { value: 'USD', required: true, help: 'In which currency' },
  account: { value: 'ACCOUNT', help: 'Id of the internal account it is for' },
  'payment-reference': {
    value: 'RH…',
    help: 'Or the reference that the payer put on it',
  },
  rail: { value: 'RAIL', choices: PAYMENT_RAILS, help: 'How it came' },
  'sender-name': { value: 'NAME', help: 'Who sent it' },
  'sender-account': { value: 'IDENTIFIER', help: 'Account it came from' },
  'sender-bank': { value: 'NAME', help: 'Bank it came from' },
  remittance: { value: 'TEXT', help: 'What the sender wrote' },
  hash: { value: 'HASH', help: 'The transaction on its chain' },
  network: { value: 'NETWORK', choices: NETWORKS, help: 'Which chain' },
  hold: {
    value: 'REASON',
    choices: PENDING_REASONS,
    help: 'Why it must not be spent yet, of money for an account',
  },
};

const REASONS: readonly FailureReason[] = ['COLLECTION_FAILED', 'COMPLIANCE_REJECTED'];
const ID: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'Id of the deposit' },
};
const REASON: Flags = {
  reason: { value: 'REASON', choices: REASONS, help: `Why (${REASONS[0]})` },
};

/** What the money is for, as the call names it: an account, or a payment by its reference. */
function targetOf(given: Given): Pick<Notice, 'accountId' | 'reference'> {
  const account = given.text('account');
  const said = given.text('payment-reference');
  if ((account === undefined) === (said === undefined)) {
    throw usageError('Either --account or --payment-reference is needed');
  }
  if (said === undefined) return { accountId: account as string };
  const accountId = accountOfReference(said);
  return accountId ? { accountId } : { reference: said.replace(/[\s-]/g, '').toUpperCase() };
}

/** Whose platform the target belongs to. */
async function platformAt({ runtime }: System, target: Pick<Notice, 'accountId' | 'reference'>) {
  const { accountId, reference = '' } = target;
  const owner =
    accountId === undefined
      ? await runtime.db.read(transactions, transactionOfReference(reference) ?? '')
      : await runtime.db.read(internalAccounts, accountId);
  const platform = owner && (await runtime.db.read(platforms, owner.platform_id));
  if (!platform) throw notFound(accountId === undefined ? 'payment reference' : 'account');
  return platform;
}

const given = (pairs: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== undefined));

function chainOf(call: Given): Notice['chain'] {
  const [transactionHash, network] = [call.text('hash'), call.text('network')];
  if (transactionHash === undefined && network === undefined) return undefined;
  if (transactionHash === undefined || network === undefined) {
    throw usageError('--hash and --network go together');
  }
  return { transactionHash, network };
}

function noticeOf(call: Given): Notice {
  const currency = currencyIn(call, 'currency') as string;
  const chain = chainOf(call);
  const target = targetOf(call);
  const hold = call.text('hold') as PendingReason | undefined;
  if (hold && target.accountId === undefined)
    throw usageError('--hold is for money for an account');
  return {
    ...target,
    currency,
    amount: BigInt(amountIn(call, 'amount', currency) as number),
    origin: given({
      accountHolderName: call.text('sender-name'),
      accountIdentifier: call.text('sender-account'),
      bankName: call.text('sender-bank'),
      paymentRail: call.text('rail'),
      remittanceInformation: call.text('remittance'),
      traceNumber: call.needed('reference'),
    }),
    ...(chain ? { chain } : {}),
    ...(hold ? { hold } : {}),
  };
}

async function shown({ runtime }: System, id: string, recorded?: 'now' | 'before') {
  const row = (await runtime.db.read(transactions, id)) as TransactionRow;
  const json = {
    transactionId: id,
    type: row.type,
    status: row.status,
    pendingReason: row.pending_reason,
    ...(recorded ? { recorded } : {}),
  };
  const before = recorded === 'before' ? 'Recorded before. ' : '';
  return { json, text: `${before}${id} is ${row.status}.\n` };
}

/** The same entry again: fine when it says the same. */
function same(before: DepositRow, wanted: Pick<DepositRow, 'amount' | 'target'>): void {
  if (before.amount === wanted.amount && before.target === wanted.target) return;
  throw refused(
    `That reference was recorded before, as another deposit: ${before.transaction_id}.`,
  );
}

async function record(system: System, call: Given): Promise<Output> {
  const { runtime } = system;
  const notice = noticeOf(call);
  const platform = await platformAt(system, notice);
  const { currency, amount } = notice;
  const target = (notice.accountId ?? notice.reference) as string;
  const id = `${platform.environment}/${currency}/${call.needed('reference')}`;
  const wanted = { amount, target };
  const known = async () => {
    const before = await runtime.db.read(deposits, id);
    if (before) same(before, wanted);
    return before;
  };
  const before = await known();
  if (before) return shown(system, before.transaction_id, 'before');
  const caller = systemCaller(platform.id, platform.environment);
  try {
    const row = await operate(runtime, caller, async (ctx) => {
      const taken = await takeDeposit(ctx, notice);
      const entry = { id, platform_id: platform.id, transaction_id: taken.id };
      ctx.insert(deposits, { ...entry, ...wanted, currency, created_at: ctx.now });
      return taken;
    });
    return shown(system, row.id, 'now');
  } catch (error) {
    if (error instanceof Fault) throw refused(error.message);
    const other = isKeyTaken(error) ? await known() : undefined;
    if (!other) throw error;
    return shown(system, other.transaction_id, 'before');
  }
}

const reasonOf = (call: Given) => call.text('reason') as FailureReason | undefined;

const isDeposit = ({ source }: TransactionRow) => source.sourceType === 'REALTIME_FUNDING';

/** Whether it lies on its account until somebody decides; a pull or a UMA payment may, too. */
const waitsForUs = (row: TransactionRow) => isHeld(row) && row.pending_reason !== null;

type Step = typeof releaseDeposit | typeof returnDeposit;

/** Takes a step, and says so where the state of the row forbids it. */
async function take(work: Step, call: Given, ctx: Ctx, row: TransactionRow): Promise<void> {
  if (row.type !== 'INCOMING' || !(isDeposit(row) || waitsForUs(row))) {
    throw refused('It is no deposit.');
  }
  const { status, funds } = row;
  const moved = await work(ctx, row, reasonOf(call) as FailureReason);
  if (moved.status === status && moved.funds === funds) {
    throw refused(`That cannot be done with it: it is ${status}.`);
  }
}

/** Decides about money that is held. No bank has a say in it, so the sandbox's is not contradicted. */
const decide =
  (work: Step): Verb['run'] =>
  async (system, call) => {
    const id = call.needed('transaction');
    await onAnyTransaction(system, id, (ctx, row) => take(work, call, ctx, row));
    return shown(system, id);
  };

/** Money that was paid in for one payment: whoever paid answers for it, and the payment stays. */
async function takeBackOfPayment(ctx: Ctx, row: TransactionRow): Promise<void> {
  if (!isDeposit(row) || row.funded_amount === null) throw refused('It is no deposit.');
  if (row.refund?.status === 'PENDING') {
    throw refused('It is on its way back. Say by payouts settle that it is there.');
  }
  if (!(await takeBackFunds(ctx, row))) throw refused('It was taken back before.');
}

/**
 * The bank has taken a deposit back, whatever it was for. The sandbox's bank never does so by itself, so
 * there nothing is contradicted either.
 */
async function takenBack(system: System, call: Given): Promise<Output> {
  const id = call.needed('transaction');
  await onAnyTransaction(system, id, async (ctx, row) => {
    if (row.type === 'OUTGOING') return takeBackOfPayment(ctx, row);
    if (row.status === 'COMPLETED' && isDeposit(row) && !(await broughtMoney(ctx, row))) {
      const why = 'What was paid in for it is returned with the payment';
      throw refused(`It came by a payment inside. ${why} of ${row.quote_id}.`);
    }
    return take(returnDeposit, call, ctx, row);
  });
  return shown(system, id);
}

const verb = (name: string, summary: string, more: Flags, run: Verb['run']): Verb => ({
  noun: 'deposits',
  verb: name,
  summary,
  flags: { ...ID, ...more },
  bare: 'transaction',
  run,
});

export const depositVerbs: readonly Verb[] = [
  heldList,
  {
    noun: 'deposits',
    verb: 'record',
    summary: 'Take in money that has arrived at the bank, for an account or a payment',
    flags: RECORD,
    run: record,
  },
  verb('return', 'Say that the bank has taken a deposit back', REASON, takenBack),
  verb('release', 'Let a held deposit be spent', {}, decide(releaseDeposit)),
  verb('refuse', 'Send a held deposit back', REASON, decide(refuseDeposit)),
];
