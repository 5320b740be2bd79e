// The clock of a sandbox platform. If the clock was advanced, times are shown as dates, because "2 hours ago"
// could refer to either clock.
import { createContext, use } from 'react';
import { useReply } from '../api/queries.ts';

/** Whether the clock of the platform on the screen was advanced or frozen. */
export const AdvancedClockContext = createContext(false);

export const useIsClockAdvanced = (): boolean => use(AdvancedClockContext);

const REFRESH_MS = 15_000;
/** Differences below this are ignored, because the clock was read some seconds ago. */
const TOLERANCE_MS = 120_000;

/** The time of a sandbox platform whose clock was advanced or frozen, or undefined. */
export function useAdvancedClock(sandboxId: string | undefined): string | undefined {
  const { data, dataUpdatedAt } = useReply(
    'getPlatformClock',
    { path: { platformId: sandboxId ?? '' } },
    { enabled: sandboxId !== undefined, refetchInterval: () => REFRESH_MS },
  );
  if (sandboxId === undefined || data?.platformId !== sandboxId) return undefined;
  const difference = Math.abs(Date.parse(data.currentTime) - dataUpdatedAt);
  const isAdvanced = data.frozen || difference > TOLERANCE_MS;
  return isAdvanced ? data.currentTime : undefined;
}
