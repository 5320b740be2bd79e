// Policies of agents: random policies, and their effect on a payment, computed from the
// specification.
import { convertAmount, countedOn, type Policy, usedIn } from '../model/agent-usage.ts';
import type { Agent, Person, Sim } from './sim.ts';

const PERMISSIONS = [
  ...['VIEW_TRANSACTIONS', 'CREATE_TRANSFERS', 'CREATE_QUOTES', 'EXECUTE_QUOTES'],
  'MANAGE_EXTERNAL_ACCOUNTS',
];

const randomSubset = <T>(sim: Sim, list: readonly T[]): T[] =>
  list.filter(() => sim.chance.percent(60));

/** Limits in cents. Payments of agents are from 100 to 50,000 cents. */
const LIMITS = [0, 20_000, 60_000, 400_000];

export function randomLimits(sim: Sim): Policy['spendingLimits'] {
  const { chance } = sim;
  const withProbability = <T>(share: number, value: T) => (chance.percent(share) ? value : null);
  const dailyLimit = withProbability(40, chance.pick(LIMITS));
  const monthlyLimit = withProbability(30, chance.pick(LIMITS));
  return {
    currency: chance.pick(['USD', 'USD', 'EUR', 'GBP']),
    perTransactionLimit: chance.pick([30_000, 60_000, 500_000, 500_000]),
    dailyLimit,
    monthlyLimit,
    ...(chance.percent(25) ? { dailyTransactionLimit: chance.pick([1, 3, 8]) } : {}),
  };
}

function randomRestrictions(sim: Sim, owner: Person): NonNullable<Policy['accountRestrictions']> {
  const { chance } = sim;
  const ids = [...owner.internalAccounts.values()].map(({ id }) => id);
  return {
    ...(chance.percent(40) ? { allowedAccountIds: randomSubset(sim, ids) } : {}),
    accountRules: randomSubset(sim, ids)
      .slice(0, 3)
      .map((accountId) => ({
        accountId,
        ...(chance.percent(50)
          ? { executionMode: chance.pick(['AUTO', 'APPROVAL_REQUIRED']) }
          : {}),
        ...(chance.percent(40) ? { perTransactionLimit: chance.pick([5_000, 500_000, null]) } : {}),
      })),
  };
}

export function randomPolicy(sim: Sim, owner: Person): Policy {
  const { chance } = sim;
  return {
    permissions: chance.percent(80) ? PERMISSIONS : randomSubset(sim, PERMISSIONS),
    defaultExecutionMode: chance.pick(['AUTO', 'AUTO', 'APPROVAL_REQUIRED']),
    spendingLimits: randomLimits(sim),
    ...(chance.percent(25) ? { accountRestrictions: randomRestrictions(sim, owner) } : {}),
    ...(chance.percent(30)
      ? { approvalThresholds: { currency: 'USD', amount: chance.pick([1_000, 25_000, 100_000]) } }
      : {}),
  };
}

/** A request of an agent, in its own currency. */
interface AgentRequest {
  permission: string;
  /** The internal account of the request. */
  account: string;
  amount: bigint;
  currency: string;
}

type Verdict = 'rejected' | 'approval required' | 'immediately';

const exceeds = (amount: bigint, limit: number | null | undefined) =>
  typeof limit === 'number' && amount > BigInt(limit);

/** The current policy, and whether the agent is paused. */
export function policyOf({ model }: Sim, { id }: Agent) {
  const row = model.agentRecords.agents.get(id);
  return { row, policy: JSON.parse(row?.policy ?? '{}') as Policy, paused: row?.paused === 'true' };
}

/** Whether the agent is paused or lacks the permission. */
export function lacksPermission(sim: Sim, agent: Agent, permission: string): boolean {
  const { policy, paused } = policyOf(sim, agent);
  return paused || !policy.permissions.includes(permission);
}

/** The predicted decision, or undefined if it cannot be predicted. */
export function predictVerdict(sim: Sim, agent: Agent, request: AgentRequest): Verdict | undefined {
  const { row, policy } = policyOf(sim, agent);
  if (!row || lacksPermission(sim, agent, request.permission)) return 'rejected';
  const { spendingLimits: limits, accountRestrictions, approvalThresholds } = policy;
  const { environment } = agent.owner.platform;
  const amount = convertAmount(environment, request.amount, request.currency, limits.currency);
  if (amount === undefined) return undefined;
  const allowedIds = accountRestrictions?.allowedAccountIds;
  if (allowedIds && !allowedIds.includes(request.account)) return 'rejected';
  const rule = accountRestrictions?.accountRules?.find(
    (accountRule) => accountRule.accountId === request.account,
  );
  const day = new Date(sim.effects.now()).toISOString().slice(0, 10);
  const isLimitExceeded =
    exceeds(amount, rule?.perTransactionLimit ?? limits.perTransactionLimit) ||
    exceeds(countedOn(sim.model, row, day) + 1n, limits.dailyTransactionLimit) ||
    exceeds(usedIn(sim.model, row, day) + amount, limits.dailyLimit) ||
    exceeds(usedIn(sim.model, row, day.slice(0, 7)) + amount, limits.monthlyLimit);
  if (isLimitExceeded) return 'rejected';
  if ((rule?.executionMode ?? policy.defaultExecutionMode) !== 'AUTO') return 'approval required';
  const thresholdCurrency = approvalThresholds?.currency ?? limits.currency;
  const convertedAmount =
    convertAmount(environment, request.amount, request.currency, thresholdCurrency) ??
    request.amount;
  return exceeds(convertedAmount, approvalThresholds?.amount) ? 'approval required' : 'immediately';
}
