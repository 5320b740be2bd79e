// Finding customers: one by id, and those that match a list's filters.
import { regionsOffering } from '../../../catalog/currencies/offers.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Time } from '../../../kernel/world.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { timeFilters } from '../../../runtime/db/paging.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
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

/** A customer of any platform, for an operator; CUSTOMER_NOT_FOUND, and with `alive` CUSTOMER_DELETED. */
export async function customerById(
  reader: Reader,
  id: string,
  { alive = false }: { alive?: boolean } = {},
): Promise<CustomerRow> {
  const row = isId(id, 'Customer') ? await reader.read(customers, id) : undefined;
  if (!row) throw new Fault('CUSTOMER_NOT_FOUND', 'No such customer.');
  if (alive && row.deleted_at !== null) {
    throw new Fault('CUSTOMER_DELETED', 'The customer was deleted.');
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

/** What a list of customers is filtered by; a filter that came several times is met by any of its values. */
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

function filtersOf(query: CustomerQuery, platform: PlatformRow): CustomerFilter[] {
  const filters: CustomerFilter[] = [{ column: 'platform_id', op: '=', value: platform.id }];
  const any = (column: keyof CustomerRow & string, given: string | string[] | undefined) => {
    if (given !== undefined) filters.push({ column, op: 'in', value: [given].flat() });
  };
  any('platform_customer_id', query.platformCustomerId);
  any('type', query.customerType);
  any('region', query.region);
  if (query.umaAddress !== undefined) {
    any(
      'uma_address',
      [query.umaAddress].flat().map((each) => each.toLowerCase()),
    );
  }
  filters.push(...timeFilters(query));
  if (query.currency !== undefined) {
    filters.push(...currencyFilters(platform, [query.currency].flat()));
  }
  if (!query.isIncludingDeleted) filters.push({ column: 'deleted_at', op: 'isNull' });
  return filters;
}

/** One page of the platform's customers, newest first. */
export const pageOfCustomers = (ctx: Ctx, query: CustomerQuery, platform: PlatformRow) =>
  ctx.db.page(customers, {
    filters: filtersOf(query, platform),
    sort: 'desc',
    limit: query.limit ?? 20,
    cursor: query.cursor,
  });
