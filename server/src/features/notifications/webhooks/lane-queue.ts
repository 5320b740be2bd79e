// Events that wait in one lane. Events of one resource leave the queue one at a time, which keeps
// a payment's events in order; balance events do not wait for each other, because a busy account
// emits them faster than a distant receiver can respond one by one. The cost of an event does not
// depend on the length of the queue.
import type { DueEvent } from './store.ts';

interface Item {
  readonly event: DueEvent;
  /** Position in the order of arrival. */
  readonly at: number;
}

export interface LaneQueue {
  /** Number of queued events. */
  readonly size: number;
  /** Whether an event can be taken now. */
  readonly ready: boolean;
  push(event: DueEvent): void;
  /** Takes the earliest event whose resource has none in flight. */
  take(): DueEvent | undefined;
  /** Ends a taken event; the next event of its resource can then be taken. */
  end(event: DueEvent): void;
  /** Removes and returns all events after the first `maximum`. */
  shorten(maximum: number): DueEvent[];
}

interface Fifo {
  readonly head: Item | undefined;
  push(item: Item): void;
  /** Inserts an item in the order of arrival, usually near the end. */
  insert(item: Item): void;
  shift(): Item | undefined;
  items(): Item[];
}

const COMPACT_AT = 1_024;

function createFifo(): Fifo {
  let items: Item[] = [];
  let first = 0;
  return {
    get head() {
      return items[first];
    },
    push: (item) => void items.push(item),
    insert(item) {
      let index = items.length;
      while (index > first && (items[index - 1] as Item).at > item.at) index--;
      items.splice(index, 0, item);
    },
    shift() {
      const item = items[first];
      if (!item) return undefined;
      first++;
      if (first === items.length || first >= COMPACT_AT) {
        items = items.slice(first);
        first = 0;
      }
      return item;
    },
    items: () => items.slice(first),
  };
}

/** Whether events of this subject are delivered sequentially. */
const isInOrder = (event: DueEvent) => event.balance === null;

export function createLaneQueue(): LaneQueue {
  let arrived = 0;
  let size = 0;
  /** Events that can be taken: as they arrived, and those that waited for an earlier one. */
  let fresh = createFifo();
  let resumed = createFifo();
  /** Later events of a resource that has one in `fresh`, in `resumed` or in flight. */
  let chains = new Map<string, Fifo | null>();
  /** Resources with an event in flight. */
  const inFlight = new Set<string>();

  function insertOrdered(item: Item): void {
    size++;
    const { subject } = item.event;
    const chain = isInOrder(item.event) ? chains.get(subject) : undefined;
    if (chain) chain.push(item);
    else if (chain === undefined) {
      if (isInOrder(item.event)) chains.set(subject, null);
      fresh.push(item);
    } else {
      const fifo = createFifo();
      fifo.push(item);
      chains.set(subject, fifo);
    }
  }

  function earliestFifo(): Fifo {
    const [a, b] = [fresh.head, resumed.head];
    return b && (!a || b.at < a.at) ? resumed : fresh;
  }

  return {
    get size() {
      return size;
    },
    get ready() {
      return fresh.head !== undefined || resumed.head !== undefined;
    },
    push: (event) => insertOrdered({ event, at: arrived++ }),
    take() {
      const event = earliestFifo().shift()?.event;
      if (!event) return undefined;
      size--;
      if (isInOrder(event)) inFlight.add(event.subject);
      return event;
    },
    end(event) {
      if (!isInOrder(event)) return;
      inFlight.delete(event.subject);
      const next = chains.get(event.subject)?.shift();
      if (next) resumed.insert(next);
      else chains.delete(event.subject);
    },
    shorten(maximum) {
      if (size <= maximum) return [];
      const chained = [...chains.values()].flatMap((chain) => chain?.items() ?? []);
      const all = [...fresh.items(), ...resumed.items(), ...chained].sort((a, b) => a.at - b.at);
      [fresh, resumed, size] = [createFifo(), createFifo(), 0];
      chains = new Map([...inFlight].map((subject) => [subject, null]));
      all.slice(0, maximum).forEach(insertOrdered);
      return all.slice(maximum).map((item) => item.event);
    },
  };
}
