// `webhooks pending|attempts|dropped|resend`: deliveries of all platforms in the format of the API,
// and sending events again. The server retries for a week. Discarded events are listed for the
// operator.
import {
  deliveriesOfEvent,
  listDroppedEvents,
  listPending,
  resendEventByOperator,
} from '../../features/notifications/deliveries/index.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

const EVENT: Flags = { event: { value: 'EVENT', required: true, help: 'ID of the event' } };
const MAX_ROWS = 1_000;
const LIMIT: Flags = {
  limit: { value: 'NUMBER', help: `Maximum number of rows, 1 to ${MAX_ROWS} (default: 100)` },
};

function limitOf(args: CommandArgs): number {
  const limit = Number(args.text('limit') ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROWS) {
    throw usageError(`--limit must be a whole number from 1 to ${MAX_ROWS}`);
  }
  return limit;
}

async function listQueued({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await listPending(runtime, args.text('platform'), limitOf(args));
  const heads = ['EVENT', 'PLATFORM', 'ENDPOINT', 'TYPE', 'ATTEMPTS', 'NEXT'];
  const text = table(
    heads,
    json.map((row) =>
      [
        ...[row.eventId, row.platformId, row.endpointId, row.eventType],
        ...[row.attemptCount, row.nextAttemptAt ?? ''],
      ].map(String),
    ),
  );
  return { json, text };
}

async function listAttempts({ runtime }: System, args: CommandArgs): Promise<Output> {
  const { deliveries: json } = await deliveriesOfEvent(runtime, args.required('event'));
  const text = table(
    [
      { heading: 'ENDPOINT' },
      { heading: 'ATTEMPT', align: 'right' },
      { heading: 'TIME' },
      { heading: 'RESULT' },
      { heading: 'STATUS', align: 'right' },
      { heading: 'MS', align: 'right' },
      { heading: 'ERROR' },
    ],
    json.flatMap(({ endpointId, attempts: attemptRows }) =>
      attemptRows.map((row) =>
        [
          ...[endpointId, row.number, row.at, row.result, row.responseStatus ?? ''],
          ...[row.durationMs, row.error ?? ''],
        ].map(String),
      ),
    ),
  );
  return { json, text };
}

async function listDropped({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await listDroppedEvents(runtime, limitOf(args), args.text('platform'));
  const heads = ['EVENT', 'PLATFORM', 'TYPE', 'ABOUT', 'CREATED', 'ATTEMPTS'];
  const text = table(
    heads,
    json.map((row) => Object.values(row).map(String)),
  );
  return { json, text };
}

async function resend({ runtime }: System, args: CommandArgs): Promise<Output> {
  const eventId = args.required('event');
  const endpointId = args.text('endpoint');
  const { deliveryIds } = await resendEventByOperator(runtime, { eventId, endpointId });
  return { json: { eventId, due: true, deliveryIds }, text: `${eventId} is due again.\n` };
}

const OF_PLATFORM = {
  platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
  ...LIMIT,
};

export const webhookVerbs: readonly Verb[] = [
  {
    noun: 'webhooks',
    verb: 'pending',
    summary: 'List pending deliveries',
    flags: OF_PLATFORM,
    run: listQueued,
  },
  {
    noun: 'webhooks',
    verb: 'attempts',
    summary: 'Show all delivery attempts of an event',
    flags: EVENT,
    positional: 'event',
    run: listAttempts,
  },
  {
    noun: 'webhooks',
    verb: 'dropped',
    summary: 'List discarded events of each endpoint, latest first',
    flags: OF_PLATFORM,
    run: listDropped,
  },
  {
    noun: 'webhooks',
    verb: 'resend',
    summary: 'Send an event again, regardless of earlier attempts',
    flags: {
      ...EVENT,
      endpoint: {
        value: 'ENDPOINT',
        help: 'Send only to this endpoint (default: all endpoints that receive the type)',
      },
    },
    positional: 'event',
    run: resend,
  },
];
