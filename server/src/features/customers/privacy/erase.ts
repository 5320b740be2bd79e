// Erasing a customer. The first change set forgets the data key and with it everything that was sealed, and
// takes out what lies in clear beside it: from then on the customer is erased for every reader. What can be
// long (payments, events) is emptied after it in short statements, each of which leaves alone what one before
// has done; an erasure that is cut short has no finish in its row and continues when it is run again.
import type { Caller } from '../../../kernel/caller.ts';
import { Fault } from '../../../kernel/fault.ts';
import { iso } from '../../../kernel/world.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import {
  type Counts,
  changedRows,
  eventsFrom,
  type PersonalData,
} from '../../../runtime/operation/personal-data.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { type CustomerRow, eraseCustomer, readCustomer } from '../records/index.ts';
import { type ErasureRow, erasures } from './store.ts';
import { type AllPersonalData, isOwned, ownedIds } from './subjects.ts';

interface ErasureInput {
  customerId: string;
  /** Who requested it. */
  actor: string;
  reason: string | null;
}

const presentErasure = (row: ErasureRow) => ({
  customerId: row.id,
  platformId: row.platform_id,
  actor: row.actor,
  reason: row.reason,
  counts: row.counts,
  startedAt: iso(row.created_at),
  finishedAt: row.finished_at === null ? null : iso(row.finished_at),
});

type Erasure = ReturnType<typeof presentErasure>;

/** Most of them are others', so many events are read at once. */
const EVENTS_AT_ONCE = 2_000;

// The key's order is that of time, so what is older than the customer is not read. An emptied event counts as
// sealed for the customer: it cannot be read, and it is not sent. No index has events by what they are about:
// all are passed, of every customer, so many at a time, however much the customer has.
const eventsSql = (all: AllPersonalData) => `with seen as (
    select e.id, e.platform_id = $2 and e.data <> '' and (e.sealed_for = $1
      or ${isOwned(all, 'e.subject')}) as theirs
    from events e where e.id > $3 order by e.id limit ${EVENTS_AT_ONCE}
  ), batch as (
    select id from seen where theirs
  ), quiet as (
    update webhook_attempts a set response = null from batch b
    where a.id > b.id || '/' and a.id < b.id || '0' and a.response is not null
  ), done as (
    update events e set data = '', sealed_for = $1, due_at = null
    from batch b where e.id = b.id
  )
  select max(id) as last, count(*)::int as seen, count(*) filter (where theirs)::int as emptied
  from seen`;

// Replies that are kept in clear under an idempotency key. Those that are sealed are gone within a week.
const repliesSql = (all: AllPersonalData) => `with owned as (${ownedIds(all)})
  delete from idempotency i where i.id > $2 || ' ' and i.id < $2 || '!' and (
    starts_with(i.id, $2 || ' POST /customers/' || $1 || '/')
    or case when i.reply like '{%' then i.reply::json->>'id' in (select id from owned)
      or i.reply::json->>'transactionId' in (select id from owned) end)
  returning id`;

interface Walked {
  last: string | null;
  seen: number;
  emptied: number;
}

async function emptyEvents(
  { db }: Runtime,
  all: AllPersonalData,
  row: CustomerRow,
): Promise<number> {
  const sql = eventsSql(all);
  let after = eventsFrom(row.created_at);
  for (let count = 0; ; ) {
    const [walked] = await db.query<Walked>(sql, [row.id, row.platform_id, after]);
    const { last, seen, emptied } = walked as Walked;
    count += emptied;
    if (last === null || seen < EVENTS_AT_ONCE) return count;
    after = last;
  }
}

const plus = (counts: Counts, more: Counts): Counts => {
  const sum = { ...counts };
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
};

/** Removes the rows of one feature that nothing else needs. */
async function removeRows(
  { db }: Runtime,
  { tables }: PersonalData<CustomerRow>,
  id: string,
): Promise<Counts> {
  let counts: Counts = {};
  for (const [name, { erasure, atOnce, rows, removes = rows }] of Object.entries(tables)) {
    if (erasure !== 'removed' || atOnce) continue;
    const sql = `delete from ${name} t where ${removes} returning t.id`;
    counts = plus(counts, { [name]: await changedRows(db, sql, [id]) });
  }
  return counts;
}

/** Everything after the first change set, in the order in which it is done. */
async function emptyTables(
  runtime: Runtime,
  all: AllPersonalData,
  row: CustomerRow,
): Promise<Counts> {
  let counts: Counts = {};
  for (const each of all) {
    counts = plus(counts, (await each.empty?.(runtime, row)) ?? {});
    counts = plus(counts, await removeRows(runtime, each, row.id));
  }
  const events = await emptyEvents(runtime, all, row);
  const values = [row.id, row.platform_id];
  const idempotency = await changedRows(runtime.db, repliesSql(all), values);
  return plus(counts, { events, idempotency });
}

/** How many rows of the tables that the first change set empties. */
async function countsOf({ db }: Ctx, all: AllPersonalData, id: string): Promise<Counts> {
  const counted = all.flatMap(({ tables }) =>
    Object.entries(tables).filter(([, { atOnce }]) => atOnce),
  );
  const columns = counted.map(
    ([name, { rows }]) => `(select count(*)::int from ${name} t where ${rows}) as ${name}`,
  );
  const [counts] = await db.query(`select ${columns.join(', ')}`, [id]);
  return counts as Counts;
}

const noCustomer = () => new Fault('CUSTOMER_NOT_FOUND', 'No such customer.');

async function forget(ctx: Ctx, all: AllPersonalData, input: ErasureInput): Promise<ErasureRow> {
  const { customerId: id, actor, reason } = input;
  const row = await readCustomer(ctx, id);
  if (!row) throw noCustomer();
  if (row.deleted_at === null) {
    const problem = 'The customer is not deleted. Its platform has to delete it first.';
    throw new Fault('CONFLICT', problem, { customerId: id });
  }
  const known = await ctx.read(erasures, id);
  if (known) return known;
  const counts = await countsOf(ctx, all, id);
  for (const each of all) await each.forget?.(ctx, row);
  eraseCustomer(ctx, row);
  const { platform_id } = row;
  return ctx.insert(erasures, { id, platform_id, actor, reason, counts, created_at: ctx.now });
}

/** What a job may not have done yet, and what has to come before the platform's own id is forgotten. */
async function prepare(
  runtime: Runtime,
  all: AllPersonalData,
  caller: Caller,
  row: CustomerRow,
): Promise<Counts> {
  let counts: Counts = {};
  if (row.deleted_at === null) return counts;
  for (const { end } of all) {
    while (end && (await operate(runtime, caller, (ctx) => end(ctx, row.id))));
  }
  for (const each of all) counts = plus(counts, (await each.before?.(runtime, row)) ?? {});
  return counts;
}

/**
 * Erases a deleted customer, or continues to; once it is finished nothing changes any more. Throws
 * CUSTOMER_NOT_FOUND, and CONFLICT if the customer was not deleted.
 */
export async function eraseCustomerData(
  runtime: Runtime,
  all: AllPersonalData,
  input: ErasureInput,
): Promise<Erasure> {
  const { customerId: id } = input;
  const row = await readCustomer(runtime.db, id);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (!row || !platform) throw noCustomer();
  const caller = systemCaller(platform.id, platform.environment);
  const prepared = await prepare(runtime, all, caller, row);
  const began = await operate(runtime, caller, (ctx) => forget(ctx, all, input));
  // Also of a finished one: an old process may have written an event in clear since.
  const more = plus(prepared, await emptyTables(runtime, all, row));
  if (began.finished_at !== null) return presentErasure(began);
  const ended = await operate(runtime, caller, async (ctx) => {
    const now = (await ctx.read(erasures, id)) ?? began;
    if (now.finished_at !== null) return now;
    const counts = { ...now.counts, ...more };
    return ctx.update(erasures, now, { counts, finished_at: ctx.now });
  });
  return presentErasure(ended);
}

const ERASURES = `select id, platform_id, actor, reason, counts, created_at, finished_at, version
  from erasures where ($1::text is null or platform_id = $1) order by created_at desc, id limit $2`;

/** Erasures of one platform or of all, latest first. */
export async function listErasures(
  { db }: Runtime,
  { platformId, limit }: { platformId?: string | undefined; limit: number },
): Promise<Erasure[]> {
  const rows = await db.query<ErasureRow & object>(ERASURES, [platformId ?? null, limit]);
  return rows.map(presentErasure);
}
