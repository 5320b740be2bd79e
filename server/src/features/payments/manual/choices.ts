// Values that an operator chooses from when recording a result.
import { ACCOUNT_TYPE_ROWS } from '../../../catalog/accounts/account-types.ts';

const TRANSFER_KINDS = ['payout', 'debit'] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

export const MANUAL_CHOICES = {
  /** Networks of the transaction hash of a deposit. */
  networks: [...new Set(Object.values(ACCOUNT_TYPE_ROWS).flatMap((row) => row.network ?? []))],
  /** Failure reasons of a deposit. The first reason is the default. */
  depositFailures: ['COLLECTION_FAILED', 'COMPLIANCE_REJECTED'],
  /** Failure reasons of a transfer. */
  transferFailures: [
    'ACCOUNT_INVALID',
    'ACCOUNT_CANNOT_RECEIVE',
    'COMPLIANCE_REJECTED',
    'LIMIT_EXCEEDED',
    'PAYOUT_RETURNED',
    'QUOTE_EXECUTION_FAILED',
    'COUNTERPARTY_POST_TX_FAILED',
  ],
  /** Kinds of the returned transfer of a payment. */
  transferKinds: TRANSFER_KINDS,
} as const;
