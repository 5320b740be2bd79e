// Events that wait in one lane. Events of one resource leave the queue one at a time, so that the
// events of a payment remain in order. Balance events are sent concurrently, because a busy account
// emits them faster than a distant receiver can respond sequentially. The cost of an event does not
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
  readonly isReady: boolean;
  push(event: DueEvent): void;
  /** Takes the earliest event that is a balance event or whose resource has no event in flight. */
  take(): DueEvent | undefined;
  /** Completes a taken event. The next event of its resource can then be taken. */
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

/** Number of removed items at which their array is compacted. */
const COMPACT_AT = 1_024;

function createFifo(): Fifo {
  let items: Item[] = [];
  let headIndex = 0;
  return {
    get head() {
      return items[headIndex];
    },
    push: (item) => void items.push(item),
    insert(item) {
      let index = items.length;
      while (index > headIndex && (items[index - 1] as Item).at > item.at) index--;
      items.splice(index, 0, item);
    },
    shift() {
      const item = items[headIndex];
      if (!item) return undefined;
      headIndex++;
      if (headIndex === items.length || headIndex >= COMPACT_AT) {
        items = items.slice(headIndex);
        headIndex = 0;
      }
      return item;
    },
    items: () => items.slice(headIndex),
  };
}

/** Whether events of this subject are delivered sequentially. */
const isInOrder = (event: DueEvent) => event.balance === null;

export function createLaneQueue(): LaneQueue {
  let arrivalCount = 0;
  let size = 0;
  /** Events that can be taken: newly arrived events, and events whose predecessor is completed. */
  let arrivals = createFifo();
  let successors = createFifo();
  /**
   * Later events of each resource with an event in `arrivals`, in `successors` or in flight, or
   * null if there are none.
   */
  let chains = new Map<string, Fifo | null>();
  /** Resources with an event in flight. */
  const subjectsInFlight = new Set<string>();

  function insertOrdered(item: Item): void {
    size++;
    const { subject } = item.event;
    const chain = isInOrder(item.event) ? chains.get(subject) : undefined;
    if (chain) chain.push(item);
    else if (chain === undefined) {
      if (isInOrder(item.event)) chains.set(subject, null);
      arrivals.push(item);
    } else {
      const fifo = createFifo();
      fifo.push(item);
      chains.set(subject, fifo);
    }
  }

  function selectEarliestFifo(): Fifo {
    const [a, b] = [arrivals.head, successors.head];
    return b && (!a || b.at < a.at) ? successors : arrivals;
  }

  return {
    get size() {
      return size;
    },
    get isReady() {
      return arrivals.head !== undefined || successors.head !== undefined;
    },
    push: (event) => insertOrdered({ event, at: arrivalCount++ }),
    take() {
      const event = selectEarliestFifo().shift()?.event;
      if (!event) return undefined;
      size--;
      if (isInOrder(event)) subjectsInFlight.add(event.subject);
      return event;
    },
    end(event) {
      if (!isInOrder(event)) return;
      subjectsInFlight.delete(event.subject);
      const nextEvent = chains.get(event.subject)?.shift();
      if (nextEvent) successors.insert(nextEvent);
      else chains.delete(event.subject);
    },
    shorten(maximum) {
      if (size <= maximum) return [];
      const chainedItems = [...chains.values()].flatMap((chain) => chain?.items() ?? []);
      const queuedItems = [...arrivals.items(), ...successors.items(), ...chainedItems].sort(
        (a, b) => a.at - b.at,
      );
      [arrivals, successors, size] = [createFifo(), createFifo(), 0];
      chains = new Map([...subjectsInFlight].map((subject) => [subject, null]));
      queuedItems.slice(0, maximum).forEach(insertOrdered);
      return queuedItems.slice(maximum).map((item) => item.event);
    },
  };
}
