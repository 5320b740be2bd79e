// Reads beneficial owners: by identifier, of one business, and of several businesses.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { CustomerRow } from '../records/index.ts';
import { beneficialOwners, type OwnerRow } from './owners.ts';

/** Owner by identifier, of any platform. */
export const readOwner = (reader: Reader, id: string): Promise<OwnerRow | undefined> =>
  reader.read(beneficialOwners, id);

/** The commit fails if the owner has changed since it was read. */
export const requireOwner = (ctx: Ctx, row: OwnerRow): void => ctx.require(beneficialOwners, row);

/** Owner of a business of the calling platform. Throws NOT_FOUND for any other identifier. */
export async function ownerOf(ctx: Ctx, id: string): Promise<OwnerRow> {
  const row = isId(id, 'BeneficialOwner') ? await ctx.read(beneficialOwners, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId)
    throw new Fault('NOT_FOUND', 'Beneficial owner not found.');
  return row;
}

const compareByAge = (a: OwnerRow, b: OwnerRow): number =>
  a.created_at - b.created_at || (a.id < b.id ? -1 : 1);

/** Owners of a business, oldest first. None for an individual. */
export async function ownersOf(
  { db }: Pick<Ctx, 'db'>,
  row: Pick<CustomerRow, 'id' | 'type'>,
): Promise<OwnerRow[]> {
  if (row.type === 'INDIVIDUAL') return [];
  const rows = await db.find(beneficialOwners, { customer_id: row.id });
  return rows.sort(compareByAge);
}

const OWNER_IDS_SQL = 'select id from beneficial_owners where customer_id = any($1::text[])';

/** Owners by the ID of their business. Uses two reads for any number of businesses. */
export async function ownersByBusiness(
  ctx: Ctx,
  rows: readonly CustomerRow[],
): Promise<Map<string, OwnerRow[]>> {
  const businessIds = rows.filter((row) => row.type === 'BUSINESS').map((row) => row.id);
  const ids = businessIds.length
    ? await ctx.db.query<{ id: string }>(OWNER_IDS_SQL, [businessIds])
    : [];
  const ownerRows = await Promise.all(ids.map(({ id }) => ctx.read(beneficialOwners, id)));
  const owners = new Map<string, OwnerRow[]>(rows.map((row) => [row.id, []]));
  for (const owner of ownerRows) if (owner) owners.get(owner.customer_id)?.push(owner);
  for (const each of owners.values()) each.sort(compareByAge);
  return owners;
}
