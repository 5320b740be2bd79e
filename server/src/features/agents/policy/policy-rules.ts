// Semantic validation of policies beyond their schema, and merging of changes.
import type { Static } from '@sinclair/typebox';
import { findCurrency } from '../../../catalog/currencies/currencies.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import type { AgentPolicyUpdateRequest } from '../contract.ts';
import type { Policy } from './policy.ts';

type PolicyChange = Static<typeof AgentPolicyUpdateRequest>;
type Limits = Policy['spendingLimits'];
type Restrictions = NonNullable<Policy['accountRestrictions']>;

/** A policy before validation. */
type PartialPolicy = Partial<Record<keyof Policy, unknown>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function currencyErrors(field: string, limits: unknown): FieldError[] {
  const code = isObject(limits) ? limits.currency : undefined;
  if (typeof code !== 'string' || code === '' || findCurrency(code)) return [];
  return [{ field, message: `${code} is not a supported currency` }];
}

function thresholdErrors(field: string, threshold: unknown): FieldError[] {
  if (!isObject(threshold) || typeof threshold.amount !== 'number') return [];
  if (threshold.currency !== undefined) return [];
  return [{ field, message: 'is required if amount is set' }];
}

/** Field paths and IDs of the accounts that a policy lists. */
function listedAccounts({ accountRestrictions: input }: PartialPolicy, prefix: string) {
  if (!isObject(input)) return { allowedAccounts: [], ruledAccounts: [] };
  const arrayOrEmpty = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const field = `${prefix}accountRestrictions`;
  const allowedAccounts = arrayOrEmpty(input.allowedAccountIds).map((id, index) => ({
    field: `${field}.allowedAccountIds.${index}`,
    id,
  }));
  const ruledAccounts = arrayOrEmpty(input.accountRules).map((rule, index) => ({
    field: `${field}.accountRules.${index}.accountId`,
    id: isObject(rule) ? rule.accountId : undefined,
  }));
  return { allowedAccounts, ruledAccounts };
}

/**
 * Errors of a complete or partial policy, independent of the customer. `prefix` precedes field
 * paths.
 */
export function policyErrors(input: unknown, prefix = ''): FieldError[] {
  if (!isObject(input)) return [];
  return [
    ...currencyErrors(`${prefix}spendingLimits.currency`, input.spendingLimits),
    ...currencyErrors(`${prefix}approvalThresholds.currency`, input.approvalThresholds),
  ];
}

/** Errors of a complete policy, including fields that a partial one may omit. */
export const completePolicyErrors = (input: unknown, prefix = ''): FieldError[] => [
  ...policyErrors(input, prefix),
  ...(isObject(input)
    ? thresholdErrors(`${prefix}approvalThresholds.currency`, input.approvalThresholds)
    : []),
];

/** Errors for accounts that are not internal accounts of the customer or have two rules. */
export async function accountErrors(
  ctx: Ctx,
  customerId: string,
  input: PartialPolicy,
  prefix = '',
): Promise<FieldError[]> {
  const { allowedAccounts, ruledAccounts } = listedAccounts(input, prefix);
  const namedAccounts = [...allowedAccounts, ...ruledAccounts].filter(
    ({ id }) => typeof id === 'string',
  );
  if (!namedAccounts.length) return [];
  const rows = await findInternalAccounts(ctx.db, { customer_id: customerId }, UNPAGED);
  const ownAccountIds = new Set<unknown>(rows.map((row) => row.id));
  const ids = ruledAccounts.map((each) => each.id);
  const unknownAccounts = namedAccounts
    .filter(({ id }) => !ownAccountIds.has(id))
    .map(({ field }) => ({ field, message: 'is not an internal account of the customer' }));
  const duplicates = ruledAccounts
    .filter(({ id }, index) => ownAccountIds.has(id) && ids.indexOf(id) < index)
    .map(({ field }) => ({ field, message: 'must have at most one rule in this list' }));
  return [...unknownAccounts, ...duplicates];
}

/** The previous fields, overwritten by the changed fields. */
const mergeDefined = <T extends object>(current: T | undefined, change: Partial<T> | undefined) =>
  current || change ? ({ ...current, ...change } as T) : undefined;

/** A policy in stored form, with each permission once. */
export const storedPolicy = (policy: Policy): Policy => ({
  ...policy,
  permissions: [...new Set(policy.permissions)],
});

/**
 * Merges a change. Lists are replaced, and other fields are merged. Null removes a limit. Limits
 * are not converted when their currency changes.
 */
export function mergePolicy(current: Policy, change: PolicyChange): Policy {
  const { accountRestrictions, approvalThresholds } = change;
  const restrictions = mergeDefined<Restrictions>(current.accountRestrictions, accountRestrictions);
  const thresholds = mergeDefined(current.approvalThresholds, approvalThresholds);
  return storedPolicy({
    permissions: change.permissions ?? current.permissions,
    defaultExecutionMode: change.defaultExecutionMode ?? current.defaultExecutionMode,
    spendingLimits: mergeDefined<Limits>(current.spendingLimits, change.spendingLimits) as Limits,
    ...(restrictions ? { accountRestrictions: restrictions } : {}),
    ...(thresholds ? { approvalThresholds: thresholds } : {}),
  });
}

type FormerCurrencies = { currency: string; until: string }[];

/**
 * Former currencies of the limits after a change. Each currency with possible spending in the
 * current month is listed once.
 */
export function formerCurrenciesAfter(
  formerCurrencies: FormerCurrencies,
  { from, to, now }: { from: string; to: string; now: number },
): FormerCurrencies {
  if (from === to) return formerCurrencies;
  const month = new Date(now).toISOString().slice(0, 7);
  const retainedCurrencies = formerCurrencies.filter(
    ({ currency, until }) => currency !== from && currency !== to && until.slice(0, 7) >= month,
  );
  return [...retainedCurrencies, { currency: from, until: new Date(now).toISOString() }];
}
