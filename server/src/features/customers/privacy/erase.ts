// Erases a customer. One change set deletes the data key, so that all encrypted data is unreadable,
// and runs the erasure steps that belong to it. Other tables, such as payments and events, are
// emptied afterwards in short idempotent statements. An interrupted erasure has no finish time and
// resumes when it is run again.
import type { Caller } from '../../../kernel/caller.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { allRows } from '../../../runtime/db/database.ts';
import { equals, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import {
  type Counts,
  changedRows,
  eventsFrom,
  type PersonalData,
} from '../../../runtime/operation/personal-data.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { type CustomerRow, eraseCustomer, readCustomer, touchCustomer } from '../records/index.ts';
import { type ErasureRow, erasures } from './store.ts';
import { type AllPersonalData, isOwned, subjectIdsSql } from './subjects.ts';

interface ErasureInput {
  customerId: string;
  /** Actor that requested the erasure. */
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

/** Large batches, because most events belong to other customers. */
const EVENT_BATCH_SIZE = 2_000;

// Event IDs are ordered by time, so events older than the customer are skipped. An emptied event is
// marked as encrypted for the customer, so that it is not delivered. Events have no index by
// subject, so all events are scanned in batches of constant size.
const eventsSql = (personalData: AllPersonalData) => `with scanned_events as (
    select e.id, e.platform_id = $2 and e.data <> '' and (e.sealed_for = $1
      or ${isOwned(personalData, 'e.subject')}) as is_owned
    from events e where e.id > $3 order by e.id limit ${EVENT_BATCH_SIZE}
  ), batch as (
    select id from scanned_events where is_owned
  ), endpoints as (
    select 0 as number union select w.number from webhook_endpoints w where w.platform_id = $2
  ), emptied_attempts as (
    update webhook_attempts a set head = null, response = null,
      result = case when a.result = 'retry' and a.attempt = q.attempts then 'dropped'
        else a.result end
    from batch b cross join endpoints n
      left join webhook_queue q
        on q.platform_id = $2 and q.endpoint = n.number and q.event_id = b.id
    where a.platform_id = $2 and a.endpoint = n.number and a.event_id = b.id
      and (coalesce(a.head, a.response) is not null or a.attempt = q.attempts)
  ), removed_deliveries as (
    delete from webhook_queue q using batch b cross join endpoints n
    where q.platform_id = $2 and q.endpoint = n.number and q.event_id = b.id
  ), emptied_events as (
    update events e set data = '', sealed_for = $1
    from batch b where e.id = b.id
  )
  select max(id) as "lastId", count(*)::int as "scannedCount",
    count(*) filter (where is_owned)::int as "emptiedCount"
  from scanned_events`;

// Deletes stored replies to POST requests below the path of the customer. Also deletes plain-text
// replies that contain the ID of a resource of the customer. The stored form of a reply keeps the
// field names, so SQL finds the IDs. Encrypted replies expire within a week.
const repliesSql = (
  personalData: AllPersonalData,
) => `with owned as (${subjectIdsSql(personalData)})
  delete from idempotency i where i.id > $2 || ' ' and i.id < $2 || '!' and (
    starts_with(i.id, $2 || ' POST /customers/' || $1 || '/')
    or exists (select from regexp_matches(i.reply, '"(?:id|transactionId)":"([^"]+)"', 'g') matches
      where matches[1] in (select id from owned)))
  returning id`;

interface EventBatch {
  lastId: string | null;
  scannedCount: number;
  emptiedCount: number;
}

async function emptyEvents(
  { db }: Runtime,
  personalData: AllPersonalData,
  row: CustomerRow,
): Promise<number> {
  const sql = eventsSql(personalData);
  let eventsAfter = eventsFrom(row.created_at);
  for (let count = 0; ; ) {
    const [batch] = await db.query<EventBatch>(sql, [row.id, row.platform_id, eventsAfter]);
    const { lastId, scannedCount, emptiedCount } = batch as EventBatch;
    count += emptiedCount;
    if (lastId === null || scannedCount < EVENT_BATCH_SIZE) return count;
    eventsAfter = lastId;
  }
}

const addCounts = (counts: Counts, addedCounts: Counts): Counts => {
  const sum = { ...counts };
  for (const [name, count] of Object.entries(addedCounts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
};

/** Deletes the rows that one feature declares as removed. */
async function removeRows(
  { db }: Runtime,
  { tables }: PersonalData<CustomerRow>,
  id: string,
): Promise<Counts> {
  let counts: Counts = {};
  for (const [name, { erasure, atOnce, rows, removes = rows }] of Object.entries(tables)) {
    if (erasure !== 'removed' || atOnce) continue;
    const sql = `delete from ${name} t where ${removes} returning t.id`;
    counts = addCounts(counts, { [name]: await changedRows(db, sql, [id]) });
  }
  return counts;
}

/** Runs all steps after the deletion of the data key, in order. */
async function emptyTables(
  runtime: Runtime,
  personalData: AllPersonalData,
  row: CustomerRow,
): Promise<Counts> {
  let counts: Counts = {};
  for (const each of personalData) {
    counts = addCounts(counts, (await each.empty?.(runtime, row)) ?? {});
    counts = addCounts(counts, await removeRows(runtime, each, row.id));
  }
  const events = await emptyEvents(runtime, personalData, row);
  const values = [row.id, row.platform_id];
  const idempotency = await changedRows(runtime.db, repliesSql(personalData), values);
  return addCounts(counts, { events, idempotency });
}

/** Row counts of the tables that are emptied together with the deletion of the data key. */
async function countsOf({ db }: Ctx, personalData: AllPersonalData, id: string): Promise<Counts> {
  const countedTables = personalData.flatMap(({ tables }) =>
    Object.entries(tables).filter(([, { atOnce }]) => atOnce),
  );
  const columns = countedTables.map(
    ([name, { rows }]) => `(select count(*)::int from ${name} t where ${rows}) as ${name}`,
  );
  const [counts] = await db.query(`select ${columns.join(', ')}`, [id]);
  return counts as Counts;
}

const customerNotFound = () => new Fault('CUSTOMER_NOT_FOUND', 'Customer not found.');

/** The customer to erase. Throws CUSTOMER_NOT_FOUND, and CONFLICT if it is not deleted. */
async function erasableCustomer(ctx: Ctx, id: string): Promise<CustomerRow> {
  const row = await readCustomer(ctx, id);
  if (!row) throw customerNotFound();
  if (row.deleted_at !== null) return row;
  const problem = 'The customer is not deleted. The platform must delete it first.';
  throw new Fault('CONFLICT', problem, { customerId: id });
}

/**
 * Commits the start of the erasure before any other change, because an approval policy can defer
 * only the first commit of a request. Has no effect on a started erasure. Throws like
 * `eraseCustomerData`.
 */
export async function beginErasure(runtime: Runtime, id: string): Promise<void> {
  const row = await readCustomer(runtime.db, id);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (!platform) throw customerNotFound();
  await operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
    const customer = await erasableCustomer(ctx, id);
    if (!(await ctx.read(erasures, id))) touchCustomer(ctx, customer);
  });
}

async function deleteDataKey(
  ctx: Ctx,
  personalData: AllPersonalData,
  input: ErasureInput,
): Promise<ErasureRow> {
  const { customerId: id, actor, reason } = input;
  const row = await erasableCustomer(ctx, id);
  const knownErasure = await ctx.read(erasures, id);
  if (knownErasure) return knownErasure;
  const counts = await countsOf(ctx, personalData, id);
  for (const each of personalData) await each.erase?.(ctx, row);
  eraseCustomer(ctx, row);
  const { platform_id } = row;
  return ctx.insert(erasures, { id, platform_id, actor, reason, counts, created_at: ctx.now });
}

/**
 * Closes resources whose jobs may still be pending, and runs the steps that require the
 * `platformCustomerId`.
 */
async function closeResources(
  runtime: Runtime,
  personalData: AllPersonalData,
  caller: Caller,
  row: CustomerRow,
): Promise<Counts> {
  let counts: Counts = {};
  if (row.deleted_at === null) return counts;
  for (const { end } of personalData) {
    while (end && (await operate(runtime, caller, (ctx) => end(ctx, row.id))));
  }
  for (const each of personalData)
    counts = addCounts(counts, (await each.before?.(runtime, row)) ?? {});
  return counts;
}

/**
 * Erases a deleted customer or resumes its erasure. A finished erasure can be repeated safely.
 * Throws CUSTOMER_NOT_FOUND, and CONFLICT if the customer is not deleted.
 */
export async function eraseCustomerData(
  runtime: Runtime,
  personalData: AllPersonalData,
  input: ErasureInput,
): Promise<Erasure> {
  const { customerId: id } = input;
  const row = await readCustomer(runtime.db, id);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (!row || !platform) throw customerNotFound();
  const caller = systemCaller(platform.id, platform.environment);
  const counts = await closeResources(runtime, personalData, caller, row);
  const startedErasure = await operate(runtime, caller, (ctx) =>
    deleteDataKey(ctx, personalData, input),
  );
  // Also runs for a finished erasure, because a process of an older version may have written a
  // plain-text event afterwards.
  const totals = addCounts(counts, await emptyTables(runtime, personalData, row));
  if (startedErasure.finished_at !== null) return presentErasure(startedErasure);
  const finishedErasure = await operate(runtime, caller, async (ctx) => {
    const erasure = (await ctx.read(erasures, id)) ?? startedErasure;
    if (erasure.finished_at !== null) return erasure;
    const counts = { ...erasure.counts, ...totals };
    return ctx.update(erasures, erasure, { counts, finished_at: ctx.now });
  });
  return presentErasure(finishedErasure);
}

interface ListInput extends PageInput {
  platformId?: string | undefined;
}

/** A page of the erasures of one platform or of all, newest first. */
export async function listErasures({ db }: Runtime, { platformId, ...page }: ListInput) {
  const filters = equals({ platform_id: platformId });
  const { rows, ...rest } = await db.page(erasures, { filters, sort: 'desc', ...page });
  return { data: rows.map(presentErasure), ...rest };
}

/** All erasures, oldest first. */
export const allErasures = async ({ db }: Pick<Runtime, 'db'>): Promise<Erasure[]> =>
  (await allRows(db, erasures, [])).map(presentErasure);
