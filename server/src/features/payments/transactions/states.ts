// The lifecycles of outgoing payments, incoming payments and refunds, as tables. A completed
// payment can still fail if a bank returns it. A canceled payment completes when its funds are
// returned.
import { stateTable } from '../../../kernel/states.ts';

export type OutgoingStatus =
  | 'PENDING'
  | 'PENDING_AUTHORIZATION'
  | 'PROCESSING'
  | 'COMPLETED'
  | 'FAILED'
  | 'EXPIRED';

export const FAILURE_REASONS = {
  OUTGOING: [
    'QUOTE_EXPIRED',
    'QUOTE_RATE_UNAVAILABLE',
    'QUOTE_EXECUTION_FAILED',
    'FUNDING_AMOUNT_MISMATCH',
    'SCA_NOT_COMPLETED',
    'PAYOUT_RETURNED',
    'LIMIT_EXCEEDED',
    'ACCOUNT_CANNOT_RECEIVE',
    'ACCOUNT_INVALID',
    'COMPLIANCE_REJECTED',
    'LIGHTNING_PAYMENT_FAILED',
    'COUNTERPARTY_POST_TX_FAILED',
  ],
  INCOMING: [
    'LNURLP_FAILED',
    'PAY_REQUEST_FAILED',
    'PAYMENT_APPROVAL_WEBHOOK_ERROR',
    'PAYMENT_APPROVAL_TIMED_OUT',
    'OFFRAMP_FAILED',
    'MISSING_MANDATORY_PAYEE_DATA',
    'QUOTE_EXPIRED',
    'QUOTE_EXECUTION_FAILED',
    'COMPLIANCE_REJECTED',
    'COLLECTION_FAILED',
  ],
} as const;

export type FailureReason = (typeof FAILURE_REASONS)['OUTGOING' | 'INCOMING'][number];

export type IncomingStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED';

type IncomingEvent = 'accept' | 'settle' | 'fail' | 'return';

export const incomingStates = stateTable<IncomingStatus, IncomingEvent>('incoming payment', {
  PENDING: { accept: 'PROCESSING', settle: 'COMPLETED', fail: 'FAILED' },
  PROCESSING: { settle: 'COMPLETED', fail: 'FAILED' },
  COMPLETED: { return: 'FAILED' },
  FAILED: {},
});

export type PaymentEvent =
  | 'authorize'
  | 'release'
  | 'start'
  | 'settle'
  | 'fail'
  | 'return'
  | 'expire';

export const outgoingStates = stateTable<OutgoingStatus, PaymentEvent>('outgoing payment', {
  PENDING: {
    authorize: 'PENDING_AUTHORIZATION',
    start: 'PROCESSING',
    expire: 'EXPIRED',
    // A payment requested by an agent and not approved.
    fail: 'FAILED',
  },
  // `release`: an authorized payment awaits its funds.
  PENDING_AUTHORIZATION: { release: 'PENDING', start: 'PROCESSING', fail: 'FAILED' },
  PROCESSING: { settle: 'COMPLETED', fail: 'FAILED' },
  COMPLETED: { return: 'FAILED' },
  FAILED: {},
  EXPIRED: {},
});

export type RefundStatus = 'NONE' | 'PENDING' | 'COMPLETED' | 'FAILED';

export const refundStates = stateTable<RefundStatus, 'open' | 'pay' | 'fail' | 'resolve'>(
  'refund',
  {
    NONE: { open: 'PENDING' },
    PENDING: { pay: 'COMPLETED', fail: 'FAILED' },
    COMPLETED: {},
    // An operator returned the funds from suspense.
    FAILED: { resolve: 'COMPLETED' },
  },
);
