// The judgement over what an agent asks for, case by case.
import { describe, expect, it } from 'vitest';
import { type Act, evaluateAmounts, type Spent } from '../../../../test/kit/agents/agent-policy.ts';
import type { Policy, Rule, Verdict } from './policy.ts';

const NOTHING: Spent = { count: 0n, day: 0n, month: 0n };

const limits = (more: Partial<Policy['spendingLimits']> = {}): Policy['spendingLimits'] => ({
  currency: 'USD',
  perTransactionLimit: 100_00,
  ...more,
});

const policy = (more: Partial<Policy> = {}): Policy => ({
  permissions: ['EXECUTE_QUOTES', 'CREATE_TRANSFERS'],
  defaultExecutionMode: 'AUTO',
  spendingLimits: limits(),
  ...more,
});

const act = (more: Partial<Act> = {}): Act => ({
  type: 'TRANSFER_OUT',
  accountId: 'one',
  amount: 100_00n,
  forThreshold: null,
  ...more,
});

interface Case {
  paused?: boolean;
  policy?: Partial<Policy>;
  spent?: Partial<Spent>;
  act?: Partial<Act>;
}

const judge = ({ paused = false, ...given }: Case): Verdict =>
  evaluateAmounts(
    { paused, policy: policy(given.policy) },
    { ...NOTHING, ...given.spent },
    act(given.act),
  );

const ruled = (rules: NonNullable<NonNullable<Policy['accountRestrictions']>['accountRules']>) => ({
  accountRestrictions: { accountRules: rules },
});
const one = (rule: object) => ruled([{ accountId: 'one', ...rule }]);

describe('evaluate', () => {
  it.each<[string, Case]>([
    ['what is as much as one payment may be', {}],
    ['a quote, which has a permission of its own', { act: { type: 'EXECUTE_QUOTE' } }],
    [
      'what fills the day',
      { policy: { spendingLimits: limits({ dailyLimit: 300_00 }) }, spent: { day: 200_00n } },
    ],
    [
      'the last payment of the day',
      { policy: { spendingLimits: limits({ dailyTransactionLimit: 3 }) }, spent: { count: 2n } },
    ],
    [
      'what fills the month',
      { policy: { spendingLimits: limits({ monthlyLimit: 300_00 }) }, spent: { month: 200_00n } },
    ],
    [
      'all that is asked for where limits are null',
      {
        policy: { spendingLimits: limits({ dailyLimit: null, monthlyLimit: null }) },
        spent: { count: 10n ** 6n, day: 10n ** 15n, month: 10n ** 15n },
      },
    ],
    [
      'an account that is listed',
      { policy: { accountRestrictions: { allowedAccountIds: ['two', 'one'] } } },
    ],
    [
      'any account where the list is null',
      { policy: { accountRestrictions: { allowedAccountIds: null } } },
    ],
    [
      'more than usual from an account with a higher limit',
      { policy: one({ perTransactionLimit: 500_00 }), act: { amount: 500_00n } },
    ],
    [
      'the usual where the limit of the account is null',
      { policy: one({ perTransactionLimit: null }) },
    ],
    [
      'an account that is AUTO by its own rule',
      { policy: { defaultExecutionMode: 'APPROVAL_REQUIRED', ...one({ executionMode: 'AUTO' }) } },
    ],
    [
      'what is exactly at the threshold',
      {
        policy: { approvalThresholds: { currency: 'EUR', amount: 90_00 } },
        act: { forThreshold: 90_00n },
      },
    ],
    [
      'anything where the threshold is null',
      {
        policy: { approvalThresholds: { currency: 'EUR', amount: null } },
        act: { forThreshold: 10n ** 15n },
      },
    ],
  ])('does at once %s', (_, given) => {
    expect(judge(given)).toEqual({ decision: 'AUTO' });
  });

  it.each<[string, Rule, Case]>([
    [
      'an account that asks by its own rule',
      'EXECUTION_MODE',
      { policy: one({ executionMode: 'APPROVAL_REQUIRED' }) },
    ],
    [
      'everything where that is the mode',
      'EXECUTION_MODE',
      { policy: { defaultExecutionMode: 'APPROVAL_REQUIRED' } },
    ],
    [
      'an account without a mode of its own',
      'EXECUTION_MODE',
      { policy: { defaultExecutionMode: 'APPROVAL_REQUIRED', ...one({}) } },
    ],
    [
      'a unit above the threshold',
      'APPROVAL_THRESHOLD',
      {
        policy: { approvalThresholds: { currency: 'EUR', amount: 90_00 } },
        act: { forThreshold: 90_01n },
      },
    ],
    [
      'anything above a threshold of nothing',
      'APPROVAL_THRESHOLD',
      { policy: { approvalThresholds: { currency: 'EUR', amount: 0 } }, act: { forThreshold: 1n } },
    ],
    [
      'what was not converted for the threshold',
      'APPROVAL_THRESHOLD',
      { policy: { approvalThresholds: { currency: 'EUR', amount: 90_00 } } },
    ],
    [
      'first for its mode, then for its amount',
      'EXECUTION_MODE',
      {
        policy: {
          defaultExecutionMode: 'APPROVAL_REQUIRED',
          approvalThresholds: { currency: 'EUR', amount: 0 },
        },
        act: { forThreshold: 1n },
      },
    ],
  ])('asks about %s', (_, rule, given) => {
    expect(judge(given)).toEqual({ decision: 'APPROVAL_REQUIRED', rule });
  });

  it.each<[Rule, string, Case]>([
    ['PAUSED', 'The agent is paused.', { paused: true }],
    [
      'PERMISSION',
      'The policy of the agent lacks the permission EXECUTE_QUOTES.',
      {
        policy: { permissions: ['CREATE_TRANSFERS', 'CREATE_QUOTES'] },
        act: { type: 'EXECUTE_QUOTE' },
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
      { policy: { permissions: [] }, act: { type: 'TRANSFER_IN' } },
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
        act: { intoId: 'two' },
      },
    ],
    [
      'ACCOUNT',
      'The policy of the agent does not allow this account.',
      { policy: { accountRestrictions: { allowedAccountIds: [] } } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may move 100.00 USD at the most (perTransactionLimit).',
      { act: { amount: 100_01n } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may move 0.50 USD at the most (perTransactionLimit).',
      { policy: one({ perTransactionLimit: 50 }), act: { amount: 51n } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may move 0.00 USD at the most (perTransactionLimit).',
      { policy: one({ perTransactionLimit: 0 }), act: { amount: 1n } },
    ],
    [
      'PER_TRANSACTION_LIMIT',
      'One payment of the agent may move 100.00 USD at the most (perTransactionLimit).',
      {
        policy: ruled([{ accountId: 'two', perTransactionLimit: 500_00 }]),
        act: { amount: 100_01n },
      },
    ],
    [
      'DAILY_TRANSACTION_LIMIT',
      'The agent may make 3 payments a day (UTC) at the most (dailyTransactionLimit).',
      { policy: { spendingLimits: limits({ dailyTransactionLimit: 3 }) }, spent: { count: 3n } },
    ],
    [
      'DAILY_TRANSACTION_LIMIT',
      'The agent may make 0 payments a day (UTC) at the most (dailyTransactionLimit).',
      { policy: { spendingLimits: limits({ dailyTransactionLimit: 0 }) } },
    ],
    [
      'DAILY_LIMIT',
      'In one day (UTC) the agent may move 1,300.00 USD at the most (dailyLimit).',
      { policy: { spendingLimits: limits({ dailyLimit: 1_300_00 }) }, spent: { day: 1_200_01n } },
    ],
    [
      'DAILY_LIMIT',
      'In one day (UTC) the agent may move 1 JPY at the most (dailyLimit).',
      { policy: { spendingLimits: limits({ currency: 'JPY', dailyLimit: 1 }) } },
    ],
    [
      'MONTHLY_LIMIT',
      'In one month (UTC) the agent may move 300.00 USD at the most (monthlyLimit).',
      { policy: { spendingLimits: limits({ monthlyLimit: 300_00 }) }, spent: { month: 200_01n } },
    ],
  ])('refuses by %s: %s', (rule, reason, given) => {
    expect(judge(given)).toEqual({ decision: 'REJECTED', rule, reason });
  });

  it('never asks about what a limit forbids', () => {
    const asking = { defaultExecutionMode: 'APPROVAL_REQUIRED' } as const;
    expect(judge({ policy: asking, act: { amount: 100_01n } })).toMatchObject({
      decision: 'REJECTED',
      rule: 'PER_TRANSACTION_LIMIT',
    });
  });
});
