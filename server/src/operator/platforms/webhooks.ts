// `webhooks attempts|dropped|resend`: delivery attempts of events, and resending them. The server
// retries for a week; events that it gave up are listed here for the operator.
import {
  listAttempts,
  listDroppedEvents,
  resendEventByOperator,
} from '../../features/notifications/webhooks/index.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

const EVENT: Flags = { event: { value: 'EVENT', required: true, help: 'Id of the event' } };
const MAX_ROWS = 1_000;

async function attempts({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await listAttempts(runtime, args.required('event'));
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

async function dropped({ runtime }: System, args: CommandArgs): Promise<Output> {
  const limit = Number(args.text('limit') ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROWS) {
    throw usageError(`--limit must be a number from 1 to ${MAX_ROWS}`);
  }
  const json = await listDroppedEvents(runtime, limit);
  const heads = ['EVENT', 'PLATFORM', 'TYPE', 'ABOUT', 'CREATED', 'ATTEMPTS'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((row) => Object.values(row).map(String)),
  );
  return { json, text };
}

async function resend({ runtime }: System, args: CommandArgs): Promise<Output> {
  const eventId = args.required('event');
  await resendEventByOperator(runtime, eventId);
  return { json: { eventId, due: true }, text: `${eventId} will be sent again.\n` };
}

export const webhookVerbs: readonly Verb[] = [
  {
    noun: 'webhooks',
    verb: 'attempts',
    summary: 'Show all delivery attempts of an event',
    flags: EVENT,
    bare: 'event',
    run: attempts,
  },
  {
    noun: 'webhooks',
    verb: 'dropped',
    summary: 'List undelivered events, latest first',
    flags: { limit: { value: 'NUMBER', help: 'Maximum number of rows (100)' } },
    run: dropped,
  },
  {
    noun: 'webhooks',
    verb: 'resend',
    summary: 'Send an event again, whatever its earlier attempts',
    flags: EVENT,
    bare: 'event',
    run: resend,
  },
];
