// Writes what came of deliveries, many in one statement, and keeps the leases of those still under way.
// Both change the same `due_at`, so one writer does them in turn and a result is always written over the
// lease that its claim holds at that moment. What cannot be written now stays here and is tried again.
import type { World } from '../../kernel/world.ts';
import type { Database } from '../../runtime/database.ts';
import type { Log } from '../../runtime/log.ts';
import { type Claim, type Outcome, recordOutcomes, releaseClaims, renewClaims } from './store.ts';

export interface RecorderOptions {
  world: World;
  db: Database;
  log: Log;
  leaseMs: number;
  /** Claims that are not through. */
  held(): Claim[];
}

export interface Recorder {
  add(claim: Claim, outcome: Outcome): void;
  /** Gives claims back untried. */
  giveBack(claims: readonly Claim[]): Promise<void>;
  /** Renews leases that are half spent and tries again what could not be written. */
  tick(): void;
  /** Writes everything now; rejects with the database's error. */
  flush(): Promise<void>;
  readonly pending: number;
}

const AT_ONCE = 500;
/** A statement for every few results would cost more than the results are worth. */
const GATHER_MS = 10;

/** Whether the fault lies in the values: trying the same again cannot help. */
const isBadValue = (error: unknown) =>
  /^2[23]/.test(String((error as { code?: unknown } | null)?.code ?? ''));

export function createRecorder(options: RecorderOptions): Recorder {
  const { world, db, log, leaseMs } = options;
  const pending: { claim: Claim; outcome: Outcome }[] = [];
  let writer: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let size = AT_ONCE;

  async function writeSome(): Promise<void> {
    const batch = pending.slice(0, size);
    try {
      await recordOutcomes(
        db,
        batch.map(({ claim, outcome }) => ({ ...outcome, lease: claim.lease })),
      );
      size = Math.min(AT_ONCE, size * 2);
    } catch (error) {
      // Alone, a result that cannot be written holds up only itself.
      const alone = batch.length === 1;
      size = 1;
      if (!isBadValue(error)) throw error;
      if (!alone) return;
      log.error({ err: error, event: batch[0]?.claim.id }, 'delivery cannot be recorded');
    }
    pending.splice(0, batch.length);
  }

  async function writeAll(): Promise<void> {
    while (pending.length) await writeSome();
  }

  async function renew(): Promise<void> {
    const now = world.now();
    const old = options.held().filter((claim) => claim.lease - now < leaseMs / 2);
    if (old.length) await renewClaims(db, old, now + leaseMs);
  }

  /** Puts work behind what is being written already. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = writer.then(work);
    writer = turn.catch(() => undefined);
    return turn;
  }

  function inBackground(work: () => Promise<void>): void {
    inTurn(work).catch((error: unknown) =>
      log.error({ err: error }, 'deliveries not recorded yet'),
    );
  }

  return {
    add(claim, outcome) {
      pending.push({ claim, outcome });
      timer ??= setTimeout(() => {
        timer = undefined;
        inBackground(writeAll);
      }, GATHER_MS);
    },
    giveBack: (claims) => inTurn(() => releaseClaims(db, claims)),
    tick() {
      inBackground(renew);
      if (pending.length) inBackground(writeAll);
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      return inTurn(writeAll);
    },
    get pending() {
      return pending.length;
    },
  };
}
