// Finds customers and beneficial owners by a known value, such as their e-mail address. Returns
// identifiers only; an export contains the data.

import { type PageInput, pageOfRows, startOf } from '../../../runtime/db/paging.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { digestOf, type SearchField } from '../digests/index.ts';
import type { CustomerRow } from '../records/index.ts';

const findSql = (field: SearchField) => `select * from (
    select c.id as "customerId", c.platform_id as "platformId", c.type, c.status,
      c.deleted_at is not null as "isDeleted", null as "ownerId"
    from customers c where c.${field}_digest = $1
    union all
    select c.id, c.platform_id, c.type, c.status, c.deleted_at is not null, o.id
    from beneficial_owners o join customers c on c.id = o.customer_id where o.${field}_digest = $1
  ) found
  where ($2::text is null or "platformId" = $2)
    and ("customerId", coalesce("ownerId", '')) > ($4, $5)
  order by "customerId", coalesce("ownerId", '') limit $3`;

interface Found {
  customerId: string;
  platformId: string;
  type: 'INDIVIDUAL' | 'BUSINESS';
  status: CustomerRow['status'];
  isDeleted: boolean;
  /** Owner with the value, or null if the customer itself has it. */
  ownerId: string | null;
}

interface FindInput extends PageInput {
  by: SearchField;
  value: string;
  /** Restricts the search to one platform. */
  platformId?: string | undefined;
}

const positionOf = ({ customerId, ownerId }: Found) => ({
  created_at: 0,
  id: `${customerId} ${ownerId ?? ''}`,
});

/** A page of the customers with this value, and of businesses with such an owner. */
export async function findCustomers(
  runtime: Runtime,
  { by, value, platformId, cursor, limit }: FindInput,
) {
  const digest = digestOf(runtime.vault, by, value);
  const [customerId = '', ownerId = ''] = startOf(cursor).id.split(' ');
  const values = [digest, platformId ?? null, limit + 1, customerId, ownerId];
  const found = await runtime.db.query<Found & object>(findSql(by), values);
  return pageOfRows(found, limit, positionOf);
}
