// `export transactions|postings|balances`: CSV for reconciliation with a bank, on standard output,
// by UTC days. Balances must agree with the postings of each day.

import {
  type BalanceLine,
  type ExportRange,
  exportBalances,
  exportPostings,
  exportTransactions,
  type PostingLine,
  type TransactionLine,
} from '../../features/accounting/index.ts';
import { iso, type Time } from '../../kernel/effects.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { RowStream } from '../../runtime/db/stream.ts';
import { amount, csv, guardedText, serverValue } from '../cli/csv.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;

const FLAGS: Flags = {
  from: { value: 'YYYY-MM-DD', required: true, help: 'First day, UTC' },
  to: { value: 'YYYY-MM-DD', required: true, help: 'Last day, UTC, included' },
  platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
  environment: {
    value: 'ENVIRONMENT',
    choices: ['production', 'sandbox'],
    help: 'Filter by environment (default: both)',
  },
};

function dayOf(args: CommandArgs, flag: string): Time {
  const text = args.required(flag);
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || !iso(time).startsWith(text)) {
    throw usageError(`--${flag} must be a day such as 2026-01-31`);
  }
  return time;
}

async function rangeOf(system: System, args: CommandArgs): Promise<ExportRange> {
  const [from, lastDay] = [dayOf(args, 'from'), dayOf(args, 'to')];
  if (lastDay < from) throw usageError('--to must not be before --from');
  if (lastDay - from >= MAX_DAYS * DAY_MS) {
    throw usageError(`The period must not exceed ${MAX_DAYS} days`);
  }
  return {
    from,
    until: lastDay + DAY_MS,
    platformId: await platformIn(system, args),
    environment: args.text('environment') as Mode | undefined,
  };
}

const timeText = (time: Time | null) => (time === null ? '' : iso(time));

const TRANSACTION_HEAD = [
  ...['environment', 'platform_id', 'customer_id', 'platform_customer_id', 'transaction_id'],
  ...['type', 'status', 'funds', 'created_at', 'settled_at'],
  ...['sent_currency', 'sent_amount', 'sent_minor'],
  ...['received_currency', 'received_amount', 'received_minor'],
  ...['fees_amount', 'fees_minor', 'platform_fees_amount', 'platform_fees_minor'],
  ...['exchange_rate', 'rail', 'source_account', 'destination_account', 'quote_id'],
  ...['failure_reason', 'refund_status', 'refund_reference', 'rail_reference', 'description'],
];

const transactionCells = (row: TransactionLine): string[] => [
  ...[row.environment, row.platform_id, row.customer_id].map(serverValue),
  guardedText(row.platform_customer_id),
  ...[row.id, row.type, row.status, row.funds].map(serverValue),
  timeText(row.created_at),
  timeText(row.settled_at),
  serverValue(row.sent_currency),
  ...amount(row.sent_amount, row.sent_currency),
  serverValue(row.received_currency),
  ...amount(row.received_amount, row.received_currency),
  ...amount(row.fees, row.sent_currency),
  ...amount(row.platform_fees, row.sent_currency),
  ...[row.exchange_rate, row.rail, row.source_account].map(serverValue),
  guardedText(row.destination_account), // An address that a payer may have entered.
  ...[row.quote_id, row.failure_reason, row.refund_status, row.refund_reference].map(serverValue),
  guardedText(row.rail_reference), // Reference of the bank.
  guardedText(row.description),
];

const POSTING_HEAD = [
  ...['environment', 'platform_id', 'transaction_id', 'step', 'effect', 'day', 'created_at'],
  ...['debit_account', 'credit_account', 'currency', 'amount', 'minor'],
];

/** Only POSTED changes a balance. HELD and VOIDED change the held amount. */
const EFFECT: Readonly<Record<string, string>> = {
  posted: 'POSTED',
  post: 'POSTED',
  pending: 'HELD',
  void: 'VOIDED',
};

const postingCells = (row: PostingLine): string[] => [
  ...[row.environment, row.platform_id, row.transaction_id, row.step].map(serverValue),
  EFFECT[row.phase] ?? row.phase,
  iso(row.created_at).slice(0, 10),
  iso(row.created_at),
  ...[row.debit, row.credit, row.currency].map(serverValue),
  ...amount(row.amount, row.currency),
];

const BALANCE_HEAD = [
  ...['environment', 'platform_id', 'customer_id', 'account', 'currency', 'day'],
  ...['opening_amount', 'opening_minor', 'debits_amount', 'debits_minor'],
  ...['credits_amount', 'credits_minor', 'closing_amount', 'closing_minor'],
];

const balanceCells = (row: BalanceLine): string[] => [
  ...[row.environment, row.platform_id, row.customer_id, row.account].map(serverValue),
  ...[row.currency, row.day].map(serverValue),
  ...amount(row.opening, row.currency),
  ...amount(row.debits, row.currency),
  ...amount(row.credits, row.currency),
  ...amount(row.closing, row.currency),
];

interface Sheet<R> {
  name: string;
  summary: string;
  lines: (stream: RowStream, range: ExportRange, args: CommandArgs) => AsyncIterable<R[]>;
  headings: readonly string[];
  cellsOf: (row: R) => readonly string[];
  flags?: Flags;
}

function exportVerb<R>({ name, summary, lines, headings, cellsOf, flags }: Sheet<R>): Verb {
  const run = async (system: System, args: CommandArgs): Promise<Output> => {
    const rows = lines(system.stream, await rangeOf(system, args), args);
    return { json: null, text: '', chunks: csv(headings, rows, cellsOf) };
  };
  return { noun: 'export', verb: name, summary, flags: { ...FLAGS, ...flags }, isCsv: true, run };
}

export const exportVerbs: readonly Verb[] = [
  exportVerb({
    name: 'transactions',
    summary: 'Print the transactions created in a period, as CSV',
    lines: exportTransactions,
    headings: TRANSACTION_HEAD,
    cellsOf: transactionCells,
  }),
  exportVerb({
    name: 'postings',
    summary: 'Print the ledger postings of a period, as CSV',
    lines: exportPostings,
    headings: POSTING_HEAD,
    cellsOf: postingCells,
  }),
  exportVerb({
    name: 'balances',
    summary: 'Print opening and closing balances of days with postings, as CSV',
    lines: (stream, range, args) =>
      exportBalances(stream, { ...range, idle: args.isOn('idle') ?? false }),
    headings: BALANCE_HEAD,
    cellsOf: balanceCells,
    flags: {
      idle: { negation: 'no-idle', help: 'Include days without postings, one row each' },
    },
  }),
];
