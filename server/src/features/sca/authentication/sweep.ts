// What of strong authentication is of no use after a while: enrolments that nobody confirmed in time, whose
// secret should not lie about, sealed as it is, and challenges. What came of those is in the events, for
// good; a payment that waited for one has failed at its end (`quotes.lapse`), which takes one that is gone
// for lapsed.
import { retentionSweep } from '../../../runtime/db/retention.ts';

const LOOK_EVERY_MS = 60_000;
/** For whoever looks into a complaint. */
const CHALLENGES_MS = 30 * 24 * 3_600_000;

export const scaSweep = () =>
  retentionSweep(
    'sca.forget',
    [
      { table: 'sca_enrollments', time: 'expires_at', keepMs: 0 },
      { table: 'sca_challenges', time: 'expires_at', keepMs: CHALLENGES_MS },
    ],
    LOOK_EVERY_MS,
  );
