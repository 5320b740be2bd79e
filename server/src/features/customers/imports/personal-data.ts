// Errors of import rows refer to a customer by its `platformCustomerId`. An erasure removes that
// identifier from errors and events, before it is erased from the customer.
import type { Time } from '../../../kernel/effects.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import {
  DAY_MS,
  ERASED,
  eventsFrom,
  type PersonalData,
} from '../../../runtime/operation/personal-data.ts';
import type { CustomerRow } from '../records/index.ts';

const IMPORT_ERRORS_SQL = `select e.id, i.id as import, i.completed_at as at
  from import_errors e join imports i on i.id = e.import_id
  where i.platform_id = $1 and e.correlation_id = $2`;
const ERASE_IN_EVENT_SQL = `update events set data = replace(data, $5, $6)
  where platform_id = $1 and subject = $2 and id > $3 and id < $4`;
const ERASE_CORRELATION_IDS_SQL = `update import_errors set correlation_id = 'row_' || row
  where id = any($1::text[])`;

const correlationIdJson = (id: string) => `"correlationId":${JSON.stringify(id)}`;

async function emptyErrors({ db }: Runtime, row: CustomerRow) {
  const { platform_id: platform, platform_customer_id: id } = row;
  const errors = await db.query<{ id: string; import: string; at: Time | null }>(
    IMPORT_ERRORS_SQL,
    [...[platform, id]],
  );
  const endTimes = new Map(errors.map((each) => [each.import, each.at]));
  for (const [subject, endedAt] of endTimes) {
    if (endedAt === null) continue;
    const span = [eventsFrom(endedAt), eventsFrom(endedAt + 2 * DAY_MS)];
    const texts = [correlationIdJson(id), correlationIdJson(ERASED)];
    await db.query(ERASE_IN_EVENT_SQL, [platform, subject, ...span, ...texts]);
  }
  await db.query(ERASE_CORRELATION_IDS_SQL, [errors.map((each) => each.id)]);
  return { import_errors: errors.length };
}

export const importPersonalData: PersonalData<CustomerRow> = { tables: {}, before: emptyErrors };
