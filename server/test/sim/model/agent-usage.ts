// Agents. Each action is compared with its payment and its audit entries. The usage of limits is
// recomputed from the payments. Written from the specification, independently of the code under
// test.
import type { Model, Payment, RecordedRow, RowChange } from './model.ts';
import { isUncounted } from './queue-and-limits.ts';

export interface AgentRecords {
  agents: Map<string, RecordedRow>;
  actions: Map<string, RecordedRow>;
  /** IDs of the actions of a payment. */
  actionsByPayment: Map<string, string[]>;
  /** Audit entries of an action. */
  audit: Map<string, string[]>;
  /** Payments that an agent started. */
  payments: Map<string, Set<string>>;
  /** Accounts that count the usage of an agent. */
  usageAccounts: Map<string, Set<string>>;
}

export const emptyAgentRecords = (): AgentRecords => ({
  agents: new Map(),
  actions: new Map(),
  actionsByPayment: new Map(),
  audit: new Map(),
  payments: new Map(),
  usageAccounts: new Map(),
});

/** `velocity:Agent:<uuid>:USD:2026-01-05`, by its parts. */
const USAGE_ACCOUNT = /^velocity:(Agent:[^:]+):(\w+):([\d-]+)$/;

function addToSet<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const existingSet = map.get(key);
  if (existingSet) existingSet.add(value);
  else map.set(key, new Set([value]));
}

const CHANGE_HANDLERS: Readonly<
  Record<
    string,
    (agentRecords: AgentRecords, after: RecordedRow, before: RecordedRow | null) => void
  >
> = {
  agents({ agents }, after) {
    agents.set(after.id as string, after);
  },
  agent_actions({ actions, actionsByPayment }, after, before) {
    const [id, payment] = [after.id as string, after.transaction_id as string];
    actions.set(id, after);
    if (!before) actionsByPayment.set(payment, [...(actionsByPayment.get(payment) ?? []), id]);
  },
  agent_audit({ audit }, { action_id: id, what }, before) {
    if (id && !before) audit.set(id, [...(audit.get(id) ?? []), what as string]);
  },
  transactions({ payments }, { id, agent_id: agent }) {
    if (agent) addToSet(payments, agent, id as string);
  },
  ledger_accounts({ usageAccounts }, { id }) {
    const agent = USAGE_ACCOUNT.exec(id ?? '')?.[1];
    if (agent) addToSet(usageAccounts, agent, id as string);
  },
};

export const applyAgentChange = (
  agentRecords: AgentRecords,
  { table, before, after }: RowChange,
): void => {
  if (after) CHANGE_HANDLERS[table]?.(agentRecords, after, before);
};

/** The agent of a usage account. */
export const agentOf = (accountId: string | null | undefined): string | undefined =>
  USAGE_ACCOUNT.exec(accountId ?? '')?.[1];

const PENDING_APPROVAL = 'PENDING_APPROVAL';
const INITIAL_STATUSES = [PENDING_APPROVAL, 'APPROVED'];

/** An invalid change of an action, which is decided once. */
export function actionTransitionProblem(
  before: RecordedRow | null,
  after: RecordedRow | null,
): string | undefined {
  if (!after) return `${before?.id} was removed`;
  if (!before)
    return INITIAL_STATUSES.includes(after.status ?? '')
      ? undefined
      : `${after.id} is ${after.status} at creation`;
  return before.status === PENDING_APPROVAL
    ? undefined
    : `${after.id} was changed after it was ${before.status}`;
}

const actionsOf = ({ agentRecords }: Model, payment: string): RecordedRow[] =>
  (agentRecords.actionsByPayment.get(payment) ?? []).map(
    (id) => agentRecords.actions.get(id) as RecordedRow,
  );

const statusesOf = (actions: readonly RecordedRow[]) => actions.map(({ status }) => status).join();

/** Whether a transfer of an agent needs a decision. */
export const isAwaitingApproval = (model: Model, { row, transfers }: Payment): boolean =>
  row.agent_id !== null &&
  row.quote_id === null &&
  transfers.length === 0 &&
  actionsOf(model, row.id as string).every(({ status }) => status !== 'APPROVED');

const AUDIT_ENTRIES: Readonly<Record<string, string>> = {
  APPROVED: 'ACTION_SUBMITTED,ACTION_APPROVED',
  REJECTED: 'ACTION_SUBMITTED,ACTION_REJECTED',
  FAILED: 'ACTION_SUBMITTED,ACTION_FAILED',
  PENDING_APPROVAL: 'ACTION_SUBMITTED',
};

/** An action that does not match its audit entries. */
export function auditProblem({ agentRecords }: Model, id: string): string | undefined {
  const { status } = agentRecords.actions.get(id) ?? {};
  const entries = (agentRecords.audit.get(id) ?? []).join();
  const isExecutedImmediately = status === 'APPROVED' && entries === 'ACTION_EXECUTED';
  if (isExecutedImmediately || entries === AUDIT_ENTRIES[status ?? '']) return undefined;
  return `is ${status} and its audit is [${entries}]`;
}

const UNSTARTED_STATUSES = ['PENDING', 'EXPIRED'];
const countTransfersOf = ({ transfers }: Payment) =>
  transfers.filter(({ step }) => step === 'count.agent');

/** A mismatch between an agent's payment and its decision. */
export function decisionProblem(model: Model, payment: Payment): string | undefined {
  const { row, transfers } = payment;
  if (row.agent_id === null || row.agent_id === undefined) return undefined;
  const actions = actionsOf(model, row.id as string);
  const openActions = actions.filter(({ status }) => INITIAL_STATUSES.includes(status ?? ''));
  if (openActions.length > 1) return `has actions that are ${statusesOf(actions)}`;
  const isApproved = openActions[0]?.status === 'APPROVED';
  const isWaiting = UNSTARTED_STATUSES.includes(row.status ?? '') && row.funds === 'NONE';
  const state = `is ${row.status}, funds ${row.funds}, and its actions are [${statusesOf(actions)}]`;
  if (isApproved) {
    if (countTransfersOf(payment).length !== 1)
      return `${state}, counted ${countTransfersOf(payment).length} times`;
    return isWaiting && row.type === 'OUTGOING' ? state : undefined;
  }
  if (transfers.length) return `${state}, and has transfers`;
  if (row.quote_id !== null) return isWaiting ? undefined : state;
  const isRequested = openActions.length ? row.status === 'PENDING' : row.status === 'FAILED';
  return isRequested && row.funds === 'NONE' ? undefined : state;
}

/** Units for one dollar, in millionths: the rates for usage in the sandbox and in production. */
const RATES: Readonly<Record<string, Readonly<Record<string, bigint>>>> = {
  sandbox: { USD: 1_000_000n, EUR: 920_000n, GBP: 780_000n, MXN: 17_250_000n, USDC: 1_000_000n },
  production: { USD: 1_000_000n, EUR: 915_400n, GBP: 787_100n, MXN: 18_250_000n, USDC: 1_000_000n },
};
const scaleOf = (currency: string) => (currency === 'USDC' ? 1_000_000n : 100n);

/** An amount in another currency, rounded up, or undefined without a rate. */
export function convertAmount(
  environment: string,
  amount: bigint,
  from: string,
  to: string,
): bigint | undefined {
  if (from === to) return amount;
  const [fromRate, toRate] = [RATES[environment]?.[from], RATES[environment]?.[to]];
  if (!fromRate || !toRate) return undefined;
  const [numerator, denominator] = [amount * toRate * scaleOf(to), fromRate * scaleOf(from)];
  return (numerator + denominator - 1n) / denominator;
}

const environmentOf = ({ platforms }: Model, row: RecordedRow) =>
  platforms.get(row.platform_id ?? '')?.environment ?? 'sandbox';

/** The usage of an agent by account, computed from its payments. */
function usedBy(model: Model, id: string): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
  for (const paymentId of model.agentRecords.payments.get(id) ?? []) {
    const payment = model.payments.get(paymentId) as Payment;
    const { row, transfers } = payment;
    const action = actionsOf(model, paymentId).find(({ status }) => status === 'APPROVED');
    const dayTransfer = transfers.find(({ step }) => step === 'velocity.agent.day');
    if (!action || !dayTransfer) continue;
    const day = new Date(action.updated_at as string).toISOString().slice(0, 10);
    add(`velocity:${id}:count:${day}`, 1n);
    // A funding debit that failed or was returned counts as zero.
    if (isUncounted(row) || (row.type === 'INCOMING' && row.status === 'FAILED')) continue;
    const currency = USAGE_ACCOUNT.exec(dayTransfer.debit)?.[2] as string;
    const amountSent = BigInt(row.sent_amount ?? 0);
    const amount = convertAmount(
      environmentOf(model, row),
      amountSent,
      row.sent_currency ?? '',
      currency,
    );
    for (const countedPeriod of [day, day.slice(0, 7)]) {
      add(`velocity:${id}:${currency}:${countedPeriod}`, amount ?? dayTransfer.amount);
    }
  }
  return sums;
}

/** A usage of an agent that differs from its payments. */
export function usageProblem(model: Model, id: string): string | undefined {
  const expectedUsage = usedBy(model, id);
  for (const account of new Set([
    ...(model.agentRecords.usageAccounts.get(id) ?? []),
    ...expectedUsage.keys(),
  ])) {
    const usedAmount = -(model.accounts.get(account)?.balance ?? 0n);
    const expectedAmount = expectedUsage.get(account) ?? 0n;
    if (usedAmount !== expectedAmount)
      return `has used ${usedAmount} of ${account}; its payments sum to ${expectedAmount}`;
  }
  return undefined;
}

interface Limits {
  currency: string;
  perTransactionLimit: number;
  dailyLimit?: number | null;
  dailyTransactionLimit?: number;
  monthlyLimit?: number | null;
}

/** The parts of a policy that are checked here. */
export interface Policy {
  permissions: string[];
  defaultExecutionMode: string;
  spendingLimits: Limits;
  accountRestrictions?: {
    allowedAccountIds?: string[] | null;
    accountRules?: {
      accountId: string;
      executionMode?: string;
      perTransactionLimit?: number | null;
    }[];
  };
  approvalThresholds?: { currency?: string; amount?: number | null };
}

/** Usage of a period in the currency of the limits. Other currencies are converted. */
export function usedIn(model: Model, agent: RecordedRow, countedPeriod: string): bigint {
  const { currency } = (JSON.parse(agent.policy as string) as Policy).spendingLimits;
  const environment = environmentOf(model, agent);
  let sum = 0n;
  for (const id of model.agentRecords.usageAccounts.get(agent.id as string) ?? []) {
    const [, , unit = '', period] = USAGE_ACCOUNT.exec(id) ?? [];
    if (period !== countedPeriod || unit === 'count') continue;
    const usedAmount = -(model.accounts.get(id)?.balance ?? 0n);
    sum += convertAmount(environment, usedAmount, unit, currency) ?? 0n;
  }
  return sum;
}

/** Number of payments of an agent on a day. */
export const countedOn = ({ accounts }: Model, { id }: RecordedRow, day: string): bigint =>
  -(accounts.get(`velocity:${id}:count:${day}`)?.balance ?? 0n);

const isInternal = (id: string | null | undefined) => id?.startsWith('InternalAccount:') ?? false;

/** The source of a payment, or the destination if only the destination is internal. */
const agentAccountOf = ({ source_account: from, destination_account: to }: RecordedRow) =>
  isInternal(from) || !isInternal(to) ? from : to;

const exceeds = (amount: bigint, limit: number | null | undefined) =>
  typeof limit === 'number' && amount > BigInt(limit);

/** A violation of the agent's current policy by a payment that was just accepted. */
export function policyProblem(model: Model, payment: Payment): string | undefined {
  const { row, transfers } = payment;
  const agent = model.agentRecords.agents.get(row.agent_id ?? '');
  if (!agent) return `${row.id} is counted and has no agent`;
  if (agent.paused === 'true' || agent.deleted_at)
    return `${agent.id} acted while paused or deleted`;
  const { spendingLimits: limits, accountRestrictions } = JSON.parse(
    agent.policy as string,
  ) as Policy;
  const allowedIds = accountRestrictions?.allowedAccountIds;
  const account = agentAccountOf(row) as string;
  if (allowedIds && !allowedIds.includes(account))
    return `${agent.id} paid from or to ${account}, which its policy does not allow`;
  const rule = accountRestrictions?.accountRules?.find(
    (accountRule) => accountRule.accountId === account,
  );
  const amount = transfers.find(({ step }) => step === 'velocity.agent.day')?.amount ?? 0n;
  const day = new Date(model.now).toISOString().slice(0, 10);
  const violations = {
    perTransactionLimit: exceeds(amount, rule?.perTransactionLimit ?? limits.perTransactionLimit),
    dailyTransactionLimit: exceeds(countedOn(model, agent, day), limits.dailyTransactionLimit),
    dailyLimit: exceeds(usedIn(model, agent, day), limits.dailyLimit),
    monthlyLimit: exceeds(usedIn(model, agent, day.slice(0, 7)), limits.monthlyLimit),
  };
  const names = Object.entries(violations).flatMap(([name, isExceeded]) =>
    isExceeded ? [name] : [],
  );
  return names.length ? `${row.id} exceeds ${names.join(', ')} of ${agent.id}` : undefined;
}
