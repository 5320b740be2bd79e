// The events that each operation can emit in the commit of its request. The test harness reports an
// event that is missing here. Events of later steps (a payout that completes) are in the catalog of
// webhooks.
import type { EventType } from '../../kernel/contract/event.ts';

/** A quote that is executed, at its creation or later. */
const EXECUTED_QUOTE: readonly EventType[] = [
  'INCOMING_PAYMENT.COMPLETED',
  'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  'OUTGOING_PAYMENT.COMPLETED',
  'OUTGOING_PAYMENT.PENDING',
  'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
  'OUTGOING_PAYMENT.PROCESSING',
];
/** A payment that an approval starts or that fails at its approval. */
const APPROVED_PAYMENT: readonly EventType[] = [
  'INCOMING_PAYMENT.COMPLETED',
  'INCOMING_PAYMENT.FAILED',
  'INCOMING_PAYMENT.PENDING',
  'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  'OUTGOING_PAYMENT.COMPLETED',
  'OUTGOING_PAYMENT.FAILED',
  'OUTGOING_PAYMENT.PENDING',
  'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
  'OUTGOING_PAYMENT.PROCESSING',
];

const EVENTS: Readonly<Record<string, readonly EventType[]>> = {
  agentCreateQuote: ['OUTGOING_PAYMENT.PENDING_AUTHORIZATION'],
  agentCreateTransferIn: ['AGENT_ACTION.PENDING_APPROVAL', 'INCOMING_PAYMENT.PENDING'],
  agentCreateTransferOut: [
    'AGENT_ACTION.PENDING_APPROVAL',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'OUTGOING_PAYMENT.PENDING',
    'OUTGOING_PAYMENT.PROCESSING',
  ],
  agentExecuteQuote: ['AGENT_ACTION.PENDING_APPROVAL', ...EXECUTED_QUOTE],
  approveAgentAction: APPROVED_PAYMENT,
  approvePendingPayment: APPROVED_PAYMENT,
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
  createQuote: EXECUTED_QUOTE,
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
  executeQuote: EXECUTED_QUOTE,
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
  sendTestEvent: ['TEST'],
  sendTestWebhook: ['TEST'],
  setSandboxStatus: [
    'CUSTOMER.KYB_APPROVED',
    'CUSTOMER.KYB_REJECTED',
    'CUSTOMER.KYC_APPROVED',
    'CUSTOMER.KYC_REJECTED',
    'EXTERNAL_ACCOUNT.STATUS_UPDATED',
    'INCOMING_PAYMENT.COMPLETED',
    'INCOMING_PAYMENT.FAILED',
    'INCOMING_PAYMENT.REFUND_PENDING',
    'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    'INTERNAL_ACCOUNT.STATUS_UPDATED',
    'VERIFICATION.APPROVED',
    'VERIFICATION.REJECTED',
    'VERIFICATION.RESOLVE_ERRORS',
  ],
  updateCardById: ['CARD.FUNDING_SOURCE_CHANGE', 'CARD.STATE_CHANGE'],
  updatePlatformConfig: ['TEST'],
  verifyExternalAccountOwnership: ['EXTERNAL_ACCOUNT.STATUS_UPDATED'],
  verifyPlatformExternalAccountOwnership: ['EXTERNAL_ACCOUNT.STATUS_UPDATED'],
};

const OUTGOING = ['outgoing-payment'];
const INCOMING = ['incoming-payment'];
const CARD_TRANSACTION = ['card-transaction'];
/** Events of balances and statuses of internal accounts. */
const ACCOUNT = 'internal-account-status';
/**
 * Funds that are credited to an account: a debit that the bank has accepted, or deposits that the declaration
 * or proof of a wallet releases.
 */
const CREDIT = [...INCOMING, ACCOUNT];
const EXTERNAL_ACCOUNT = ['external-account-status', ...CREDIT];

/** Webhooks of events that later steps emit: a job, a reply of a provider, a timer or an operator. */
const LATER_WEBHOOKS: Readonly<Record<string, readonly string[]>> = {
  agentCreateExternalAccount: EXTERNAL_ACCOUNT,
  agentCreateQuote: OUTGOING,
  agentCreateTransferIn: CREDIT,
  agentCreateTransferOut: OUTGOING,
  agentExecuteQuote: OUTGOING,
  approveAgentAction: [...OUTGOING, ...INCOMING],
  approvePendingPayment: [...OUTGOING, ...INCOMING],
  authorizeQuote: OUTGOING,
  cancelTransaction: [...OUTGOING, ...CREDIT],
  claimInvitation: ['invitation-claimed'],
  createCard: ['card-state-change'],
  createCustomer: ['customer-update', 'verification-update', 'internal-account-status'],
  createCustomerExternalAccount: EXTERNAL_ACCOUNT,
  createExternalAccountOwnershipChallenge: CREDIT,
  createPlatformExternalAccount: EXTERNAL_ACCOUNT,
  createPlatformExternalAccountOwnershipChallenge: CREDIT,
  createQuote: [...OUTGOING, ...INCOMING],
  createTransferIn: CREDIT,
  createTransferOut: OUTGOING,
  createVerification: ['customer-update', 'verification-update'],
  createWebhookEndpoint: ['webhook-endpoint'],
  deleteCustomerById: ['card-state-change', ...OUTGOING, ...INCOMING],
  executeQuote: OUTGOING,
  sandboxFundInternalAccount: INCOMING,
  sandboxReceive: CREDIT,
  sandboxSend: [...OUTGOING, ...INCOMING],
  sandboxSimulateCardAuthorization: CARD_TRANSACTION,
  sandboxSimulateCardAuthorizationAdvice: CARD_TRANSACTION,
  sandboxSimulateCardClearing: CARD_TRANSACTION,
  sandboxSimulateCardCreditAuthorization: CARD_TRANSACTION,
  sandboxSimulateCardFinancialAuthorization: CARD_TRANSACTION,
  setSandboxStatus: INCOMING,
  updateCardById: ['card-state-change', 'card-funding-source-change'],
  updatePlatformConfig: [ACCOUNT],
  updateWebhookEndpoint: ['webhook-endpoint'],
  uploadCustomersCsv: ['bulk-upload', 'customer-update', ACCOUNT],
  verifyExternalAccountOwnership: CREDIT,
  verifyPlatformExternalAccountOwnership: CREDIT,
};

/** Names of webhooks whose events later steps of the operation can emit. */
export const laterWebhooksOf = (operationId: string): readonly string[] =>
  LATER_WEBHOOKS[operationId] ?? [];

/** Types of the events that an operation can emit. */
export const eventsOf = (operationId: string): readonly EventType[] => EVENTS[operationId] ?? [];

/** The operation that calls other operations and emits their events, as its description states. */
const COMPOSITE_OPERATION = 'createSandboxFixtures';

export const canEmit = (operationId: string, type: string): boolean =>
  operationId === COMPOSITE_OPERATION || eventsOf(operationId).some((each) => each === type);

/** Operations of the table, for the test that compares them with the contracts. */
export const EMITTING_OPERATION_IDS = Object.keys(EVENTS);

/** Operations with later events, for the same test. */
export const LATER_OPERATION_IDS = Object.keys(LATER_WEBHOOKS);
