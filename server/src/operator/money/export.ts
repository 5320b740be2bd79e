// `export transactions|postings|balances`: what an accountant checks against a bank, as CSV on standard
// output, of days in UTC. Each is one statement at one moment. Balances are counted back from what the
// accounts hold now by what has moved since, so a month costs what moved since its first day, and neither
// the whole history nor the number of accounts; that they then agree with the postings of each day is the
// proof.

import { paidOf, unitsOf } from '../../features/cards/index.ts';
import {
  type CardFactColumns,
  factsOf,
  settledOf,
} from '../../features/payments/card-payments/index.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { amount, csv, plain, text } from '../cli/csv.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

const DAY_MS = 86_400_000;
const MOST_DAYS = 366;

const FLAGS: Flags = {
  from: { value: 'YYYY-MM-DD', required: true, help: 'First day, UTC' },
  to: { value: 'YYYY-MM-DD', required: true, help: 'Last day, UTC, included' },
  platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
  environment: {
    value: 'ENVIRONMENT',
    choices: ['production', 'sandbox'],
    help: 'Of one environment (both)',
  },
};

function dayOf(given: Given, flag: string): Time {
  const word = given.needed(flag);
  const time = /^\d{4}-\d\d-\d\d$/.test(word) ? Date.parse(`${word}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || !iso(time).startsWith(word)) {
    throw usageError(`--${flag} must be a day such as 2026-01-31`);
  }
  return time;
}

/** What all three statements are given: first moment, first moment after, platform, environment. */
async function rangeOf(system: System, given: Given): Promise<unknown[]> {
  const [from, last] = [dayOf(given, 'from'), dayOf(given, 'to')];
  if (last < from) throw usageError('--to must not be before --from');
  if (last - from >= MOST_DAYS * DAY_MS) throw usageError(`At most ${MOST_DAYS} days at once`);
  const id = given.text('platform');
  const platform = id === undefined ? null : (await platformOf(system, id)).id;
  return [new Date(from), new Date(last + DAY_MS), platform, given.text('environment') ?? null];
}

const moment = (time: Time | null) => (time === null ? '' : iso(time));

interface Line {
  environment: string;
  platform_id: string;
  customer_id: string | null;
  platform_customer_id: string;
  id: string;
  type: string;
  status: string;
  funds: string;
  created_at: Time;
  settled_at: Time | null;
  sent_currency: string | null;
  sent_amount: bigint | null;
  received_currency: string | null;
  received_amount: bigint | null;
  fees: bigint | null;
  platform_fees: bigint | null;
  exchange_rate: string | null;
  rail: string | null;
  source_account: string | null;
  destination_account: string | null;
  quote_id: string | null;
  failure_reason: string | null;
  refund_status: string | null;
  refund_reference: string | null;
  rail_reference: string | null;
  description: string | null;
}

/** Only a card payment has its facts. */
type TransactionLine = Line & (CardFactColumns | { card_authorized: null });

const TRANSACTIONS = `select p.environment, t.platform_id, t.customer_id, t.platform_customer_id, t.id,
    t.type, t.status, t.funds, t.created_at, t.settled_at, t.sent_currency, t.sent_amount,
    t.received_currency, t.received_amount, t.fees, t.platform_fees, t.exchange_rate, t.rail,
    t.source_account, t.destination_account, t.quote_id, t.failure_reason,
    t.refund->>'status' as refund_status, t.refund->>'reference' as refund_reference,
    coalesce(n.reference, t.source->>'traceNumber') as rail_reference, t.description,
    t.card_authorized, t.card_closed, t.card_clearings, t.card_refunds, t.card_pulls,
    t.card_pull_statuses, t.card_released, t.card_written_off, t.card_recovered,
    t.card_undone_clearings, t.card_reversed_refunds
  from platforms p join transactions t on t.platform_id = p.id
    left join rail_notices n on n.id = t.id || '/payout/settled'
  where t.created_at >= $1 and t.created_at < $2
    and ($3::text is null or p.id = $3) and ($4::text is null or p.environment = $4)
  order by t.created_at, t.id`;

const TRANSACTION_HEAD = [
  ...['environment', 'platform_id', 'customer_id', 'platform_customer_id', 'transaction_id'],
  ...['type', 'status', 'funds', 'created_at', 'settled_at'],
  ...['sent_currency', 'sent_amount', 'sent_minor'],
  ...['received_currency', 'received_amount', 'received_minor'],
  ...['fees_amount', 'fees_minor', 'platform_fees_amount', 'platform_fees_minor'],
  ...['exchange_rate', 'rail', 'source_account', 'destination_account', 'quote_id'],
  ...['failure_reason', 'refund_status', 'refund_reference', 'rail_reference', 'description'],
];

/**
 * What a payment with a card has done to its account by now. Its row has what was authorised first, under the
 * sender whatever its direction. What came back is taken off: the columns of a refund have no amount, and say
 * of other payments that all of it went back.
 */
function moneyOf(row: TransactionLine): TransactionLine {
  const { sent_currency: currency } = row;
  if (row.card_authorized === null || currency === null) return row;
  const facts = factsOf(row);
  if (row.source_account !== null) return { ...row, sent_amount: unitsOf(paidOf(facts), currency) };
  const received_amount = unitsOf(settledOf(facts), currency);
  const none = { sent_currency: null, sent_amount: null };
  return { ...row, ...none, received_currency: currency, received_amount };
}

const transactionCells = (row: TransactionLine): string[] => [
  ...[row.environment, row.platform_id, row.customer_id].map(plain),
  text(row.platform_customer_id),
  ...[row.id, row.type, row.status, row.funds].map(plain),
  moment(row.created_at),
  moment(row.settled_at),
  plain(row.sent_currency),
  ...amount(row.sent_amount, row.sent_currency),
  plain(row.received_currency),
  ...amount(row.received_amount, row.received_currency),
  ...amount(row.fees, row.sent_currency),
  ...amount(row.platform_fees, row.sent_currency),
  ...[row.exchange_rate, row.rail, row.source_account].map(plain),
  text(row.destination_account), // may be an address that a payer wrote
  ...[row.quote_id, row.failure_reason, row.refund_status, row.refund_reference].map(plain),
  text(row.rail_reference), // the bank's
  text(row.description),
];

interface PostingLine {
  environment: string;
  platform_id: string | null;
  transaction_id: string;
  step: string;
  phase: string;
  created_at: Time;
  debit: string;
  credit: string;
  currency: string;
  amount: bigint;
}

// An account of the house has its environment in its name; all others belong to a platform. Both sides of
// a transfer are of one environment. What is counted beside the money, volumes and the tokens that platforms
// issue, has a unit with a point in it.
const POSTINGS = `with lines as (
    select l.*, coalesce(t.platform_id, d.platform_id, c.platform_id) as platform_id,
      coalesce(p.environment, split_part(l.debit, ':', 2)) as environment,
      array[t.platform_id, d.platform_id, c.platform_id] as platforms
    from ledger_transfers l left join transactions t on t.id = l.transaction_id
      left join internal_accounts d on d.id = l.debit
      left join internal_accounts c on c.id = l.credit
      left join platforms p on p.id = coalesce(d.platform_id, c.platform_id, t.platform_id)
    where l.created_at >= $1 and l.created_at < $2 and l.currency not like '%.%'
  )
  select environment, platform_id, transaction_id, step, phase, created_at, debit, credit, currency,
    amount
  from lines
  where ($3::text is null or $3 = any(platforms)) and ($4::text is null or environment = $4)
  order by created_at, transaction_id, step`;

const POSTING_HEAD = [
  ...['environment', 'platform_id', 'transaction_id', 'step', 'effect', 'day', 'created_at'],
  ...['debit_account', 'credit_account', 'currency', 'amount', 'minor'],
];

/** Only what is MOVED changes a balance; the others set aside for later, or give back. */
const EFFECT: Readonly<Record<string, string>> = {
  posted: 'MOVED',
  post: 'MOVED',
  pending: 'SET_ASIDE',
  release: 'GIVEN_BACK',
};

const postingCells = (row: PostingLine): string[] => [
  ...[row.environment, row.platform_id, row.transaction_id, row.step].map(plain),
  EFFECT[row.phase] ?? row.phase,
  iso(row.created_at).slice(0, 10),
  iso(row.created_at),
  ...[row.debit, row.credit, row.currency].map(plain),
  ...amount(row.amount, row.currency),
];

interface BalanceLine {
  environment: string;
  platform_id: string | null;
  customer_id: string | null;
  account: string;
  currency: string;
  day: string;
  opening: bigint;
  debits: bigint;
  credits: bigint;
  closing: bigint;
}

// Balances are counted back from those of now over the rows that moved alone; the day after the last stands
// for everything since. So an account that rests costs nothing, however many there are.
const RUN = `with legs as (
    select debit as account, currency, created_at, amount as debits, 0 as credits
    from ledger_transfers where created_at >= $1 and phase in ('posted', 'post')
    union all
    select credit, currency, created_at, 0, amount
    from ledger_transfers where created_at >= $1 and phase in ('posted', 'post')
  ), moved as (
    select account, date_trunc('day', least(created_at, $2::timestamptz)) as day,
      sum(debits) as debits, sum(credits) as credits
    from legs where currency not like '%.%' group by 1, 2
  ), run as (
    select account, day, debits, credits, lead(day) over forwards as next,
      a.balance - coalesce(sum(credits - debits) over (
        partition by account order by day desc
        rows between unbounded preceding and 1 preceding), 0) as closing,
      row_number() over forwards as nth
    from moved join ledger_accounts a on a.id = account
    window forwards as (partition by account order by day)
  )`;

/** Days between the movements, as long as something is there: what rests before, between and without them. */
const RESTING = `, spans as (
    select account, day + interval '1 day' as since, coalesce(next, $2::timestamptz) as until, closing
    from run where day < $2
    union all
    select account, $1::timestamptz, day, closing + debits - credits from run where nth = 1
    union all
    select id, $1::timestamptz, $2::timestamptz, balance from ledger_accounts
    where balance <> 0 and currency not like '%.%'
      and not exists (select from run where account = id)
  ), lines as (
    select account, day, 0 as debits, 0 as credits, closing
    from spans, generate_series(since, until - interval '1 day', interval '1 day') as days(day)
    where closing <> 0
    union all
    select account, day, debits, credits, closing from run
  )`;

const balancesOf = (head: string, lines: string) => `${head}
  select coalesce(p.environment, split_part(account, ':', 2)) as environment, i.platform_id,
    i.customer_id, account, a.currency, to_char(day, 'YYYY-MM-DD') as day,
    (closing + debits - credits)::bigint as opening, debits::bigint, credits::bigint,
    closing::bigint
  from ${lines} each join ledger_accounts a on a.id = account
    left join internal_accounts i on i.id = account left join platforms p on p.id = i.platform_id
  where day < $2 and ($3::text is null or i.platform_id = $3)
    and ($4::text is null or coalesce(p.environment, split_part(account, ':', 2)) = $4)
  order by each.day, account`;

const MOVED_BALANCES = balancesOf(RUN, 'run');
const ALL_BALANCES = balancesOf(RUN + RESTING, 'lines');

const BALANCE_HEAD = [
  ...['environment', 'platform_id', 'customer_id', 'account', 'currency', 'day'],
  ...['opening_amount', 'opening_minor', 'debits_amount', 'debits_minor'],
  ...['credits_amount', 'credits_minor', 'closing_amount', 'closing_minor'],
];

const balanceCells = (row: BalanceLine): string[] => [
  ...[row.environment, row.platform_id, row.customer_id, row.account].map(plain),
  ...[row.currency, row.day].map(plain),
  ...amount(row.opening, row.currency),
  ...amount(row.debits, row.currency),
  ...amount(row.credits, row.currency),
  ...amount(row.closing, row.currency),
];

interface Sheet<R> {
  name: string;
  summary: string;
  sql: (given: Given) => string;
  head: readonly string[];
  cellsOf: (row: R) => readonly string[];
  flags?: Flags;
}

function exporting<R extends object>({ name, summary, sql, head, cellsOf, flags }: Sheet<R>): Verb {
  const run = async (system: System, given: Given): Promise<Output> => {
    const rows = system.stream<R>(sql(given), await rangeOf(system, given));
    return { json: null, text: '', pieces: csv(head, rows, cellsOf) };
  };
  return { noun: 'export', verb: name, summary, flags: { ...FLAGS, ...flags }, run };
}

export const exportVerbs: readonly Verb[] = [
  exporting<TransactionLine>({
    name: 'transactions',
    summary: 'Print the transactions that were created on some days, as CSV',
    sql: () => TRANSACTIONS,
    head: TRANSACTION_HEAD,
    cellsOf: (row) => transactionCells(moneyOf(row)),
  }),
  exporting<PostingLine>({
    name: 'postings',
    summary: 'Print every movement of the ledger on some days, as CSV',
    sql: () => POSTINGS,
    head: POSTING_HEAD,
    cellsOf: postingCells,
  }),
  exporting<BalanceLine>({
    name: 'balances',
    summary: 'Print what accounts held around the days on which they moved, as CSV',
    sql: (given) => (given.on('idle') ? ALL_BALANCES : MOVED_BALANCES),
    head: BALANCE_HEAD,
    cellsOf: balanceCells,
    flags: {
      idle: { off: 'no-idle', help: 'Also days on which a balance rested; a row for each' },
    },
  }),
];
