// Finds a recorded request by its ID. The request has its own row or is one of several reads in a
// row.
import { timeOfUuid7 } from '../../../kernel/id.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { bytesOfIds, MAX_SPAN_MS, type ReadsRow, requestsOf } from './reads.ts';
import {
  apiRequestBodies,
  apiRequests,
  isRequestId,
  type RequestBodyRow,
  type RequestRow,
} from './store.ts';

export interface RecordedRequest {
  row: RequestRow;
  bodies: RequestBodyRow | undefined;
}

type Reader = Pick<Database, 'query'>;

/** Rows of reads that contain the ID. The last times of these rows are near the time in the ID. */
const WITH_ID_CONDITION = `last_at >= $1 and last_at <= $2 and first_at <= $1
    and position($3 in entries) > 0`;

const valuesOf = (id: string) => {
  const time = timeOfUuid7(id);
  return [new Date(time), new Date(time + MAX_SPAN_MS), bytesOfIds(id)];
};

const READ_SQL = `select platform_id, shapes, entries from api_request_reads
  where platform_id = $4 and ${WITH_ID_CONDITION}`;

async function findRead(db: Reader, platformId: string, id: string) {
  const [readsRow] = await db.query<ReadsRow>(READ_SQL, [...valuesOf(id), platformId]);
  return readsRow && requestsOf(readsRow, (row) => row.id === id)[0];
}

/** A request of a platform by its ID, or undefined if it is unknown. */
export async function readRequest(
  db: Pick<Database, 'find' | 'query'>,
  platformId: string,
  id: string,
): Promise<RecordedRequest | undefined> {
  if (!isRequestId(id)) return undefined;
  const key = { platform_id: platformId, created_at: timeOfUuid7(id), id };
  const [[ownRow], [bodies], read] = await Promise.all([
    db.find(apiRequests, key),
    db.find(apiRequestBodies, key),
    findRead(db, platformId, id),
  ]);
  const row = ownRow ?? read;
  return row && { row, bodies };
}

/** Exported to test its plan. */
export const OWNER = `select platform_id as platform from api_requests
  where created_at = $1 and id = $2`;
const OWNER_OF_READ_SQL = `select platform_id as platform from api_request_reads
  where ${WITH_ID_CONDITION}`;

/** The platform that sent a request, or undefined if the ID is unknown. */
export async function platformOfRequest(db: Reader, id: string): Promise<string | undefined> {
  if (!isRequestId(id)) return undefined;
  const [[ownRow], [read]] = await Promise.all([
    db.query<{ platform: string }>(OWNER, [new Date(timeOfUuid7(id)), id]),
    db.query<{ platform: string }>(OWNER_OF_READ_SQL, valuesOf(id)),
  ]);
  return (ownRow ?? read)?.platform;
}
