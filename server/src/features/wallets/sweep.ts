// What of wallets is of no use after a while: requests to sign that nobody can answer any more, and the keys
// of one-time codes that have run out. What a wallet has signed is never deleted.
import { retentionSweep } from '../../runtime/db/retention.ts';

const DAY_MS = 24 * 3_600_000;
/** Often, because a key that is of no use any more should not lie about. */
const INTERVAL_MS = 60_000;

export const walletSweep = () =>
  retentionSweep(
    'wallets.forget',
    [
      { table: 'otp_targets', time: 'expires_at', keepMs: 0 },
      { table: 'wallet_requests', time: 'created_at', keepMs: DAY_MS },
    ],
    INTERVAL_MS,
  );
