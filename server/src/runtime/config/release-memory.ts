// Returns memory that was only needed to start. V8 keeps the heap at the size that it had while the
// server started, and collects rarely when idle, so an idle process would hold 50 MB it never uses.
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';

/** Several collections are needed: each shrinks the heap by a part. */
const COLLECTIONS = 3;
/** Pause before each, so that requests are served in between; one takes about 30 ms. */
const PAUSE_MS = 500;

/** Collects garbage a few times. A process that ends does not wait for it. */
export async function releaseStartMemory(): Promise<void> {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  v8.setFlagsFromString('--no-expose-gc');
  for (let left = COLLECTIONS; left > 0; left--) {
    await sleep(PAUSE_MS, undefined, { ref: false });
    collect();
  }
}
