// Determines which events concern a customer: their subject is the customer or a row that belongs
// to it.
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';
import type { CustomerRow } from '../records/index.ts';

/** Personal data descriptions of all features, in export order. */
export type AllPersonalData = readonly PersonalData<CustomerRow>[];

const subjectsOf = (personalData: AllPersonalData) =>
  personalData.flatMap(({ subjects = {} }) => Object.entries(subjects));

/** Subject IDs of events about the customer `$1`. */
export const subjectIdsSql = (personalData: AllPersonalData): string =>
  [
    'select $1::text as id',
    ...subjectsOf(personalData).map(
      ([table, condition]) => `select id from ${table} where ${condition}`,
    ),
  ].join('\n  union all ');

/**
 * SQL condition: the ID is the customer `$1` or a row that belongs to it. One read per table.
 * Scalar subqueries prevent a plan that reads all rows of the customer.
 */
export const isOwned = (personalData: AllPersonalData, id: string): string =>
  [
    `${id} = $1`,
    ...subjectsOf(personalData).map(
      ([table, condition]) => `(select ${condition} from ${table} where id = ${id})`,
    ),
  ].join('\n      or ');
