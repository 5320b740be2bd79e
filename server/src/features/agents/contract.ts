// What agents, their policies and their actions look like, in requests and in replies.

import { Type } from '@sinclair/typebox';
import {
  described,
  named,
  nullable,
  oneOf,
  PositiveAmount,
  page,
  Timestamp,
} from '../../kernel/schema.ts';
import { TransactionOneOf } from '../payments/presentation/index.ts';
import { Quote } from '../payments/quotes/index.ts';
import { AGENT_PERMISSIONS, EXECUTION_MODES } from './policy/policy.ts';
import { ACTION_STATUSES, ACTION_TYPES } from './states.ts';

export const MANAGEMENT_TAG = 'Agent Management';
export const OPERATIONS_TAG = 'Agent Operations';

const maybe = Type.Optional;

const AgentPermission = named('AgentPermission', oneOf(AGENT_PERMISSIONS));
const ExecutionMode = named(
  'AgentExecutionMode',
  oneOf(EXECUTION_MODES, {
    description:
      'AUTO carries out at once what the policy allows, APPROVAL_REQUIRED asks you first.',
  }),
);

const MOST = 9_000_000_000_000_000;
const limit = (description: string) =>
  Type.Integer({ minimum: 0, maximum: MOST, description: `${description} Smallest units.` });
const count = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: 'Payments of a day (UTC) at the most.',
});
const currency = Type.String({ minLength: 1, maxLength: 10, description: 'Code of a currency.' });

const limits = {
  dailyLimit: maybe(nullable(limit('Of a day (UTC); null for none.'))),
  dailyTransactionLimit: maybe(count),
  monthlyLimit: maybe(nullable(limit('Of a month (UTC); null for none.'))),
};

const AgentSpendingLimits = named(
  'AgentSpendingLimits',
  Type.Object(
    { currency, perTransactionLimit: limit('Of one payment.'), ...limits },
    { description: 'Payments in other currencies count at the rate of the moment.' },
  ),
);

const AgentSpendingLimitsUpdate = named(
  'AgentSpendingLimitsUpdate',
  Type.Object({
    currency: maybe(
      described(currency, 'The limits are then in this currency, as numbers unchanged.'),
    ),
    perTransactionLimit: maybe(limit('Of one payment.')),
    ...limits,
  }),
);

const accountId = Type.String({ description: 'Internal account of its customer.' });

const AgentAccountRule = named(
  'AgentAccountRule',
  Type.Object({
    accountId,
    executionMode: maybe(ExecutionMode),
    perTransactionLimit: maybe(nullable(limit('Instead of the usual one; null for the usual.'))),
  }),
);

const AgentAccountRestrictions = named(
  'AgentAccountRestrictions',
  Type.Object({
    allowedAccountIds: maybe(
      described(
        nullable(Type.Array(accountId, { maxItems: 1_000 })),
        'The only accounts it may use; null for all of its customer.',
      ),
    ),
    accountRules: maybe(Type.Array(AgentAccountRule, { maxItems: 1_000 })),
  }),
);

const AgentApprovalThresholds = named(
  'AgentApprovalThresholds',
  Type.Object(
    {
      currency: maybe(currency),
      amount: maybe(nullable(limit('Above it you are asked; null: never.'))),
    },
    { description: 'Asks you about large payments although the mode is AUTO.' },
  ),
);

const shared = {
  accountRestrictions: maybe(AgentAccountRestrictions),
  approvalThresholds: maybe(AgentApprovalThresholds),
};

export const AgentPolicy = named(
  'AgentPolicy',
  Type.Object({
    permissions: Type.Array(AgentPermission),
    defaultExecutionMode: ExecutionMode,
    spendingLimits: AgentSpendingLimits,
    ...shared,
  }),
);

export const AgentPolicyUpdateRequest = named(
  'AgentPolicyUpdateRequest',
  Type.Object({
    permissions: maybe(Type.Array(AgentPermission)),
    defaultExecutionMode: maybe(ExecutionMode),
    spendingLimits: maybe(AgentSpendingLimitsUpdate),
    ...shared,
  }),
);

const AgentUsage = named(
  'AgentUsage',
  Type.Object(
    {
      dailyTransactionCount: Type.Integer({ minimum: 0 }),
      dailySpend: Type.Integer({ minimum: 0 }),
      dailyResetDate: maybe(Type.String({ format: 'date', description: 'When the day is over.' })),
      monthlySpend: Type.Integer({ minimum: 0 }),
      monthlyResetMonth: maybe(Type.String({ description: 'When the month is over, YYYY-MM.' })),
    },
    { description: 'What it has spent, in the currency of its limits.' },
  ),
);

export const Agent = named(
  'Agent',
  Type.Object(
    {
      id: Type.String({ description: 'Agent:<uuid>' }),
      name: Type.String(),
      customerId: Type.String({ description: 'For whom it acts.' }),
      isPaused: Type.Boolean({ description: 'It may look and not act.' }),
      isConnected: Type.Boolean({ description: 'A program has redeemed its device code.' }),
      policy: AgentPolicy,
      usage: AgentUsage,
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'A program that acts for one customer, within a policy.' },
  ),
);

const AgentTransferDetails = named(
  'AgentTransferDetails',
  Type.Object({
    amount: PositiveAmount,
    currency,
    sourceAccountId: Type.String(),
    destinationAccountId: Type.String(),
  }),
);

export const AgentActionStatus = named('AgentActionStatus', oneOf(ACTION_STATUSES));

export const AgentAction = named(
  'AgentAction',
  Type.Object(
    {
      id: Type.String({ description: 'AgentAction:<uuid>' }),
      agentId: Type.String(),
      customerId: Type.String(),
      platformCustomerId: Type.String(),
      status: AgentActionStatus,
      type: named('AgentActionType', oneOf(ACTION_TYPES)),
      quote: maybe(Quote),
      transferDetails: maybe(AgentTransferDetails),
      transaction: maybe(TransactionOneOf),
      rejectionReason: maybe(Type.String()),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'Something an agent asked for, and what became of it.' },
  ),
);

export const AgentActionListResponse = named('AgentActionListResponse', page(AgentAction));
