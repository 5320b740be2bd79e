// What of wallets is of no use after a while: requests to sign that nobody can answer any more, and the keys
// of one-time codes that have run out. What a wallet has signed is never deleted.
import { forgetting } from '../../runtime/db/forget.ts';

const DAY_MS = 24 * 3_600_000;
/** Often, because a key that is of no use any more should not lie about. */
const LOOK_EVERY_MS = 60_000;

export const walletSweep = () =>
  forgetting(
    'wallets.forget',
    [
      { table: 'otp_targets', time: 'expires_at', keepMs: 0 },
      { table: 'wallet_requests', time: 'created_at', keepMs: DAY_MS },
    ],
    LOOK_EVERY_MS,
  );
