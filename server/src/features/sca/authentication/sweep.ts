// Retention of strong customer authentication. Unconfirmed enrollments are deleted after expiry,
// because they contain secrets. Challenges are deleted 30 days after expiry, because their results
// are permanent events. The quote expiry job treats a deleted challenge as expired.
import { retentionSweep } from '../../../runtime/db/retention.ts';

const INTERVAL_MS = 60_000;
/** Kept for the investigation of complaints. */
const CHALLENGES_MS = 30 * 24 * 3_600_000;

export const scaSweep = () =>
  retentionSweep(
    'sca.purge',
    [
      { table: 'sca_enrollments', time: 'expires_at', keepMs: 0 },
      { table: 'sca_challenges', time: 'expires_at', keepMs: CHALLENGES_MS },
    ],
    INTERVAL_MS,
  );
