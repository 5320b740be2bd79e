// Usage of the daily limits and prefunded balances of providers. The selection of a provider and
// the change of its usage are one commit, so that concurrent transfers cannot exceed a limit
// together.
import { iso, type Time } from '../../kernel/effects.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import type { Database } from '../../runtime/db/database.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../runtime/operation/context.ts';
import { termsOf } from './configuration/terms.ts';
import type { Provider } from './directory.ts';
import {
  type BalanceRow,
  providerBalances,
  providers,
  providerTransfers,
  providerUsage,
} from './store.ts';

export interface Usage {
  /** Sum of the transfers of the day. 0 if the provider has no daily limit. */
  sentToday: bigint;
  /** Null if the provider is not prefunded in the currency, or for a debit. */
  available: bigint | null;
  /**
   * The rows as read. Changes are staged on these rows, so that the commit fails after a concurrent change.
   */
  rows: { day: RowOf<typeof providerUsage> | undefined; balance: BalanceRow | undefined };
}

interface SentTransfer {
  kind: string;
  currency: string;
  amount: bigint;
}

/** A debit adds funds at the provider, so it requires no balance. */
const needsBalance = ({ kind }: Pick<SentTransfer, 'kind'>): boolean => kind !== 'debit';

const usageId = (providerId: string, currency: string, now: Time) =>
  `${providerId}/${currency}/${new Date(now).toISOString().slice(0, 10)}`;
const balanceId = (providerId: string, currency: string) => `${providerId}/${currency}`;

export const limitOf = ({ terms }: Provider, currency: string) =>
  terms.limits?.find((each) => each.currency === currency);

const isPrefunded = ({ terms }: Pick<Provider, 'terms'>, currency: string): boolean =>
  terms.prefunding?.some((each) => each.currency === currency) ?? false;

export const availableIn = ({ amount, spent }: BalanceRow): bigint => amount - spent;

/** Reads the current usage of a provider in a currency. */
export async function usageOf(
  reader: Reader,
  provider: Provider,
  { kind, currency }: Pick<SentTransfer, 'kind' | 'currency'>,
  now: Time,
): Promise<Usage> {
  const { id } = provider.row;
  const hasDailyLimit = limitOf(provider, currency)?.perDay !== undefined;
  const isLimited = needsBalance({ kind }) && isPrefunded(provider, currency);
  const day = hasDailyLimit
    ? await reader.read(providerUsage, usageId(id, currency, now))
    : undefined;
  const balance = isLimited
    ? await reader.read(providerBalances, balanceId(id, currency))
    : undefined;
  return {
    sentToday: day?.amount ?? 0n,
    available: isLimited ? (balance ? availableIn(balance) : 0n) : null,
    rows: { day, balance },
  };
}

/**
 * Stages the usage of a transfer that is assigned to the provider. `rows` are the rows that the
 * selection read.
 */
export function stageUsage(
  ctx: Ctx,
  provider: Provider,
  transfer: SentTransfer,
  { rows: { day, balance } }: Usage,
): void {
  const { currency, amount } = transfer;
  const { id } = provider.row;
  const now = ctx.effects.now();
  if (day) ctx.update(providerUsage, day, { amount: day.amount + amount });
  else if (limitOf(provider, currency)?.perDay !== undefined) {
    const dayId = usageId(id, currency, now);
    ctx.insert(providerUsage, {
      ...{ id: dayId, provider_id: id, currency, day: dayId.slice(-10), amount, created_at: now },
    });
  }
  if (balance) ctx.update(providerBalances, balance, { spent: balance.spent + amount });
}

export interface ReportedBalance {
  currency: string;
  amount: bigint;
  /** Time of the balance. Transfers that were sent later are subtracted. */
  asOf: Time;
  source: BalanceRow['source'];
}

const SPENT_SQL = `select coalesce(sum(amount), 0)::int8 as spent from provider_transfers
  where provider_id = $1 and created_at > $2 and currency = $3 and kind <> 'debit'`;

/**
 * Stages a reported balance. Throws CONFLICT without prefunding in the currency, and INVALID_INPUT
 * if the balance is older than the stored balance or in the future.
 */
export async function stageBalance(
  ctx: Ctx,
  provider: Pick<Provider, 'row' | 'terms'>,
  { currency, amount, asOf, source }: ReportedBalance,
): Promise<BalanceRow> {
  const { id } = provider.row;
  if (!isPrefunded(provider, currency)) {
    throw new Fault(
      'CONFLICT',
      `The terms of the provider have no prefunding in ${currency}. Change the terms first.`,
    );
  }
  const now = ctx.effects.now();
  if (asOf > now) throw invalidField('asOf', 'must not be in the future');
  const row = await ctx.read(providerBalances, balanceId(id, currency));
  if (row && row.reported_at > asOf) {
    throw invalidField(
      'asOf',
      `must not be before ${iso(row.reported_at)}, the time of the stored balance`,
    );
  }
  const [sentSum] = await ctx.db.query<{ spent: bigint }>(SPENT_SQL, [
    id,
    new Date(asOf),
    currency,
  ]);
  const values = {
    amount,
    spent: sentSum?.spent ?? 0n,
    source,
    reported_at: asOf,
    updated_at: now,
  };
  if (row) return ctx.update(providerBalances, row, values);
  return ctx.insert(providerBalances, {
    ...{ id: balanceId(id, currency), provider_id: id, currency, ...values },
  });
}

/** Exported so that a test can check its query plan. */
export const UNREPORTED_SUM = `select coalesce(sum(amount), 0)::int8 as spent
  from provider_transfers
  where provider_id = $1 and reported_day is null and created_at >= $2 and currency = $3
    and kind <> 'debit' and (outcome is null or outcome = 'SETTLED')`;

interface ClosingBalance {
  currency: string;
  amount: bigint;
  /** End of the day. */
  asOf: Time;
  /** Start of the first day with a statement. Earlier transfers are part of its opening balance. */
  since: Time;
}

/**
 * Stages the closing balance of a statement as the prefunded balance, less the transfers on no statement.
 * These transfers were sent later, or the provider had not booked them yet. Without effect if the provider
 * is not prefunded in the currency, or a later balance is stored.
 */
export async function stageClosingBalance(
  ctx: Ctx,
  providerId: string,
  { currency, amount, asOf, since }: ClosingBalance,
): Promise<void> {
  const provider = await ctx.read(providers, providerId);
  if (!provider || !isPrefunded({ terms: termsOf(provider) }, currency)) return;
  const id = balanceId(providerId, currency);
  const row = await ctx.read(providerBalances, id);
  if (row && row.reported_at > asOf) return;
  const values = [providerId, new Date(since), currency];
  const [sentSum] = await ctx.db.query<{ spent: bigint }>(UNREPORTED_SUM, values);
  const reportedBalance = {
    ...{ amount, spent: sentSum?.spent ?? 0n, source: 'PROVIDER' as const },
    ...{ reported_at: asOf, updated_at: ctx.now },
  };
  if (row) ctx.update(providerBalances, row, reportedBalance);
  else ctx.insert(providerBalances, { id, provider_id: providerId, currency, ...reportedBalance });
}

/**
 * Returns a function that returns the available balance at a provider, or null without a stored
 * balance in the currency.
 */
export async function availableBalances(db: Pick<Database, 'find'>) {
  const rows = new Map((await db.find(providerBalances, {})).map((row) => [row.id, row]));
  return (providerId: string, currency: string): bigint | null => {
    const row = rows.get(balanceId(providerId, currency));
    return row ? availableIn(row) : null;
  };
}

/** Reads the row of a transfer with its stored choice. */
export const transferById = (reader: Reader, id: string) => reader.read(providerTransfers, id);
