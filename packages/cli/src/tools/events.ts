// The command `events`: shows the latest events, or new events as they occur. `get`, `list` and the
// other commands of the resource are also subcommands.
import { Command } from 'commander';
import { EVENT_TYPES } from '../api/metadata.ts';
import { usageError } from '../exit.ts';
import { withExamples } from '../help.ts';
import { interruptionSignal } from '../interrupt.ts';
import type { Output } from '../output/output.ts';
import { columnOf } from '../output/table.ts';
import { isObject, shortText, timeOfDay } from '../output/values.ts';
import type { EventType } from '../sdk.ts';
import { outputOf, sessionOf } from '../session.ts';
import { closest } from '../suggest.ts';

/** `OUTGOING_PAYMENT.*,CARD.STATE_CHANGE` as the list of matching types. */
export function eventTypesOf(text: string | undefined): EventType[] {
  const patterns = (text ?? '').split(',').map((each) => each.trim());
  const types = patterns.filter(Boolean).flatMap((pattern) => {
    const upperPattern = pattern.toUpperCase();
    const types = upperPattern.endsWith('*')
      ? EVENT_TYPES.filter((each) => each.startsWith(upperPattern.slice(0, -1)))
      : EVENT_TYPES.filter((each) => each === upperPattern);
    if (types.length > 0) return types;
    const suggestion = closest(upperPattern, EVENT_TYPES);
    const hint = suggestion
      ? `Did you mean ${suggestion}?`
      : 'List the types with `railhead events types`.';
    throw usageError(`There is no event type ${pattern}.`, hint);
  });
  return [...new Set(types)] as EventType[];
}

interface EventFlags {
  readonly type?: string;
  readonly resource?: string;
  readonly customer?: string;
  readonly number: string;
  readonly follow?: boolean;
}

interface ListedEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly resourceId?: string;
  readonly data: unknown;
}

/** The state of the resource after the event. */
const statusOf = ({ data }: ListedEvent): string => {
  if (!isObject(data)) return '';
  const { status, state, kycStatus, kybStatus, balance } = data;
  return shortText(status ?? state ?? kycStatus ?? kybStatus ?? balance) ?? '';
};

const lineOf = (event: ListedEvent, { styles }: Output) =>
  [
    styles.dim(timeOfDay(event.timestamp)),
    event.type,
    event.resourceId ?? '',
    styles.dim(event.id),
  ].join('  ');

const table = (output: Output, events: readonly ListedEvent[]) =>
  events.length === 0
    ? ['No events.']
    : output.table([
        columnOf(
          'id',
          events.map(({ id }) => id),
        ),
        columnOf(
          'type',
          events.map(({ type }) => type),
        ),
        columnOf('status', events.map(statusOf)),
        columnOf(
          'timestamp',
          events.map(({ timestamp }) => shortText(timestamp) ?? ''),
        ),
        columnOf(
          'resourceId',
          events.map(({ resourceId = '' }) => resourceId),
        ),
      ]);

function typesCommand(): Command {
  const command = new Command('types')
    .summary('List the types of events.')
    .description('Lists the types of events.');
  withExamples(command, 'railhead events types');
  return command.action(async () => {
    const output = outputOf(command);
    await output.result({ data: EVENT_TYPES }, () => EVENT_TYPES);
  });
}

function resendCommand(): Command {
  const command = new Command('resend')
    .summary('Send an event again.')
    .description(
      'Sends an event again to all endpoints that receive its type, or to one of them. `listen` ' +
        'forwards it like a new event.',
    )
    .argument('<event>', 'ID of an event.')
    .option(
      '--endpoint <id>',
      'Send only to this endpoint. Default: all endpoints that receive the type.',
    );
  withExamples(command, 'railhead events resend Webhook:019b8d60-2a80-7000-8000-00000000000f');
  return command.action(async (eventId: string, { endpoint }: { endpoint?: string }) => {
    const { output, client } = await sessionOf(command);
    const body = endpoint === undefined ? {} : { endpointId: endpoint };
    const reply = await client.webhookDeliveries.resendEvent({ eventId, ...body });
    const count = reply.deliveryIds.length;
    await output.result(reply, () => [
      count === 0
        ? 'No endpoint receives this type of event.'
        : `Sent again to ${count} ${count === 1 ? 'endpoint' : 'endpoints'}.`,
    ]);
  });
}

export function eventsCommand(): Command {
  const command = new Command('events')
    .summary('Show events, and follow them.')
    .description('Shows the latest events of the platform, or follows new events until Ctrl+C.')
    .option('--follow', 'Print events as they occur.')
    .option(
      '--type <types>',
      'Event types, separated by commas, such as OUTGOING_PAYMENT.*. Default: all.',
    )
    .option('--resource <id>', 'Only events about a resource.')
    .option('--customer <id>', 'Only events about a customer.')
    .option(
      '-n, --number <count>',
      'Number of events without --follow, at most 100. Default: 20.',
      '20',
    )
    .addCommand(typesCommand())
    .addCommand(resendCommand());
  withExamples(
    command,
    'railhead events',
    "railhead events --follow --type 'OUTGOING_PAYMENT.*'",
    'railhead events get EVENT_ID',
    'railhead events resend EVENT_ID',
  );
  return command.action(async (flags: EventFlags) => {
    const types = eventTypesOf(flags.type);
    const { output, client } = await sessionOf(command);
    const filter = {
      ...(flags.resource !== undefined && { resourceId: flags.resource }),
      ...(flags.customer !== undefined && { customerId: flags.customer }),
    };
    if (flags.follow) {
      const options = {
        ...filter,
        signal: interruptionSignal(),
        ...(types.length > 0 && { types }),
      };
      output.note('Following events. Stop with Ctrl+C.');
      for await (const event of client.events.follow(options)) {
        await output.streamed(event, () => lineOf(event, output));
      }
      return;
    }
    const limit = Math.min(100, Number(flags.number) || 20);
    const page = await client.events.listEvents({
      ...filter,
      ...(types.length > 0 && { type: types }),
      limit,
    });
    await output.result(page, () => table(output, page.data as readonly ListedEvent[]));
  });
}
