// `webhooks attempts|dropped|resend`: what came of telling platforms about events, and telling them once
// more. The server keeps trying for a week by itself; what it gave up waits here for the operator.
import {
  attemptsOf,
  droppedEvents,
  resendEvent,
} from '../../features/notifications/webhooks/index.ts';
import { iso } from '../../kernel/world.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';

const EVENT: Flags = { event: { value: 'EVENT', required: true, help: 'Id of the event' } };
const MOST = 1_000;

async function attempts({ runtime }: System, given: Given): Promise<Output> {
  const id = given.needed('event');
  const rows = await attemptsOf(runtime.db, id);
  if (rows.length === 0) {
    const known = await runtime.db.query('select id from events where id = $1', [id]);
    if (known.length === 0) throw notFound('event');
  }
  const json = rows.map(({ event_id: eventId, at, ...row }) => ({ eventId, at: iso(at), ...row }));
  const text = table(
    [
      { head: 'ATTEMPT', align: 'right' },
      { head: 'TIME' },
      { head: 'RESULT' },
      { head: 'STATUS', align: 'right' },
      { head: 'MS', align: 'right' },
      { head: 'ERROR' },
    ],
    json.map((row) =>
      [row.attempt, row.at, row.result, row.status ?? '', row.ms, row.error ?? ''].map(String),
    ),
  );
  return { json, text };
}

async function dropped({ runtime }: System, given: Given): Promise<Output> {
  const limit = Number(given.text('limit') ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
    throw usageError(`--limit must be a number from 1 to ${MOST}`);
  }
  const json = (await droppedEvents(runtime.db, limit)).map((row) => ({
    eventId: row.id,
    platformId: row.platform_id,
    type: row.type,
    subject: row.subject,
    createdAt: iso(row.created_at),
    attempts: row.attempts,
  }));
  const heads = ['EVENT', 'PLATFORM', 'TYPE', 'ABOUT', 'CREATED', 'ATTEMPTS'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((row) => Object.values(row).map(String)),
  );
  return { json, text };
}

async function resend({ runtime }: System, given: Given): Promise<Output> {
  const eventId = given.needed('event');
  if (!(await resendEvent(runtime.db, eventId, runtime.world.now()))) {
    const known = await runtime.db.query('select id from events where id = $1', [eventId]);
    if (known.length === 0) throw notFound('event');
    throw new Error('The customer this event tells of was erased, and the event with them.');
  }
  return { json: { eventId, due: true }, text: `${eventId} will be sent again.\n` };
}

export const webhookVerbs: readonly Verb[] = [
  {
    noun: 'webhooks',
    verb: 'attempts',
    summary: 'Show every try to deliver an event',
    flags: EVENT,
    bare: 'event',
    run: attempts,
  },
  {
    noun: 'webhooks',
    verb: 'dropped',
    summary: 'List events that were given up, latest first',
    flags: { limit: { value: 'NUMBER', help: 'Most to list (100)' } },
    run: dropped,
  },
  {
    noun: 'webhooks',
    verb: 'resend',
    summary: 'Send an event again, whatever came of it before',
    flags: EVENT,
    bare: 'event',
    run: resend,
  },
];
