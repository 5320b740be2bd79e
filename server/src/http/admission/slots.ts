// Limits the changes of platforms that execute at the same time, while card authorizations arrive. An
// issuer waits for the answer in the same call, so that authorizations pass the changes that wait.
// Platforms take turns. Without authorizations there is no limit, which gives the highest throughput.

/** Changes at the same time. Measured: fewer reduce the throughput, more delay authorizations. */
const REDUCED = 20;
/** Time after an authorization during which others are expected. */
const EXPECTED_MS = 2_000;

export interface Slots {
  /** Runs a change of an owner as soon as a slot is free. Authorizations do not use slots. */
  run<R>(owner: string, work: () => Promise<R>): Promise<R>;
  /** Limits the changes for a time: a card authorization arrived. */
  giveWay(): void;
}

export function createSlots(now = () => performance.now()): Slots {
  let reducedUntil = 0;
  let running = 0;
  /** Waiting changes of each owner; the first owner is next. */
  const waiting = new Map<string, (() => void)[]>();

  const isFree = () => running < REDUCED || now() >= reducedUntil;

  function wait(owner: string): Promise<void> {
    return new Promise((start) => {
      const others = waiting.get(owner);
      if (others) others.push(start);
      else waiting.set(owner, [start]);
    });
  }

  function startNext(): boolean {
    const [next] = waiting;
    if (!next || !isFree()) return false;
    const [owner, starts] = next;
    const [start, ...others] = starts;
    waiting.delete(owner);
    if (others.length > 0) waiting.set(owner, others);
    running += 1;
    start?.();
    return true;
  }

  return {
    async run(owner, work) {
      if (waiting.size === 0 && isFree()) running += 1;
      else await wait(owner);
      try {
        return await work();
      } finally {
        running -= 1;
        // Several if the time has ended.
        while (startNext());
      }
    },
    giveWay() {
      reducedUntil = now() + EXPECTED_MS;
    },
  };
}
