// Lifecycles of payments and accounts: permitted changes of status, and the events that a payment
// must have emitted. Written from the specification, independently of the code under test.
import { assertNever } from '../../../src/kernel/assert-never.ts';
import type { Payment, RecordedRow } from './model.ts';

type Transitions = Readonly<Record<string, readonly string[]>>;

const OUTGOING_TRANSITIONS = {
  PENDING: ['PENDING_AUTHORIZATION', 'PROCESSING', 'EXPIRED', 'FAILED'],
  PENDING_AUTHORIZATION: ['PENDING', 'PROCESSING', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  COMPLETED: ['FAILED'],
  FAILED: [],
  EXPIRED: [],
} satisfies Transitions;

const INCOMING_TRANSITIONS = {
  PENDING: ['PROCESSING', 'COMPLETED', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  COMPLETED: ['FAILED'],
  FAILED: [],
} satisfies Transitions;

const REFUND_TRANSITIONS: Transitions = {
  NONE: ['PENDING'],
  PENDING: ['COMPLETED', 'FAILED'],
  COMPLETED: [],
  FAILED: [],
};

const ACCOUNT_TRANSITIONS: Transitions = {
  PENDING: ['ACTIVE', 'FAILED'],
  FAILED: ['PENDING'],
  ACTIVE: ['FROZEN', 'CLOSED'],
  FROZEN: ['ACTIVE', 'CLOSED'],
  CLOSED: [],
};

const EXTERNAL_ACCOUNT_TRANSITIONS: Transitions = {
  PENDING: ['ACTIVE', 'UNDER_REVIEW', 'INACTIVE'],
  UNDER_REVIEW: ['ACTIVE', 'INACTIVE'],
  ACTIVE: ['UNDER_REVIEW', 'INACTIVE', 'UNVERIFIED'],
  INACTIVE: ['ACTIVE'],
  PENDING_OWNERSHIP_VERIFICATION: ['ACTIVE', 'UNVERIFIED'],
  UNVERIFIED: ['PENDING_OWNERSHIP_VERIFICATION'],
};

/** Whether a status is reachable. A commit may contain several transitions. */
function isReachable(
  transitions: Transitions,
  from: string,
  to: string,
  visitedStatuses = new Set<string>(),
): boolean {
  if (from === to) return true;
  if (visitedStatuses.has(from)) return false;
  visitedStatuses.add(from);
  return (transitions[from] ?? []).some((next) =>
    isReachable(transitions, next, to, visitedStatuses),
  );
}

export const refundOf = (row: RecordedRow): string =>
  row.refund ? (JSON.parse(row.refund) as { status: string }).status : 'NONE';

/**
 * Returns the problem of an invalid change of a payment, or undefined if valid. `before` is null
 * for a new payment.
 */
export function transitionProblem(
  before: RecordedRow | null,
  after: RecordedRow,
): string | undefined {
  const transitions: Transitions =
    after.type === 'OUTGOING' ? OUTGOING_TRANSITIONS : INCOMING_TRANSITIONS;
  const [from, to] = [before?.status ?? 'PENDING', after.status ?? ''];
  if (!transitions[to]) return `has the unknown status ${to}`;
  if (!isReachable(transitions, from, to)) return `changed from ${from} to ${to}`;
  const [previousRefund, nextRefund] = [before ? refundOf(before) : 'NONE', refundOf(after)];
  if (!REFUND_TRANSITIONS[nextRefund]) return `has the unknown refund status ${nextRefund}`;
  if (!isReachable(REFUND_TRANSITIONS, previousRefund, nextRefund))
    return `its refund changed from ${previousRefund} to ${nextRefund}`;
  return undefined;
}

const createTransitionCheck =
  (transitions: Transitions) =>
  (before: RecordedRow | null, after: RecordedRow): string | undefined => {
    const [from, to] = [before?.status, after.status ?? ''];
    if (!transitions[to]) return `has the unknown status ${to}`;
    return from && !isReachable(transitions, from, to)
      ? `changed from ${from} to ${to}`
      : undefined;
  };

/** Returns the problem of an invalid change of an internal or external account. */
export const accountTransitionProblem = createTransitionCheck(ACCOUNT_TRANSITIONS);
export const externalAccountTransitionProblem = createTransitionCheck(EXTERNAL_ACCOUNT_TRANSITIONS);

/** Facts about a payment in addition to its row. */
interface PaymentContext {
  /** Number of challenges of the payment. */
  challenges: number;
  /** Whether a transfer of an agent needs a decision. */
  awaitsApproval: boolean;
}

/** Events of a payment that has started, and of a payment that waits. */
function eventsBeforeStart({ source_account }: RecordedRow, { challenges }: PaymentContext) {
  const authorizations = Array<string>(challenges).fill('PENDING_AUTHORIZATION');
  // A payment that is funded by a deposit becomes PENDING when the funds arrive.
  const isDeposit = source_account === null;
  const startEvents = isDeposit
    ? [...authorizations, 'PENDING', 'PROCESSING']
    : ['PENDING', ...authorizations, 'PROCESSING'];
  const waitingEvents =
    authorizations.length === 0 || isDeposit ? authorizations : ['PENDING', ...authorizations];
  return { startEvents, waitingEvents };
}

function refundEvents(row: RecordedRow): string[] {
  const refund = refundOf(row);
  if (refund === 'NONE') return [];
  return refund === 'PENDING' ? ['REFUND_PENDING'] : ['REFUND_PENDING', `REFUND_${refund}`];
}

/** Possible states of the funds by refund state, for a failed payment. */
const FAILED_FUNDS: Transitions = {
  NONE: ['NONE'],
  PENDING: ['FUNDED', 'HELD', 'SUBMITTED', 'SETTLED'],
  COMPLETED: ['RETURNED'],
  FAILED: ['SUSPENSE'],
};

const isStatusOf = <M extends Transitions>(
  transitions: M,
  status: string | null | undefined,
): status is keyof M & string => typeof status === 'string' && Object.hasOwn(transitions, status);

function outgoingEventOrders(row: RecordedRow, context: PaymentContext): string[][] {
  const { status, settled_at } = row;
  if (!isStatusOf(OUTGOING_TRANSITIONS, status)) return [];
  const { startEvents, waitingEvents } = eventsBeforeStart(row, context);
  const funds = row.funds ?? '';
  const refund = refundOf(row);
  const refundOrder = refundEvents(row);
  switch (status) {
    case 'PENDING':
    case 'PENDING_AUTHORIZATION':
      return funds === 'NONE' && refund === 'NONE' ? [waitingEvents] : [];
    case 'EXPIRED':
      return funds === 'NONE' && refund === 'NONE' ? [[...waitingEvents, 'EXPIRED']] : [];
    case 'PROCESSING':
      if (!['AWAITED', 'FUNDED', 'HELD', 'SUBMITTED'].includes(funds)) return [];
      return refund === 'NONE' || refund === 'PENDING' ? [[...startEvents, ...refundOrder]] : [];
    case 'COMPLETED':
      if (refund === 'NONE') return funds === 'SETTLED' ? [[...startEvents, 'COMPLETED']] : [];
      if (!['RETURNED', 'SUSPENSE'].includes(funds)) return [];
      return [[...startEvents, ...refundOrder, 'COMPLETED']];
    case 'FAILED': {
      if (!FAILED_FUNDS[refund]?.includes(funds)) return [];
      if (context.awaitsApproval) return funds === 'NONE' ? [['FAILED']] : [];
      if (row.failure_reason === 'SCA_NOT_COMPLETED') return [[...waitingEvents, 'FAILED']];
      const settledStatuses = settled_at ? ['COMPLETED'] : [];
      return [[...startEvents, ...settledStatuses, 'FAILED', ...refundOrder]];
    }
    default:
      return assertNever(status, 'status of an outgoing payment');
  }
}

/** An incoming payment emits events while it waits, or only when it completes. */
function incomingEventOrders(row: RecordedRow): string[][] {
  const { status } = row;
  if (!isStatusOf(INCOMING_TRANSITIONS, status)) return [];
  const refundOrder = refundEvents(row);
  switch (status) {
    case 'PENDING':
      return [['PENDING'], []];
    case 'PROCESSING':
      return [['PENDING'], ['PENDING', ...refundOrder], []];
    case 'COMPLETED':
      return [['COMPLETED'], ['PENDING', 'COMPLETED']];
    case 'FAILED':
      return [
        ['FAILED', ...refundOrder],
        ['PENDING', 'FAILED', ...refundOrder],
        ['COMPLETED', 'FAILED', ...refundOrder],
        ['PENDING', 'COMPLETED', 'FAILED', ...refundOrder],
      ];
    default:
      return assertNever(status, 'status of an incoming payment');
  }
}

/** Wrong events of a payment. */
export function eventsProblem(
  { row, eventTypes }: Payment,
  context: PaymentContext,
): string | undefined {
  const prefix = `${row.type}_PAYMENT.`;
  const eventOrders =
    row.type === 'OUTGOING' ? outgoingEventOrders(row, context) : incomingEventOrders(row);
  const state = `${row.status}, funds ${row.funds}, refund ${refundOf(row)}`;
  if (eventOrders.length === 0) return `cannot be ${state}`;
  const emittedTypes = eventTypes.join(', ');
  const isInOrder = eventOrders.some(
    (eventOrder) => eventOrder.map((type) => prefix + type).join(', ') === emittedTypes,
  );
  return isInOrder ? undefined : `is ${state} and emitted [${emittedTypes}]`;
}
