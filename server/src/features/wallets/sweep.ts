// What of wallets is of no use after a while: requests to sign that nobody can answer any more, the keys of
// one-time codes that have run out, and tries that no limit counts. It is deleted in small bites, oldest
// first. What a wallet has signed is never deleted.
import type { Time } from '../../kernel/world.ts';
import type { Sweep } from '../../runtime/jobs.ts';

const DAY_MS = 24 * 3_600_000;
/** Often, because a key that is of no use any more should not lie about. */
const LOOK_EVERY_MS = 60_000;
const AT_ONCE = 5_000;

const forget = (table: string, time: string) => `delete from ${table} where id in (
  select id from ${table} where ${time} < $1 order by ${time} limit ${AT_ONCE}) returning 1`;

/** Each statement with how long after its time a row is kept. */
const RULES: readonly { sql: string; keepMs: number }[] = [
  { sql: forget('otp_targets', 'expires_at'), keepMs: 0 },
  { sql: forget('wallet_requests', 'created_at'), keepMs: DAY_MS },
  { sql: forget('tries', 'updated_at'), keepMs: DAY_MS },
];

export function walletSweep(): Sweep {
  let next: Time = 0;
  return {
    name: 'wallets.forget',
    async run({ world, db }) {
      const now = world.now();
      if (now < next) return 0;
      let isDone = true;
      let gone = 0;
      for (const { sql, keepMs } of RULES) {
        const { length } = await db.query(sql, [new Date(now - keepMs)]);
        gone += length;
        isDone &&= length < AT_ONCE;
      }
      if (isDone) next = now + LOOK_EVERY_MS;
      return gone;
    },
  };
}
