// The fictitious bank of the example: determines the states of an accepted payment.
import type { Transfer, TransferState } from '../../packages/sdk/src/providers.ts';

/**
 * Returns the states after the acceptance. In the test mode, the remittance information selects them, as the
 * conformance kit requires. In production the payer enters this text, so it is ignored.
 */
export function resultsOf(transfer: Transfer, isTest: boolean): TransferState[] {
  const settledState: TransferState = { state: 'settled', reference: transfer.reference };
  const outcomes: Readonly<Record<string, TransferState[]>> = {
    'TEST FAILED': [{ state: 'failed', reason: 'ACCOUNT_INVALID' }],
    'TEST RETURNED': [settledState, { state: 'returned', reason: 'ACCOUNT_CANNOT_RECEIVE' }],
    'TEST HELD': [],
  };
  return (isTest && outcomes[transfer.remittanceInformation ?? '']) || [settledState];
}
