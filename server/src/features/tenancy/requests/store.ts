// The recorded requests of platforms, and their masked bodies in a separate table, which lists do
// not read. Rows are written by the recorder and never change.
import { fnv1a } from '../../../kernel/fnv.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
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
