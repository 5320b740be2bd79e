// Which events are about a customer: those that go by its id, or by the id of a row that is the customer's.
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';
import type { CustomerRow } from '../records/index.ts';

/** The descriptions of all features, in the order of an export. */
export type AllPersonalData = readonly PersonalData<CustomerRow>[];

const subjectsOf = (all: AllPersonalData) =>
  all.flatMap(({ subjects = {} }) => Object.entries(subjects));

/** Ids that events about the customer `$1` go by. */
export const ownedIds = (all: AllPersonalData): string =>
  [
    'select $1::text as id',
    ...subjectsOf(all).map(([table, theirs]) => `select id from ${table} where ${theirs}`),
  ].join('\n  union all ');

/**
 * Whether one id is among them, by one read of each table. The reads stand where one value is wanted, so
 * that no plan reads everything that a customer has instead.
 */
export const isOwned = (all: AllPersonalData, id: string): string =>
  [
    `${id} = $1`,
    ...subjectsOf(all).map(
      ([table, theirs]) => `(select ${theirs} from ${table} where id = ${id})`,
    ),
  ].join('\n      or ');
