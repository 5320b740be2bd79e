// Accounting exports by UTC day: transactions, postings and balances. Each export is one consistent
// statement over the tables of several features. Balances are calculated backwards from the current
// balances, so the cost of a month depends on the transfers since its start.

import type { Time } from '../../kernel/effects.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Phase } from '../../ledger/transfer.ts';
import type { positionOf } from '../../runtime/db/paging.ts';
import type { RowStream } from '../../runtime/db/stream.ts';
import { postedAmountOf } from '../cards/index.ts';
import { type CardFactColumns, factsOf } from '../payments/card-payments/index.ts';

export interface ExportRange {
  from: Time;
  /** End of the range, exclusive. */
  until: Time;
  /** Undefined for all platforms. */
  platformId?: string | undefined;
  /** Undefined for both environments. */
  environment?: Mode | undefined;
  /** Only the rows after this position, at most `limit`. */
  page?: { after?: Position | undefined; limit: number } | undefined;
}

/** Time and ID of a row, in the order of its export. */
type Position = ReturnType<typeof positionOf>;

const valuesOf = ({ from, until, platformId, environment, page }: ExportRange): unknown[] => [
  new Date(from),
  new Date(until),
  platformId ?? null,
  environment ?? null,
  page?.after === undefined ? null : new Date(page.after.created_at),
  page?.after?.id ?? null,
  page?.limit ?? null,
];

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

/** `card_authorized` is null except for card payments. */
export type TransactionLine = Line & (CardFactColumns | { card_authorized: null });

const TRANSACTIONS = `select p.environment, t.platform_id, t.customer_id, t.platform_customer_id, t.id,
    t.type, t.status, t.funds, t.created_at, t.settled_at, t.sent_currency, t.sent_amount,
    t.received_currency, t.received_amount, t.fees, t.platform_fees, t.exchange_rate, t.rail,
    t.source_account, t.destination_account, t.quote_id, t.failure_reason,
    t.refund->>'status' as refund_status, t.refund->>'reference' as refund_reference,
    coalesce(n.reference, t.source->>'traceNumber') as rail_reference, t.description,
    t.card_authorized, t.card_closed, t.card_clearings, t.card_refunds, t.card_funding_debits,
    t.card_funding_debit_statuses, t.card_released, t.card_written_off, t.card_recovered,
    t.card_undone_clearings, t.card_reversed_refunds
  from platforms p join transactions t on t.platform_id = p.id
    left join rail_results n on n.id = t.id || '/payout/settled'
  where t.created_at >= $1 and t.created_at < $2
    and ($3::text is null or p.id = $3) and ($4::text is null or p.environment = $4)
    and ($5::timestamptz is null or (t.created_at, t.id) > ($5, $6::text))
  order by t.created_at, t.id limit $7::bigint`;

/**
 * Replaces the first authorized amount of a card payment with the amount posted to its account.
 * Refunds are subtracted, because the refund columns have no amount and mean a full refund for
 * other payments.
 */
function withPostedAmounts(row: TransactionLine): TransactionLine {
  const { sent_currency: currency } = row;
  if (row.card_authorized === null || currency === null) return row;
  const amounts = factsOf(row);
  if (row.source_account !== null) {
    return { ...row, sent_amount: postedAmountOf(amounts, 'debit', currency) };
  }
  const received_amount = postedAmountOf(amounts, 'credit', currency);
  const noSentAmount = { sent_currency: null, sent_amount: null };
  return { ...row, ...noSentAmount, received_currency: currency, received_amount };
}

/** Transactions created in the range, oldest first. */
export async function* exportTransactions(
  stream: RowStream,
  range: ExportRange,
): AsyncGenerator<TransactionLine[]> {
  for await (const chunk of stream<TransactionLine>(TRANSACTIONS, valuesOf(range))) {
    yield chunk.map(withPostedAmounts);
  }
}

export interface PostingLine {
  environment: string;
  platform_id: string | null;
  transaction_id: string;
  step: string;
  phase: Phase;
  created_at: Time;
  debit: string;
  credit: string;
  currency: string;
  amount: bigint;
}

// The ID of a system account contains its environment. All other accounts belong to a platform.
// Both sides of a transfer are in one environment. Units with a point are excluded: velocity limits
// and stablecoins of platforms.
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
    and ($5::timestamptz is null
      or (created_at, transaction_id, step)
        > ($5, split_part($6::text, ' ', 1), split_part($6::text, ' ', 2)))
  order by created_at, transaction_id, step limit $7::bigint`;

/** Transfers of money in the range, oldest first. */
export const exportPostings = (
  stream: RowStream,
  range: ExportRange,
): AsyncIterable<PostingLine[]> => stream(POSTINGS, valuesOf(range));

export interface BalanceLine {
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

// Calculates backwards from the current balances, for accounts with transfers only. The day after
// the range contains all later transfers.
const DAYS_WITH_TRANSFERS = `with legs as (
    select debit as account, currency, created_at, amount as debits, 0 as credits
    from ledger_transfers where created_at >= $1 and phase in ('posted', 'post')
    union all
    select credit, currency, created_at, 0, amount
    from ledger_transfers where created_at >= $1 and phase in ('posted', 'post')
  ), changes as (
    select account, date_trunc('day', least(created_at, $2::timestamptz)) as day,
      sum(debits) as debits, sum(credits) as credits
    from legs where currency not like '%.%' group by 1, 2
  ), run as (
    select account, day, debits, credits, lead(day) over forwards as next,
      a.balance - coalesce(sum(credits - debits) over (
        partition by account order by day desc
        rows between unbounded preceding and 1 preceding), 0) as closing,
      row_number() over forwards as nth
    from changes join ledger_accounts a on a.id = account
    window forwards as (partition by account order by day)
  )`;

/** Days without transfers and with a balance other than zero. */
const DAYS_WITHOUT_TRANSFERS = `, spans as (
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

const balancesOf = (commonTables: string, lines: string) => `${commonTables}
  select coalesce(p.environment, split_part(account, ':', 2)) as environment, i.platform_id,
    i.customer_id, account, a.currency, to_char(day, 'YYYY-MM-DD') as day,
    (closing + debits - credits)::bigint as opening, debits::bigint, credits::bigint,
    closing::bigint
  from ${lines} each join ledger_accounts a on a.id = account
    left join internal_accounts i on i.id = account left join platforms p on p.id = i.platform_id
  where day < $2 and ($3::text is null or i.platform_id = $3)
    and ($4::text is null or coalesce(p.environment, split_part(account, ':', 2)) = $4)
    and ($5::timestamptz is null or (each.day, account) > ($5, $6::text))
  order by each.day, account limit $7::bigint`;

const CHANGED_BALANCES = balancesOf(DAYS_WITH_TRANSFERS, 'run');
const ALL_BALANCES = balancesOf(DAYS_WITH_TRANSFERS + DAYS_WITHOUT_TRANSFERS, 'lines');

/** Balances on days with transfers. With `idle` also other days with a balance other than zero. */
export const exportBalances = (
  stream: RowStream,
  { idle, ...range }: ExportRange & { idle: boolean },
): AsyncIterable<BalanceLine[]> => stream(idle ? ALL_BALANCES : CHANGED_BALANCES, valuesOf(range));
