// `providers statements|set-statements|reconcile|differences|assign|decide|close-day|balances`:
// reconciliation of the ledger with the statements of providers.
import { formatAmount } from '../../catalog/currencies/money-format.ts';
import { MANUAL_CHOICES } from '../../features/payments/manual/index.ts';
import {
  assignDifference,
  balancesOfProviders,
  changeSource,
  closeDay,
  DECISIONS,
  DIFFERENCE_KINDS,
  DIFFERENCE_STATUSES,
  decideDifference,
  differenceBy,
  pageOfDays,
  pageOfDifferences,
  stageReconciliation,
} from '../../features/reconciliation/index.ts';
import { isOperatorOf } from '../../operator-api/providers/owners.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

type DayView = Awaited<ReturnType<typeof pageOfDays>>['data'][number];
type DifferenceView = Awaited<ReturnType<typeof differenceBy>>;

const PROVIDER: Flags = {
  provider: { value: 'PROVIDER', required: true, help: 'Name of the provider' },
};
const DAY: Flags = {
  ...PROVIDER,
  currency: { value: 'CURRENCY', required: true, help: 'Currency of the statement' },
  day: { value: '2026-11-27', required: true, help: 'Day of the statement' },
};
const DIFFERENCE: Flags = {
  difference: { value: 'DIFFERENCE', required: true, help: 'ID of the difference' },
};

const amountText = (amount: number | null, currency: string) =>
  amount === null ? '-' : formatAmount({ amount: BigInt(amount), currency });

const dayTable = (days: readonly DayView[]) =>
  table(
    ['PROVIDER', 'DAY', 'STATUS', 'CLOSING', 'LEDGER', 'DIFFERENCES', 'BALANCED'],
    days.map((each) => [
      each.providerId,
      each.day,
      each.status,
      amountText(each.closingBalance, each.currency),
      amountText(each.bookedBalance, each.currency),
      `${each.openDifferences}`,
      each.ties ? 'yes' : 'no',
    ]),
  );

function keyIn(args: CommandArgs) {
  const day = args.required('day');
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day))
    throw usageError('--day must be a date, such as 2026-11-27');
  return { providerId: args.required('provider'), currency: args.required('currency'), day };
}

async function listStatements({ runtime }: System, args: CommandArgs): Promise<Output> {
  const query = { providerId: args.text('provider'), limit: limitIn(args) };
  const { data } = await pageOfDays(runtime, query);
  return { json: data, text: dayTable(data) };
}

async function setStatements({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await changeSource(runtime, {
    providerId: args.required('provider'),
    timeZone: args.text('time-zone'),
    feesExpected: args.isOn('fees-expected'),
  });
  const text = record([
    ['Provider', json.providerId],
    ['Time zone', json.timeZone],
    ['Fees', json.feesExpected ? 'expected' : 'listed as differences'],
    ['Last requested day', json.requestedDay ?? 'none'],
  ]);
  return { json, text };
}

async function reconcile({ runtime }: System, args: CommandArgs): Promise<Output> {
  const key = keyIn(args);
  const isRequested = args.isOn('received') !== true;
  await stageReconciliation(runtime, { ...key, isRequested });
  const text = isRequested
    ? `A job requests the statement of ${key.day} and reconciles the day.`
    : `A job reconciles ${key.day} with the statements already received.`;
  return {
    json: { ...key, requested: isRequested },
    text: `${text} The command providers statements shows the result.\n`,
  };
}

const differenceTable = (differences: readonly DifferenceView[]) =>
  table(
    ['DIFFERENCE', 'DAY', 'KIND', 'STATUS', 'AMOUNT', 'AGE', 'OWNER', 'DETAIL'],
    differences.map((each) => [
      each.differenceId,
      each.day,
      each.kind,
      each.status,
      each.readable,
      each.ageHours === null ? '-' : `${each.ageHours} h`,
      each.ownerId ?? '-',
      each.detail,
    ]),
  );

async function list({ runtime }: System, args: CommandArgs): Promise<Output> {
  const { data } = await pageOfDifferences(runtime, {
    providerId: args.text('provider'),
    status: args.text('status') as DifferenceView['status'] | undefined,
    kind: args.text('kind') as DifferenceView['kind'] | undefined,
    ownerId: args.text('owner'),
    limit: limitIn(args),
  });
  return { json: data, text: differenceTable(data) };
}

async function assign({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await assignDifference(
    runtime,
    {
      differenceId: args.required('difference'),
      ownerId: args.text('owner'),
      note: args.text('note'),
    },
    isOperatorOf(runtime),
  );
  return { json, text: differenceTable([json]) };
}

const actorOf = ({ operator }: System) => operator?.id ?? 'command';

async function decide(system: System, args: CommandArgs): Promise<Output> {
  const differenceId = args.required('difference');
  await decideDifference(system.runtime, {
    differenceId,
    decision: args.required('decision') as (typeof DECISIONS)[number],
    reason: args.required('reason'),
    decidedBy: actorOf(system),
    transactionId: args.text('transaction'),
    accountId: args.text('account'),
    paymentReference: args.text('payment-reference'),
    failureReason: args.text('failure-reason') as
      | (typeof MANUAL_CHOICES.transferFailures)[number]
      | undefined,
  });
  const json = await differenceBy(system.runtime, differenceId);
  return { json, text: differenceTable([json]) };
}

async function close(system: System, args: CommandArgs): Promise<Output> {
  const json = await closeDay(system.runtime, keyIn(args), actorOf(system));
  return { json, text: dayTable([json]) };
}

async function listBalances({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await balancesOfProviders(runtime, args.text('provider'));
  const heads = [
    ...['PROVIDER', 'DAY', 'REPORTED', 'AVAILABLE', 'LEDGER'],
    ...['IN TRANSIT', 'SETTLEMENT', 'SUSPENSE'],
  ];
  const text = table(
    heads,
    json.map((each) => [
      each.providerId,
      each.day,
      amountText(each.reportedBalance, each.currency),
      each.availableBalance === null ? '-' : amountText(each.availableBalance, each.currency),
      ...[each.bookedBalance, each.railInTransit, each.externalSettlement, each.suspense].map(
        (amount) => amountText(amount, each.currency),
      ),
    ]),
  );
  return { json, text };
}

const PROVIDER_FILTER: Flags = {
  provider: { value: 'PROVIDER', help: 'Only this provider (default: all)' },
};
const noun = 'providers';

export const reconciliationVerbs: readonly Verb[] = [
  {
    noun,
    verb: 'statements',
    summary: 'List the days with a statement of a provider',
    flags: { ...PROVIDER_FILTER, ...LIMIT },
    positional: 'provider',
    run: listStatements,
  },
  {
    noun,
    verb: 'set-statements',
    summary: 'Change the statement settings of a provider',
    flags: {
      ...PROVIDER,
      'time-zone': {
        value: 'Europe/Berlin',
        help: 'Time zone in which the days of the provider end',
      },
      'fees-expected': {
        negation: 'fees-unexpected',
        help: 'Post fees of the provider as expenses',
      },
    },
    positional: 'provider',
    run: setStatements,
  },
  {
    noun,
    verb: 'reconcile',
    summary: 'Request the statement of a day and reconcile the day',
    flags: {
      ...DAY,
      received: {
        negation: 'request',
        help: 'Use the statements already received, without a request',
      },
    },
    positional: 'provider',
    run: reconcile,
  },
  {
    noun,
    verb: 'differences',
    summary: 'List differences between statements and the ledger, oldest first',
    flags: {
      ...PROVIDER_FILTER,
      status: {
        value: 'STATUS',
        choices: DIFFERENCE_STATUSES,
        help: 'Only this status (default: OPEN)',
      },
      kind: { value: 'KIND', choices: DIFFERENCE_KINDS, help: 'Only this kind (default: all)' },
      owner: { value: 'OPERATOR', help: 'Only differences that are assigned to this operator' },
      ...LIMIT,
    },
    positional: 'provider',
    run: list,
  },
  {
    noun,
    verb: 'assign',
    summary: 'Assign a difference to an operator, and set a note',
    flags: {
      ...DIFFERENCE,
      owner: { value: 'OPERATOR', help: 'ID of the operator' },
      note: { value: 'TEXT', help: 'Note without personal data' },
    },
    positional: 'difference',
    run: assign,
  },
  {
    noun,
    verb: 'decide',
    summary: 'Record the decision about a difference',
    flags: {
      ...DIFFERENCE,
      decision: {
        value: 'DECISION',
        required: true,
        choices: DECISIONS,
        help: 'Decision that the kind of the difference allows',
      },
      reason: { value: 'TEXT', required: true, help: 'Reason for the decision' },
      transaction: { value: 'TRANSACTION', help: 'ID of the payment of the line, for MATCH' },
      account: { value: 'ACCOUNT', help: 'ID of the account to credit, for RECORD_DEPOSIT' },
      'payment-reference': {
        value: 'REFERENCE',
        help: 'Reference of the account or payment to credit, for RECORD_DEPOSIT',
      },
      'failure-reason': {
        value: 'REASON',
        choices: MANUAL_CHOICES.transferFailures,
        help: 'Failure reason of the payment, for RETURN',
      },
    },
    positional: 'difference',
    run: decide,
  },
  {
    noun,
    verb: 'close-day',
    summary: 'Close a day whose closing balance equals the balance of the ledger',
    flags: DAY,
    positional: 'provider',
    run: close,
  },
  {
    noun,
    verb: 'balances',
    summary: 'List the balances at providers and those of the ledger',
    flags: PROVIDER_FILTER,
    positional: 'provider',
    run: listBalances,
  },
];
