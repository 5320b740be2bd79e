// Detects whether requests need the full capacity. The utilization of the event loop measures the
// load of this process, and the committer's count of change sets measures the load of requests.
// Deferrable work such as webhook deliveries is throttled while both values are high.
import { performance } from 'node:perf_hooks';

const INTERVAL_MS = 100;
/** Utilization of the event loop above which the process counts as busy. */
const BUSY_UTILIZATION = 0.8;
/** Change sets per interval above which requests count as load. */
const MIN_CHANGE_SETS = 20;

/**
 * A meter over a committer's count of change sets. `throttledCount` returns the change sets of work
 * that throttles itself, which are excluded.
 */
function createPressureMeter(
  committer: { stats(): { units: number; writing: number } },
  throttledCount: () => number = () => 0,
): () => boolean {
  let lastUtilization = performance.eventLoopUtilization();
  let startMs = performance.now();
  let lastUnits = 0;
  let isUnderLoad = false;
  return () => {
    const now = performance.now();
    if (now - startMs < INTERVAL_MS) return isUnderLoad;
    const utilization = performance.eventLoopUtilization();
    const share = performance.eventLoopUtilization(utilization, lastUtilization).utilization;
    // Only completed work is counted, so that both values are from the same time.
    const stats = committer.stats();
    const writtenUnits = stats.units - stats.writing - throttledCount();
    const rate = ((writtenUnits - lastUnits) * INTERVAL_MS) / (now - startMs);
    isUnderLoad = share > BUSY_UTILIZATION && rate > MIN_CHANGE_SETS;
    lastUtilization = utilization;
    startMs = now;
    lastUnits = writtenUnits;
    return isUnderLoad;
  };
}

/** The meter of a server. Imports throttle themselves, so their change sets are not counted. */
export function pressureOn(committer: Parameters<typeof createPressureMeter>[0]) {
  let importedCount = 0;
  const isUnderLoad = createPressureMeter(committer, () => importedCount);
  const countWrite = () => {
    importedCount++;
  };
  return { isUnderLoad, countWrite };
}
