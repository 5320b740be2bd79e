// `deposits …`: deposits on the operator's own bank statement or wallet, recorded manually, and
// deposits that are held for a decision. A deposit specifies an account, or the payer's reference,
// which identifies an account or a payment.

import { ACCOUNT_TYPE_ROWS } from '../../catalog/accounts/account-types.ts';
import { PAYMENT_RAILS } from '../../catalog/rails/rails.ts';
import {
  type DepositResult,
  listHeldFunds,
  recordDeposit,
  recordDepositReturn,
  rejectHeldDeposit,
  releaseHeldDeposit,
} from '../../features/payments/manual/index.ts';
import { PENDING_REASONS } from '../../features/payments/pay-ins/index.ts';
import type { FundsNotice } from '../../features/payments/quotes/index.ts';
import type { FailureReason } from '../../features/payments/transactions/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { amountIn, currencyIn } from '../platforms/limits.ts';
import { platformIn } from '../platforms/platform.ts';

const NETWORKS = [...new Set(Object.values(ACCOUNT_TYPE_ROWS).flatMap((row) => row.network ?? []))];

const RECORD: Flags = {
  reference: {
    value: 'REFERENCE',
    required: true,
    help: "The bank's own reference; must be unique",
  },
  amount: { value: '100.00', required: true, help: 'Amount received' },
  currency: { value: 'USD', required: true, help: 'Currency received' },
  account: { value: 'ACCOUNT', help: 'Id of the credited internal account' },
  'payment-reference': {
    value: 'RH…',
    help: 'Reference of the payer, instead of --account',
  },
  rail: { value: 'RAIL', choices: PAYMENT_RAILS, help: 'Rail of the deposit' },
  'sender-name': { value: 'NAME', help: 'Sender' },
  'sender-account': { value: 'IDENTIFIER', help: 'Account of the sender' },
  'sender-bank': { value: 'NAME', help: 'Bank of the sender' },
  remittance: { value: 'TEXT', help: 'Remittance text of the sender' },
  hash: { value: 'HASH', help: 'Transaction hash' },
  network: { value: 'NETWORK', choices: NETWORKS, help: 'Network of the hash' },
  hold: {
    value: 'REASON',
    choices: PENDING_REASONS,
    help: 'Reason for a hold of a deposit to an account',
  },
};

const REASONS: readonly FailureReason[] = ['COLLECTION_FAILED', 'COMPLIANCE_REJECTED'];
const ID: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'Id of the deposit' },
};
const REASON: Flags = {
  reason: { value: 'REASON', choices: REASONS, help: `Why (${REASONS[0]})` },
};

/** The target of the deposit: an account, or a payment or account by its reference. */
function targetOf(args: CommandArgs): Pick<FundsNotice, 'accountId' | 'reference'> {
  const [accountId, reference] = [args.text('account'), args.text('payment-reference')];
  if ((accountId === undefined) === (reference === undefined)) {
    throw usageError('Either --account or --payment-reference is needed');
  }
  return accountId === undefined ? { reference: reference as string } : { accountId };
}

const withoutUndefined = (pairs: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== undefined));

function chainOf(flagValues: CommandArgs): FundsNotice['chain'] {
  const [transactionHash, network] = [flagValues.text('hash'), flagValues.text('network')];
  if (transactionHash === undefined && network === undefined) return undefined;
  if (transactionHash === undefined || network === undefined) {
    throw usageError('--hash and --network must be used together');
  }
  return { transactionHash, network };
}

function noticeOf(flagValues: CommandArgs): FundsNotice {
  const currency = currencyIn(flagValues, 'currency') as string;
  const chain = chainOf(flagValues);
  const target = targetOf(flagValues);
  const hold = flagValues.text('hold') as (typeof PENDING_REASONS)[number] | undefined;
  if (hold && target.accountId === undefined) throw usageError('--hold requires --account');
  return {
    ...target,
    currency,
    amount: BigInt(amountIn(flagValues, 'amount', currency) as number),
    origin: withoutUndefined({
      accountHolderName: flagValues.text('sender-name'),
      accountIdentifier: flagValues.text('sender-account'),
      bankName: flagValues.text('sender-bank'),
      paymentRail: flagValues.text('rail'),
      remittanceInformation: flagValues.text('remittance'),
      traceNumber: flagValues.required('reference'),
    }),
    ...(chain ? { chain } : {}),
    ...(hold ? { hold } : {}),
  };
}

function outputOf(json: DepositResult): Output {
  const prefix = json.recorded === 'before' ? 'Already recorded. ' : '';
  return { json, text: `${prefix}${json.transactionId} is ${json.status}.\n` };
}

async function record({ runtime }: System, flagValues: CommandArgs): Promise<Output> {
  const input = { bankReference: flagValues.required('reference'), notice: noticeOf(flagValues) };
  try {
    return outputOf(await recordDeposit(runtime, input));
  } catch (error) {
    // The flags are valid: a rejection by the account or the payment is not invalid usage.
    throw error instanceof Fault ? new Error(error.message) : error;
  }
}

const decide =
  (work: typeof releaseHeldDeposit): Verb['run'] =>
  async ({ runtime }, flagValues) => {
    const reason = flagValues.text('reason') as FailureReason | undefined;
    return outputOf(
      await work(runtime, { transactionId: flagValues.required('transaction'), reason }),
    );
  };

const HEADS = ['SINCE', 'TRANSACTION', 'REASON', 'AMOUNT', 'CURRENCY', 'ACCOUNT', 'FROM'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const limit = limitIn(args);
  const platformId = await platformIn(system, args);
  const json = await listHeldFunds(system.runtime, { platformId, limit });
  const text = table(
    HEADS.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.reason ?? '',
      each.readable,
      each.currency,
      each.accountId ?? '',
      String(each.source),
    ]),
  );
  return { json, text };
}

const heldList: Verb = {
  noun: 'deposits',
  verb: 'list',
  summary: 'List funds held for a decision: deposits, direct debits, UMA payments',
  flags: { platform: { value: 'PLATFORM', help: 'Filter by platform (all)' }, ...LIMIT },
  run: list,
};

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
    summary: 'Record a deposit that arrived at the bank, for an account or a payment',
    flags: RECORD,
    run: record,
  },
  verb('return', 'Record that the bank recalled a deposit', REASON, decide(recordDepositReturn)),
  verb('release', 'Release a held deposit', {}, decide(releaseHeldDeposit)),
  verb('reject', 'Return a held deposit to its sender', REASON, decide(rejectHeldDeposit)),
];
