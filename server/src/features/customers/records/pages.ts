// Lists of customers: of a platform, and of all platforms for the operator. The list for the
// operator omits personal data.
import { iso } from '../../../kernel/effects.ts';
import { equals, type Filter } from '../../../runtime/db/database.ts';
import { pageInSteps } from '../../../runtime/db/steps.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { listSteps, type OperatorListQuery } from '../../tenancy/operator-lists/index.ts';
import { pageOfCustomers } from './reads.ts';
import { type CustomerRow, customers } from './store.ts';

/** Filters of a list of customers. An absent filter has no effect. */
interface OperatorCustomerQuery extends OperatorListQuery {
  type?: CustomerRow['type'] | undefined;
  status?: string | undefined;
  region?: string | undefined;
  isDeleted?: boolean | undefined;
}

const timeOrNull = (time: number | null) => (time === null ? null : iso(time));

const presentForOperator = (row: CustomerRow) => ({
  id: row.id,
  platformId: row.platform_id,
  type: row.type,
  status: row.status,
  region: row.region,
  isErased: row.data_key === null,
  deletedAt: timeOrNull(row.deleted_at),
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** A page of the customers of all platforms, newest first. */
async function pageByOperator({ db }: Runtime, query: OperatorCustomerQuery) {
  const { type, status, region, isDeleted } = query;
  const filters: Filter[] = equals({ type, status, region });
  if (isDeleted === true) filters.push({ column: 'deleted_at', op: '>=', value: 0 });
  if (isDeleted === false) filters.push({ column: 'deleted_at', op: 'isNull' });
  const steps = { ...(await listSteps(db, query, filters)), resources: ['Customer'] };
  const { rows, ...page } = await pageInSteps(db, customers, steps);
  return { data: rows.map(presentForOperator), ...page };
}

/** A customer without personal data, for operators. */
const customerForOperator = (row: CustomerRow) => ({
  ...presentForOperator(row),
  currencies: row.currencies,
  contactVerification: row.contact_verification,
  hasAcceptedTerms: row.terms_consent !== null,
});

/** Pages of customers. Throws INVALID_INPUT for an invalid cursor. */
export const customerPages = {
  ofPlatform: pageOfCustomers,
  byOperator: pageByOperator,
  presentOne: customerForOperator,
};
