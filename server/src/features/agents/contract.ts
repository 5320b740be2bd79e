// Schemas of agents, their policies and their actions, in requests and in replies.

import { Type } from '@sinclair/typebox';
import {
  named,
  nullable,
  oneOf,
  PositiveAmount,
  page,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { TransactionOneOf } from '../payments/presentation/index.ts';
import { Quote } from '../payments/quotes/index.ts';
import { AGENT_PERMISSIONS, EXECUTION_MODES } from './policy/policy.ts';
import { ACTION_STATUSES, ACTION_TYPES } from './states.ts';

export const MANAGEMENT_TAG = 'Agent Management';
export const OPERATIONS_TAG = 'Agent Operations';

const optional = Type.Optional;

const AgentPermission = named(
  'AgentPermission',
  oneOf(AGENT_PERMISSIONS, {
    description:
      'VIEW_TRANSACTIONS: list internal accounts and read transactions. CREATE_TRANSFERS: create ' +
      'transfers in and out. CREATE_QUOTES: create quotes. EXECUTE_QUOTES: execute quotes. ' +
      'MANAGE_EXTERNAL_ACCOUNTS: read, create and delete external accounts.',
  }),
);
const ExecutionMode = named(
  'AgentExecutionMode',
  oneOf(EXECUTION_MODES, {
    description:
      'AUTO executes allowed actions immediately. APPROVAL_REQUIRED requires the ' +
      'approval of the platform.',
  }),
);

const MAX_AMOUNT = 9_000_000_000_000_000;
const limit = (description: string) =>
  Type.Integer({ minimum: 0, maximum: MAX_AMOUNT, description: `${description} In minor units.` });
const count = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: 'Maximum number of payments per day (UTC). Unlimited if never set.',
});
const currency = Type.String({
  minLength: 1,
  maxLength: 10,
  description: 'Code of the currency of the amounts, such as `USD`.',
});

const limits = {
  dailyLimit: optional(
    nullable(limit('Maximum amount per day (UTC). Unlimited if null or never set.')),
  ),
  dailyTransactionLimit: optional(count),
  monthlyLimit: optional(
    nullable(limit('Maximum amount per month (UTC). Unlimited if null or never set.')),
  ),
};

const AgentSpendingLimits = named(
  'AgentSpendingLimits',
  Type.Object(
    { currency, perTransactionLimit: limit('Maximum amount of one payment.'), ...limits },
    {
      description:
        'Spending limits of an agent. Payments in other currencies are converted at the current ' +
        'rate.',
    },
  ),
);

const AgentSpendingLimitsUpdate = named(
  'AgentSpendingLimitsUpdate',
  Type.Object({
    currency: optional(
      withDescription(
        currency,
        'New currency of the limits. The numbers of the limits are not converted.',
      ),
    ),
    perTransactionLimit: optional(limit('Maximum amount of one payment.')),
    ...limits,
  }),
);

const accountId = Type.String({ description: 'ID of an internal account of the customer.' });

const AgentAccountRule = named(
  'AgentAccountRule',
  Type.Object({
    accountId,
    executionMode: optional(
      withDescription(
        ExecutionMode,
        'Replaces `defaultExecutionMode` for this account. Absent to use that mode.',
      ),
    ),
    perTransactionLimit: optional(
      nullable(
        limit(
          'Replaces `spendingLimits.perTransactionLimit` for this account, or null to use that ' +
            'limit.',
        ),
      ),
    ),
  }),
);

const AgentAccountRestrictions = named(
  'AgentAccountRestrictions',
  Type.Object({
    allowedAccountIds: optional(
      withDescription(
        nullable(Type.Array(accountId, { maxItems: 1_000 })),
        'Accounts that the agent may use, or null for all accounts of the customer.',
      ),
    ),
    accountRules: optional(
      Type.Array(AgentAccountRule, {
        maxItems: 1_000,
        description:
          'Execution modes and limits for single accounts, at most one rule per account.',
      }),
    ),
  }),
);

const AgentApprovalThresholds = named(
  'AgentApprovalThresholds',
  Type.Object(
    {
      currency: optional(
        withDescription(currency, 'Currency of the amount. Required if `amount` is set.'),
      ),
      amount: optional(
        nullable(limit('Payments above this amount need approval, or null for no threshold.')),
      ),
    },
    { description: 'Requires approval of large payments even if the execution mode is AUTO.' },
  ),
);

const sharedFields = {
  accountRestrictions: optional(AgentAccountRestrictions),
  approvalThresholds: optional(AgentApprovalThresholds),
};

const permissions = Type.Array(AgentPermission, { description: 'Operations that are allowed.' });

export const AgentPolicy = named(
  'AgentPolicy',
  Type.Object({
    permissions,
    defaultExecutionMode: withDescription(
      ExecutionMode,
      'Execution mode for accounts without an execution mode in `accountRules`.',
    ),
    spendingLimits: AgentSpendingLimits,
    ...sharedFields,
  }),
);

export const AgentPolicyUpdateRequest = named(
  'AgentPolicyUpdateRequest',
  Type.Object({
    permissions: optional(permissions),
    defaultExecutionMode: optional(ExecutionMode),
    spendingLimits: optional(AgentSpendingLimitsUpdate),
    ...sharedFields,
  }),
);

const spend = (period: 'day' | 'month') =>
  Type.Integer({
    minimum: 0,
    description:
      `Amount spent in the current ${period} (UTC), without failed payments. ` +
      'In minor units of the currency of the limits.',
  });

const AgentUsage = named(
  'AgentUsage',
  Type.Object(
    {
      dailyTransactionCount: Type.Integer({
        minimum: 0,
        description: 'Number of payments of the current day (UTC), including failed payments.',
      }),
      dailySpend: spend('day'),
      dailyResetDate: optional(
        Type.String({
          format: 'date',
          description: 'Date on which the daily counters are reset (UTC).',
        }),
      ),
      monthlySpend: spend('month'),
      monthlyResetMonth: optional(
        Type.String({ description: 'Month in which the monthly counter is reset, YYYY-MM.' }),
      ),
    },
    { description: 'Usage of the limits in the current day and month.' },
  ),
);

export const Agent = named(
  'Agent',
  Type.Object(
    {
      id: Type.String({ description: 'ID of the agent, `Agent:<uuid>`.' }),
      name: Type.String({ description: 'Display name.' }),
      customerId: Type.String({ description: 'Customer on whose behalf the agent acts.' }),
      isPaused: Type.Boolean({ description: 'Paused: read-only.' }),
      isConnected: Type.Boolean({ description: 'Whether the device code has been redeemed.' }),
      policy: AgentPolicy,
      usage: AgentUsage,
      createdAt: time('Time at which the agent was created.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A program that acts on behalf of one customer, within a policy.' },
  ),
);

const AgentTransferDetails = named(
  'AgentTransferDetails',
  Type.Object({
    amount: PositiveAmount,
    currency: withDescription(currency, 'Code of the currency of `amount`, such as `USD`.'),
    sourceAccountId: Type.String({ description: 'ID of the debited account.' }),
    destinationAccountId: Type.String({ description: 'ID of the credited account.' }),
  }),
);

export const AgentActionStatus = named(
  'AgentActionStatus',
  oneOf(ACTION_STATUSES, {
    description:
      'PENDING_APPROVAL: awaits the decision of the platform. APPROVED: executed. REJECTED: ' +
      'rejected by the platform, or by the deletion of the agent. FAILED: approved, but the ' +
      'execution was impossible.',
  }),
);

export const AgentAction = named(
  'AgentAction',
  Type.Object(
    {
      id: Type.String({ description: 'ID of the agent action, `AgentAction:<uuid>`.' }),
      agentId: Type.String({ description: 'ID of the agent that requested the action.' }),
      customerId: Type.String({ description: 'Customer on whose behalf the agent acts.' }),
      platformCustomerId: Type.String({
        description: 'ID of the customer in the system of the platform.',
      }),
      status: AgentActionStatus,
      type: named(
        'AgentActionType',
        oneOf(ACTION_TYPES, {
          description:
            'EXECUTE_QUOTE: executes a quote. TRANSFER_OUT: transfers funds to an external ' +
            'account. TRANSFER_IN: debits an external account.',
        }),
      ),
      quote: optional(withDescription(Quote, 'Quote to execute. Absent for a transfer.')),
      transferDetails: optional(
        withDescription(AgentTransferDetails, 'Accounts and amount. Absent for a quote.'),
      ),
      transaction: optional(
        withDescription(TransactionOneOf, 'The payment. Absent unless the action is APPROVED.'),
      ),
      rejectionReason: optional(
        Type.String({ description: 'Reason for the rejection. Absent if no reason was stated.' }),
      ),
      createdAt: time('Time at which the agent requested the action.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A payment requested by an agent, with its approval status.' },
  ),
);

export const AgentActionListResponse = named('AgentActionListResponse', page(AgentAction));
