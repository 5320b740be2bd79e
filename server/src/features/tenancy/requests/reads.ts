// Successful reads are most of the requests, so the reads of a platform in a batch share rows.
// Requests that differ only in ID and duration share a shape. The time of a request is encoded in
// its ID.
import type { Time } from '../../../kernel/effects.ts';
import { timeOfUuid7 } from '../../../kernel/id.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type {
  CompletedRequest,
  RequestRecord,
} from '../../../runtime/observability/request-record.ts';
import { hashOf, type RequestRow } from './store.ts';

export const apiRequestReads = table('api_request_reads', {
  platform_id: col.text,
  /** Times of the first and the last request, at most `MAX_SPAN_MS` apart. */
  first_at: col.time,
  last_at: col.time,
  last_id: col.text,
  /** JSON of `Shape[]`. */
  shapes: col.text,
  /** Binary, as `packEntries` writes them. */
  entries: col.bytes,
  /** `hashOf` of the operations and tokens, by which lists skip rows. */
  operation_hashes: col.int8s,
  token_hashes: col.int8s,
});

export type ReadsRow = RowOf<typeof apiRequestReads>;

/** Common properties of several reads. */
type Shape = Pick<
  RequestRecord,
  | 'operationId'
  | 'method'
  | 'path'
  | 'status'
  | 'callerType'
  | 'tokenId'
  | 'tokenName'
  | 'agentId'
  | 'address'
>;

/** Maximum time between the first and the last request of a row. */
export const MAX_SPAN_MS = 10_000;
/** A longer read has its own row, so that it does not extend the time span of a shared row. */
const MAX_DURATION_MS = 5_000;

/** Whether the request can share a row: a short, successful read without further details. */
export const isPlainRead = ({ record, contract }: CompletedRequest): boolean =>
  contract.method === 'GET' &&
  record.status < 400 &&
  record.ms <= MAX_DURATION_MS &&
  !record.isReplayed &&
  record.idempotencyKeyHash === undefined &&
  record.resourceId === undefined;

/** Reads of a platform that are not written yet. */
export interface Reads {
  readonly platformId: string;
  firstAt: Time;
  lastAt: Time;
  lastId: string;
  /** All IDs, one after the other. */
  ids: string;
  /** Durations in microseconds. */
  readonly durations: number[];
  /** The position in `shapeValues` of the shape of each read. */
  readonly shapes: number[];
  readonly shapeValues: Shape[];
}

export const newReads = ({ platformId, createdAt, requestId }: RequestRecord): Reads => ({
  platformId,
  firstAt: createdAt,
  lastAt: createdAt,
  lastId: requestId,
  ids: '',
  durations: [],
  shapes: [],
  shapeValues: [],
});

/** Maximum requests of a row, because a page reads whole rows. */
const MAX_ENTRIES = 500;

/** Whether the row, with this request, does not exceed `MAX_ENTRIES` and `MAX_SPAN_MS`. */
export const canAddRead = (
  { firstAt, lastAt, durations }: Reads,
  { createdAt }: RequestRecord,
): boolean =>
  durations.length < MAX_ENTRIES &&
  Math.max(lastAt, createdAt) - Math.min(firstAt, createdAt) <= MAX_SPAN_MS;

function shapeIn(values: Shape[], record: RequestRecord): number {
  for (let index = values.length - 1; index >= 0; index--) {
    const each = values[index] as Shape;
    if (
      each.operationId === record.operationId &&
      each.tokenId === record.tokenId &&
      each.address === record.address &&
      each.status === record.status &&
      each.agentId === record.agentId &&
      each.tokenName === record.tokenName &&
      each.callerType === record.callerType &&
      each.path === record.path
    ) {
      return index;
    }
  }
  const { operationId, method, path, status, callerType } = record;
  const { tokenId, tokenName, agentId, address } = record;
  const caller = { callerType, tokenId, tokenName, agentId, address };
  return values.push({ operationId, method, path, status, ...caller }) - 1;
}

const MAX_INT4 = 2_147_483_647;

export function addRead(reads: Reads, record: RequestRecord): void {
  const { createdAt, requestId } = record;
  if (createdAt < reads.firstAt) reads.firstAt = createdAt;
  if (createdAt > reads.lastAt) {
    reads.lastAt = createdAt;
    reads.lastId = requestId;
  }
  reads.ids += requestId;
  reads.durations.push(Math.min(Math.round(record.ms * 1000), MAX_INT4));
  reads.shapes.push(shapeIn(reads.shapeValues, record));
}

const ID_BYTES = 16;
/** An ID, a duration in microseconds and the position of a shape. */
const ENTRY_BYTES = ID_BYTES + 4 + 2;

/** The bytes of one ID or of several. */
export const bytesOfIds = (ids: string): Buffer => Buffer.from(ids.replaceAll('-', ''), 'hex');

function packEntries({ ids, durations, shapes }: Reads): Buffer {
  const idBytes = bytesOfIds(ids);
  const buffer = Buffer.allocUnsafe(durations.length * ENTRY_BYTES);
  for (let index = 0, offset = 0; index < durations.length; index++, offset += ENTRY_BYTES) {
    // A loop is faster than a call of `copy` for so few bytes.
    const from = index * ID_BYTES;
    for (let byte = 0; byte < ID_BYTES; byte++)
      buffer[offset + byte] = idBytes[from + byte] as number;
    buffer.writeUInt32LE(durations[index] as number, offset + ID_BYTES);
    buffer.writeUInt16LE(shapes[index] as number, offset + ID_BYTES + 4);
  }
  return buffer;
}

const hashesOf = (texts: readonly (string | undefined)[]) => [
  ...new Set(texts.flatMap((text) => (text === undefined ? [] : BigInt(hashOf(text))))),
];

export const rowOfReads = (reads: Reads): ReadsRow => ({
  platform_id: reads.platformId,
  first_at: reads.firstAt,
  last_at: reads.lastAt,
  last_id: reads.lastId,
  shapes: JSON.stringify(reads.shapeValues),
  entries: packEntries(reads),
  operation_hashes: hashesOf(reads.shapeValues.map(({ operationId }) => operationId)),
  token_hashes: hashesOf(reads.shapeValues.map(({ tokenId }) => tokenId)),
});

function idAt(entries: Buffer, offset: number): string {
  const hex = entries.toString('hex', offset, offset + ID_BYTES);
  const groupEnds = [8, 12, 16, 20, 32];
  return groupEnds.map((end, index) => hex.slice(groupEnds[index - 1] ?? 0, end)).join('-');
}

const rowOf = (platformId: string, id: string, shape: Shape, durationUs: number): RequestRow => ({
  id,
  platform_id: platformId,
  created_at: timeOfUuid7(id),
  operation_id: shape.operationId,
  method: shape.method,
  path: shape.path,
  status: shape.status,
  failed_status: null,
  error_code: null,
  error: null,
  duration_us: durationUs,
  caller_type: shape.callerType,
  token_id: shape.tokenId ?? null,
  token_name: shape.tokenName ?? null,
  agent_id: shape.agentId ?? null,
  address: shape.address ?? null,
  idempotency_key_hash: null,
  replayed: null,
  resource_id: null,
  operation_hash: hashOf(shape.operationId),
  token_hash: shape.tokenId === undefined ? null : hashOf(shape.tokenId),
});

/** The requests of a row for which `isWanted` is true, in any order. */
export function requestsOf(
  { platform_id, shapes, entries }: Pick<ReadsRow, 'platform_id' | 'shapes' | 'entries'>,
  isWanted: (row: RequestRow) => boolean,
): RequestRow[] {
  const shapeValues = JSON.parse(shapes) as Shape[];
  const rows: RequestRow[] = [];
  for (let offset = 0; offset < entries.length; offset += ENTRY_BYTES) {
    const shape = shapeValues[entries.readUInt16LE(offset + ID_BYTES + 4)] as Shape;
    const durationUs = entries.readUInt32LE(offset + ID_BYTES);
    const row = rowOf(platform_id, idAt(entries, offset), shape, durationUs);
    if (isWanted(row)) rows.push(row);
  }
  return rows;
}
