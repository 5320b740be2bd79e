// Follows the events of a platform from a durable cursor. The position is stored after each
// processed event, so that an interruption repeats only the event that was being processed.
import { isRailheadError } from './error.ts';
import type { EventType, StoredEvent } from './events.ts';
import { pause } from './http/retry.ts';
import type { CallOptions, Output } from './types.ts';

/** Storage of a follower's position, such as a file or a row of a database. */
export interface CursorStore {
  load(): Promise<string | undefined> | string | undefined;
  save(cursor: string): Promise<void> | void;
}

/** The events that are followed, the start position, and the storage of the position. */
export interface FollowOptions<Type extends EventType = EventType> {
  /**
   * Start position if the store is empty: `beginning` for the oldest stored event, `now`, or a
   * cursor. Default: `now`.
   */
  readonly after?: string;
  /** Only events of these types. */
  readonly types?: readonly Type[];
  /** Only events about this resource. */
  readonly resourceId?: string;
  /** Only events about this customer. */
  readonly customerId?: string;
  /** Storage of the position. Absent: the iteration does not resume after a restart. */
  readonly store?: CursorStore;
  /** Stops the iteration. */
  readonly signal?: AbortSignal;
  /** Maximum time in seconds that a request waits for an event. Default: 30. */
  readonly wait?: number;
  /**
   * Called on each interruption, with the delay before the next attempt. The iteration continues
   * automatically.
   */
  readonly onInterruption?: (error: unknown, delayMs: number) => void;
}

/** Events as they occur, until the loop ends or the signal aborts. */
export interface EventStream<Type extends EventType = EventType>
  extends AsyncIterable<StoredEvent<Type>> {
  /** The position after the last processed event, or undefined before the start. */
  readonly cursor: string | undefined;
}

type ListEvents = (input: object, options: CallOptions) => Promise<Output<'listEvents'>>;

const DEFAULT_WAIT_S = 30;
const PAGE_SIZE = 100;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

/**
 * A position inside a page consists of the cursor before the page and the ID of the last processed
 * event.
 */
const SEPARATOR = '~';
const positionOf = (cursor: string, eventId: string) => `${cursor}${SEPARATOR}${eventId}`;
function parsePosition(position: string): { after: string; processed: string | undefined } {
  const [cursor = '', processedId] = position.split(SEPARATOR);
  return { after: cursor, processed: processedId };
}

/** Repeats a request until it succeeds or fails permanently. */
async function retryUntilDone<T>(
  request: () => Promise<T>,
  { signal, onInterruption }: Pick<FollowOptions, 'signal' | 'onInterruption'>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (signal?.aborted || !isRailheadError(error) || !error.retryable) throw error;
      const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
      const delayMs = Math.max((error.retryAfter ?? 0) * 1000, backoff * (0.5 + Math.random() / 2));
      onInterruption?.(error, delayMs);
      await pause(delayMs, signal);
    }
  }
}

export function follow<Type extends EventType = EventType>(
  listEvents: ListEvents,
  options: FollowOptions<Type> = {},
): EventStream<Type> {
  const { store, signal, types, resourceId, customerId, wait = DEFAULT_WAIT_S } = options;
  const filter = {
    ...(types && { type: types }),
    ...(resourceId !== undefined && { resourceId }),
    ...(customerId !== undefined && { customerId }),
  };
  const callOptions: CallOptions = { maxRetries: 0, ...(signal && { signal }) };
  let cursor: string | undefined;

  const list = (input: object) => retryUntilDone(() => listEvents(input, callOptions), options);

  async function start(): Promise<string> {
    const position = (await store?.load()) ?? options.after ?? 'now';
    // The first reply contains the newest events, so its cursor is the present position.
    return position === 'now' ? (await list({ limit: 1 })).after : position;
  }

  async function save(position: string): Promise<void> {
    cursor = position;
    await store?.save(position);
  }

  async function* events(): AsyncGenerator<StoredEvent<Type>> {
    let position = await start();
    // The start position is stored before the first wait, so that a restart misses no event.
    await save(position);
    for (;;) {
      const { after, processed: processedId } = parsePosition(position);
      const page = await list({ ...filter, after, wait, limit: PAGE_SIZE });
      const pageEvents = page.data as StoredEvent<Type>[];
      const skippedCount =
        processedId === undefined ? 0 : pageEvents.findIndex(({ id }) => id === processedId) + 1;
      for (const event of pageEvents.slice(skippedCount)) {
        yield event;
        await save(positionOf(after, event.id));
      }
      position = page.after;
      await save(position);
    }
  }

  async function* untilAborted(): AsyncGenerator<StoredEvent<Type>> {
    try {
      yield* events();
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  return {
    get cursor() {
      return cursor;
    },
    [Symbol.asyncIterator]: untilAborted,
  };
}
