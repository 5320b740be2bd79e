// The outstanding challenge of an account, one at most: its row has the account's id and goes when the
// challenge is answered, so a nonce can be used once. A liveness token is kept as its hash alone.
import { contended } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

export const OWNERSHIP_METHODS = ['WALLET_SIGNATURE', 'LIVENESS'] as const;
export type OwnershipMethod = (typeof OWNERSHIP_METHODS)[number];

export const ownershipChallenges = table(
  'ownership_challenges',
  {
    /** The account's. */
    id: col.text,
    platform_id: col.text,
    method: col.word<OwnershipMethod>().mut,
    /** Tells this challenge from the one before. */
    nonce: col.text.mut,
    /** What the wallet has to sign, to the letter. */
    message: col.text.null.mut,
    token_hash: col.text.null.mut,
    issued_at: col.time.mut,
    expires_at: col.time.mut,
    version: col.int4,
  },
  {
    unique: {
      ownership_challenges_pkey: () =>
        contended('Another challenge was created at the same time. Retry.'),
    },
    // Decided again with the other one as the challenge that is replaced.
    contendedKeys: ['ownership_challenges_pkey'],
  },
);

export type OwnershipChallengeRow = RowOf<typeof ownershipChallenges>;
