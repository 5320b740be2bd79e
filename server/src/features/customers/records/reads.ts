// Finding customers: one by id, those that match a list's filters, and whether money of one is still
// somewhere.
import type { Static } from '@sinclair/typebox';
import { regionsOffering } from '../../../catalog/currencies/offers.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Time } from '../../../kernel/world.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { timeFilters } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { readLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import type { listCustomers } from './contract.ts';
import { umaAddressOf } from './registration/uma.ts';
import { type CustomerRow, customers } from './store.ts';

/**
 * A customer of the calling platform; CUSTOMER_NOT_FOUND for every other id. Deleted ones are answered
 * too, unless it must be alive: then they are CUSTOMER_DELETED.
 */
export async function customerOf(
  ctx: Ctx,
  id: string,
  { alive = false }: { alive?: boolean } = {},
): Promise<CustomerRow> {
  const row = isId(id, 'Customer') ? await ctx.read(customers, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('CUSTOMER_NOT_FOUND', 'No such customer.');
  }
  if (alive && row.deleted_at !== null) {
    throw new Fault('CUSTOMER_DELETED', 'This customer was deleted.');
  }
  return row;
}

const AFTER = `select id, currencies, region, created_at from customers
  where platform_id = $1 and deleted_at is null
    and (created_at, id) > ($2::timestamptz, $3)
    and (terms_consent is not null or not $4::boolean)
  order by created_at, id limit $5::int`;

/**
 * Customers of the platform who have accounts, in the order of creation: not those who were deleted, nor
 * those who have yet to accept terms.
 */
export function customersAfter(
  ctx: Ctx,
  platform: PlatformRow,
  after: { createdAt: Time; id: string },
  limit: number,
): Promise<Pick<CustomerRow, 'id' | 'currencies' | 'region' | 'created_at'>[]> {
  const needsTerms = platform.terms_gate && !platform.regulated;
  const values = [platform.id, new Date(after.createdAt), after.id, needsTerms, limit];
  return ctx.db.query(AFTER, values);
}

type Query = Static<(typeof listCustomers)['query']>;
type CustomerFilter = Filter<typeof customers>;

/** Customers who chose a currency, and those who follow their platform where it offers the currency. */
function currencyFilters(platform: PlatformRow, codes: readonly string[]): CustomerFilter[] {
  const chosen = codes.map((value): CustomerFilter => ({ column: 'currencies', op: 'has', value }));
  const offered = new Set(platform.currencies.map((each) => each.currencyCode));
  const followed = codes.filter((code) => offered.has(code));
  if (!followed.length) return [{ or: chosen }];
  const follows: CustomerFilter = { column: 'currencies', op: 'isNull' };
  const inRegion: CustomerFilter[] = [
    { column: 'region', op: 'isNull' },
    { column: 'region', op: 'in', value: [...new Set(followed.flatMap(regionsOffering))] },
  ];
  return [{ or: [...chosen, follows] }, { or: [...chosen, ...inRegion] }];
}

/** What a list's query asks for; a filter that came several times is met by any of its values. */
export function filtersOf(query: Query, platform: PlatformRow): CustomerFilter[] {
  const filters: CustomerFilter[] = [{ column: 'platform_id', op: '=', value: platform.id }];
  const any = (column: keyof CustomerRow & string, given: string | string[] | undefined) => {
    if (given !== undefined) filters.push({ column, op: 'in', value: [given].flat() });
  };
  any('platform_customer_id', query.platformCustomerId);
  any('type', query.customerType);
  any('region', query.region);
  if (query.umaAddress !== undefined) {
    any('uma_address', [query.umaAddress].flat().map(umaAddressOf));
  }
  filters.push(...timeFilters(query));
  if (query.currency !== undefined) {
    filters.push(...currencyFilters(platform, [query.currency].flat()));
  }
  if (!query.isIncludingDeleted) filters.push({ column: 'deleted_at', op: 'isNull' });
  return filters;
}

// Payments are another feature's table, to the right of this one; its rows are read by SQL alone. A quote
// that was never executed has a transaction too, whose money is NONE and which holds nobody up.
const UNDER_WAY = `select 1 from transactions
  where customer_id = $1 and funds in ('AWAITED', 'FUNDED', 'HELD', 'HANDED', 'PARKED') limit 1`;

/**
 * Throws CONFLICT while the customer's accounts hold or owe anything or a payment of theirs is under way.
 * Then it shuts the accounts: what comes in at this very moment is refused, or the deletion is.
 */
export async function shutAccounts(ctx: Ctx, row: CustomerRow): Promise<void> {
  const [accounts, payments] = await Promise.all([
    findInternalAccounts(ctx.db, { customer_id: row.id }),
    ctx.db.query(UNDER_WAY, [row.id]),
  ]);
  const ids = accounts.map((account) => account.id);
  const held = await Promise.all(ids.map((id) => readLedgerAccount(ctx, id)));
  const full = ids.filter((_, at) => held[at]?.balance || held[at]?.held);
  const owing = accounts.filter((each) => each.owed > 0n).map((each) => each.id);
  if (full.length) {
    const reason = 'The customer still has money: its accounts must be empty first.';
    throw new Fault('CONFLICT', reason, { accountIds: full });
  }
  if (payments.length) {
    const reason = 'A payment of this customer is still under way.';
    throw new Fault('CONFLICT', reason, undefined, { isRetryable: true });
  }
  if (owing.length) {
    const reason = 'The customer still owes money that came back.';
    throw new Fault('CONFLICT', reason, { accountIds: owing });
  }
  for (const id of ids) ctx.freeze(id, { empty: true });
}
