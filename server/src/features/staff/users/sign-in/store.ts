// Sessions of operator users, challenges that were used, and their retention.
import { Fault } from '../../../../kernel/fault.ts';
import { retentionSweep } from '../../../../runtime/db/retention.ts';
import { col, type RowOf, table } from '../../../../runtime/db/table.ts';

export type SignInMethod = 'PASSKEY' | 'PASSWORD' | 'IDENTITY_PROVIDER';

export const operatorSessions = table('operator_sessions', {
  id: col.text,
  user_id: col.text,
  method: col.enum<SignInMethod>(),
  /** SHA-256 of the secret in the cookie, hex. */
  secret_hash: col.text,
  /** SHA-256 of the cookie of the browser that signed in, hex. */
  device_hash: col.text,
  address: col.text.null,
  expires_at: col.time,
  used_at: col.time.mut,
  ended_at: col.time.null.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
});

export type SessionRow = RowOf<typeof operatorSessions>;

/** `id` is the hash of a challenge. */
export const usedChallenges = table(
  'operator_used_challenges',
  { id: col.text, created_at: col.time },
  {
    unique: {
      operator_used_challenges_pkey: () =>
        new Fault('CONFLICT', 'This sign-in was already completed. Begin the sign-in again.'),
    },
  },
);

const DAY_MS = 86_400_000;

/**
 * Deletes sessions and links 30 days after their expiry. Deletes used challenges after one day,
 * because challenges expire after ten minutes.
 */
export const signInSweep = () =>
  retentionSweep('staff.expire', [
    { table: 'operator_sessions', time: 'expires_at', keepMs: 30 * DAY_MS },
    { table: 'operator_links', time: 'expires_at', keepMs: 30 * DAY_MS },
    { table: 'operator_used_challenges', time: 'created_at', keepMs: DAY_MS },
  ]);
