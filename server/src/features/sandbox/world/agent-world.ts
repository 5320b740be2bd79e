// The world `agents`: a paused agent, and actions of an agent in each status.
import { accountOf, advance, fund, person, usAccount } from './builders.ts';
import type { Step } from './step.ts';

/** An agent whose payments require approval above 100.00. */
const agent = (name: string): Step => ({
  name,
  operationId: 'createAgent',
  body: {
    name,
    customerId: '$principal.id',
    policy: {
      permissions: ['VIEW_TRANSACTIONS', 'CREATE_QUOTES', 'EXECUTE_QUOTES', 'CREATE_TRANSFERS'],
      defaultExecutionMode: 'AUTO',
      spendingLimits: { currency: 'USD', perTransactionLimit: 500_00 },
      approvalThresholds: { currency: 'USD', amount: 100_00 },
    },
  },
});

/** A transfer. References use `$NAMEAction`. */
const transfer = (name: string, amount: number): Step => ({
  name: `${name}Action`,
  operationId: 'agentCreateTransferOut',
  agentId: '$payer.agent.id',
  body: {
    source: { accountId: '$principalUsd.data.0.id' },
    destination: { accountId: '$payee.id' },
    amount,
  },
});

const decision = (name: string, operationId: string): Step => ({
  operationId,
  params: { agentId: '$payer.agent.id', actionId: `$${name}Action.id` },
});

const ACTIONS = ['approved', 'pendingApproval', 'rejected', 'failed'] as const;

export const AGENTS: Step[] = [
  person('principal', 'Amara Okafor'),
  accountOf('principalUsd', 'principal', 'USD'),
  fund('principalUsd', 5_000_00),
  usAccount('payee', 'principal', '000123456789'),
  agent('payer'),
  agent('pausedNew'),
  {
    name: 'paused',
    operationId: 'updateAgent',
    params: { agentId: '$pausedNew.agent.id' },
    body: { isPaused: true },
  },
  {
    name: 'failedQuote',
    operationId: 'agentCreateQuote',
    agentId: '$payer.agent.id',
    body: {
      source: { sourceType: 'ACCOUNT', accountId: '$principalUsd.data.0.id' },
      destination: { destinationType: 'ACCOUNT', accountId: '$payee.id' },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 200_00,
    },
  },
  {
    name: 'failedAction',
    operationId: 'agentExecuteQuote',
    agentId: '$payer.agent.id',
    params: { quoteId: '$failedQuote.id' },
  },
  // The quote expires before the approval.
  advance('PT6M'),
  decision('failed', 'approveAgentAction'),
  transfer('approved', 50_00),
  transfer('rejected', 200_00),
  { ...decision('rejected', 'rejectAgentAction'), body: { reason: 'Not expected' } },
  transfer('pendingApproval', 200_00),
  ...ACTIONS.map((name) => ({
    name,
    operationId: 'agentGetAction',
    agentId: '$payer.agent.id',
    params: { actionId: `$${name}Action.id` },
  })),
];
