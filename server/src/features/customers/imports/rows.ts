// Registering the rows of a slice, each in a change set of its own. A customer's id follows from the import
// and the number of its row, so whoever comes by again, after a crash or side by side with another worker,
// knows the customers that came of this file from those that stood in its way.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../../kernel/caller.ts';
import type { Contract } from '../../../kernel/contract/operation.ts';
import { Fault, type FieldError, invalid, mayPass } from '../../../kernel/fault.ts';
import type { Id } from '../../../kernel/id.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { readCustomer } from '../records/index.ts';
import {
  type CreateBody,
  type CustomerParts,
  registerCustomer,
  registrationErrors,
} from '../registration/index.ts';
import { byColumn, type Candidate } from './columns.ts';

export interface RowParts extends CustomerParts {
  /** Everything wrong with a body, as the contract of an operation has it. */
  bodyErrors: (contract: Contract, body: unknown) => FieldError[];
  /** Whether requests need all the time there is. */
  pressed: () => boolean;
  /** Told of every change set that a row came to, taken or refused: these press nobody. */
  written: () => void;
}

/** A row to be registered. */
export interface Item extends Candidate {
  /** From 1 on, in the order of the file. */
  number: number;
}

export interface Failure {
  row: number;
  correlation_id: string;
  code: string;
  message: string;
  details: Record<string, unknown>;
}

/** The id of the customer that a row becomes: as old as its import, and in the order of the rows. */
export function customerIdOf(importId: string, number: number): Id<'Customer'> {
  const uuid = importId.slice(importId.indexOf(':') + 1);
  const hash = createHash('sha256').update(`${importId} ${number}`).digest('hex');
  // Version 7 has 12 bits behind the time: the row counted by sixteens, which is enough for 65,535.
  const order = (number >> 4).toString(16).padStart(3, '0');
  const variant = (8 + (number & 3)).toString(16);
  return `Customer:${uuid.slice(0, 13)}-7${order}-${variant}${hash.slice(0, 3)}-${hash.slice(3, 15)}`;
}

const failureOf = ({ number, correlationId, body }: Item, fault: Fault): Failure => {
  const { errors } = (fault.details ?? {}) as { errors?: FieldError[] };
  const details = errors
    ? { ...fault.details, errors: byColumn(errors, body.customerType) }
    : (fault.details ?? {});
  const { code, message } = fault;
  return { row: number, correlation_id: correlationId, code, message, details };
};

/** After so many tries of a slice the rows that no try got through are told as our fault. */
const MOST_TRIES = 10;

/** What became of a row where registering it threw. */
async function afterwards(
  runtime: Runtime,
  item: Item,
  id: string,
  error: unknown,
  tries: number,
): Promise<Failure | undefined> {
  // Somebody else is at the same slice, or the answer to an earlier try was lost.
  if (await readCustomer(runtime.db, id)) return undefined;
  if (error instanceof Fault && !mayPass(error.code)) return failureOf(item, error);
  if (tries < MOST_TRIES) throw error;
  const reason = 'The row could not be registered. Send it again.';
  return failureOf(item, new Fault('INTERNAL_ERROR', reason));
}

/** All that is wrong with a row, what only its platform's rules reject included. */
async function allErrors(
  { db, world }: Runtime,
  caller: Caller,
  item: Item,
): Promise<FieldError[]> {
  const platform = item.sound && (await readPlatform(db, caller.platformId));
  if (!platform) return item.errors;
  const known = new Set(item.errors.map(({ field }) => field));
  const found = registrationErrors(item.sound as CreateBody, platform, world.now());
  const more = byColumn(found, item.body.customerType).filter(({ field }) => !known.has(field));
  return [...item.errors, ...more];
}

/** Registers one row; answers why it failed, or nothing. */
async function registerRow(
  runtime: Runtime,
  caller: Caller,
  parts: RowParts,
  item: Item,
  slice: { importId: string; tries: number },
): Promise<Failure | undefined> {
  if (item.errors.length) {
    return failureOf(item, invalid(await allErrors(runtime, caller, item)));
  }
  const id = customerIdOf(slice.importId, item.number);
  const body = item.body as CreateBody;
  try {
    await operate(runtime, caller, (ctx) => registerCustomer(ctx, body, parts, { id }));
    return undefined;
  } catch (error) {
    return afterwards(runtime, item, id, error, slice.tries);
  }
}

const THERE = 'select id from customers where id = any($1::text[])';

/** Rows at once: enough to fill the lanes of the committer. Pressed, a few hundred a second go on. */
const AT_ONCE = 128;
const PRESSED_AT_ONCE = 8;
const PRESSED_REST_MS = 25;
/** A slice takes no more rows up after this; well within the lease of a job. */
const SLICE_MS = 4_000;

/** What no two customers share. */
const keysOf = ({ body }: Item): string[] =>
  [body.platformCustomerId, body.umaAddress]
    .filter((key) => typeof key === 'string')
    .map((key) => key.toLowerCase());

/** The same runtime, which tells of every change set that went through it. */
const counted = (runtime: Runtime, written: () => void): Runtime => ({
  ...runtime,
  committer: { commit: (set) => runtime.committer.commit(set).finally(written) },
});

/** Runs `work` behind all earlier work under one of its keys: the first row of a file gets the name. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async function inTurn<R>(keys: readonly string[], work: () => Promise<R>): Promise<R> {
    const before = keys.map((key) => last.get(key)).filter((each) => each !== undefined);
    const running = before.length ? Promise.allSettled(before).then(work) : work();
    for (const key of keys) last.set(key, running);
    return running;
  };
}

interface Done {
  /** Rows that were taken up, in order; the rest of the slice is left to the next one. */
  rows: number;
  failures: Failure[];
}

/** Registers rows until all are done or the time of a slice is over. */
export async function registerRows(
  runtime: Runtime,
  caller: Caller,
  parts: RowParts,
  items: readonly Item[],
  slice: { importId: string; tries: number },
): Promise<Done> {
  const until = runtime.world.now() + SLICE_MS;
  const ids = items.map(({ number }) => customerIdOf(slice.importId, number));
  const known = await runtime.db.query<{ id: string }>(THERE, [ids]);
  const there = new Set(known.map(({ id }) => id));
  const inTurn = createTurns();
  const own = counted(runtime, parts.written);
  const failures: Failure[] = [];
  let broken = false;
  let rows = 0;

  const goesOn = () => !broken && rows < items.length && runtime.world.now() < until;

  async function takeNext(): Promise<void> {
    const at = rows++;
    const item = items[at] as Item;
    if (there.has(ids[at] as string)) return;
    const work = () => registerRow(own, caller, parts, item, slice);
    const failure = await inTurn(keysOf(item), work);
    if (failure) failures.push(failure);
  }

  async function taker(index: number): Promise<void> {
    while (goesOn()) {
      const held = parts.pressed();
      try {
        if (!held || index < PRESSED_AT_ONCE) await takeNext();
      } catch (error) {
        broken = true;
        throw error;
      }
      if (held) await sleep(PRESSED_REST_MS);
    }
  }

  const takers = Array.from({ length: AT_ONCE }, (_, index) => taker(index));
  for (const end of await Promise.allSettled(takers)) {
    if (end.status === 'rejected') throw end.reason;
  }
  failures.sort((a, b) => a.row - b.row);
  return { rows, failures };
}
