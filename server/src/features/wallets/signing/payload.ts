// Payloads to sign are activities in the format of existing wallet clients. A payload is canonical JSON,
// stored as text and never rebuilt. Each payload is unique, because it contains the request ID or other
// unique data.
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
  { type, parameters, ...options }: Activity,
  { requestId, now }: { requestId?: string; now: Time },
): string =>
  canonical({
    ...options,
    type: `ACTIVITY_TYPE_${type}`,
    organizationId: wallet.organization_id,
    timestampMs: String(now),
    parameters: { ...parameters, requestId },
  });
