// The recorded requests of platforms, and their masked bodies in a table of their own, which lists do
// not read. Rows are written by the recorder and never change.
import type { Time } from '../../../kernel/effects.ts';
import { fnv1a } from '../../../kernel/fnv.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import type { CallerType } from '../../../runtime/observability/request-record.ts';

export const apiRequests = table('api_requests', {
  /** As `X-Request-Id`, with the time of `created_at`. */
  id: col.text,
  platform_id: col.text,
  created_at: col.time,
  operation_id: col.text,
  method: col.text,
  path: col.text,
  status: col.int4,
  /** The status if it is an error. */
  failed_status: col.int4.null,
  error_code: col.text.null,
  /** JSON of `ErrorRecord`. */
  error: col.text.null,
  duration_us: col.int4,
  caller_type: col.enum<CallerType>(),
  token_id: col.text.null,
  token_name: col.text.null,
  agent_id: col.text.null,
  address: col.text.null,
  idempotency_key_hash: col.text.null,
  /** True or null. */
  replayed: col.bool.null,
  resource_id: col.text.null,
  /** `hashOf` of operation and token, by which the index of lists skips rows. */
  operation_hash: col.int4,
  token_hash: col.int4.null,
});

/** A hash of a short text, as a signed integer of 32 bits. */
export const hashOf = (text: string): number => fnv1a(text) | 0;

export type RequestRow = RowOf<typeof apiRequests>;

export const apiRequestBodies = table('api_request_bodies', {
  id: col.text,
  platform_id: col.text,
  created_at: col.time,
  /** Masked JSON. */
  request_body: col.text.null,
  request_truncated: col.bool,
  response_body: col.text.null,
  response_truncated: col.bool,
});

export type RequestBodyRow = RowOf<typeof apiRequestBodies>;

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isRequestId = (text: string): boolean => UUID7.test(text);

const KEEP_MS = 30 * 24 * 3_600_000;
const BATCH_SIZE = 5_000;
const EVERY_MS = 10 * 60_000;

/** Rows never change, so they are deleted by physical position; an index by time finds the oldest. */
const OLD_REQUESTS = `delete from api_requests where ctid = any(array(
  select ctid from api_requests where created_at < $1
  order by created_at limit ${BATCH_SIZE})) returning 1`;
const OLD_READS = `delete from api_request_reads where ctid = any(array(
  select ctid from api_request_reads where last_at < $1
  order by last_at limit ${BATCH_SIZE})) returning 1`;
/** Bodies have the order of each platform only. */
const OLD_BODIES = `delete from api_request_bodies where ctid = any(array(
  select old.ctid from platforms p cross join lateral (
    select ctid from api_request_bodies where platform_id = p.id and created_at < $1
    order by created_at, id limit ${BATCH_SIZE}) old
  limit ${BATCH_SIZE})) returning 1`;

/** Deletes requests and their bodies after 30 days. */
export function requestRetention(): Sweep {
  let next: Time = 0;
  return {
    name: 'requests.purge',
    async run({ effects, db }) {
      const now = effects.now();
      if (now < next) return 0;
      const values = [new Date(now - KEEP_MS)];
      const deleted = await Promise.all(
        [OLD_REQUESTS, OLD_BODIES, OLD_READS].map((each) => db.query(each, values)),
      );
      const counts = deleted.map(({ length }) => length);
      if (counts.every((count) => count < BATCH_SIZE)) next = now + EVERY_MS;
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
