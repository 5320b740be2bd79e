// Reads of one row by ID. All pending reads are sent to a free connection as one message with one select
// for each table. Without a free connection, reads wait together, so that under load one round trip serves
// many requests.
import { Fault } from '../../kernel/fault.ts';
import { pgArray } from './arrays.ts';
import { type ResultRow, rowDecoder } from './decode.ts';
import { type Lane, openLane } from './lane.ts';
import { columnList, quoteName, type Sql } from './paging.ts';
import { bind, type Statement, statement } from './statement.ts';
import type { Table } from './table.ts';

interface ReaderOptions {
  /** Opens a connection for a lane (`connectLane`). */
  connect: Parameters<typeof openLane>[0]['connect'];
  /** Runs single statements if no lane is connected or a batch failed. */
  runSeparately(statements: readonly Sql[]): Promise<ResultRow[]>[];
  timeoutMs: number;
  maxAgeMs?: number;
  /** Maximum number of connections. Defaults to 3. */
  lanes?: number;
}

interface Waiter {
  resolve(row: ResultRow | undefined): void;
  reject(error: unknown): void;
}

type WaitersById = Map<string, Waiter[]>;

interface Select {
  statement: Statement;
  decode: ReturnType<typeof rowDecoder>;
}

const MAX_WAITING = 20_000;

const selects = new WeakMap<Table, Select>();

function selectOf(table: Table): Select {
  const cachedSelect = selects.get(table);
  if (cachedSelect) return cachedSelect;
  const text = `select ${columnList(table)} from ${quoteName(table.name)} where id = any($1::text[])`;
  const select = { statement: statement(text, ['text']), decode: rowDecoder(table) };
  selects.set(table, select);
  return select;
}

function settle(rows: readonly ResultRow[], waitersById: WaitersById): void {
  for (const row of rows) {
    const id = row.id as string;
    waitersById.get(id)?.forEach((waiter, i) => {
      waiter.resolve(i ? { ...row } : row);
    });
    waitersById.delete(id);
  }
  for (const waiters of waitersById.values()) for (const each of waiters) each.resolve(undefined);
}

function fail(error: unknown, waitersById: WaitersById): void {
  for (const waiters of waitersById.values()) for (const each of waiters) each.reject(error);
}

export function createReader({
  runSeparately,
  lanes: maxLanes = 3,
  ...laneOptions
}: ReaderOptions) {
  const lanes: Lane[] = [];
  const idleLanes = new Set<Lane>();
  const inFlight = new Set<Promise<void>>();
  let waitersByTable = new Map<Table, WaitersById>();
  let waitingCount = 0;
  let isScheduled = false;
  let isClosed = false;

  function addLane(): void {
    const lane: Lane = openLane({
      ...laneOptions,
      onUp() {
        idleLanes.add(lane);
        schedule();
      },
    });
    lanes.push(lane);
  }

  function runSingly(batch: Map<Table, WaitersById>): void {
    const statements = [...batch].map(([table, waitersById]) => ({
      text: selectOf(table).statement.text,
      values: [pgArray('text', [...waitersById.keys()])],
    }));
    const results = runSeparately(statements);
    [...batch.values()].forEach((waitersById, i) => {
      results[i]?.then(
        (rows) => settle(rows, waitersById),
        (error: unknown) => fail(error, waitersById),
      );
    });
  }

  async function runOn(lane: Lane, batch: Map<Table, WaitersById>): Promise<void> {
    const boundStatements = [...batch].map(([table, waitersById]) =>
      bind(selectOf(table).statement, [...waitersById.keys()]),
    );
    try {
      const responses = await lane.execute(boundStatements);
      if (lane.isConnected) idleLanes.add(lane);
      [...batch].forEach(([table, waitersById], i) => {
        const { decode } = selectOf(table);
        settle((responses[i] ?? []).map(decode), waitersById);
      });
    } catch {
      if (lane.isConnected) idleLanes.add(lane);
      // After a failed batch, the select of each table runs separately. Only the reads of a failing
      // select fail.
      runSingly(batch);
    }
    if (waitersByTable.size) schedule();
  }

  function freeLane(): Lane | undefined {
    for (const lane of idleLanes) {
      idleLanes.delete(lane);
      if (lane.isConnected) return lane;
    }
    return undefined;
  }

  function flush(): void {
    isScheduled = false;
    if (waitersByTable.size === 0) return;
    const lane = isClosed ? undefined : freeLane();
    if (!lane && !isClosed && lanes.length < maxLanes) addLane();
    if (!lane && inFlight.size) return; // A lane sends the reads after its current batch.
    const batch = waitersByTable;
    waitersByTable = new Map();
    waitingCount = 0;
    if (!lane) runSingly(batch);
    else {
      const task = runOn(lane, batch).finally(() => inFlight.delete(task));
      inFlight.add(task);
    }
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  return {
    read(table: Table, id: string): Promise<ResultRow | undefined> {
      // PostgreSQL rejects NUL in any text, which would fail the select of all callers.
      if (id.includes('\u0000')) return Promise.resolve(undefined);
      if (waitingCount >= MAX_WAITING) {
        const reason = 'Too many requests are waiting for the database. Retry the request.';
        return Promise.reject(
          new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 1 }),
        );
      }
      waitingCount++;
      return new Promise((resolve, reject) => {
        if (waitersByTable.size === 0) schedule();
        let waitersById = waitersByTable.get(table);
        if (!waitersById) {
          waitersById = new Map();
          waitersByTable.set(table, waitersById);
        }
        const waiters = waitersById.get(id);
        if (waiters) waiters.push({ resolve, reject });
        else waitersById.set(id, [{ resolve, reject }]);
      });
    },
    /** Waits for reads in flight and closes the lanes. */
    async close(): Promise<void> {
      isClosed = true;
      schedule();
      while (inFlight.size) await Promise.all(inFlight);
      await Promise.all(lanes.map((lane) => lane.end()));
    },
  };
}
