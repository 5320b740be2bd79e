// The client. Its groups are created from the table of operations, and its types are generated from
// the OpenAPI document.

import type { EventType } from './events.ts';
import { type EventStream, type FollowOptions, follow } from './follow.ts';
import type { EventsGroup, Groups } from './generated/groups.ts';
import { TABLE } from './generated/operations.ts';
import { callOf, type Sender } from './http/call.ts';
import { type Fields, operationOf } from './http/request.ts';
import { type ClientOptions, settingsOf } from './http/settings.ts';
import { send } from './http/transport.ts';
import type { CallOptions } from './types.ts';

/** The operations of events, and an iterator over new events. */
export interface FollowedEvents extends EventsGroup {
  /**
   * Iterates the events of the platform as they occur. Each event is returned once, in a fixed
   * order. The iteration resumes after interruptions. With a store it also resumes after a restart,
   * and repeats at most the event that was being processed.
   */
  follow<Type extends EventType = EventType>(options?: FollowOptions<Type>): EventStream<Type>;
}

/** Operations by group, such as `client.quotes.createQuote`. */
export interface Client extends Omit<Groups, 'events'> {
  readonly events: FollowedEvents;
}

type Functions = Record<string, (input?: Fields, options?: CallOptions) => unknown>;

function groupOf(rows: string, sender: Sender): Functions {
  const functions = rows
    .trim()
    .split('\n')
    .map((row) => {
      const operation = operationOf(row);
      const call = (input: Fields = {}, options: CallOptions = {}) =>
        callOf(sender, operation, input, options);
      return [operation.id, call] as const;
    });
  return Object.fromEntries(functions);
}

/** A client of the API with the credentials of a platform, of an agent, or of both. */
export function createClient(options: ClientOptions = {}): Client {
  const settings = settingsOf(options);
  const sender: Sender = (operation, input, callOptions) =>
    send(settings, operation, input, callOptions);
  // The table and the types are generated from the same document.
  const groups = Object.fromEntries(
    Object.entries(TABLE).map(([name, rows]) => [name, groupOf(rows, sender)]),
  ) as unknown as Groups;
  const { events } = groups;
  return {
    ...groups,
    events: { ...events, follow: (followOptions) => follow(events.listEvents, followOptions) },
  };
}
