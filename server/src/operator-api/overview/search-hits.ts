// Kinds of search results, with the permission that each requires, and the filter by permission and
// platform.
import type { Operator } from '../../kernel/caller.ts';
import type { OperatorPermission } from '../../kernel/contract/operator-permissions.ts';

export const HIT_PERMISSIONS = {
  AGENT: 'agents.read',
  BENEFICIAL_OWNER: 'customers.read',
  CARD: 'cards.read',
  CUSTOMER: 'customers.read',
  EVENT: 'webhooks.read',
  EXTERNAL_ACCOUNT: 'accounts.read',
  INTERNAL_ACCOUNT: 'accounts.read',
  PAYMENT: 'payments.read',
  PLATFORM: 'platforms.read',
  QUOTE: 'payments.read',
  REQUEST: 'requests.read',
} as const satisfies Record<string, OperatorPermission>;

export type HitKind = keyof typeof HIT_PERMISSIONS;

export const MATCHES = [
  'ID',
  'REFERENCE',
  'BANK_REFERENCE',
  'EMAIL',
  'PHONE',
  'IDENTIFIER',
  'FULL_NAME',
  'WORDS_OF_NAME',
  'UMA_ADDRESS',
  'PLATFORM_CUSTOMER_ID',
  'BENEFICIARY_NAME',
  'ACCOUNT_NUMBER',
  'CARD_NUMBER',
  'AMOUNT',
] as const;

export type MatchedBy = (typeof MATCHES)[number];

/** A result without personal data. */
export interface Hit {
  kind: HitKind;
  id: string;
  platformId: string;
  customerId: string | null;
  title: string;
  matchedBy: MatchedBy;
}

export const MAX_HITS = 50;

/** The hits that the operator may read, in order and without duplicates. */
export function visibleHits(
  { permissions, platformIds }: Operator,
  platformId: string | undefined,
  hits: readonly Hit[],
): Hit[] {
  const includedIds = new Set<string>();
  const isVisible = (hit: Hit) =>
    permissions.includes(HIT_PERMISSIONS[hit.kind]) &&
    (platformIds === null || platformIds.includes(hit.platformId)) &&
    (platformId === undefined || hit.platformId === platformId);
  return hits.filter((hit) => {
    if (includedIds.has(hit.id) || !isVisible(hit)) return false;
    includedIds.add(hit.id);
    return true;
  });
}
