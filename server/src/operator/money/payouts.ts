// `payouts …`: manual rail transfers. The list shows the transfers to pay out, debit or refund, with
// account details. The other verbs record results or request a recall.
import type { FailureReason } from '../../connectors/ports/index.ts';
import { RECALL_CAUSES, type RecallCause } from '../../connectors/ports/rail.ts';
import {
  cancelTransfer,
  failTransfer,
  listAwaitedTransfers,
  MANUAL_CHOICES,
  rejectTransferCancel,
  returnTransfer,
  settleTransfer,
  type TransferResult,
} from '../../features/payments/manual/index.ts';
import { requestRecall } from '../../features/payments/recalls/index.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const ID: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'ID of the transaction' },
};
const REASON: Flags = {
  reason: {
    value: 'REASON',
    required: true,
    choices: MANUAL_CHOICES.transferFailures,
    help: 'Failure reason',
  },
};
const ORIGIN_FLAG: Flags = {
  of: {
    value: 'TRANSFER',
    choices: MANUAL_CHOICES.transferKinds,
    help:
      'Transfer that was returned (default: debit for a payment into an internal account, ' +
      'otherwise payout)',
  },
};

const HEADS = [
  ...['SINCE', 'TRANSACTION', 'KIND', 'AMOUNT', 'CURRENCY', 'RAIL', 'BENEFICIARY', 'ACCOUNT'],
  ...['REFERENCE', 'CANCEL REQUESTED'],
];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const limit = limitIn(args);
  const platformId = await platformIn(system, args);
  const { data: json } = await listAwaitedTransfers(system.runtime, { platformId, limit });
  const text = table(
    HEADS.map((heading) => ({ heading, align: heading === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.kind,
      each.readable,
      each.currency,
      each.rail ?? '-',
      each.beneficiary ?? '-',
      inline({ accountType: each.accountType, ...each.account }),
      each.reference,
      each.cancelRequestedAt ?? '',
    ]),
  );
  return { json, text };
}

function outputOf(json: TransferResult): Output {
  const refund = json.refund ? `, refund ${json.refund}` : '';
  return { json, text: `${json.transactionId} is ${json.status}${refund}.\n` };
}

const idIn = (args: CommandArgs) => args.required('transaction');
const reasonIn = (args: CommandArgs) => args.required('reason') as FailureReason;

const settle: Verb['run'] = async ({ runtime }, args) => {
  const [reference, transactionHash] = [args.text('reference'), args.text('hash')];
  const input = { transactionId: idIn(args), reference, transactionHash };
  return outputOf(await settleTransfer(runtime, input));
};

const fail: Verb['run'] = async ({ runtime }, args) => {
  const isRefundable = args.isOn('refundable') ?? true;
  const input = { transactionId: idIn(args), reason: reasonIn(args), refundable: isRefundable };
  return outputOf(await failTransfer(runtime, input));
};

const returnFunds: Verb['run'] = async ({ runtime }, args) => {
  const kind = args.text('of') as (typeof MANUAL_CHOICES.transferKinds)[number] | undefined;
  const input = { transactionId: idIn(args), reason: reasonIn(args), kind };
  return outputOf(await returnTransfer(runtime, input));
};

const cancel: Verb['run'] = async ({ runtime }, args) =>
  outputOf(await cancelTransfer(runtime, idIn(args)));

const rejectCancel: Verb['run'] = async ({ runtime }, args) =>
  outputOf(await rejectTransferCancel(runtime, idIn(args)));

const recall: Verb['run'] = async (system, args) => {
  const input = { transactionId: idIn(args), cause: args.required('cause') as RecallCause };
  const json = await requestRecall(system.runtime, await system.providers(), input);
  return { json, text: `The return of ${json.transactionId} was requested.\n` };
};

const verb = (name: string, summary: string, flags: Flags, run: Verb['run']): Verb => ({
  noun: 'payouts',
  verb: name,
  summary,
  flags: { ...ID, ...flags },
  positional: 'transaction',
  run,
});

export const payoutVerbs: readonly Verb[] = [
  {
    noun: 'payouts',
    verb: 'list',
    summary: 'List pending manual payouts, direct debits and refunds, oldest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      ...LIMIT,
    },
    run: list,
  },
  verb(
    'settle',
    'Record that the bank has settled a transfer',
    {
      reference: {
        value: 'REFERENCE',
        help: 'Reference that the bank assigned (default: the hash, or the reference of the payment)',
      },
      hash: { value: 'HASH', help: 'Transaction hash of a payout over a blockchain' },
    },
    settle,
  ),
  verb(
    'fail',
    'Record that a transfer failed permanently',
    {
      ...REASON,
      refundable: {
        negation: 'not-refundable',
        help: 'Whether the funds can be refunded. If not, they are transferred to suspense (default: yes)',
      },
    },
    fail,
  ),
  verb(
    'return',
    'Record the return of a settled transfer',
    { ...REASON, ...ORIGIN_FLAG },
    returnFunds,
  ),
  verb(
    'recall',
    'Request the return of a settled payout from its provider',
    {
      cause: {
        value: 'CAUSE',
        required: true,
        choices: RECALL_CAUSES,
        help: 'Reason for the request',
      },
    },
    recall,
  ),
  verb('cancel', 'Record that a requested cancellation succeeded', {}, cancel),
  verb(
    'reject-cancel',
    'Record that a requested cancellation is no longer possible',
    {},
    rejectCancel,
  ),
];
