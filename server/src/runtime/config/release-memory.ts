// Returns unused memory to the operating system while the process is idle. V8 keeps the heap, in
// particular the young generation, at its size under load or during the start. V8 collects rarely
// while the process is idle. An idle process would hold 50 MB of unused memory, and 190 MB after a burst.
import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import vm from 'node:vm';

/** Longer than the 5 s of little allocation after which V8 shrinks the young generation in a collection. */
const PERIOD_MS = 6_000;
/** Share of the event loop below which a period is idle. */
const IDLE_UTILIZATION = 0.05;
/** Minimum unused bytes for a collection, which blocks the process for 30 to 60 ms. */
const MIN_UNUSED_BYTES = 10 * 2 ** 20;
/**
 * Maximum collections in an idle period. The first collection prepares the heap, and the second
 * shrinks it.
 */
const MAX_COLLECTIONS = 3;

/** The result of one observation. */
interface Observation {
  /** Share of the period in which the event loop was busy. */
  utilization: number;
  /** Allocated but unused bytes of the heap. */
  unusedBytes: number;
}

/** Collects after idle periods, at most MAX_COLLECTIONS times until the next busy period. */
export function createIdleCollector(collect: () => void) {
  let collectionCount = 0;
  return ({ utilization, unusedBytes }: Observation): void => {
    if (utilization >= IDLE_UTILIZATION) {
      collectionCount = 0;
      return;
    }
    if (unusedBytes < MIN_UNUSED_BYTES || collectionCount >= MAX_COLLECTIONS) return;
    collectionCount++;
    collect();
  };
}

function readUnusedBytes(): number {
  const { total_heap_size: heapSize, used_heap_size: usedBytes } = v8.getHeapStatistics();
  return heapSize - usedBytes;
}

/** The function that collects garbage, which Node offers to scripts only with a flag. */
function createCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  v8.setFlagsFromString('--no-expose-gc');
  return collect;
}

/** Collects garbage after the start, and later while idle. The timer does not keep the process running. */
export function releaseIdleMemory(): void {
  const collect = createCollector();
  const observe = createIdleCollector(collect);
  collect();
  let lastUtilization = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, lastUtilization);
    lastUtilization = now;
    observe({ utilization, unusedBytes: readUnusedBytes() });
  }, PERIOD_MS);
  timer.unref();
}
