// One connection of an operator: a stream of server-sent events with a bounded rate and a bounded
// buffer. If a bound is exceeded, the client receives a reset and loads everything again.
import { Readable } from 'node:stream';
import type { Operator } from '../../../kernel/caller.ts';
import { type ChangePosition, cursorText, laterOf } from './cursor.ts';
import { type Batch, lastOfEach, type Message, messagesFor } from './messages.ts';

/** Maximum messages per second, and in one burst. */
const MAX_RATE = 200;
/** Maximum messages that a slow client has not received yet. */
const MAX_PENDING = 400;
/** Minimum time between two resets. */
const RESET_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** Delay before a client reconnects. */
const RETRY_MS = 2_000;

/** Reason for closing a stream. */
type EndReason = 'SESSION_ENDED' | 'ACCESS_CHANGED' | 'SERVER_STOPPING';

/** Changes that a client has missed since a position. */
export interface Resumption {
  from: ChangePosition;
  missedChanges: Batch;
}

export interface Connection {
  readonly operator: Operator;
  readonly stream: Readable;
  /** Begins to send: from the current position, from an earlier one, or with a reset. */
  begin(resume?: Resumption | 'reset'): void;
  receive(batch: Batch): void;
  /** Skips changes that are too numerous to be read. */
  reset(position: ChangePosition): void;
  /** Sends a reset or a heartbeat if it is due. */
  tick(): void;
  end(reason: EndReason): void;
}

const eventText = (name: string, position: ChangePosition, data: object): string =>
  `event: ${name}\nid: ${cursorText(position)}\ndata: ${JSON.stringify(data)}\n\n`;

/** Token bucket for `MAX_RATE` messages per second. */
function createBudget(now: () => number) {
  let remainingMessages = MAX_RATE;
  let countedAt = now();
  return {
    take(count: number): boolean {
      remainingMessages = Math.min(
        MAX_RATE,
        remainingMessages + ((now() - countedAt) / 1_000) * MAX_RATE,
      );
      countedAt = now();
      if (count > remainingMessages) return false;
      remainingMessages -= count;
      return true;
    },
  };
}

/** Messages that are buffered until the client reads. */
function createOutput(onClose: () => void) {
  const pendingTexts: string[] = [];
  let canPush = false;
  function flush(): void {
    while (canPush && pendingTexts.length) canPush = stream.push(pendingTexts.shift());
  }
  const stream = new Readable({
    read() {
      canPush = true;
      flush();
    },
    destroy(error, done) {
      onClose();
      done(error);
    },
  });
  return {
    stream,
    pending: () => pendingTexts.length,
    send(text: string): void {
      pendingTexts.push(text);
      flush();
    },
    end(): void {
      for (const text of pendingTexts.splice(0)) stream.push(text);
      stream.push(null);
    },
  };
}

interface ConnectionOptions {
  operator: Operator;
  position: ChangePosition;
  now(): number;
  onClose(): void;
}

export function createConnection({
  operator,
  position,
  now,
  onClose,
}: ConnectionOptions): Connection {
  const output = createOutput(onClose);
  const budget = createBudget(now);
  /** Position up to which all changes were sent or are covered by the pending reset. */
  let currentPosition = position;
  /** Batches that arrive before `begin`, or undefined afterwards. */
  let bufferedBatches: Batch[] | undefined = [];
  let isResetDue = false;
  let isClosed = false;
  let lastResetAt = -RESET_MS;
  let lastSentAt = now();

  function send(text: string): void {
    lastSentAt = now();
    output.send(text);
  }

  function sendAll(messages: readonly Message[]): boolean {
    const hasCapacity = output.pending() + messages.length <= MAX_PENDING;
    if (!hasCapacity || !budget.take(messages.length)) return false;
    for (const each of messages) send(eventText('change', each.position, each.data));
    return true;
  }

  function tick(): void {
    if (isClosed || bufferedBatches) return;
    const hasRoom = output.pending() < MAX_PENDING;
    if (isResetDue && hasRoom && now() - lastResetAt >= RESET_MS) {
      send(eventText('reset', currentPosition, {}));
      lastResetAt = now();
      isResetDue = false;
    }
    if (output.pending() === 0 && now() - lastSentAt >= HEARTBEAT_MS) {
      send(`: heartbeat\nid: ${cursorText(currentPosition)}\n\n`);
    }
  }

  function receive(batch: Batch): void {
    if (isClosed) return;
    if (bufferedBatches) return void bufferedBatches.push(batch);
    if (!isResetDue) {
      const messages = messagesFor(operator, currentPosition, batch);
      isResetDue = !sendAll(messages) && !sendAll(lastOfEach(messages));
    }
    currentPosition = laterOf(currentPosition, batch.position);
    tick();
  }

  function reset(to: ChangePosition): void {
    isResetDue = true;
    if (bufferedBatches) bufferedBatches = [];
    currentPosition = laterOf(currentPosition, to);
    tick();
  }

  return {
    operator,
    stream: output.stream,
    receive,
    reset,
    tick,
    begin(resume) {
      const waitingBatches = bufferedBatches ?? [];
      bufferedBatches = undefined;
      if (isClosed) return;
      if (resume === 'reset') isResetDue = true;
      else if (resume && !isResetDue) currentPosition = resume.from;
      send(`retry: ${RETRY_MS}\n${eventText('ready', currentPosition, {})}`);
      if (typeof resume === 'object') receive(resume.missedChanges);
      for (const each of waitingBatches) receive(each);
      tick();
    },
    end(reason) {
      if (isClosed) return;
      isClosed = true;
      if (bufferedBatches) output.send(`retry: ${RETRY_MS}\n`);
      output.send(eventText('end', currentPosition, { reason }));
      output.end();
    },
  };
}
