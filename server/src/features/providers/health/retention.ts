// Retention of counts. The longest health window is a day, and daily limits need the current day only. Older
// rows are retained for investigations.
import { retentionSweep } from '../../../runtime/db/retention.ts';

const DAY_MS = 24 * 3_600_000;

export const usageSweep = () =>
  retentionSweep('providers.purge', [
    { table: 'provider_calls', time: 'minute', keepMs: 2 * DAY_MS },
    { table: 'provider_usage', time: 'created_at', keepMs: 90 * DAY_MS },
  ]);
