// Evaluation of agent policies, case by case.
import { describe, expect, it } from 'vitest';
import {
  type AgentUsage,
  evaluatePlainAmounts,
  type PlainRequest,
} from '../../../../test/kit/agents/agent-policy.ts';
import type { Policy, Rule, Verdict } from './policy.ts';

const NO_USAGE: AgentUsage = { count: 0n, day: 0n, month: 0n };

const spendingLimits = (
  extraFields: Partial<Policy['spendingLimits']> = {},
): Policy['spendingLimits'] => ({
  currency: 'USD',
  perTransactionLimit: 100_00,
  ...extraFields,
});

const policy = (extraFields: Partial<Policy> = {}): Policy => ({
  permissions: ['EXECUTE_QUOTES', 'CREATE_TRANSFERS'],
  defaultExecutionMode: 'AUTO',
  spendingLimits: spendingLimits(),
  ...extraFields,
});

const requestOf = (extraFields: Partial<PlainRequest> = {}): PlainRequest => ({
  type: 'TRANSFER_OUT',
  accountId: 'one',
  amount: 100_00n,
  thresholdAmount: null,
  ...extraFields,
});

interface Case {
  paused?: boolean;
  policy?: Partial<Policy>;
  usage?: Partial<AgentUsage>;
  request?: Partial<PlainRequest>;
}

const evaluateCase = ({ paused = false, ...overrides }: Case): Verdict =>
  evaluatePlainAmounts(
    { paused, policy: policy(overrides.policy) },
    { ...NO_USAGE, ...overrides.usage },
    requestOf(overrides.request),
  );

const policyWithRules = (
  rules: NonNullable<NonNullable<Policy['accountRestrictions']>['accountRules']>,
) => ({
  accountRestrictions: { accountRules: rules },
});
const policyWithRule = (rule: object) => policyWithRules([{ accountId: 'one', ...rule }]);

describe('evaluate', () => {
  it.each<[string, Case]>([
    ['a payment equal to perTransactionLimit', {}],
    ['a quote, with its separate permission', { request: { type: 'EXECUTE_QUOTE' } }],
    [
      'a payment that reaches dailyLimit',
      {
        policy: { spendingLimits: spendingLimits({ dailyLimit: 300_00 }) },
        usage: { day: 200_00n },
      },
    ],
    [
      'the last payment of the day',
      {
        policy: { spendingLimits: spendingLimits({ dailyTransactionLimit: 3 }) },
        usage: { count: 2n },
      },
    ],
    [
      'a payment that reaches monthlyLimit',
      {
        policy: { spendingLimits: spendingLimits({ monthlyLimit: 300_00 }) },
        usage: { month: 200_00n },
      },
    ],
    [
      'any amount if limits are null',
      {
        policy: { spendingLimits: spendingLimits({ dailyLimit: null, monthlyLimit: null }) },
        usage: { count: 10n ** 6n, day: 10n ** 15n, month: 10n ** 15n },
      },
    ],
    [
      'an allowed account',
      { policy: { accountRestrictions: { allowedAccountIds: ['two', 'one'] } } },
    ],
    [
      'any account if allowedAccountIds is null',
      { policy: { accountRestrictions: { allowedAccountIds: null } } },
    ],
    [
      'a higher amount from an account with a higher limit',
      { policy: policyWithRule({ perTransactionLimit: 500_00 }), request: { amount: 500_00n } },
    ],
    [
      'a payment equal to the general limit if the limit of the account is null',
      { policy: policyWithRule({ perTransactionLimit: null }) },
    ],
    [
      'an account with the execution mode AUTO',
      {
        policy: {
          defaultExecutionMode: 'APPROVAL_REQUIRED',
          ...policyWithRule({ executionMode: 'AUTO' }),
        },
      },
    ],
    [
      'an amount equal to the threshold',
      {
        policy: { approvalThresholds: { currency: 'EUR', amount: 90_00 } },
        request: { thresholdAmount: 90_00n },
      },
    ],
    [
      'any amount if the threshold is null',
      {
        policy: { approvalThresholds: { currency: 'EUR', amount: null } },
        request: { thresholdAmount: 10n ** 15n },
      },
    ],
  ])('allows %s', (_, overrides) => {
    expect(evaluateCase(overrides)).toEqual({ decision: 'AUTO' });
  });

  it.each<[string, Rule, Case]>([
    [
      'an account with the execution mode APPROVAL_REQUIRED',
      'EXECUTION_MODE',
      { policy: policyWithRule({ executionMode: 'APPROVAL_REQUIRED' }) },
    ],
    [
      'any payment if APPROVAL_REQUIRED is the default mode',
      'EXECUTION_MODE',
      { policy: { defaultExecutionMode: 'APPROVAL_REQUIRED' } },
    ],
    [
      'an account whose rule has no execution mode',
      'EXECUTION_MODE',
      { policy: { defaultExecutionMode: 'APPROVAL_REQUIRED', ...policyWithRule({}) } },
    ],
    [
      'an amount above the threshold',
      'APPROVAL_THRESHOLD',
      {
        policy: { approvalThresholds: { currency: 'EUR', amount: 90_00 } },
        request: { thresholdAmount: 90_01n },
      },
    ],
    [
      'any amount above a threshold of zero',
      'APPROVAL_THRESHOLD',
      {
        policy: { approvalThresholds: { currency: 'EUR', amount: 0 } },
        request: { thresholdAmount: 1n },
      },
    ],
    [
      'an amount that was not converted for the threshold',
      'APPROVAL_THRESHOLD',
      { policy: { approvalThresholds: { currency: 'EUR', amount: 90_00 } } },
    ],
    [
      'a payment to which the mode and the threshold apply',
      'EXECUTION_MODE',
      {
        policy: {
          defaultExecutionMode: 'APPROVAL_REQUIRED',
          approvalThresholds: { currency: 'EUR', amount: 0 },
        },
        request: { thresholdAmount: 1n },
      },
    ],
  ])('requires approval for %s', (_, rule, overrides) => {
    expect(evaluateCase(overrides)).toEqual({ decision: 'APPROVAL_REQUIRED', rule });
  });

  it.each<[Rule, string, Case]>([
    ['PAUSED', 'The agent is paused.', { paused: true }],
    [
      'PERMISSION',
      'The policy of the agent lacks the permission EXECUTE_QUOTES.',
      {
        policy: { permissions: ['CREATE_TRANSFERS', 'CREATE_QUOTES'] },
        request: { type: 'EXECUTE_QUOTE' },
      },
    ],
    [
      'PERMISSION',
      'The policy of the agent lacks the permission CREATE_TRANSFERS.',
      { policy: { permissions: ['EXECUTE_QUOTES'] } },
    ],
    [
      'PERMISSION',
      'The policy of the agent lacks the permission CREATE_TRANSFERS.',
      { policy: { permissions: [] }, request: { type: 'TRANSFER_IN' } },
    ],
    [
      'ACCOUNT',
      'The policy of the agent does not allow this account.',
      { policy: { accountRestrictions: { allowedAccountIds: ['two'] } } },
    ],
    [
      'ACCOUNT',
      'The policy of the agent does not allow this account.',
      {
        policy: { accountRestrictions: { allowedAccountIds: ['one'] } },
        request: { destinationId: 'two' },
      },
    ],
    [
      'ACCOUNT',
      'The policy of the agent does not allow this account.',
      { policy: { accountRestrictions: { allowedAccountIds: [] } } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may not exceed 100.00 USD (perTransactionLimit).',
      { request: { amount: 100_01n } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may not exceed 0.50 USD (perTransactionLimit).',
      { policy: policyWithRule({ perTransactionLimit: 50 }), request: { amount: 51n } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may not exceed 0.00 USD (perTransactionLimit).',
      { policy: policyWithRule({ perTransactionLimit: 0 }), request: { amount: 1n } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may not exceed 100.00 USD (perTransactionLimit).',
      {
        policy: policyWithRules([{ accountId: 'two', perTransactionLimit: 500_00 }]),
        request: { amount: 100_01n },
      },
    ],
    [
      'DAILY_TRANSACTION_LIMIT',
      'The agent may not make more than 3 payments per day (UTC) (dailyTransactionLimit).',
      {
        policy: { spendingLimits: spendingLimits({ dailyTransactionLimit: 3 }) },
        usage: { count: 3n },
      },
    ],
    [
      'DAILY_TRANSACTION_LIMIT',
      'The agent may not make more than 0 payments per day (UTC) (dailyTransactionLimit).',
      { policy: { spendingLimits: spendingLimits({ dailyTransactionLimit: 0 }) } },
    ],
    [
      'DAILY_LIMIT',
      'Payments of the agent per day (UTC) may not exceed 1,300.00 USD (dailyLimit).',
      {
        policy: { spendingLimits: spendingLimits({ dailyLimit: 1_300_00 }) },
        usage: { day: 1_200_01n },
      },
    ],
    [
      'DAILY_LIMIT',
      'Payments of the agent per day (UTC) may not exceed 1 JPY (dailyLimit).',
      { policy: { spendingLimits: spendingLimits({ currency: 'JPY', dailyLimit: 1 }) } },
    ],
    [
      'MONTHLY_LIMIT',
      'Payments of the agent per month (UTC) may not exceed 300.00 USD (monthlyLimit).',
      {
        policy: { spendingLimits: spendingLimits({ monthlyLimit: 300_00 }) },
        usage: { month: 200_01n },
      },
    ],
  ])('rejects by %s: %s', (rule, reason, overrides) => {
    expect(evaluateCase(overrides)).toEqual({ decision: 'REJECTED', rule, reason });
  });

  it('rejects a payment above a limit even if approval is required', () => {
    const approvalRequired = { defaultExecutionMode: 'APPROVAL_REQUIRED' } as const;
    expect(evaluateCase({ policy: approvalRequired, request: { amount: 100_01n } })).toMatchObject({
      decision: 'REJECTED',
      rule: 'PER_TRANSACTION_LIMIT',
    });
  });
});
