// Rules about the operator's queue, daily usage and external accounts. Written from their purpose,
// independently of the code under test.
import { refundOf } from './lifecycles.ts';
import type { Model, Payment, RecordedRow, Transfer } from './model.ts';

/** Whether the payment waits for a result of this kind. */
function isOutstanding({ row }: Payment, kind: string): boolean {
  const refund = refundOf(row);
  if (kind === 'refund') return refund === 'PENDING';
  if (refund !== 'NONE') return false;
  if (kind === 'payout') return row.status === 'PROCESSING' && row.funds === 'SUBMITTED';
  const isInProgress = row.status === 'PENDING' || row.status === 'PROCESSING';
  return (
    isInProgress && (row.funds === 'AWAITED' || (row.type === 'INCOMING' && row.funds === 'HELD'))
  );
}

const environmentOf = (model: Model, { row }: Payment) =>
  model.platforms.get(row.platform_id ?? '')?.environment;

/** The result that a payment waits for, if any. */
export function awaitedOf(model: Model, payment: Payment): string | undefined {
  const kind = model.awaitedResults.get(payment.row.id as string);
  return kind !== undefined && isOutstanding(payment, kind) ? kind : undefined;
}

/** A wrong entry in the queue. */
export function queueProblem(
  model: Model,
  payment: Payment,
  isInProgress: boolean,
): string | undefined {
  const { id, status, funds } = payment.row;
  const kind = model.awaitedResults.get(id as string);
  if (kind !== undefined && environmentOf(model, payment) !== 'production') {
    return `${id} waits for an operator of the sandbox`;
  }
  if (!isInProgress || model.jobCounts.has(id as string)) return undefined;
  if (awaitedOf(model, payment) !== undefined) return undefined;
  return `${id} is ${status}, funds ${funds}, with no job, and waits for ${kind ?? 'no result'}`;
}

/** Period for which a server may still apply a limit after its change. */
const LIMIT_DELAY_MS = 61_000;

const scopeOf = (to: string | undefined) => to || 'any';

const stepsOf = (transfers: readonly Transfer[], prefix: string) =>
  transfers
    .filter(({ step }) => step === prefix || step.startsWith(`${prefix}.`))
    .map(({ step, debit, amount }) => ({
      scope: scopeOf(step.slice(prefix.length + 1)),
      debit,
      amount,
    }));

/** The daily limits that may apply to a payment. */
function limitsOn(model: Model, row: RecordedRow, at: number) {
  const lists = model.limits.get(row.platform_id ?? '') ?? [];
  return lists
    .filter(({ until }) => until >= at)
    .flatMap(({ list }) => list)
    .filter(({ currency, to, perDay }) => {
      const destinationCurrency = currency === row.sent_currency && (to ?? row.received_currency);
      return destinationCurrency === row.received_currency && perDay !== undefined;
    });
}

/** Whether a payment no longer counts toward the limits. */
export function isUncounted(row: RecordedRow): boolean {
  if (refundOf(row) === 'COMPLETED' || refundOf(row) === 'FAILED') return true;
  return row.status === 'FAILED' && row.funds === 'NONE';
}

type Step = ReturnType<typeof stepsOf>[number];

/** Whether the usage counts for the agent only. */
const isAgentStep = ({ scope }: Step) => scope.startsWith('agent.');

/**
 * A payment with incomplete or unequal usage of the daily, monthly and count limits of its agent.
 */
function agentProblem({ row, transfers }: Payment, steps: readonly Step[]): string | undefined {
  const agentSteps = steps.filter(isAgentStep);
  const counts = transfers.filter(({ step }) => step === 'count.agent');
  if (agentSteps.length + counts.length === 0) return undefined;
  const scopes = agentSteps.map(({ scope }) => scope).sort();
  const isComplete = scopes.join() === 'agent.day,agent.month' && counts.length === 1;
  const isSameAmount =
    new Set(agentSteps.map(({ amount }) => amount)).size === 1 && counts[0]?.amount === 1n;
  if (isComplete && isSameAmount) return undefined;
  return `${row.id} counts for its agent as [${scopes}] and ${counts.length} payments`;
}

/** A payment whose usage of the velocity limits, or its return, has a wrong amount or number. */
export function dailyUsageProblem(payment: Payment): string | undefined {
  const { row, transfers } = payment;
  const steps = stepsOf(transfers, 'velocity');
  const returnedSteps = stepsOf(transfers, 'refund.velocity');
  const agentUsageProblem = agentProblem(payment, steps);
  if (agentUsageProblem) return agentUsageProblem;
  const unexpectedStep = [...steps, ...returnedSteps].find(
    (step) => !isAgentStep(step) && String(step.amount) !== row.sent_amount,
  );
  if (unexpectedStep)
    return `${row.id} counts ${unexpectedStep.amount}, not the sent amount ${row.sent_amount}`;
  const expectedCount = isUncounted(row) ? steps.length : 0;
  const scopes = new Set(returnedSteps.map(({ scope }) => scope));
  if (returnedSteps.length === expectedCount && scopes.size === expectedCount) return undefined;
  return `${row.id} is ${row.status}, counted ${steps.length} times and returned ${returnedSteps.length}`;
}

/** Wrong usage of a payment that has just started. */
export function startedProblem(model: Model, { row, transfers }: Payment): string | undefined {
  const steps = stepsOf(transfers, 'velocity').filter((step) => !isAgentStep(step));
  // The deposit for a payment that cannot be executed is returned without usage.
  if (row.status === 'FAILED' && steps.length === 0) return undefined;
  const expectedScopes = limitsOn(model, row, Infinity).map(({ to }) => scopeOf(to));
  const actualScopes = steps.map(({ scope }) => scope);
  if (expectedScopes.sort().join() !== actualScopes.sort().join()) {
    return `${row.id} started and counts for [${actualScopes}], not [${expectedScopes}]`;
  }
  const earlierLimits = limitsOn(model, row, model.now - LIMIT_DELAY_MS);
  for (const { scope, debit } of steps) {
    const maximum = Math.max(
      ...earlierLimits.flatMap(({ to, perDay }) => (scopeOf(to) === scope ? perDay! : [])),
    );
    const usedAmount = -(model.accounts.get(debit)?.balance ?? 0n);
    if (usedAmount > BigInt(maximum)) return `${debit} has ${usedAmount} of at most ${maximum}`;
    const day = new Date(model.now).toISOString().slice(0, 10);
    if (!debit.endsWith(`:${day}`)) return `${row.id} counts for another day: ${debit}`;
  }
  return undefined;
}

const STATUSES_WITHOUT_TRANSFERS = ['PENDING', 'PENDING_AUTHORIZATION', 'EXPIRED'];

/** Whether a change starts a payment. */
export function isStart(before: RecordedRow | null, after: RecordedRow | null): boolean {
  if (
    after?.type !== 'OUTGOING' ||
    (before && !STATUSES_WITHOUT_TRANSFERS.includes(before.status ?? ''))
  )
    return false;
  if (before?.status === 'PENDING_AUTHORIZATION' && after.status === 'FAILED') return false;
  // A rejected action of an agent is never started.
  const isRejectedAction =
    after.agent_id !== null && after.quote_id === null && after.status === 'FAILED';
  return (
    !(isRejectedAction && after.funds === 'NONE') &&
    !STATUSES_WITHOUT_TRANSFERS.includes(after.status ?? '')
  );
}

/** At most one external account of a customer is the default for UMA. */
export function defaultProblem(model: Model, row: RecordedRow | null): string | undefined {
  if (row?.default_uma !== 'true' || row.deleted_at !== null) return undefined;
  for (const otherAccount of model.externalAccounts.values()) {
    const isSameCustomer =
      otherAccount.customer_id === row.customer_id && otherAccount.id !== row.id;
    if (isSameCustomer && otherAccount.default_uma === 'true' && otherAccount.deleted_at === null) {
      return `${otherAccount.id} and ${row.id} are both the default`;
    }
  }
  return undefined;
}
