// Retention of counts: the windows of the health end after a day, and a limit counts one day.
import { retentionSweep } from '../../../runtime/db/retention.ts';

const DAY_MS = 24 * 3_600_000;

export const usageSweep = () =>
  retentionSweep('providers.purge', [
    { table: 'provider_calls', time: 'minute', keepMs: 2 * DAY_MS },
    { table: 'provider_usage', time: 'created_at', keepMs: 90 * DAY_MS },
  ]);
