// Limits the changes of platforms that execute concurrently while card authorizations arrive. An issuer
// waits for the response in the same call, so authorizations do not wait for changes. Changes start
// alternately for each waiting platform. Without authorizations the number of changes is unlimited for the
// highest throughput.

/**
 * Concurrent changes. In measurements, a lower number reduces the throughput and a higher number delays
 * authorizations.
 */
const MAX_CHANGES = 20;
/** Time after an authorization for which the limit applies, because further authorizations are likely. */
const LIMITED_MS = 2_000;

/**
 * Maximum time for which a change occupies a slot. Afterwards the next change starts, although the first
 * change continues.
 */
const HELD_MS = 250;

export interface Slots {
  /** Runs a change of an owner as soon as a slot is free. Authorizations do not use slots. */
  run<R>(owner: string, work: () => Promise<R>): Promise<R>;
  /** Limits the changes for a time, because a card authorization arrived. */
  prioritizeAuthorizations(): void;
}

export function createSlots(now = () => performance.now()): Slots {
  let limitedUntil = 0;
  let runningCount = 0;
  /** Waiting changes of each owner. The next change is of the first owner. */
  const queues = new Map<string, (() => void)[]>();

  const isFree = () => runningCount < MAX_CHANGES || now() >= limitedUntil;

  function wait(owner: string): Promise<void> {
    return new Promise((start) => {
      const queue = queues.get(owner);
      if (queue) queue.push(start);
      else queues.set(owner, [start]);
    });
  }

  function startNext(): boolean {
    const [nextEntry] = queues;
    if (!nextEntry || !isFree()) return false;
    const [owner, starts] = nextEntry;
    const [start, ...queue] = starts;
    queues.delete(owner);
    if (queue.length > 0) queues.set(owner, queue);
    runningCount += 1;
    start?.();
    return true;
  }

  return {
    async run(owner, work) {
      if (queues.size === 0 && isFree()) runningCount += 1;
      else await wait(owner);
      let isHeld = true;
      const release = () => {
        if (!isHeld) return;
        isHeld = false;
        runningCount -= 1;
        // Starts several changes if the limit no longer applies.
        while (startNext());
      };
      const timer = setTimeout(release, HELD_MS).unref();
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        release();
      }
    },
    prioritizeAuthorizations() {
      limitedUntil = now() + LIMITED_MS;
    },
  };
}
