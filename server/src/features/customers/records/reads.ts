// Reads customers: a customer by identifier, and lists by filter.
import { regionsOf } from '../../../catalog/currencies/offers.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { timeFilters } from '../../../runtime/db/paging.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { type CustomerRow, customers } from './store.ts';

/**
 * Customer of the calling platform. Throws CUSTOMER_NOT_FOUND for any other identifier. Throws
 * CUSTOMER_DELETED for a deleted customer if `rejectDeleted` is set.
 */
export async function customerOf(
  ctx: Ctx,
  id: string,
  { rejectDeleted = false }: { rejectDeleted?: boolean } = {},
): Promise<CustomerRow> {
  const row = isId(id, 'Customer') ? await ctx.read(customers, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('CUSTOMER_NOT_FOUND', 'Customer not found.');
  }
  if (rejectDeleted && row.deleted_at !== null) {
    throw new Fault('CUSTOMER_DELETED', 'The customer was deleted.');
  }
  return row;
}

/**
 * Customer of any platform, for operators. Throws CUSTOMER_NOT_FOUND and, with `rejectDeleted`,
 * CUSTOMER_DELETED.
 */
export async function customerById(
  reader: Reader,
  id: string,
  { rejectDeleted = false }: { rejectDeleted?: boolean } = {},
): Promise<CustomerRow> {
  const row = isId(id, 'Customer') ? await reader.read(customers, id) : undefined;
  if (!row) throw new Fault('CUSTOMER_NOT_FOUND', 'Customer not found.');
  if (rejectDeleted && row.deleted_at !== null) {
    throw new Fault('CUSTOMER_DELETED', 'The customer was deleted.');
  }
  return row;
}

const CUSTOMERS_AFTER_SQL = `select id, currencies, region, created_at from customers
  where platform_id = $1 and deleted_at is null
    and (created_at, id) > ($2::timestamptz, $3)
    and (terms_consent is not null or not $4::boolean)
  order by created_at, id limit $5::int`;

/**
 * Up to `limit` customers of the platform after `position`, in order of creation. Excludes deleted
 * customers and customers that have not accepted mandatory terms.
 */
export function customersAfter(
  ctx: Ctx,
  platform: PlatformRow,
  position: { createdAt: Time; id: string },
  limit: number,
): Promise<Pick<CustomerRow, 'id' | 'currencies' | 'region' | 'created_at'>[]> {
  const needsTerms = platform.terms_required && !platform.regulated;
  const values = [platform.id, new Date(position.createdAt), position.id, needsTerms, limit];
  return ctx.db.query(CUSTOMERS_AFTER_SQL, values);
}

/** Filters of a customer list. A repeated filter matches any of its values. */
type CustomerQuery = Parameters<typeof timeFilters>[0] & {
  platformCustomerId?: string | string[] | undefined;
  customerType?: string | string[] | undefined;
  region?: string | string[] | undefined;
  umaAddress?: string | string[] | undefined;
  currency?: string | string[] | undefined;
  isIncludingDeleted?: boolean | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
};

type CustomerFilter = Filter<typeof customers>;

/**
 * Customers that selected a currency, and customers without a selection if their platform and
 * region offer this currency.
 */
function currencyFilters(platform: PlatformRow, codes: readonly string[]): CustomerFilter[] {
  const selectionFilters = codes.map(
    (value): CustomerFilter => ({ column: 'currencies', op: 'has', value }),
  );
  const offeredCodes = new Set(platform.currencies.map((each) => each.currencyCode));
  const platformCodes = codes.filter((code) => offeredCodes.has(code));
  if (!platformCodes.length) return [{ or: selectionFilters }];
  const noSelectionFilter: CustomerFilter = { column: 'currencies', op: 'isNull' };
  const regionFilters: CustomerFilter[] = [
    { column: 'region', op: 'isNull' },
    { column: 'region', op: 'in', value: [...new Set(platformCodes.flatMap(regionsOf))] },
  ];
  return [
    { or: [...selectionFilters, noSelectionFilter] },
    { or: [...selectionFilters, ...regionFilters] },
  ];
}

const filterByValues = (
  column: keyof CustomerRow & string,
  values: string | string[] | undefined,
): CustomerFilter[] => (values === undefined ? [] : [{ column, op: 'in', value: [values].flat() }]);

function filtersOf(query: CustomerQuery, platform: PlatformRow): CustomerFilter[] {
  const { createdAfter, createdBefore } = query;
  const addresses = query.umaAddress === undefined ? undefined : [query.umaAddress].flat();
  return [
    { column: 'platform_id', op: '=', value: platform.id },
    ...filterByValues('platform_customer_id', query.platformCustomerId),
    ...filterByValues(
      'uma_address',
      addresses?.map((each) => each.toLowerCase()),
    ),
    ...timeFilters({ createdAfter, createdBefore }),
    ...(query.isIncludingDeleted ? [] : [{ column: 'deleted_at', op: 'isNull' } as const]),
  ];
}

function unindexedFiltersOf(query: CustomerQuery, platform: PlatformRow): CustomerFilter[] {
  const { updatedAfter, updatedBefore, currency } = query;
  return [
    ...filterByValues('type', query.customerType),
    ...filterByValues('region', query.region),
    ...timeFilters({ updatedAfter, updatedBefore }),
    ...(currency === undefined ? [] : currencyFilters(platform, [currency].flat())),
  ];
}

/** Page of customers of the platform, newest first. */
export const pageOfCustomers = (ctx: Ctx, query: CustomerQuery, platform: PlatformRow) =>
  ctx.db.page(customers, {
    filters: filtersOf(query, platform),
    unindexed: unindexedFiltersOf(query, platform),
    sort: 'desc',
    limit: query.limit ?? 20,
    cursor: query.cursor,
  });
