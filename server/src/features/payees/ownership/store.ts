// The pending challenge of an account. Its row has the ID of the account and is deleted when the
// challenge closes, so a nonce is used once. Only the hash of a liveness token is stored.
import { contentionFault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

export const OWNERSHIP_METHODS = ['WALLET_SIGNATURE', 'LIVENESS'] as const;
export type OwnershipMethod = (typeof OWNERSHIP_METHODS)[number];

export const ownershipChallenges = table(
  'ownership_challenges',
  {
    /** ID of the account. */
    id: col.text,
    platform_id: col.text,
    method: col.enum<OwnershipMethod>().mut,
    /** Distinguishes this challenge from the previous one. */
    nonce: col.text.mut,
    /** The exact message to sign. Null for LIVENESS. */
    message: col.text.null.mut,
    /** Null for WALLET_SIGNATURE. */
    token_hash: col.text.null.mut,
    issued_at: col.time.mut,
    expires_at: col.time.mut,
    version: col.int4,
  },
  {
    unique: {
      ownership_challenges_pkey: () =>
        contentionFault('Another challenge was created at the same time.'),
    },
    // On conflict the operation runs again and replaces the other challenge.
    contendedKeys: ['ownership_challenges_pkey'],
  },
);

export type OwnershipChallengeRow = RowOf<typeof ownershipChallenges>;
