// What of strong authentication is of no use after a while: enrolments that nobody confirmed in time. They
// hold a secret, sealed, and it should not lie about.
import { forgetting } from '../../runtime/forget.ts';

const LOOK_EVERY_MS = 60_000;

export const scaSweep = () =>
  forgetting(
    'sca.forget',
    [{ table: 'sca_enrollments', time: 'expires_at', keepMs: 0 }],
    LOOK_EVERY_MS,
  );
