// An internal account: a balance in one currency that we keep for a customer or for the platform. The
// amounts are not here: its ledger account has the same id and is the only place that knows them.
import type { PaymentInstructions } from '../../catalog/payment-instructions.ts';
import { col, type RowOf, table } from '../../runtime/table.ts';

export const INTERNAL_ACCOUNT_TYPES = [
  'INTERNAL_FIAT',
  'INTERNAL_CRYPTO',
  'EMBEDDED_WALLET',
] as const;
export type InternalAccountType = (typeof INTERNAL_ACCOUNT_TYPES)[number];

export const INTERNAL_ACCOUNT_STATUSES = [
  'PENDING',
  'ACTIVE',
  'CLOSED',
  'FROZEN',
  'FAILED',
] as const;
export type InternalAccountStatus = (typeof INTERNAL_ACCOUNT_STATUSES)[number];

export const internalAccounts = table('internal_accounts', {
  id: col.text,
  platform_id: col.text,
  /** Null when the platform itself owns it. */
  customer_id: col.text.null,
  currency: col.text,
  type: col.word<InternalAccountType>(),
  status: col.word<InternalAccountStatus>().mut,
  funding: col.json<PaymentInstructions[]>().mut,
  private_enabled: col.bool.null.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
});

export type InternalAccountRow = RowOf<typeof internalAccounts>;
