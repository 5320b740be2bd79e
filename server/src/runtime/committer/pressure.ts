// Whether requests need all the time there is. The event loop tells how busy this process is and the
// committer whether that is on behalf of requests; work that can wait, such as telling about payments, holds
// back while both are so. Measured over short stretches, since either alone swings from tick to tick.
import { performance } from 'node:perf_hooks';

const STRETCH_MS = 100;
/** Share of a stretch in which the loop was not idle. */
const BUSY = 0.8;
/** Change sets of a stretch from which on requests are said to be coming in. */
const MANY = 20;

/**
 * A meter over a committer's count of change sets; reading it costs next to nothing. `aside` counts those of
 * work that holds back itself: it would otherwise take its own for those of requests.
 */
function createPressureMeter(
  committer: { stats(): { units: number; writing: number } },
  aside: () => number = () => 0,
): () => boolean {
  let loop = performance.eventLoopUtilization();
  let since = performance.now();
  let units = 0;
  let pressed = false;
  return () => {
    const now = performance.now();
    if (now - since < STRETCH_MS) return pressed;
    const next = performance.eventLoopUtilization();
    const share = performance.eventLoopUtilization(next, loop).utilization;
    // What is done, not what was begun: the two sides of the difference are then of one moment.
    const stats = committer.stats();
    const written = stats.units - stats.writing - aside();
    const rate = ((written - units) * STRETCH_MS) / (now - since);
    pressed = share > BUSY && rate > MANY;
    loop = next;
    since = now;
    units = written;
    return pressed;
  };
}

/** The meter of a server. Imports hold back by themselves, so what they write is not counted. */
export function pressureOn(committer: Parameters<typeof createPressureMeter>[0]) {
  let imported = 0;
  const pressed = createPressureMeter(committer, () => imported);
  const written = () => {
    imported++;
  };
  return { pressed, written };
}
