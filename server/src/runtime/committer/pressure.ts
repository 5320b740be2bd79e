// Detects whether requests need the full capacity. The event loop shows how busy this process is,
// and the committer whether requests cause the load. Deferrable work such as webhook deliveries
// pauses while both are high. Measured over short intervals, since either value alone varies from
// tick to tick.
import { performance } from 'node:perf_hooks';

const INTERVAL_MS = 100;
/** Share of an interval in which the loop was not idle. */
const BUSY_UTILIZATION = 0.8;
/** Change sets per interval above which requests count as load. */
const MIN_CHANGE_SETS = 20;

/**
 * A meter over a committer's count of change sets. `selfThrottled` counts the change sets of work that
 * throttles itself, which are excluded.
 */
function createPressureMeter(
  committer: { stats(): { units: number; writing: number } },
  selfThrottled: () => number = () => 0,
): () => boolean {
  let loop = performance.eventLoopUtilization();
  let since = performance.now();
  let units = 0;
  let isUnderLoad = false;
  return () => {
    const now = performance.now();
    if (now - since < INTERVAL_MS) return isUnderLoad;
    const next = performance.eventLoopUtilization();
    const share = performance.eventLoopUtilization(next, loop).utilization;
    // Completed work, not started work, so that both values are from the same time.
    const stats = committer.stats();
    const written = stats.units - stats.writing - selfThrottled();
    const rate = ((written - units) * INTERVAL_MS) / (now - since);
    isUnderLoad = share > BUSY_UTILIZATION && rate > MIN_CHANGE_SETS;
    loop = next;
    since = now;
    units = written;
    return isUnderLoad;
  };
}

/** The meter of a server. Imports throttle themselves, so their change sets are not counted. */
export function pressureOn(committer: Parameters<typeof createPressureMeter>[0]) {
  let imported = 0;
  const isUnderLoad = createPressureMeter(committer, () => imported);
  const recordWrite = () => {
    imported++;
  };
  return { isUnderLoad, written: recordWrite };
}
