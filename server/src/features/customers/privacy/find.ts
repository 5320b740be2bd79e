// Finds customers and beneficial owners by a known value, such as their e-mail address. Returns
// identifiers only; an export contains the data.

import type { Runtime } from '../../../runtime/operation/operate.ts';
import { digestOf, type SearchField } from '../digests/index.ts';

const findSql = (field: SearchField) => `select * from (
    select c.id as "customerId", c.platform_id as "platformId", c.type, c.status,
      c.deleted_at is not null as "isDeleted", null as "ownerId"
    from customers c where c.${field}_digest = $1
    union all
    select c.id, c.platform_id, c.type, c.status, c.deleted_at is not null, o.id
    from beneficial_owners o join customers c on c.id = o.customer_id where o.${field}_digest = $1
  ) found
  where $2::text is null or "platformId" = $2
  order by "customerId", "ownerId" nulls first limit $3`;

interface Found {
  customerId: string;
  platformId: string;
  type: string;
  status: string;
  isDeleted: boolean;
  /** Owner with the value, or null if the customer itself has it. */
  ownerId: string | null;
}

interface FindInput {
  by: SearchField;
  value: string;
  /** Restricts the search to one platform. */
  platformId?: string | undefined;
  limit: number;
}

/** Customers with this value, and businesses with such an owner. */
export async function findCustomers(
  runtime: Runtime,
  { by, value, platformId, limit }: FindInput,
): Promise<Found[]> {
  const digest = digestOf(runtime.vault, by, value);
  if (digest === null) return [];
  return runtime.db.query<Found & object>(findSql(by), [digest, platformId ?? null, limit]);
}
