// The imaginary bank of the example: what happens to a payment after it was accepted.
import type { Transfer, TransferState } from '../../packages/sdk/src/providers.ts';

/**
 * The states that follow. In a test mode the text of the payment selects them, as the conformance
 * kit expects; in production the text belongs to the payer and selects nothing.
 */
export function resultsOf(transfer: Transfer, isTest: boolean): TransferState[] {
  const settled: TransferState = { state: 'settled', reference: transfer.reference };
  const outcomes: Readonly<Record<string, TransferState[]>> = {
    'TEST FAILED': [{ state: 'failed', reason: 'ACCOUNT_INVALID' }],
    'TEST RETURNED': [settled, { state: 'returned', reason: 'ACCOUNT_CANNOT_RECEIVE' }],
    'TEST HELD': [],
  };
  return (isTest && outcomes[transfer.remittanceInformation ?? '']) || [settled];
}
