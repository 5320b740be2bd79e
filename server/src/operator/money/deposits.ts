// `deposits …`: deposits on the operator's own bank statement or wallet, recorded manually, and
// deposits that are held for a decision. A deposit specifies an account or the payer's reference.
// The reference identifies an account or a payment.

import { PAYMENT_RAILS } from '../../catalog/rails/rails.ts';
import {
  type DepositResult,
  listHeldFunds,
  MANUAL_CHOICES,
  recordDeposit,
  recordDepositReturn,
  rejectHeldDeposit,
  releaseHeldDeposit,
} from '../../features/payments/manual/index.ts';
import { PENDING_REASONS } from '../../features/payments/pay-ins/index.ts';
import type { FailureReason } from '../../features/payments/transactions/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { amountIn, currencyIn } from '../platforms/limits.ts';
import { platformIn } from '../platforms/platform.ts';

const RECORD_FLAGS: Flags = {
  reference: {
    value: 'REFERENCE',
    required: true,
    help: 'Unique reference that the bank assigned',
  },
  amount: { value: '100.00', required: true, help: 'Amount received, in major units' },
  currency: { value: 'CURRENCY', required: true, help: 'Currency received' },
  account: {
    value: 'ACCOUNT',
    help: 'ID of the credited internal account. Required without --payment-reference',
  },
  'payment-reference': {
    value: 'RH…',
    help: 'Reference of the payer, instead of --account',
  },
  rail: { value: 'RAIL', choices: PAYMENT_RAILS, help: 'Rail of the deposit' },
  'sender-name': { value: 'NAME', help: 'Name of the sender' },
  'sender-account': { value: 'IDENTIFIER', help: 'Account of the sender' },
  'sender-bank': { value: 'NAME', help: 'Bank of the sender' },
  remittance: { value: 'TEXT', help: 'Remittance text of the sender' },
  hash: { value: 'HASH', help: 'Hash of the transaction on its network' },
  network: {
    value: 'NETWORK',
    choices: MANUAL_CHOICES.networks,
    help: 'Network of the hash. Required with --hash',
  },
  hold: {
    value: 'REASON',
    choices: PENDING_REASONS,
    help: 'Hold the deposit for this reason. Requires --account',
  },
};

const REASONS: readonly FailureReason[] = MANUAL_CHOICES.depositFailures;
const ID: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'ID of the deposit' },
};
const REASON: Flags = {
  reason: { value: 'REASON', choices: REASONS, help: `Failure reason (default: ${REASONS[0]})` },
};

/** Rejects flags that exclude or require each other. */
function checkFlags(args: CommandArgs): void {
  const isSet = (flag: string) => args.text(flag) !== undefined;
  if (isSet('account') === isSet('payment-reference')) {
    throw usageError('Exactly one of --account and --payment-reference is required');
  }
  if (isSet('hash') !== isSet('network')) {
    throw usageError('--hash and --network must be used together');
  }
  if (isSet('hold') && !isSet('account')) throw usageError('--hold requires --account');
}

function entryOf(args: CommandArgs): Parameters<typeof recordDeposit>[1] {
  const currency = currencyIn(args, 'currency') as string;
  const amount = amountIn(args, 'amount', currency) as number;
  checkFlags(args);
  return {
    bankReference: args.required('reference'),
    accountId: args.text('account'),
    paymentReference: args.text('payment-reference'),
    currency,
    amount,
    rail: args.text('rail'),
    senderName: args.text('sender-name'),
    senderAccount: args.text('sender-account'),
    senderBank: args.text('sender-bank'),
    remittanceInformation: args.text('remittance'),
    transactionHash: args.text('hash'),
    network: args.text('network'),
    hold: args.text('hold') as (typeof PENDING_REASONS)[number] | undefined,
  };
}

function outputOf(json: DepositResult): Output {
  const prefix = json.recorded === 'before' ? 'Already recorded. ' : '';
  return { json, text: `${prefix}${json.transactionId} is ${json.status}.\n` };
}

async function record({ runtime }: System, args: CommandArgs): Promise<Output> {
  const entry = entryOf(args);
  try {
    return outputOf(await recordDeposit(runtime, entry));
  } catch (error) {
    // The flags are valid, so a rejection by the account or the payment is not invalid usage.
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
  const { data: json } = await listHeldFunds(system.runtime, { platformId, limit });
  const text = table(
    HEADS.map((heading) => ({ heading, align: heading === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.reason ?? '',
      each.readable,
      each.currency,
      each.accountId ?? '',
      each.source,
    ]),
  );
  return { json, text };
}

const listVerb: Verb = {
  noun: 'deposits',
  verb: 'list',
  summary: 'List funds held for a decision: deposits, direct debits, UMA payments',
  flags: { platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' }, ...LIMIT },
  run: list,
};

const verb = (name: string, summary: string, flags: Flags, run: Verb['run']): Verb => ({
  noun: 'deposits',
  verb: name,
  summary,
  flags: { ...ID, ...flags },
  positional: 'transaction',
  run,
});

export const depositVerbs: readonly Verb[] = [
  listVerb,
  {
    noun: 'deposits',
    verb: 'record',
    summary: 'Record a deposit that arrived at the bank, for an account or a payment',
    flags: RECORD_FLAGS,
    run: record,
  },
  verb('return', 'Record that the bank reversed a deposit', REASON, decide(recordDepositReturn)),
  verb('release', 'Release a held deposit', {}, decide(releaseHeldDeposit)),
  verb('reject', 'Return a held deposit to its sender', REASON, decide(rejectHeldDeposit)),
];
