// What an agent may do, as one pure function: its policy, what it has spent and what it asks for go in, yes,
// "ask the platform" or no comes out. It knows no clock and no database; amounts come converted.
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

/** As the API has it; null and absent are the same: no such limit. Amounts in smallest units. */
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
    /** Internal accounts it may touch; null or absent for all of its customer. */
    allowedAccountIds?: string[] | null;
    accountRules?: {
      accountId: string;
      executionMode?: ExecutionMode;
      perTransactionLimit?: number | null;
    }[];
  };
  approvalThresholds?: { currency?: string; amount?: number | null };
}

/** What an agent has spent, in the currency of its limits: since midnight, and since the first (UTC). */
export interface Spent {
  count: bigint;
  day: Money;
  month: Money;
}

/** What an agent asks for. */
export interface Act {
  type: ActionType;
  /** The internal account that it touches: the source, or where money that is taken in goes. */
  accountId: string;
  /** Another internal account of the customer that the money comes to. */
  intoId?: string | undefined;
  /** In the currency of the limits, rounded up. */
  amount: Money;
  /** In the currency of the threshold, rounded up; null where there is none. */
  forThreshold: Money | null;
}

/** The rule that decided; the first that stands against it, in this order. */
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
  | { decision: 'REFUSED'; rule: Rule; reason: string };

export const PERMISSION_FOR: Record<ActionType, AgentPermission> = {
  EXECUTE_QUOTE: 'EXECUTE_QUOTES',
  TRANSFER_OUT: 'CREATE_TRANSFERS',
  TRANSFER_IN: 'CREATE_TRANSFERS',
};

type Limits = Policy['spendingLimits'];

/** A limit in the currency of the limits. */
const limitOf = ({ currency }: Limits, units: number): Money => ({
  currency,
  amount: BigInt(units),
});

const most = (limits: Limits, units: number, field: string) =>
  `move ${formatMoney(limitOf(limits, units))} at the most (${field}).`;

const overLimit = (limits: Limits, units: number) =>
  `One payment of the agent may ${most(limits, units, 'perTransactionLimit')}`;

/** What it means that an agent has no room left in a day or month. */
export const overUsage = {
  DAILY_TRANSACTION_LIMIT: ({ dailyTransactionLimit = 0 }: Limits) =>
    `The agent may make ${dailyTransactionLimit} payments a day (UTC) at the most ` +
    '(dailyTransactionLimit).',
  DAILY_LIMIT: (limits: Limits) =>
    `In one day (UTC) the agent may ${most(limits, limits.dailyLimit ?? 0, 'dailyLimit')}`,
  MONTHLY_LIMIT: (limits: Limits) =>
    `In one month (UTC) the agent may ${most(limits, limits.monthlyLimit ?? 0, 'monthlyLimit')}`,
} satisfies Partial<Record<Rule, (limits: Limits) => string>>;

const isOver = (limits: Limits, money: Money, units: number | null | undefined) =>
  typeof units === 'number' && isLess(limitOf(limits, units), money);

export type Refusal = Extract<Verdict, { decision: 'REFUSED' }>;

export const against = (rule: Rule, reason: string): Refusal => ({
  decision: 'REFUSED',
  rule,
  reason,
});

export const notItsAccount = (): Refusal =>
  against('ACCOUNT', 'The policy of the agent does not allow this account.');

/**
 * What stands against its doing anything of the kind, whatever it is about; undefined where nothing does.
 * Asked before anything is looked up. A paused agent may still read.
 */
export function outright(
  { paused, policy }: { paused: boolean; policy: Policy },
  permission: AgentPermission | undefined,
  { reads = false }: { reads?: boolean } = {},
): Refusal | undefined {
  if (paused && !reads) return against('PAUSED', 'The agent is paused.');
  if (!permission || policy.permissions.includes(permission)) return undefined;
  return against('PERMISSION', `The policy of the agent lacks the permission ${permission}.`);
}

/** Whether it may be done at all; the first rule against it. */
function forbidding(
  agent: { paused: boolean; policy: Policy },
  spent: Spent,
  act: Act,
): Refusal | undefined {
  const no = outright(agent, PERMISSION_FOR[act.type]);
  if (no) return no;
  const { policy } = agent;
  const { spendingLimits: limits, accountRestrictions } = policy;
  const allowed = accountRestrictions?.allowedAccountIds;
  const touched = [act.accountId, act.intoId ?? act.accountId];
  if (allowed && !touched.every((id) => allowed.includes(id))) {
    return notItsAccount();
  }
  const ofOne = ruleFor(policy, act)?.perTransactionLimit ?? limits.perTransactionLimit;
  if (isOver(limits, act.amount, ofOne)) {
    return against('PER_TRANSACTION_LIMIT', overLimit(limits, ofOne));
  }
  const usage = (rule: keyof typeof overUsage) => against(rule, overUsage[rule](limits));
  const { dailyTransactionLimit: count, dailyLimit, monthlyLimit } = limits;
  if (typeof count === 'number' && spent.count >= BigInt(count)) {
    return usage('DAILY_TRANSACTION_LIMIT');
  }
  if (isOver(limits, add(spent.day, act.amount), dailyLimit)) return usage('DAILY_LIMIT');
  if (isOver(limits, add(spent.month, act.amount), monthlyLimit)) return usage('MONTHLY_LIMIT');
  return undefined;
}

/** The amount above which the platform is asked, in the currency of the limits unless it has its own. */
export function thresholdOf({ approvalThresholds, spendingLimits }: Policy): Money | undefined {
  if (typeof approvalThresholds?.amount !== 'number') return undefined;
  const { amount, currency } = approvalThresholds;
  return { currency: currency ?? spendingLimits.currency, amount: BigInt(amount) };
}

const ruleFor = ({ accountRestrictions }: Policy, { accountId }: Act) =>
  accountRestrictions?.accountRules?.find((rule) => rule.accountId === accountId);

/** An amount that could not be told in the currency of the threshold counts as above it. */
function aboveThreshold(policy: Policy, { forThreshold }: Act): boolean {
  const threshold = thresholdOf(policy);
  return threshold !== undefined && (forThreshold === null || isLess(threshold, forThreshold));
}

/** Judges one act. A breach of a limit is refused and never put to the platform. */
export function evaluate(
  agent: { paused: boolean; policy: Policy },
  spent: Spent,
  act: Act,
): Verdict {
  const refusal = forbidding(agent, spent, act);
  if (refusal) return refusal;
  const { policy } = agent;
  const mode = ruleFor(policy, act)?.executionMode ?? policy.defaultExecutionMode;
  if (mode !== 'AUTO') return { decision: 'APPROVAL_REQUIRED', rule: 'EXECUTION_MODE' };
  if (aboveThreshold(policy, act)) {
    return { decision: 'APPROVAL_REQUIRED', rule: 'APPROVAL_THRESHOLD' };
  }
  return { decision: 'AUTO' };
}
