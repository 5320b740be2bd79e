// Finding owners: one by id, those of one business, and those of many.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { CustomerRow } from '../records/index.ts';
import { beneficialOwners, type OwnerRow } from './owners.ts';

/** One owner by id, of any platform. */
export const readOwner = (reader: Reader, id: string): Promise<OwnerRow | undefined> =>
  reader.read(beneficialOwners, id);

/** The commit fails if the owner changed since it was read. */
export const requireOwner = (ctx: Ctx, row: OwnerRow): void => ctx.require(beneficialOwners, row);

/** An owner of a business of the calling platform; NOT_FOUND for every other id. */
export async function ownerOf(ctx: Ctx, id: string): Promise<OwnerRow> {
  const row = isId(id, 'BeneficialOwner') ? await ctx.read(beneficialOwners, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) throw new Fault('NOT_FOUND', 'No such owner.');
  return row;
}

const byAge = (a: OwnerRow, b: OwnerRow): number =>
  a.created_at - b.created_at || (a.id < b.id ? -1 : 1);

/** Those who own or control a business, the first one first; none of a person. */
export async function ownersOf(
  { db }: Pick<Ctx, 'db'>,
  row: Pick<CustomerRow, 'id' | 'type'>,
): Promise<OwnerRow[]> {
  if (row.type === 'INDIVIDUAL') return [];
  const rows = await db.find(beneficialOwners, { customer_id: row.id });
  return rows.sort(byAge);
}

const OWNERS = 'select id from beneficial_owners where customer_id = any($1::text[])';

/** Owners by the id of their business. However many businesses there are, it takes two reads. */
export async function ownersOfAll(
  ctx: Ctx,
  rows: readonly CustomerRow[],
): Promise<Map<string, OwnerRow[]>> {
  const firms = rows.filter((row) => row.type === 'BUSINESS').map((row) => row.id);
  const ids = firms.length ? await ctx.db.query<{ id: string }>(OWNERS, [firms]) : [];
  const found = await Promise.all(ids.map(({ id }) => ctx.read(beneficialOwners, id)));
  const owners = new Map<string, OwnerRow[]>(rows.map((row) => [row.id, []]));
  for (const owner of found) if (owner) owners.get(owner.customer_id)?.push(owner);
  for (const each of owners.values()) each.sort(byAge);
  return owners;
}
