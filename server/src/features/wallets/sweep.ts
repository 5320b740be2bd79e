// Retention of wallets. Signature requests are deleted after a day, and encryption keys of one-time codes at
// expiry. Accepted signatures are never deleted.
import { retentionSweep } from '../../runtime/db/retention.ts';

const DAY_MS = 24 * 3_600_000;
/** Short, so that unusable keys are deleted soon. */
const INTERVAL_MS = 60_000;

export const walletSweep = () =>
  retentionSweep(
    'wallets.purge',
    [
      { table: 'otp_targets', time: 'expires_at', keepMs: 0 },
      { table: 'wallet_requests', time: 'created_at', keepMs: DAY_MS },
    ],
    INTERVAL_MS,
  );
