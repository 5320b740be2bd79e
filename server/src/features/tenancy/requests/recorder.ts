// Records requests outside their critical path. Records are buffered in memory, then written in one
// statement per table on a separate connection, whose commits do not wait for the disk. A request
// never waits for its record. If the database is too slow, records are dropped and counted.
import type pg from 'pg';
import type { Contract } from '../../../kernel/contract/operation.ts';
import type { Time } from '../../../kernel/effects.ts';
import { insertInto } from '../../../runtime/committer/statements.ts';
import { isConnectionError, type Lane, openLane } from '../../../runtime/db/lane.ts';
import { type Bound, bind, type Statement, statement } from '../../../runtime/db/statement.ts';
import type { Table } from '../../../runtime/db/table.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type {
  CompletedRequest,
  RequestRecord,
} from '../../../runtime/observability/request-record.ts';
import { within } from '../../../runtime/observability/within.ts';
import { maskedBody, maskedError } from './masking.ts';
import {
  addRead,
  apiRequestReads,
  canAddRead,
  isPlainRead,
  newReads,
  type Reads,
  rowOfReads,
} from './reads.ts';
import {
  apiRequestBodies,
  apiRequests,
  hashOf,
  type RequestBodyRow,
  type RequestRow,
} from './store.ts';

interface RecorderOptions {
  /** Opens the connection, at the first record. */
  connect(): Promise<pg.Client>;
  now(): Time;
  /** All contracts of the server, for requests that call operations. */
  contracts?(): readonly Contract[];
  log: Log;
  /** Maximum number of records in memory. */
  maxBuffered?: number;
}

/** Delay that collects records into one write. */
const GATHER_MS = 250;
/** A batch is full with this many rows, or this many records, of which reads share rows. */
const MAX_ROWS = 500;
const MAX_RECORDS = 2_000;
const MAX_BUFFERED = 20_000;
/** Maximum size of the bodies and errors in memory, in characters. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
const TIMEOUT_MS = 20_000;
const RETRY_MS = 1_000;
/** Maximum records of rejections by the rate limit, for each platform and second. */
const LIMITED_PER_SECOND = 20;

type Columns = readonly unknown[][];

/**
 * Buffered records, as columns that are the parameters of a statement, because one object per record would
 * survive collections of the young generation. Successful reads are buffered in the row that they share.
 */
interface Batch {
  count: number;
  characters: number;
  requests: Columns;
  bodies: Columns;
  /** Successful reads, of which a row has many. */
  reads: Reads[];
  /** The shared row of each platform to which further reads are added. */
  readsOf: Map<string, Reads>;
}

const emptyColumns = (table: Table): Columns => table.columnNames.map(() => []);

const emptyBatch = (): Batch => ({
  count: 0,
  characters: 0,
  requests: emptyColumns(apiRequests),
  bodies: emptyColumns(apiRequestBodies),
  reads: [],
  readsOf: new Map(),
});

function addRow(columns: Columns, table: Table, row: object): void {
  const values = row as Record<string, unknown>;
  table.columnNames.forEach((name, index) => {
    columns[index]?.push(values[name]);
  });
}

/** Inserts the missing rows of a batch whose result is unknown. Costs more than a plain insert. */
const insertMissing = (table: Table): Statement => {
  const { text, types } = insertInto(table);
  return statement(`${text} on conflict do nothing`, types);
};

const boundOf = (table: Table, columns: Columns, mayExist: boolean) =>
  bind(mayExist ? insertMissing(table) : insertInto(table), ...columns);

/** Adds a read to the reads of its platform. */
function addToSharedRow({ reads, readsOf }: Batch, record: RequestRecord): void {
  let sharedRow = readsOf.get(record.platformId);
  if (!sharedRow || !canAddRead(sharedRow, record)) {
    sharedRow = newReads(record);
    reads.push(sharedRow);
    readsOf.set(record.platformId, sharedRow);
  }
  addRead(sharedRow, record);
}

function columnsOf(reads: readonly Reads[]): Columns {
  const columns = emptyColumns(apiRequestReads);
  for (const each of reads) addRow(columns, apiRequestReads, rowOfReads(each));
  return columns;
}

/** The statements of a batch, for the tables that have rows. */
function statementsOf({ requests, bodies, reads }: Batch, mayExist: boolean): Bound[] {
  const parts: [Table, Columns][] = [
    [apiRequests, requests],
    [apiRequestBodies, bodies],
    [apiRequestReads, columnsOf(reads)],
  ];
  return parts.flatMap(([table, columns]) =>
    columns[0]?.length ? [boundOf(table, columns, mayExist)] : [],
  );
}

type Contracts = readonly Contract[];

function errorOf(request: CompletedRequest, allContracts: Contracts): string | null {
  const { record, contract, params, query, body, reply } = request;
  if (record.status < 400) return null;
  return JSON.stringify(maskedError(contract, reply, [params, query, body], allContracts));
}

function rowOf(request: CompletedRequest, allContracts: Contracts): RequestRow {
  const { record } = request;
  return {
    id: record.requestId,
    platform_id: record.platformId,
    created_at: record.createdAt,
    operation_id: record.operationId,
    method: record.method,
    path: record.path,
    status: record.status,
    failed_status: record.status < 400 ? null : record.status,
    error_code: record.errorCode ?? null,
    error: errorOf(request, allContracts),
    duration_us: Math.min(Math.round(record.ms * 1000), 2_147_483_647),
    caller_type: record.callerType,
    token_id: record.tokenId ?? null,
    token_name: record.tokenName ?? null,
    agent_id: record.agentId ?? null,
    address: record.address ?? null,
    idempotency_key_hash: record.idempotencyKeyHash ?? null,
    replayed: record.isReplayed || null,
    resource_id: record.resourceId ?? null,
    operation_hash: hashOf(record.operationId),
    token_hash: record.tokenId === undefined ? null : hashOf(record.tokenId),
  };
}

/**
 * Whether bodies are stored: bodies of changes outside of hosted pages, in the sandbox or while the
 * operator allows it.
 */
function keepsBodies({ contract, caller }: CompletedRequest, now: Time): boolean {
  if (contract.method === 'GET' || contract.auth === 'hosted') return false;
  return caller.environment === 'sandbox' || (caller.requestBodiesUntil ?? 0) > now;
}

/** The masked bodies. The body of an error reply is already part of the record. */
function bodiesOf(
  { record, contract, body, reply }: CompletedRequest,
  allContracts: Contracts,
): RequestBodyRow | undefined {
  const request = body === undefined ? undefined : maskedBody(contract, body, allContracts);
  const hasReply = record.status < 400 && reply !== undefined && reply !== null;
  const response = hasReply ? maskedBody(contract, reply, allContracts) : undefined;
  if (!request && !response) return undefined;
  return {
    id: record.requestId,
    platform_id: record.platformId,
    created_at: record.createdAt,
    request_body: request?.text ?? null,
    request_truncated: request?.isTruncated ?? false,
    response_body: response?.text ?? null,
    response_truncated: response?.isTruncated ?? false,
  };
}

const sizeOf = (row: RequestRow, bodies: RequestBodyRow | undefined) =>
  (row.error?.length ?? 0) +
  (bodies?.request_body?.length ?? 0) +
  (bodies?.response_body?.length ?? 0);

/** Bounds the records of a platform that sends far more requests than its limit. */
function createRecordLimiter(now: () => Time) {
  let second = 0;
  const counts = new Map<string, number>();
  return ({ record }: CompletedRequest): boolean => {
    if (record.errorCode !== 'RATE_LIMITED') return true;
    const currentSecond = Math.floor(now() / 1_000);
    if (currentSecond !== second) counts.clear();
    second = currentSecond;
    const count = (counts.get(record.platformId) ?? 0) + 1;
    counts.set(record.platformId, count);
    return count <= LIMITED_PER_SECOND;
  };
}

export function createRequestRecorder(options: RecorderOptions) {
  const { connect, now, log, contracts = () => [], maxBuffered = MAX_BUFFERED } = options;
  const isKept = createRecordLimiter(now);
  /** Full batches and batches of a failed write, oldest first. */
  const fullBatches: Batch[] = [];
  let currentBatch = emptyBatch();
  let bufferedCount = 0;
  let characters = 0;
  let droppedCount = 0;
  let lane: Lane | undefined;
  let connection: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pendingWrite: Promise<void> | undefined;
  let isClosed = false;
  /** Whether the oldest records may have been written before the connection was lost. */
  let mayExist = false;

  function countDropped(count: number): void {
    droppedCount += count;
  }

  function closeBatch(): void {
    if (currentBatch.count === 0) return;
    fullBatches.push(currentBatch);
    currentBatch = emptyBatch();
  }

  function open(): void {
    connection = new Promise((resolve) => {
      lane = openLane({ connect, onUp: resolve, timeoutMs: TIMEOUT_MS });
    });
  }

  /** Writes a batch. Returns false if the connection was lost. */
  async function writeBatch(batch: Batch): Promise<boolean> {
    try {
      await lane?.execute(statementsOf(batch, mayExist));
      mayExist = false;
    } catch (error) {
      if (isConnectionError(error)) {
        mayExist = true;
        return false;
      }
      // The same rows would be rejected again.
      log.warn({ err: error }, 'requests could not be recorded');
      countDropped(batch.count);
    }
    return true;
  }

  /** Writes the buffered records. The next write includes records that are added during this write. */
  async function write(): Promise<void> {
    await within(RETRY_MS, connection ?? Promise.resolve());
    let delayMs = GATHER_MS;
    closeBatch();
    for (const batch of fullBatches.slice()) {
      if (!(await writeBatch(batch))) {
        delayMs = RETRY_MS;
        break;
      }
      fullBatches.shift();
      bufferedCount -= batch.count;
      characters -= batch.characters;
    }
    pendingWrite = undefined;
    if (bufferedCount) schedule(delayMs);
  }

  function start(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    pendingWrite ??= write();
    return pendingWrite;
  }

  function schedule(delayMs: number): void {
    if (isClosed || pendingWrite) return;
    timer ??= setTimeout(() => void start(), delayMs).unref();
  }

  /**
   * Writes all records that were added before, if the database can be reached. Resolves in any
   * case.
   */
  async function flush(): Promise<void> {
    await pendingWrite;
    if (bufferedCount) await start();
  }

  /** Adds a request to the batch. Returns false if the maximum size in memory is reached. */
  function addToBatch(request: CompletedRequest): boolean {
    if (isPlainRead(request)) {
      addToSharedRow(currentBatch, request.record);
      return true;
    }
    const allContracts = request.contract.callsOperations ? contracts() : [];
    const row = rowOf(request, allContracts);
    const bodies = keepsBodies(request, now()) ? bodiesOf(request, allContracts) : undefined;
    const size = sizeOf(row, bodies);
    if (characters + size > MAX_CHARACTERS) return false;
    addRow(currentBatch.requests, apiRequests, row);
    if (bodies) addRow(currentBatch.bodies, apiRequestBodies, bodies);
    currentBatch.characters += size;
    characters += size;
    return true;
  }

  function buffer(request: CompletedRequest): void {
    if (!addToBatch(request)) {
      countDropped(1);
      return;
    }
    currentBatch.count++;
    bufferedCount++;
    if (!lane) open();
    const { count, requests } = currentBatch;
    const isFull = count >= MAX_RECORDS || (requests[0]?.length ?? 0) >= MAX_ROWS;
    if (isFull) closeBatch();
    if (isFull && !pendingWrite) void start();
    else schedule(GATHER_MS);
  }

  return {
    /** Records a request. Never throws. */
    add(request: CompletedRequest): void {
      try {
        if (!isKept(request)) return;
        if (isClosed || bufferedCount >= maxBuffered) countDropped(1);
        else buffer(request);
      } catch (error) {
        countDropped(1);
        log.error({ err: error }, 'a request could not be recorded');
      }
    },
    flush,
    /** Number of records that were dropped. */
    dropped: () => droppedCount,
    /** Number of records in memory. */
    waiting: () => bufferedCount,
    /** Writes the remaining records and closes the connection. */
    async close(): Promise<void> {
      await flush();
      isClosed = true;
      clearTimeout(timer);
      await lane?.end();
    },
  };
}
