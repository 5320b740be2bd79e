// Finding customers, and beneficial owners of businesses, by a value that they know about themselves. The
// result is ids alone; an export shows more.

import type { Runtime } from '../../../runtime/operation/operate.ts';
import { digestOf, type Sought } from '../digests/index.ts';

const findSql = (what: Sought) => `select * from (
    select c.id as "customerId", c.platform_id as "platformId", c.type, c.status,
      c.deleted_at is not null as "isDeleted", null as "ownerId"
    from customers c where c.${what}_digest = $1
    union all
    select c.id, c.platform_id, c.type, c.status, c.deleted_at is not null, o.id
    from beneficial_owners o join customers c on c.id = o.customer_id where o.${what}_digest = $1
  ) found
  where $2::text is null or "platformId" = $2
  order by "customerId", "ownerId" nulls first limit $3`;

interface Found {
  customerId: string;
  platformId: string;
  type: string;
  status: string;
  isDeleted: boolean;
  /** The owner of the business that has the value, where it is not the customer itself. */
  ownerId: string | null;
}

interface FindInput {
  by: Sought;
  value: string;
  /** Of one platform; of all where absent. */
  platformId?: string | undefined;
  limit: number;
}

/** Customers with this value, and owners of businesses. */
export async function findCustomers(
  runtime: Runtime,
  { by, value, platformId, limit }: FindInput,
): Promise<Found[]> {
  const digest = digestOf(runtime.vault, by, value);
  if (digest === null) return [];
  return runtime.db.query<Found & object>(findSql(by), [digest, platformId ?? null, limit]);
}
