// Evaluation of agent policies as a pure function of policy, usage and requested payment. The
// result is AUTO, APPROVAL_REQUIRED or REJECTED. The caller converts the amounts.
import { formatMoney } from '../../../catalog/currencies/money-format.ts';
import { add, isLess, type Money } from '../../../kernel/money.ts';
import type { ActionType } from '../states.ts';

export const AGENT_PERMISSIONS = [
  'VIEW_TRANSACTIONS',
  'CREATE_TRANSFERS',
  'CREATE_QUOTES',
  'EXECUTE_QUOTES',
  'MANAGE_EXTERNAL_ACCOUNTS',
] as const;
export type AgentPermission = (typeof AGENT_PERMISSIONS)[number];

export const EXECUTION_MODES = ['AUTO', 'APPROVAL_REQUIRED'] as const;
type ExecutionMode = (typeof EXECUTION_MODES)[number];

/** In the form of the API, with amounts in minor units. Null and absent have the same meaning. */
export interface Policy {
  permissions: AgentPermission[];
  defaultExecutionMode: ExecutionMode;
  spendingLimits: {
    currency: string;
    perTransactionLimit: number;
    dailyLimit?: number | null;
    dailyTransactionLimit?: number;
    monthlyLimit?: number | null;
  };
  accountRestrictions?: {
    /** Allowed internal accounts, or null or absent for all accounts of the customer. */
    allowedAccountIds?: string[] | null;
    accountRules?: {
      accountId: string;
      executionMode?: ExecutionMode;
      perTransactionLimit?: number | null;
    }[];
  };
  approvalThresholds?: { currency?: string; amount?: number | null };
}

/** Usage in the current day and month (UTC), in the currency of the limits. */
export interface AgentUsage {
  count: bigint;
  day: Money;
  month: Money;
}

/** The payment that an agent requests. */
export interface PaymentRequest {
  type: ActionType;
  /** The internal source account, or the internal destination if the source is external. */
  accountId: string;
  /** Destination, if it is an internal account of the same customer. */
  destinationId?: string | undefined;
  /** In the currency of the limits, rounded up. */
  amount: Money;
  /** In the currency of the threshold, rounded up, or null without a threshold. */
  thresholdAmount: Money | null;
}

/** Rules in order of evaluation. The first violated rule decides. */
export type Rule =
  | 'PAUSED'
  | 'PERMISSION'
  | 'ACCOUNT'
  | 'DEFAULT_DEPOSIT_ACCOUNT'
  | 'PER_TRANSACTION_LIMIT'
  | 'DAILY_TRANSACTION_LIMIT'
  | 'DAILY_LIMIT'
  | 'MONTHLY_LIMIT'
  | 'EXECUTION_MODE'
  | 'APPROVAL_THRESHOLD';

export type Verdict =
  | { decision: 'AUTO' }
  | { decision: 'APPROVAL_REQUIRED'; rule: Rule }
  | { decision: 'REJECTED'; rule: Rule; reason: string };

export const PERMISSION_FOR: Record<ActionType, AgentPermission> = {
  EXECUTE_QUOTE: 'EXECUTE_QUOTES',
  TRANSFER_OUT: 'CREATE_TRANSFERS',
  TRANSFER_IN: 'CREATE_TRANSFERS',
};

type Limits = Policy['spendingLimits'];

const limitOf = ({ currency }: Limits, units: number): Money => ({
  currency,
  amount: BigInt(units),
});

const limitReason = (limits: Limits, units: number, field: string) =>
  `${formatMoney(limitOf(limits, units))} (${field}).`;

const overLimitReason = (limits: Limits, units: number) =>
  `One payment of the agent may not exceed ${limitReason(limits, units, 'perTransactionLimit')}`;

/** Reasons for an exhausted daily or monthly limit. */
export const usageLimitReasons = {
  DAILY_TRANSACTION_LIMIT: ({ dailyTransactionLimit = 0 }: Limits) =>
    `The agent may not make more than ${dailyTransactionLimit} payments per day (UTC) ` +
    '(dailyTransactionLimit).',
  DAILY_LIMIT: (limits: Limits) =>
    'Payments of the agent per day (UTC) may not exceed ' +
    limitReason(limits, limits.dailyLimit ?? 0, 'dailyLimit'),
  MONTHLY_LIMIT: (limits: Limits) =>
    'Payments of the agent per month (UTC) may not exceed ' +
    limitReason(limits, limits.monthlyLimit ?? 0, 'monthlyLimit'),
} satisfies Partial<Record<Rule, (limits: Limits) => string>>;

const isOver = (limits: Limits, money: Money, units: number | null | undefined) =>
  typeof units === 'number' && isLess(limitOf(limits, units), money);

export type Rejection = Extract<Verdict, { decision: 'REJECTED' }>;

export const rejection = (rule: Rule, reason: string): Rejection => ({
  decision: 'REJECTED',
  rule,
  reason,
});

export const accountRejection = (): Rejection =>
  rejection('ACCOUNT', 'The policy of the agent does not allow this account.');

/**
 * The rejection of a paused agent or for a missing permission. The rejection does not depend on the
 * payment and is evaluated before any resource is read. A paused agent may read.
 */
export function generalRejection(
  { paused, policy }: { paused: boolean; policy: Policy },
  permission: AgentPermission | undefined,
  { reads = false }: { reads?: boolean } = {},
): Rejection | undefined {
  if (paused && !reads) return rejection('PAUSED', 'The agent is paused.');
  if (!permission || policy.permissions.includes(permission)) return undefined;
  return rejection('PERMISSION', `The policy of the agent lacks the permission ${permission}.`);
}

/** The first violated rule, or undefined if no rule is violated. */
function firstRejection(
  agent: { paused: boolean; policy: Policy },
  usage: AgentUsage,
  payment: PaymentRequest,
): Rejection | undefined {
  const generalViolation = generalRejection(agent, PERMISSION_FOR[payment.type]);
  if (generalViolation) return generalViolation;
  const { policy } = agent;
  const { spendingLimits: limits, accountRestrictions } = policy;
  const allowedAccountIds = accountRestrictions?.allowedAccountIds;
  const usedAccountIds = [payment.accountId, payment.destinationId ?? payment.accountId];
  if (allowedAccountIds && !usedAccountIds.every((id) => allowedAccountIds.includes(id))) {
    return accountRejection();
  }
  const paymentLimit = ruleFor(policy, payment)?.perTransactionLimit ?? limits.perTransactionLimit;
  if (isOver(limits, payment.amount, paymentLimit)) {
    return rejection('PER_TRANSACTION_LIMIT', overLimitReason(limits, paymentLimit));
  }
  const usageRejection = (rule: keyof typeof usageLimitReasons) =>
    rejection(rule, usageLimitReasons[rule](limits));
  const { dailyTransactionLimit: countLimit, dailyLimit, monthlyLimit } = limits;
  if (typeof countLimit === 'number' && usage.count >= BigInt(countLimit)) {
    return usageRejection('DAILY_TRANSACTION_LIMIT');
  }
  if (isOver(limits, add(usage.day, payment.amount), dailyLimit))
    return usageRejection('DAILY_LIMIT');
  if (isOver(limits, add(usage.month, payment.amount), monthlyLimit))
    return usageRejection('MONTHLY_LIMIT');
  return undefined;
}

/** The approval threshold, by default in the currency of the limits. */
export function thresholdOf({ approvalThresholds, spendingLimits }: Policy): Money | undefined {
  if (typeof approvalThresholds?.amount !== 'number') return undefined;
  const { amount, currency } = approvalThresholds;
  return { currency: currency ?? spendingLimits.currency, amount: BigInt(amount) };
}

const ruleFor = ({ accountRestrictions }: Policy, { accountId }: PaymentRequest) =>
  accountRestrictions?.accountRules?.find((rule) => rule.accountId === accountId);

/** An amount that could not be converted to the currency of the threshold counts as above it. */
function isAboveThreshold(policy: Policy, { thresholdAmount }: PaymentRequest): boolean {
  const threshold = thresholdOf(policy);
  return (
    threshold !== undefined && (thresholdAmount === null || isLess(threshold, thresholdAmount))
  );
}

/** Evaluates one payment. A payment above a limit is rejected without an approval request. */
export function evaluate(
  agent: { paused: boolean; policy: Policy },
  usage: AgentUsage,
  payment: PaymentRequest,
): Verdict {
  const rejection = firstRejection(agent, usage, payment);
  if (rejection) return rejection;
  const { policy } = agent;
  const mode = ruleFor(policy, payment)?.executionMode ?? policy.defaultExecutionMode;
  if (mode !== 'AUTO') return { decision: 'APPROVAL_REQUIRED', rule: 'EXECUTION_MODE' };
  if (isAboveThreshold(policy, payment)) {
    return { decision: 'APPROVAL_REQUIRED', rule: 'APPROVAL_THRESHOLD' };
  }
  return { decision: 'AUTO' };
}
