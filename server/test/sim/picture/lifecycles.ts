// What the lives of payments and accounts may look like, written anew from the specification and not taken
// from the code that moves them: which status may follow which, and which events a payment must have told
// by now.
import { assertNever } from '../../../src/kernel/assert-never.ts';
import type { Noted, Payment } from './picture.ts';

type Moves = Readonly<Record<string, readonly string[]>>;

const OUTGOING = {
  PENDING: ['PENDING_AUTHORIZATION', 'PROCESSING', 'EXPIRED', 'FAILED'],
  PENDING_AUTHORIZATION: ['PENDING', 'PROCESSING', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  COMPLETED: ['FAILED'],
  FAILED: [],
  EXPIRED: [],
} satisfies Moves;

const INCOMING = {
  PENDING: ['PROCESSING', 'COMPLETED', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  COMPLETED: ['FAILED'],
  FAILED: [],
} satisfies Moves;

const REFUND: Moves = {
  NONE: ['PENDING'],
  PENDING: ['COMPLETED', 'FAILED'],
  COMPLETED: [],
  FAILED: [],
};

const ACCOUNT: Moves = {
  PENDING: ['ACTIVE', 'FAILED'],
  FAILED: ['PENDING'],
  ACTIVE: ['FROZEN', 'CLOSED'],
  FROZEN: ['ACTIVE', 'CLOSED'],
  CLOSED: [],
};

const OUTSIDE: Moves = {
  PENDING: ['ACTIVE', 'UNDER_REVIEW', 'INACTIVE'],
  UNDER_REVIEW: ['ACTIVE', 'INACTIVE'],
  ACTIVE: ['UNDER_REVIEW', 'INACTIVE', 'UNVERIFIED'],
  INACTIVE: ['ACTIVE'],
  PENDING_OWNERSHIP_VERIFICATION: ['ACTIVE', 'UNVERIFIED'],
  UNVERIFIED: ['PENDING_OWNERSHIP_VERIFICATION'],
};

/** Several moves may be one commit, so whatever can be reached is allowed. */
function reaches(moves: Moves, from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return (moves[from] ?? []).some((next) => reaches(moves, next, to, seen));
}

export const refundOf = (row: Noted): string =>
  row.refund ? (JSON.parse(row.refund) as { status: string }).status : 'NONE';

/** What is wrong with a payment's move; nothing when it is allowed. `was` is null when it is new. */
export function moveProblem(was: Noted | null, now: Noted): string | undefined {
  const moves: Moves = now.type === 'OUTGOING' ? OUTGOING : INCOMING;
  const [from, to] = [was?.status ?? 'PENDING', now.status ?? ''];
  if (!moves[to]) return `has no such status as ${to}`;
  if (!reaches(moves, from, to)) return `went from ${from} to ${to}`;
  const [open, next] = [was ? refundOf(was) : 'NONE', refundOf(now)];
  if (!REFUND[next]) return `has no such refund as ${next}`;
  if (!reaches(REFUND, open, next)) return `its refund went from ${open} to ${next}`;
  return undefined;
}

const simpleMove =
  (moves: Moves) =>
  (was: Noted | null, now: Noted): string | undefined => {
    const [from, to] = [was?.status, now.status ?? ''];
    if (!moves[to]) return `has no such status as ${to}`;
    return from && !reaches(moves, from, to) ? `went from ${from} to ${to}` : undefined;
  };

/** The same of an internal account, and of one outside. */
export const accountMoveProblem = simpleMove(ACCOUNT);
export const outsideMoveProblem = simpleMove(OUTSIDE);

/** What is known of a payment beside its row. */
interface Asked {
  /** How often its customer was asked to authorise it. */
  challenges: number;
  /** An agent asked for the transfer, and nobody has let it through. */
  kept: boolean;
}

/** What was told before a payment began, and whether it is to be paid in yet. */
function leadOf({ source_account }: Noted, { challenges }: Asked) {
  const asked = Array<string>(challenges).fill('PENDING_AUTHORIZATION');
  // Money that is to be paid in makes a payment pending once it is here.
  const paidIn = source_account === null;
  const begun = paidIn ? [...asked, 'PENDING', 'PROCESSING'] : ['PENDING', ...asked, 'PROCESSING'];
  const waited = asked.length === 0 || paidIn ? asked : ['PENDING', ...asked];
  return { begun, waited };
}

function refundStory(row: Noted): string[] {
  const refund = refundOf(row);
  if (refund === 'NONE') return [];
  return refund === 'PENDING' ? ['REFUND_PENDING'] : ['REFUND_PENDING', `REFUND_${refund}`];
}

/** Where the money may be, by what the refund says; the last part of a failed payment's life. */
const FAILED_FUNDS: Moves = {
  NONE: ['NONE'],
  PENDING: ['FUNDED', 'HELD', 'SUBMITTED', 'SETTLED'],
  COMPLETED: ['RETURNED'],
  FAILED: ['SUSPENSE'],
};

const isStatusOf = <M extends Moves>(
  moves: M,
  status: string | null | undefined,
): status is keyof M & string => typeof status === 'string' && Object.hasOwn(moves, status);

function outgoingStories(row: Noted, asked: Asked): string[][] {
  const { status, settled_at } = row;
  if (!isStatusOf(OUTGOING, status)) return [];
  const { begun, waited } = leadOf(row, asked);
  const funds = row.funds ?? '';
  const refund = refundOf(row);
  const back = refundStory(row);
  switch (status) {
    case 'PENDING':
    case 'PENDING_AUTHORIZATION':
      return funds === 'NONE' && refund === 'NONE' ? [waited] : [];
    case 'EXPIRED':
      return funds === 'NONE' && refund === 'NONE' ? [[...waited, 'EXPIRED']] : [];
    case 'PROCESSING':
      if (!['AWAITED', 'FUNDED', 'HELD', 'SUBMITTED'].includes(funds)) return [];
      return refund === 'NONE' || refund === 'PENDING' ? [[...begun, ...back]] : [];
    case 'COMPLETED':
      if (refund === 'NONE') return funds === 'SETTLED' ? [[...begun, 'COMPLETED']] : [];
      if (!['RETURNED', 'SUSPENSE'].includes(funds)) return [];
      return [[...begun, ...back, 'COMPLETED']];
    case 'FAILED': {
      if (!FAILED_FUNDS[refund]?.includes(funds)) return [];
      if (asked.kept) return funds === 'NONE' ? [['FAILED']] : [];
      if (row.failure_reason === 'SCA_NOT_COMPLETED') return [[...waited, 'FAILED']];
      const done = settled_at ? ['COMPLETED'] : [];
      return [[...begun, ...done, 'FAILED', ...back]];
    }
    default:
      return assertNever(status, 'status of an outgoing payment');
  }
}

/** A payment in is told of while it waits, or only once it is there. */
function incomingStories(row: Noted): string[][] {
  const { status } = row;
  if (!isStatusOf(INCOMING, status)) return [];
  const back = refundStory(row);
  switch (status) {
    case 'PENDING':
      return [['PENDING'], []];
    case 'PROCESSING':
      return [['PENDING'], ['PENDING', ...back], []];
    case 'COMPLETED':
      return [['COMPLETED'], ['PENDING', 'COMPLETED']];
    case 'FAILED':
      return [
        ['FAILED', ...back],
        ['PENDING', 'FAILED', ...back],
        ['COMPLETED', 'FAILED', ...back],
        ['PENDING', 'COMPLETED', 'FAILED', ...back],
      ];
    default:
      return assertNever(status, 'status of an incoming payment');
  }
}

/** What is wrong with what was told about a payment. */
export function storyProblem({ row, story }: Payment, asked: Asked): string | undefined {
  const prefix = `${row.type}_PAYMENT.`;
  const stories = row.type === 'OUTGOING' ? outgoingStories(row, asked) : incomingStories(row);
  const state = `${row.status}, money ${row.funds}, refund ${refundOf(row)}`;
  if (stories.length === 0) return `cannot be ${state}`;
  const told = story.join(', ');
  const fits = stories.some((each) => each.map((what) => prefix + what).join(', ') === told);
  return fits ? undefined : `is ${state} and told [${told}]`;
}
