// Tables and queries of the reconciliation: statement settings, statements with their pages, days
// and lines, and the differences between the statements and the ledger.
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
import type { Direction, MatchedBy } from './matching.ts';

/** `id` is the ID of the provider. */
export const statementSources = table('statement_sources', {
  id: col.text,
  time_zone: col.text.mut,
  fees_expected: col.bool.mut,
  requested_day: col.text.null.mut,
  updated_at: col.time.mut,
  version: col.int4,
});
export type SourceRow = RowOf<typeof statementSources>;

/** `id` is provider, currency and day. */
export const providerDays = table(
  'provider_days',
  {
    id: col.text,
    provider_id: col.text,
    environment: col.enum<Mode>(),
    currency: col.text,
    day: col.text,
    status: col.enum<'OPEN' | 'CLOSED'>().mut,
    statement_id: col.text.null.mut,
    statement_version: col.int4.mut,
    opening_balance: col.int8.null.mut,
    closing_balance: col.int8.null.mut,
    opening_posted: col.int8.mut,
    line_net: col.int8.mut,
    adjusted_net: col.int8.mut,
    reconciled_at: col.time.null.mut,
    closed_at: col.time.null.mut,
    closed_by: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['provider_days_pkey'] },
);
export type DayRow = RowOf<typeof providerDays>;

export const STATEMENT_STATUSES = [
  'INCOMPLETE',
  'COMPLETE',
  'APPLIED',
  'REPLACED',
  'LATE',
] as const;

/** `id` is the day and the ID that the provider assigned. */
export const providerStatements = table(
  'provider_statements',
  {
    id: col.text,
    day_id: col.text,
    provider_id: col.text,
    environment: col.enum<Mode>(),
    currency: col.text,
    day: col.text,
    statement_id: col.text,
    status: col.enum<(typeof STATEMENT_STATUSES)[number]>().mut,
    opening_balance: col.int8,
    closing_balance: col.int8,
    line_count: col.int4,
    page_count: col.int4,
    pages_received: col.int4.mut,
    lines_received: col.int4.mut,
    created_at: col.time,
    completed_at: col.time.null.mut,
    version: col.int4,
  },
  { contendedKeys: ['provider_statements_pkey'] },
);
export type StatementRow = RowOf<typeof providerStatements>;

/** `id` is the statement and the number of the page. */
export const statementPages = table(
  'provider_statement_pages',
  { id: col.text, lines: col.int4, body: col.text, created_at: col.time },
  { contendedKeys: ['provider_statement_pages_pkey'] },
);

/** `id` is the day, the ID of the line and the version of the statement. */
export const statementLines = table(
  'provider_statement_lines',
  {
    id: col.text,
    day_id: col.text,
    provider_id: col.text,
    line_id: col.text,
    direction: col.enum<Direction>(),
    amount: col.int8,
    fee: col.int8,
    currency: col.text,
    kind: col.text,
    at: col.time,
    transfer_id: col.text.null,
    reference: col.text.null,
    bank_reference: col.text.null,
    state: col.enum<'NEW' | 'MATCHED' | 'SUSPENSE' | 'DECIDED' | 'REMOVED'>().mut,
    matched_key: col.text.null.mut,
    matched_by: col.enum<MatchedBy | 'DECISION'>().null.mut,
    created_at: col.time,
    version: col.int4,
  },
  {
    unique: {
      provider_statement_lines_matched: () =>
        new Fault('CONFLICT', 'Another line of a statement is already matched with this transfer.'),
    },
  },
);
export type LineRow = RowOf<typeof statementLines>;

export const DIFFERENCE_KINDS = [
  'MISSING_AT_PROVIDER',
  'MISSING_WITH_US',
  'AMOUNT_DIFFERS',
  'CURRENCY_DIFFERS',
  'STATE_DIFFERS',
  'DUPLICATED',
  'FEE_UNEXPECTED',
  'BALANCE_DIFFERS',
  'LATE_CORRECTION',
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export const DIFFERENCE_STATUSES = [
  'OPEN',
  'CARRIED',
  'IN_SUSPENSE',
  'DECIDED',
  'RESOLVED',
] as const;

export const DECISIONS = [
  'MATCH',
  'RECORD_DEPOSIT',
  'RECORD_FEE',
  'OWN_FUNDS',
  'WRITE_OFF',
  'SUSPENSE',
  'SETTLE',
  'RETURN',
  'CARRY',
  'IGNORE',
] as const;
export type Decision = (typeof DECISIONS)[number];

export const differences = table(
  'reconciliation_differences',
  {
    id: col.text,
    key: col.text,
    day_id: col.text.mut,
    provider_id: col.text,
    environment: col.enum<Mode>(),
    currency: col.text,
    kind: col.enum<DifferenceKind>().mut,
    status: col.enum<(typeof DIFFERENCE_STATUSES)[number]>().mut,
    line_id: col.text.null,
    subject: col.text.null.mut,
    transaction_id: col.text.null.mut,
    amount: col.int8.mut,
    detail: col.text.mut,
    owner_id: col.text.null.mut,
    note: col.text.null.mut,
    decision: col.enum<Decision>().null.mut,
    reason: col.text.null.mut,
    decided_by: col.text.null.mut,
    decided_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['reconciliation_differences_key'] },
);
export type DifferenceRow = RowOf<typeof differences>;

/** Identifies the day of a provider in one currency. */
export interface DayKey {
  providerId: string;
  currency: string;
  day: string;
}

export const dayIdOf = ({ providerId, currency, day }: DayKey): string =>
  [providerId, currency, day].join('/');

export const keyOfDay = ({ provider_id: providerId, currency, day }: DayRow): DayKey => ({
  providerId,
  currency,
  day,
});

/** Key of the difference of an item that is missing at the provider. Stored keys begin with `OURS/`. */
export const missingKeyOf = (itemKey: string): string => `OURS/${itemKey}`;

/** A test checks the query plans. */
export const SQL = {
  /**
   * The next 1,000 lines of a day that are not removed. IDs begin with the day. `0` is the
   * character after `/`.
   */
  lines: `select * from provider_statement_lines where id > $1 || '/' and id < $1 || '0'
    and state <> 'REMOVED' and id > $2 order by id limit 1000`,
  /** Days of a provider and currency, oldest first. */
  days: `select * from provider_days where id > $1 || '/' and id < $1 || '0' order by id`,
  matched: `select id, matched_key from provider_statement_lines where matched_key = any($1::text[])`,
  byKey: `select * from reconciliation_differences where key = any($1::text[])`,
  openOfDay: `select count(*)::int4 as count from reconciliation_differences
    where day_id = $1 and status = 'OPEN'`,
  missing: `select subject from reconciliation_differences
    where status in ('OPEN', 'CARRIED', 'IN_SUSPENSE') and kind = 'MISSING_AT_PROVIDER'
      and provider_id = $1 and currency = $2 order by created_at, id`,
};
