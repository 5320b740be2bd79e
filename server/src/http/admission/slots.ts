// Limits the changes of platforms that execute concurrently while card authorizations arrive. An
// issuer waits for the response in the same call, so authorizations do not wait for changes.
// Waiting platforms are served in turn. Without authorizations there is no limit, which gives the
// highest throughput.

/** Concurrent changes. Measured: fewer reduce the throughput, more delay authorizations. */
const MAX_CHANGES = 20;
/** Time after an authorization for which the limit applies, because others are likely. */
const LIMITED_MS = 2_000;

/**
 * Maximum time for which a change occupies a slot. Afterwards the next change starts, although this one
 * continues.
 */
const HELD_MS = 250;

export interface Slots {
  /** Runs a change of an owner as soon as a slot is free. Authorizations do not use slots. */
  run<R>(owner: string, work: () => Promise<R>): Promise<R>;
  /** Limits the changes for a time, because a card authorization arrived. */
  prioritizeAuthorizations(): void;
}

export function createSlots(now = () => performance.now()): Slots {
  let reducedUntil = 0;
  let running = 0;
  /** Waiting changes of each owner. The first owner is next. */
  const waiting = new Map<string, (() => void)[]>();

  const isFree = () => running < MAX_CHANGES || now() >= reducedUntil;

  function wait(owner: string): Promise<void> {
    return new Promise((start) => {
      const queue = waiting.get(owner);
      if (queue) queue.push(start);
      else waiting.set(owner, [start]);
    });
  }

  function startNext(): boolean {
    const [next] = waiting;
    if (!next || !isFree()) return false;
    const [owner, starts] = next;
    const [start, ...queue] = starts;
    waiting.delete(owner);
    if (queue.length > 0) waiting.set(owner, queue);
    running += 1;
    start?.();
    return true;
  }

  return {
    async run(owner, work) {
      if (waiting.size === 0 && isFree()) running += 1;
      else await wait(owner);
      let isHeld = true;
      const release = () => {
        if (!isHeld) return;
        isHeld = false;
        running -= 1;
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
      reducedUntil = now() + LIMITED_MS;
    },
  };
}
