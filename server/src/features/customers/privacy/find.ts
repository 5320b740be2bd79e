// Finds customers and beneficial owners by a known value, such as their e-mail address. Returns
// identifiers, types and statuses without personal data.

import { type PageInput, pageOfRows, startOf } from '../../../runtime/db/paging.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type SearchDigest, type SearchField, searchDigestOf } from '../digests/index.ts';
import type { CustomerRow } from '../records/index.ts';

/** Restricts a search to rows with this digest, or with all digests of an array. */
const matchesSql = (alias: string, { column }: SearchDigest) =>
  column === 'name_digests' ? `${alias}.${column} @> $1::text[]` : `${alias}.${column} = $1::text`;

const findSql = (searchDigest: SearchDigest) => `select * from (
    select c.id as "customerId", c.platform_id as "platformId", c.type, c.status,
      c.deleted_at is not null as "isDeleted", null as "ownerId",
      coalesce($6 = any(c.name_digests), false) as "isWholeName"
    from customers c where ${matchesSql('c', searchDigest)}
    union all
    select c.id, c.platform_id, c.type, c.status, c.deleted_at is not null, o.id,
      coalesce($6 = any(o.name_digests), false)
    from beneficial_owners o join customers c on c.id = o.customer_id
    where ${matchesSql('o', searchDigest)}
  ) found
  where ($2::text is null or "platformId" = $2)
    and ("customerId", coalesce("ownerId", '')) > ($4, $5)
  order by "customerId", coalesce("ownerId", '') limit $3`;

interface FoundCustomer {
  customerId: string;
  platformId: string;
  type: 'INDIVIDUAL' | 'BUSINESS';
  status: CustomerRow['status'];
  isDeleted: boolean;
  /** Owner with the value, or null if the value belongs to the customer. */
  ownerId: string | null;
  /**
   * Whether the full name equals the searched name. False if only the words of the searched name
   * match. Absent in a search by another field.
   */
  isWholeName?: boolean;
}

interface FindInput extends PageInput {
  by: SearchField;
  value: string;
  /** Restricts the search to one platform. */
  platformId?: string | undefined;
}

const positionOf = ({ customerId, ownerId }: FoundCustomer) => ({
  created_at: 0,
  id: `${customerId} ${ownerId ?? ''}`,
});

/** A page of the customers with this value, and of businesses with such an owner. */
export async function findCustomers(
  runtime: Runtime,
  { by, value, platformId, cursor, limit }: FindInput,
) {
  const searchDigest = searchDigestOf(runtime.vault, by, value);
  const [customerId = '', ownerId = ''] = startOf(cursor).id.split(' ');
  const values = [
    searchDigest.digest,
    platformId ?? null,
    limit + 1,
    customerId,
    ownerId,
    searchDigest.fullNameDigest,
  ];
  const rows = await runtime.db.query<FoundCustomer & object>(findSql(searchDigest), values);
  if (by !== 'name') for (const each of rows) delete each.isWholeName;
  return pageOfRows(rows, limit, positionOf);
}
