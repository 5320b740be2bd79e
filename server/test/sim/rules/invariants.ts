// The invariants after every step, as data. A rule checks the changes of a step and returns
// problems. `recount.ts` checks the whole database.
import {
  actionTransitionProblem,
  auditProblem,
  decisionProblem,
  isAwaitingApproval,
  policyProblem,
  usageProblem,
} from '../model/agent-usage.ts';
import {
  challengesOf,
  challengesProblem,
  challengeTransitionProblem,
  failureProblem,
  lockoutTransitionProblem,
  proofProblem,
  unauthenticatedProblem,
} from '../model/authentication.ts';
import { hasPendingFundingDebit } from '../model/card-facts.ts';
import { effectProblem } from '../model/effects.ts';
import {
  authorizationProblem,
  holdingProblem,
  paymentSignatureProblem,
  walletTransitionProblem,
} from '../model/holdings.ts';
import {
  accountTransitionProblem,
  eventsProblem,
  externalAccountTransitionProblem,
  refundOf,
  transitionProblem,
} from '../model/lifecycles.ts';
import {
  amountIn,
  applyChangeToModel,
  type Model,
  type Payment,
  type RecordedRow,
  type RowChange,
} from '../model/model.ts';
import {
  dailyUsageProblem,
  defaultProblem,
  queueProblem,
  startedProblem,
} from '../model/queue-and-limits.ts';
import { cardPaymentTransitionProblem } from './card-rules.ts';
import { ISSUED_CHANGE_RULES, ISSUED_STEP_RULES } from './issued.ts';
import { type ChangeRule, type DeliveredIds, rule, type StepRule } from './rules.ts';
import { addChangedItems, allItems, type ChangedItems, createChangedItems } from './touched.ts';

const CHANGE_RULES: readonly ChangeRule[] = [
  {
    name: 'transfers are append-only, between accounts of their currency',
    table: 'ledger_transfers',
    check(model, before, after) {
      if (before || !after)
        return `${(before ?? after)?.transaction_id} ${before?.step} was changed`;
      const accounts = [after.debit, after.credit].map((id) => model.accounts.get(id ?? ''));
      const isSameCurrency = accounts.every((account) => account?.currency === after.currency);
      return isSameCurrency
        ? undefined
        : `${after.transaction_id} ${after.step} in ${after.currency} is between accounts of another ` +
            `currency, ${after.debit} and ${after.credit}`;
    },
  },
  {
    name: 'no account falls below its floor',
    table: 'ledger_accounts',
    check(model, before, after) {
      const account = model.accounts.get(after?.id ?? '');
      if (!account) return `${before?.id} was removed`;
      const { id, balance, held, floor } = account;
      const isBelowFloor = held < 0n || (floor !== null && balance - held < floor);
      return isBelowFloor ? `${id} has ${balance}, ${held} of it held` : undefined;
    },
  },
  {
    name: 'payments follow their lifecycle',
    table: 'transactions',
    check(_model, before, after) {
      if (!after) return `${before?.id} was removed`;
      const isCard = after.type === 'CARD';
      const problem = isCard
        ? cardPaymentTransitionProblem(before, after)
        : transitionProblem(before, after);
      return problem && `${after.id} ${problem}`;
    },
  },
  {
    name: 'accounts follow their lifecycle',
    table: 'internal_accounts',
    check(_model, before, after) {
      if (!after) return `${before?.id} was removed`;
      const problem = accountTransitionProblem(before, after);
      return problem && `${after.id} ${problem}`;
    },
  },
  {
    name: 'external accounts follow their lifecycle',
    table: 'external_accounts',
    check(model, before, after) {
      if (!after) return `${before?.id} was removed`;
      const problem = externalAccountTransitionProblem(before, after);
      return problem ? `${after.id} ${problem}` : defaultProblem(model, after);
    },
  },
  {
    name: 'a balance event shows the committed balance',
    table: 'events',
    check(model, before, after) {
      if (before || !after?.account) return undefined;
      const account = model.accounts.get(after.account);
      const [balance, heldAmount] = [amountIn(after.balance), amountIn(after.held)];
      if (account?.balance === balance && account.held === heldAmount) return undefined;
      return `${after.id} shows ${balance}, ${heldAmount}, not ${account?.balance}, ${account?.held}`;
    },
  },
  {
    name: 'events are never removed',
    table: 'events',
    check: (_model, before, after) =>
      after ? undefined : `${before?.id} ${before?.type} was removed`,
  },
  {
    name: 'quotes never change',
    table: 'quotes',
    check: (_model, before) => (before ? `${before.id} was changed` : undefined),
  },
  ...['credentials', 'wallet_sessions', 'wallet_requests'].map((table) => ({
    name: `${table} follow their lifecycle`,
    table,
    check: (_model: Model, before: RecordedRow | null, after: RecordedRow | null) =>
      walletTransitionProblem(table, before, after),
  })),
  {
    name: 'wallet authorizations are permanent and from a valid session',
    table: 'wallet_authorizations',
    check: authorizationProblem,
  },
  {
    name: 'a challenge ends once',
    table: 'sca_challenges',
    check: (_model, before, after) => challengeTransitionProblem(before, after),
  },
  {
    name: 'a lockout follows the number of failures',
    table: 'sca_lockouts',
    check: (_model, before, after) => lockoutTransitionProblem(before, after),
  },
  {
    name: 'agent actions are decided once',
    table: 'agent_actions',
    check: (_model, before, after) => actionTransitionProblem(before, after),
  },
  ...['sca_events', 'agent_audit'].map((table) => ({
    name: `${table} are kept permanently`,
    table,
    check: (_model: Model, before: RecordedRow | null) =>
      before ? `${before.id} was changed` : undefined,
  })),
  ...ISSUED_CHANGE_RULES,
];

function* eachOf<T>(ids: Iterable<string>, map: Map<string, T>): Iterable<T> {
  for (const id of ids) {
    const item = map.get(id);
    if (item) yield item;
  }
}

function isOpen(model: Model, payment: Payment): boolean {
  const { row } = payment;
  if (row.type === 'CARD') return hasPendingFundingDebit(row);
  if (row.status === 'PROCESSING' || refundOf(row) === 'PENDING') return true;
  return row.type === 'INCOMING' && row.status === 'PENDING' && !isAwaitingApproval(model, payment);
}

function outboxProblem(
  event: RecordedRow,
  results: string[],
  model: Model,
  deliveredIds: DeliveredIds,
) {
  const endpoint = model.platforms.get(event.platform_id ?? '')?.webhook_endpoint;
  const lastResult = results.at(-1);
  if (model.webhookQueue.has(event.id as string)) return undefined;
  // The job of an approval request sends it once, without the deliverer.
  const isApprovalRequest = event.type === 'INCOMING_PAYMENT.PENDING';
  if (lastResult === undefined)
    return endpoint && !isApprovalRequest ? 'is not due and has no attempt' : undefined;
  if (lastResult === 'retry') return 'needs a retry and is not due';
  if (lastResult !== 'delivered') return undefined;
  // An event that was delivered before the retry was checked at its delivery and removed from
  // `deliveredIds`.
  if (results.slice(0, -1).includes('delivered')) return undefined;
  return deliveredIds.has(event.id as string)
    ? undefined
    : 'is marked as delivered, but no receiver accepted it';
}

const STEP_RULES: readonly StepRule[] = [
  {
    name: 'every currency sums to zero',
    *check(model) {
      for (const [currency, total] of model.totals) {
        if (total !== 0n) yield `${currency} sums to ${total}`;
      }
    },
  },
  {
    name: 'balances equal the sum of their transfers',
    *check(model, changedItems) {
      for (const { id, balance, held } of eachOf(changedItems.accounts, model.accounts)) {
        const sum = model.sums.get(id) ?? { balance: 0n, held: 0n };
        if (sum.balance !== balance || sum.held !== held) {
          yield `${id} has ${balance}, ${held} and its transfers sum to ${sum.balance}, ${sum.held}`;
        }
      }
    },
  },
  {
    name: 'a posted or voided amount was held before',
    *check(model, changedItems) {
      for (const { row, transfers } of eachOf(changedItems.payments, model.payments)) {
        const holdsByStep = new Map(
          transfers
            .filter((transfer) => transfer.phase === 'pending')
            .map((transfer) => [transfer.step, transfer]),
        );
        for (const transfer of transfers) {
          if (transfer.phase !== 'post' && transfer.phase !== 'void') continue;
          const firstHold = holdsByStep.get(transfer.step.slice(0, -1));
          const isSameHold =
            firstHold?.amount === transfer.amount && firstHold.debit === transfer.debit;
          if (!isSameHold) yield `${row.id} ${transfer.step} resolves no hold`;
        }
      }
    },
  },
  {
    name: 'a payment has the transfers of its state',
    *check(model, changedItems) {
      for (const payment of eachOf(changedItems.payments, model.payments)) {
        if (!payment.row.status) yield `${payment.row.id} has transfers or events and no row`;
        const problem = payment.row.status && effectProblem(model, payment);
        if (problem) yield `${payment.row.id} ${problem}`;
      }
    },
  },
  rule('a payment has emitted the events of its state', 'payments', (model, id) => {
    const payment = model.payments.get(id);
    if (!payment?.row.status || payment.row.type === 'CARD') return undefined;
    const { length: challenges } = challengesOf(model, payment.row);
    return eventsProblem(payment, {
      challenges,
      awaitsApproval: isAwaitingApproval(model, payment),
    });
  }),
  {
    name: 'a job belongs to an existing transaction',
    *check(model, changedItems) {
      for (const id of changedItems.payments) {
        const status = model.payments.get(id)?.row.status;
        if (model.jobCounts.has(id) && !status) yield `${id} has jobs and does not exist`;
      }
    },
  },
  {
    name: 'an open payment has a job, or waits for a notice',
    *check(model, changedItems) {
      for (const payment of eachOf(changedItems.payments, model.payments)) {
        const problem = payment.row.status && queueProblem(model, payment, isOpen(model, payment));
        if (problem) yield problem;
      }
    },
  },
  {
    name: 'a payment counts toward the daily limit unless returned',
    *check(model, changedItems) {
      for (const payment of eachOf(changedItems.payments, model.payments)) {
        const problem = payment.row.type === 'OUTGOING' && dailyUsageProblem(payment);
        if (problem) yield problem;
      }
    },
  },
  {
    name: 'a started payment is within the daily limits',
    *check(model, changedItems) {
      for (const payment of eachOf(changedItems.startedPayments, model.payments)) {
        const problem = startedProblem(model, payment);
        if (problem) yield problem;
      }
    },
  },
  {
    name: 'an event is delivered, due or abandoned',
    *check(model, changedItems, deliveredIds) {
      for (const { row, results } of eachOf(changedItems.events, model.events)) {
        const problem = outboxProblem(row, results, model, deliveredIds);
        if (problem) yield `${row.id} ${row.type} ${problem}`;
      }
    },
  },
  {
    name: 'a wallet payment is signed exactly once',
    *check(model, changedItems) {
      for (const { row } of eachOf(changedItems.payments, model.payments)) {
        const problem = row.type === 'OUTGOING' && paymentSignatureProblem(model, row);
        if (problem) yield problem;
      }
    },
  },
  rule(
    'a wallet has at least one credential, and a signed request runs once',
    'wallets',
    holdingProblem,
  ),
  rule('a payment waits for the authentication of its customer', 'payments', (model, id) => {
    const payment = model.payments.get(id);
    return payment?.row.status ? challengesProblem(model, payment) : undefined;
  }),
  rule(
    'payments that require strong authentication start after it',
    'startedPayments',
    (model, id) => {
      const payment = model.payments.get(id);
      return payment && unauthenticatedProblem(model, payment);
    },
  ),
  rule('a challenge is satisfied by one proof', 'challenges', proofProblem),
  rule('every failure counts once', 'lockouts', failureProblem),
  rule('an agent payment matches its decision', 'payments', (model, id) => {
    const payment = model.payments.get(id);
    return payment && decisionProblem(model, payment);
  }),
  rule('agent usage equals its payments', 'agents', usageProblem),
  rule('agent payments are within the policy', 'agentPayments', (model, id) => {
    const payment = model.payments.get(id);
    return payment && policyProblem(model, payment);
  }),
  rule('every action is in the audit log', 'actions', auditProblem),
  {
    name: 'debts of owners equal the receivables',
    *check(model, changedItems) {
      const hasReceivableChange = [...changedItems.accounts].some((id) =>
        id.includes(':receivable:'),
      );
      if (changedItems.internal.size === 0 && !hasReceivableChange) return;
      const owedByAccount = new Map<string, bigint>();
      for (const { owed: amount, currency, platform_id } of model.internal.values()) {
        const environment = model.platforms.get(platform_id ?? '')?.environment;
        const systemAccount = `system:${environment}:receivable:${currency}`;
        owedByAccount.set(
          systemAccount,
          (owedByAccount.get(systemAccount) ?? 0n) + amountIn(amount),
        );
      }
      for (const [systemAccount, sum] of owedByAccount) {
        const balance = model.accounts.get(systemAccount)?.balance ?? 0n;
        if (-balance !== sum) yield `${systemAccount} has ${balance} and owners owe ${sum}`;
      }
    },
  },
  ...ISSUED_STEP_RULES,
];

/** Removes events that are delivered, so that the cost of a step is constant. */
function dropDeliveredEvents(
  model: Model,
  changedItems: ChangedItems,
  deliveredIds: DeliveredIds,
): void {
  for (const id of changedItems.events) {
    if (model.webhookQueue.has(id)) continue;
    model.events.delete(id);
    deliveredIds.delete(id);
  }
}

const checkStep = (model: Model, changedItems: ChangedItems, deliveredIds: DeliveredIds) =>
  STEP_RULES.flatMap((rule) =>
    [...rule.check(model, changedItems, deliveredIds)].map((problem) => `${rule.name}: ${problem}`),
  );

/** Applies the changes of a step and returns all problems. */
export function applyStep(
  model: Model,
  changes: readonly RowChange[],
  deliveredIds: DeliveredIds,
): string[] {
  const changedItems = createChangedItems();
  const problems: string[] = [];
  for (const change of changes) {
    applyChangeToModel(model, change);
    addChangedItems(changedItems, change, model);
    for (const rule of CHANGE_RULES) {
      if (rule.table !== change.table) continue;
      const problem = rule.check(model, change.before, change.after);
      if (problem) problems.push(`${rule.name}: ${problem}`);
    }
  }
  problems.push(...checkStep(model, changedItems, deliveredIds));
  dropDeliveredEvents(model, changedItems, deliveredIds);
  return problems;
}

/** Applies the rules of a step to the whole model. */
export function checkAll(model: Model, deliveredIds: DeliveredIds): string[] {
  return checkStep(model, allItems(model), deliveredIds);
}
