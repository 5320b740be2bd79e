// The events that each operation emits in the commit of its request. The test harness reports an event that
// is missing here. Events of later steps (a payout that completes) are in the catalog of webhooks.
import type { EventType } from '../kernel/contract/event.ts';

const EVENTS: Readonly<Record<string, readonly EventType[]>> = {
  agentCreateQuote: ['OUTGOING_PAYMENT.PENDING_AUTHORIZATION'],
  agentCreateTransferIn: ['AGENT_ACTION.PENDING_APPROVAL', 'INCOMING_PAYMENT.PENDING'],
  agentCreateTransferOut: [
    'AGENT_ACTION.PENDING_APPROVAL',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  agentExecuteQuote: [
    'AGENT_ACTION.PENDING_APPROVAL',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.COMPLETED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  approveAgentAction: [
    'INCOMING_PAYMENT.FAILED',
    'INCOMING_PAYMENT.PENDING',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.FAILED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  approvePendingPayment: [
    'INCOMING_PAYMENT.PENDING',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.FAILED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  authorizeQuote: [
    'INCOMING_PAYMENT.COMPLETED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.COMPLETED',
    'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  createCustomer: ['CUSTOMER.KYC_APPROVED', 'CUSTOMER.KYC_PENDING', 'CUSTOMER.KYC_REJECTED'],
  createExternalAccountOwnershipChallenge: ['EXTERNAL_ACCOUNT.STATUS_UPDATED'],
  createPlatformExternalAccountOwnershipChallenge: ['EXTERNAL_ACCOUNT.STATUS_UPDATED'],
  createQuote: [
    'INCOMING_PAYMENT.COMPLETED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.COMPLETED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  createTransferIn: ['INCOMING_PAYMENT.PENDING'],
  createTransferOut: [
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  createVerification: [
    'CUSTOMER.KYB_APPROVED',
    'CUSTOMER.KYB_PENDING',
    'CUSTOMER.KYB_REJECTED',
    'CUSTOMER.KYC_APPROVED',
    'CUSTOMER.KYC_PENDING',
    'CUSTOMER.KYC_REJECTED',
    'VERIFICATION.APPROVED',
    'VERIFICATION.PENDING_MANUAL_REVIEW',
    'VERIFICATION.REJECTED',
    'VERIFICATION.RESOLVE_ERRORS',
  ],
  deleteAgent: ['INCOMING_PAYMENT.FAILED', 'OUTGOING_PAYMENT.FAILED'],
  executeQuote: [
    'INCOMING_PAYMENT.COMPLETED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.COMPLETED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  rejectAgentAction: ['INCOMING_PAYMENT.FAILED', 'OUTGOING_PAYMENT.FAILED'],
  rejectPendingPayment: ['INCOMING_PAYMENT.FAILED', 'OUTGOING_PAYMENT.FAILED'],
  sandboxFundInternalAccount: [
    'INCOMING_PAYMENT.COMPLETED',
    'INCOMING_PAYMENT.PENDING',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  sandboxReceive: ['INCOMING_PAYMENT.PENDING'],
  sandboxSend: [
    'INCOMING_PAYMENT.COMPLETED',
    'INCOMING_PAYMENT.FAILED',
    'INCOMING_PAYMENT.REFUND_PENDING',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.COMPLETED',
    'OUTGOING_PAYMENT.FAILED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PROCESSING',
    'OUTGOING_PAYMENT.REFUND_PENDING',
  ],
  sandboxSimulateCardAuthorization: [
    'CARD_TRANSACTION.AUTHORIZED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  sandboxSimulateCardAuthorizationAdvice: [
    'CARD_TRANSACTION.AUTHORIZED',
    'CARD_TRANSACTION.SETTLED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  sandboxSimulateCardClearing: [
    'CARD_TRANSACTION.EXCEPTION',
    'CARD_TRANSACTION.PARTIALLY_SETTLED',
    'CARD_TRANSACTION.REFUNDED',
    'CARD_TRANSACTION.SETTLED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  sandboxSimulateCardCreditAuthorization: ['CARD_TRANSACTION.AUTHORIZED'],
  sandboxSimulateCardCreditAuthorizationAdvice: ['CARD_TRANSACTION.AUTHORIZED'],
  sandboxSimulateCardFinancialAuthorization: [
    'CARD_TRANSACTION.SETTLED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  sandboxSimulateCardFinancialCreditAuthorization: [
    'CARD_TRANSACTION.SETTLED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  sandboxSimulateCardReturn: [
    'CARD_TRANSACTION.EXCEPTION',
    'CARD_TRANSACTION.PARTIALLY_SETTLED',
    'CARD_TRANSACTION.REFUNDED',
    'CARD_TRANSACTION.SETTLED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  sandboxSimulateCardReturnReversal: [
    'CARD_TRANSACTION.SETTLED',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  ],
  updateCardById: ['CARD.FUNDING_SOURCE_CHANGE', 'CARD.STATE_CHANGE'],
  updatePlatformConfig: ['TEST'],
  verifyExternalAccountOwnership: ['EXTERNAL_ACCOUNT.STATUS_UPDATED'],
  verifyPlatformExternalAccountOwnership: ['EXTERNAL_ACCOUNT.STATUS_UPDATED'],
};

/** Types of the events that an operation emits. */
export const eventsOf = (operationId: string): readonly EventType[] => EVENTS[operationId] ?? [];

/** This operation calls other operations and emits their events, as its description states. */
const COMPOSITE_OPERATION = 'createSandboxFixtures';

export const emits = (operationId: string, type: string): boolean =>
  operationId === COMPOSITE_OPERATION || eventsOf(operationId).some((each) => each === type);

/** Operations of the table, for the test that compares them with the contracts. */
export const EMITTING = Object.keys(EVENTS);
