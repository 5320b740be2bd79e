// Registers the rows of a slice, each in its own change set. The customer ID is derived from the
// import and the row number. A repeated or concurrent job can therefore distinguish customers of
// this import from conflicting customers.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../../kernel/caller.ts';
import type { Contract } from '../../../kernel/contract/operation.ts';
import { Fault, type FieldError, invalid, isTransient } from '../../../kernel/fault.ts';
import type { Id } from '../../../kernel/id.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { readCustomer } from '../records/index.ts';
import {
  type CreateBody,
  type CustomerDeps,
  registerCustomer,
  registrationErrors,
} from '../registration/index.ts';
import { type Candidate, errorsByColumn } from './columns.ts';

export interface RowDeps extends CustomerDeps {
  /** Validates a body by the contract of an operation. */
  bodyErrors: (contract: Contract, body: unknown) => FieldError[];
  /** Whether the server is under load from requests. */
  isUnderLoad: () => boolean;
  /**
   * Called after every change set of a row, committed or rejected. Such commits do not count as
   * load.
   */
  countWrite: () => void;
}

export interface Item extends Candidate {
  /** Row number, starting at 1. */
  number: number;
}

export interface Failure {
  row: number;
  correlation_id: string;
  code: string;
  message: string;
  details: Record<string, unknown>;
}

/**
 * Customer ID of a row, with the timestamp of the import. IDs sort in the order of the rows, except
 * within groups of 16 rows.
 */
export function customerIdOf(importId: string, number: number): Id<'Customer'> {
  const uuid = importId.slice(importId.indexOf(':') + 1);
  const hash = createHash('sha256').update(`${importId} ${number}`).digest('hex');
  // UUIDv7 has 12 bits after the timestamp. The row number divided by 16 fits for up to 65,535
  // rows.
  const order = (number >> 4).toString(16).padStart(3, '0');
  const variant = (8 + (number & 3)).toString(16);
  return `Customer:${uuid.slice(0, 13)}-7${order}-${variant}${hash.slice(0, 3)}-${hash.slice(3, 15)}`;
}

const failureOf = ({ number, correlationId, body }: Item, fault: Fault): Failure => {
  const { errors } = (fault.details ?? {}) as { errors?: FieldError[] };
  const details = errors
    ? { ...fault.details, errors: errorsByColumn(errors, body.customerType) }
    : (fault.details ?? {});
  const { code, message } = fault;
  return { row: number, correlation_id: correlationId, code, message, details };
};

/**
 * Attempts of a slice after which rows that failed with an internal error are reported as failed.
 */
const MAX_ATTEMPTS = 10;

/**
 * Failure of a row whose registration threw an error, or undefined if the customer exists. Rethrows
 * an internal or transient error while attempts remain.
 */
async function handleFailure(
  runtime: Runtime,
  item: Item,
  id: string,
  error: unknown,
  attempts: number,
): Promise<Failure | undefined> {
  // A concurrent worker, or an earlier attempt whose response was lost, has registered the row.
  if (await readCustomer(runtime.db, id)) return undefined;
  if (error instanceof Fault && !isTransient(error.code)) return failureOf(item, error);
  if (attempts < MAX_ATTEMPTS) throw error;
  const reason = 'The row could not be imported. Upload it again.';
  return failureOf(item, new Fault('INTERNAL_ERROR', reason));
}

/** All errors of a row, including violations of the platform's rules. */
async function findAllErrors(
  { db, clocks }: Runtime,
  caller: Caller,
  item: Item,
): Promise<FieldError[]> {
  const platform = item.validPart && (await readPlatform(db, caller.platformId));
  if (!platform) return item.errors;
  const fieldsWithErrors = new Set(item.errors.map(({ field }) => field));
  const now = await clocks.nowOf(caller);
  const ruleErrors = registrationErrors(item.validPart as CreateBody, platform, now);
  const newErrors = errorsByColumn(ruleErrors, item.body.customerType).filter(
    ({ field }) => !fieldsWithErrors.has(field),
  );
  return [...item.errors, ...newErrors];
}

/** Registers one row. Returns its failure, if any. */
async function registerRow(
  runtime: Runtime,
  caller: Caller,
  deps: RowDeps,
  item: Item,
  slice: { importId: string; attempts: number },
): Promise<Failure | undefined> {
  if (item.errors.length) {
    return failureOf(item, invalid(await findAllErrors(runtime, caller, item)));
  }
  const id = customerIdOf(slice.importId, item.number);
  const body = item.body as CreateBody;
  try {
    await operate(runtime, caller, (ctx) => registerCustomer(ctx, body, deps, { id }));
    return undefined;
  } catch (error) {
    return handleFailure(runtime, item, id, error, slice.attempts);
  }
}

const EXISTING_CUSTOMERS_SQL = 'select id from customers where id = any($1::text[])';

/** Number of concurrent rows, sufficient to fill the lanes of the committer. */
const CONCURRENCY = 128;
/** Number of concurrent rows under load. The pause limits them to a few hundred per second. */
const CONCURRENCY_UNDER_LOAD = 8;
const PAUSE_UNDER_LOAD_MS = 25;
/** A slice starts no further rows after this time, well within the lease of a job. */
const MAX_SLICE_MS = 4_000;

/** Values that are unique per customer. */
const uniqueKeysOf = ({ body }: Item): string[] =>
  [body.platformCustomerId, body.umaAddress]
    .filter((key) => typeof key === 'string')
    .map((key) => key.toLowerCase());

/** Runtime that calls `onCommit` after every commit. */
const addCommitCallback = (runtime: Runtime, onCommit: () => void): Runtime => ({
  ...runtime,
  committer: { commit: (set) => runtime.committer.commit(set).finally(onCommit) },
});

/**
 * Runs `work` after all earlier work with one of its keys, so that the first row of a file receives
 * a contested key.
 */
function createKeyedQueue() {
  const lastWork = new Map<string, Promise<unknown>>();
  return async function enqueue<R>(keys: readonly string[], work: () => Promise<R>): Promise<R> {
    const previousWork = keys.map((key) => lastWork.get(key)).filter((each) => each !== undefined);
    const pendingWork = previousWork.length ? Promise.allSettled(previousWork).then(work) : work();
    for (const key of keys) lastWork.set(key, pendingWork);
    return pendingWork;
  };
}

interface SliceResult {
  /** Number of rows processed, in order. The next slice processes the remaining rows. */
  rows: number;
  failures: Failure[];
}

/** Registers rows until all are processed or the time limit of a slice is reached. */
export async function registerRows(
  runtime: Runtime,
  caller: Caller,
  deps: RowDeps,
  items: readonly Item[],
  slice: { importId: string; attempts: number },
): Promise<SliceResult> {
  const deadline = runtime.effects.now() + MAX_SLICE_MS;
  const ids = items.map(({ number }) => customerIdOf(slice.importId, number));
  const existingRows = await runtime.db.query<{ id: string }>(EXISTING_CUSTOMERS_SQL, [ids]);
  const existingIds = new Set(existingRows.map(({ id }) => id));
  const enqueue = createKeyedQueue();
  const observedRuntime = addCommitCallback(runtime, deps.countWrite);
  const failures: Failure[] = [];
  let isFailed = false;
  let rows = 0;

  const hasNext = () => !isFailed && rows < items.length && runtime.effects.now() < deadline;

  async function processNext(): Promise<void> {
    const index = rows++;
    const item = items[index] as Item;
    if (existingIds.has(ids[index] as string)) return;
    const work = () => registerRow(observedRuntime, caller, deps, item, slice);
    const failure = await enqueue(uniqueKeysOf(item), work);
    if (failure) failures.push(failure);
  }

  async function worker(index: number): Promise<void> {
    while (hasNext()) {
      const isThrottled = deps.isUnderLoad();
      try {
        if (!isThrottled || index < CONCURRENCY_UNDER_LOAD) await processNext();
      } catch (error) {
        isFailed = true;
        throw error;
      }
      if (isThrottled) await sleep(PAUSE_UNDER_LOAD_MS);
    }
  }

  const workers = Array.from({ length: CONCURRENCY }, (_, index) => worker(index));
  for (const result of await Promise.allSettled(workers)) {
    if (result.status === 'rejected') throw result.reason;
  }
  failures.sort((a, b) => a.row - b.row);
  return { rows, failures };
}
