// Reads of one row by id. All that wait when a connection is free are sent to it as one message,
// one select for each table; without a free connection they wait together, so that under load one
// round trip serves many requests.
import { Fault } from '../../kernel/fault.ts';
import { pgArray } from './arrays.ts';
import { type ResultRow, rowDecoder } from './decode.ts';
import { type Lane, openLane } from './lane.ts';
import { columnList, quoted, type Sql } from './paging.ts';
import { bind, type Statement, statement } from './statement.ts';
import type { Table } from './table.ts';

interface ReaderOptions {
  /** Opens a connection for a lane (`connectLane`). */
  connect: Parameters<typeof openLane>[0]['connect'];
  /** Runs statements one by one, where no lane is connected or a batch failed. */
  runTogether(statements: readonly Sql[]): Promise<ResultRow[]>[];
  timeoutMs: number;
  lanes?: number;
}

interface Waiter {
  resolve(row: ResultRow | undefined): void;
  reject(error: unknown): void;
}

/** Waiters by id. */
type Wanted = Map<string, Waiter[]>;

interface Select {
  statement: Statement;
  decode: ReturnType<typeof rowDecoder>;
}

const MAX_WAITING = 20_000;

const selects = new WeakMap<Table, Select>();

function selectOf(table: Table): Select {
  const known = selects.get(table);
  if (known) return known;
  const text = `select ${columnList(table)} from ${quoted(table.name)} where id = any($1::text[])`;
  const made = { statement: statement(text, ['text']), decode: rowDecoder(table) };
  selects.set(table, made);
  return made;
}

function settle(rows: readonly ResultRow[], wanted: Wanted): void {
  for (const row of rows) {
    const id = row.id as string;
    wanted.get(id)?.forEach((waiter, i) => {
      waiter.resolve(i ? { ...row } : row);
    });
    wanted.delete(id);
  }
  for (const waiters of wanted.values()) for (const each of waiters) each.resolve(undefined);
}

function fail(error: unknown, wanted: Wanted): void {
  for (const waiters of wanted.values()) for (const each of waiters) each.reject(error);
}

export function createReader({ connect, runTogether, timeoutMs, lanes: max = 3 }: ReaderOptions) {
  const lanes: Lane[] = [];
  const idle = new Set<Lane>();
  const inFlight = new Set<Promise<void>>();
  let tables = new Map<Table, Wanted>();
  let waiting = 0;
  let armed = false;
  let closed = false;

  function addLane(): void {
    const lane: Lane = openLane({
      connect,
      timeoutMs,
      onUp() {
        idle.add(lane);
        arm();
      },
    });
    lanes.push(lane);
  }

  function runSingly(batch: Map<Table, Wanted>): void {
    const statements = [...batch].map(([table, wanted]) => ({
      text: selectOf(table).statement.text,
      values: [pgArray('text', [...wanted.keys()])],
    }));
    const results = runTogether(statements);
    [...batch.values()].forEach((wanted, i) => {
      results[i]?.then(
        (rows) => settle(rows, wanted),
        (error: unknown) => fail(error, wanted),
      );
    });
  }

  async function runOn(lane: Lane, batch: Map<Table, Wanted>): Promise<void> {
    const bounds = [...batch].map(([table, wanted]) =>
      bind(selectOf(table).statement, [...wanted.keys()]),
    );
    try {
      const responses = await lane.execute(bounds);
      if (lane.up) idle.add(lane);
      [...batch].forEach(([table, wanted], i) => {
        const { decode } = selectOf(table);
        settle((responses[i] ?? []).map(decode), wanted);
      });
    } catch {
      if (lane.up) idle.add(lane);
      // Singly, only the reads that caused an error fail, and those of a lost connection succeed.
      runSingly(batch);
    }
    if (tables.size) arm();
  }

  function freeLane(): Lane | undefined {
    for (const lane of idle) {
      idle.delete(lane);
      if (lane.up) return lane;
    }
    return undefined;
  }

  function flush(): void {
    armed = false;
    if (tables.size === 0) return;
    const lane = closed ? undefined : freeLane();
    if (!lane && !closed && lanes.length < max) addLane();
    if (!lane && inFlight.size) return; // a lane takes them when it has its answer
    const batch = tables;
    tables = new Map();
    waiting = 0;
    if (!lane) runSingly(batch);
    else {
      const task = runOn(lane, batch).finally(() => inFlight.delete(task));
      inFlight.add(task);
    }
  }

  function arm(): void {
    if (armed) return;
    armed = true;
    setImmediate(flush);
  }

  return {
    read(table: Table, id: string): Promise<ResultRow | undefined> {
      // No text in PostgreSQL contains NUL; sending one would fail the select of all callers.
      if (id.includes('\u0000')) return Promise.resolve(undefined);
      if (waiting >= MAX_WAITING) {
        const reason = 'Too many requests are waiting for the database. Retry the request.';
        return Promise.reject(
          new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 1 }),
        );
      }
      waiting++;
      return new Promise((resolve, reject) => {
        if (tables.size === 0) arm();
        let wanted = tables.get(table);
        if (!wanted) {
          wanted = new Map();
          tables.set(table, wanted);
        }
        const waiters = wanted.get(id);
        if (waiters) waiters.push({ resolve, reject });
        else wanted.set(id, [{ resolve, reject }]);
      });
    },
    /** Waits for reads in flight and closes the lanes. */
    async close(): Promise<void> {
      closed = true;
      arm();
      while (inFlight.size) await Promise.all(inFlight);
      await Promise.all(lanes.map((lane) => lane.end()));
    },
  };
}
