// What a wallet is asked to sign: an activity, as clients of such wallets know it. Compact JSON with sorted
// names, so that it has one text; the text is stored and signed as it is and never made again. The id of the
// request is in it, so that no two are alike; what belongs to no request says itself what tells it apart.
import { canonical } from '../../../kernel/crypto/canonical.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { WalletRow } from '../store.ts';

export interface Activity {
  /** Without `ACTIVITY_TYPE_`. */
  type: string;
  parameters: Record<string, unknown>;
  generateAppProofs?: boolean;
}

export const activityText = (
  wallet: Pick<WalletRow, 'organization_id'>,
  { type, parameters, ...more }: Activity,
  { requestId, now }: { requestId?: string; now: Time },
): string =>
  canonical({
    ...more,
    type: `ACTIVITY_TYPE_${type}`,
    organizationId: wallet.organization_id,
    timestampMs: String(now),
    parameters: { ...parameters, requestId },
  });
