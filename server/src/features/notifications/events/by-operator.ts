// Events of all platforms for the operator. The list omits the data of events, which may be
// personal. A list of all platforms is in the order of IDs. A list of one platform is in the order
// of positions.
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, invalid, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { rangeErrors } from '../../../runtime/db/paging.ts';
import { pageInSteps } from '../../../runtime/db/steps.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { listSteps, type OperatorListQuery } from '../../tenancy/operator-lists/index.ts';
import { platformById, systemCaller } from '../../tenancy/platform/index.ts';
import { readCursor } from './cursor.ts';
import { isAbout, readData } from './data.ts';
import { readPageBefore } from './operations.ts';
import { type EventRow, eventOf, platformOfEvent } from './store.ts';

/** The columns of a list. Rows are written by the committer. */
const eventHeads = table('events', {
  id: col.text,
  platform_id: col.text,
  type: col.text,
  subject: col.text,
  created_at: col.time,
});

/** Filters of a list of events. An absent filter has no effect. */
interface OperatorEventQuery extends OperatorListQuery {
  type?: string[] | undefined;
  resourceId?: string | undefined;
}

interface Head {
  id: string;
  platform_id: string;
  type: string;
  subject: string;
  created_at: Time;
}

const present = (row: Head) => ({
  id: row.id,
  platformId: row.platform_id,
  type: row.type,
  resourceId: row.subject,
  createdAt: iso(row.created_at),
});

/**
 * Whether an event is about a customer. The index cannot decide this, because it contains only a
 * part of the customer's hash. Unreadable data matches the customer of its key.
 */
function isAboutCustomer({ vault }: Runtime, customerId: string, row: EventRow): boolean {
  try {
    return isAbout(customerId, row, readData(vault, row));
  } catch {
    return row.sealed_for === customerId;
  }
}

async function pageOfPlatform(
  runtime: Runtime,
  { platformId: id, cursor, ...query }: OperatorEventQuery & { platformId: string },
) {
  const { db, effects } = runtime;
  const { environment } = await platformById(runtime, id);
  const ctx = { db, effects, caller: systemCaller(id, environment) };
  const before = cursor === undefined ? undefined : readCursor('cursor', cursor);
  const page = await readPageBefore(ctx, query as Parameters<typeof readPageBefore>[1], before);
  const { customerId } = query;
  const rows =
    customerId === undefined
      ? page.rows
      : page.rows.filter((row) => isAboutCustomer(runtime, customerId, row));
  return {
    data: rows.map(present),
    hasMore: page.before !== undefined,
    ...(page.before === undefined ? {} : { nextCursor: page.before }),
  };
}

/** A page of events, newest first. Throws PLATFORM_NOT_FOUND. */
export async function pageOfEventsByOperator(runtime: Runtime, query: OperatorEventQuery) {
  const { platformId, type, resourceId, customerId } = query;
  const errors = rangeErrors(query);
  if (errors.length) throw invalid(errors);
  if (platformId !== undefined) return pageOfPlatform(runtime, { ...query, platformId });
  for (const [field, value] of Object.entries({ resourceId, customerId })) {
    if (value !== undefined) throw invalidField(field, 'is allowed only with `platformId`');
  }
  const { rows, ...rest } = await pageInSteps(runtime.db, eventHeads, {
    ...(await listSteps(
      runtime.db,
      query,
      type ? [{ column: 'type', op: 'in', value: type }] : [],
    )),
    resources: ['Webhook'],
  });
  return { data: rows.map(present), ...rest };
}

/** The platform of an event, or undefined for an unknown event. */
export const platformOfEventById = async ({ db }: Pick<Runtime, 'db'>, id: string) =>
  isId(id, 'Webhook') ? platformOfEvent(db, id) : undefined;

/** An event with its data, which may be personal and is null after an erasure. Throws NOT_FOUND. */
export async function eventByOperator({ db, vault }: Runtime, id: string) {
  const platformId = isId(id, 'Webhook') ? await platformOfEvent(db, id) : undefined;
  const row = platformId === undefined ? undefined : await eventOf(db, platformId, id);
  if (!row) throw new Fault('NOT_FOUND', 'Event not found.');
  return {
    ...present(row),
    customerId: row.sealed_for,
    data: readData(vault, row),
  };
}
