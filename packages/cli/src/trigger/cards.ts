// Scenarios of cards and agents.
import { EXECUTE_DUE, fundedAccountSteps } from './parts.ts';
import type { Call, Scenario, Step } from './step.ts';

const card = (): Step[] => [
  ...fundedAccountSteps(),
  {
    name: 'card',
    operationId: 'createCard',
    input: {
      cardholderId: '$customer.id',
      form: 'VIRTUAL',
      fundingSources: ['$accounts.data.0.id'],
    },
  },
  EXECUTE_DUE,
];

const authorization = (amount: number, descriptor = 'ACME BOOKS'): Call => ({
  name: 'authorization',
  operationId: 'sandboxSimulateCardAuthorization',
  input: {
    id: '$card.id',
    amount,
    currency: { code: 'USD' },
    merchant: { descriptor, mcc: '5942' },
  },
});

/** Later steps refer to the payment as `$payments.data.0`. */
const payments = (): Call => ({
  name: 'payments',
  operationId: 'listTransactions',
  input: { type: 'CARD', customerId: '$customer.id', limit: 1 },
});

const followUp = (
  name: string,
  operationId: 'sandboxSimulateCardClearing' | 'sandboxSimulateCardReturn',
  amount: number,
): Call => ({
  name,
  operationId,
  input: { id: '$card.id', cardTransactionId: '$payments.data.0.id', amount },
});

const authorizationSteps = (amount: number): Step[] => [
  ...card(),
  authorization(amount),
  EXECUTE_DUE,
  payments(),
];

/** Executes due work and reads the card payment. */
const readPaymentSteps = (): Step[] => [
  EXECUTE_DUE,
  {
    name: 'payment',
    operationId: 'getTransactionById',
    input: { transactionId: '$payments.data.0.id' },
  },
];

const POLICY = {
  permissions: ['VIEW_TRANSACTIONS', 'MANAGE_EXTERNAL_ACCOUNTS', 'CREATE_TRANSFERS'],
  defaultExecutionMode: 'AUTO',
  spendingLimits: { currency: 'USD', perTransactionLimit: 500_00, dailyLimit: 2_000_00 },
  approvalThresholds: { currency: 'USD', amount: 200_00 },
};

/** A payment of an agent, which may pay up to 500.00 and needs approval above 200.00. */
const agentPaymentSteps = (amount: number, rejectedWith?: string): Step[] => [
  ...fundedAccountSteps(),
  {
    name: 'payee',
    operationId: 'createCustomerExternalAccount',
    input: {
      customerId: '$customer.id',
      currency: 'USD',
      accountInfo: {
        accountType: 'USD_ACCOUNT',
        accountNumber: '123456789',
        routingNumber: '021000021',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
      },
    },
  },
  {
    name: 'agent',
    operationId: 'createAgent',
    input: { name: 'Bill payer', customerId: '$customer.id', policy: POLICY },
  },
  {
    name: 'token',
    operationId: 'redeemAgentDeviceCode',
    input: { code: '$agent.deviceCode.code' },
  },
  {
    name: 'action',
    operationId: 'agentCreateTransferOut',
    as: '$token.accessToken',
    input: {
      source: { accountId: '$accounts.data.0.id' },
      destination: { accountId: '$payee.id' },
      amount,
    },
    ...(rejectedWith !== undefined && { rejectedWith }),
  },
];

const decision = (name: string, operationId: 'approveAgentAction' | 'rejectAgentAction'): Call => ({
  name,
  operationId,
  input: {
    agentId: '$agent.agent.id',
    actionId: '$action.id',
    ...(operationId === 'rejectAgentAction' && { reason: 'not expected' }),
  },
});

export const CARD_SCENARIOS: readonly Scenario[] = [
  {
    name: 'card.cleared',
    summary: 'A card payment is authorized and cleared.',
    outcome:
      'The payment is {payment.status}: {payment.settledAmount} of {payment.authorizedAmount}.',
    steps: () => [
      ...authorizationSteps(25_00),
      followUp('clearing', 'sandboxSimulateCardClearing', 25_00),
      ...readPaymentSteps(),
    ],
  },
  {
    name: 'card.partly-cleared',
    summary: 'A part of a card payment is cleared.',
    outcome:
      'The payment is {payment.status}: {payment.settledAmount} of {payment.authorizedAmount}.',
    steps: () => [
      ...authorizationSteps(25_00),
      followUp('clearing', 'sandboxSimulateCardClearing', 10_00),
      ...readPaymentSteps(),
    ],
  },
  {
    name: 'card.refunded',
    summary: 'A merchant refunds a cleared card payment.',
    outcome:
      'The payment is {payment.status}: {payment.refundedAmount} of {payment.settledAmount}.',
    steps: () => [
      ...authorizationSteps(25_00),
      followUp('clearing', 'sandboxSimulateCardClearing', 25_00),
      followUp('refund', 'sandboxSimulateCardReturn', 25_00),
      ...readPaymentSteps(),
    ],
  },
  {
    name: 'card.declined',
    summary: 'A card payment above the balance is declined.',
    outcome: 'The authorization was declined. No card payment was created.',
    steps: () => [...card(), authorization(5_000_00), EXECUTE_DUE, payments()],
  },
];

export const AGENT_SCENARIOS: readonly Scenario[] = [
  {
    name: 'agent.paid',
    summary: 'An agent pays within its policy.',
    outcome: 'The action is {action.status}.',
    steps: () => [...agentPaymentSteps(50_00), EXECUTE_DUE],
  },
  {
    name: 'agent.approval',
    summary: 'A payment of an agent above its threshold is approved.',
    outcome: 'The action was {action.status} and is {approval.status}.',
    steps: () => [
      ...agentPaymentSteps(300_00),
      decision('approval', 'approveAgentAction'),
      EXECUTE_DUE,
    ],
  },
  {
    name: 'agent.rejected',
    summary: 'A payment of an agent above its threshold is rejected.',
    outcome: 'The action was {action.status} and is {rejection.status}.',
    steps: () => [...agentPaymentSteps(300_00), decision('rejection', 'rejectAgentAction')],
  },
  {
    name: 'agent.over-limit',
    summary: 'An agent requests a payment above its limit.',
    outcome: 'The request was rejected: {action.reason}',
    steps: () => agentPaymentSteps(600_00, 'FORBIDDEN'),
  },
];
