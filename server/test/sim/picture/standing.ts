// Rules about what stands beside the payments: the operator's queue, the volume of a day, and accounts
// outside. Written from what each of them is for, not from the code that keeps them.
import { refundOf } from './lifecycles.ts';
import type { Noted, Payment, Picture, Transfer } from './picture.ts';

/** Whether the operator still has to say what became of such a movement. */
function isExpected({ row }: Payment, kind: string): boolean {
  const refund = refundOf(row);
  if (kind === 'refund') return refund === 'PENDING';
  if (refund !== 'NONE') return false;
  if (kind === 'payout') return row.status === 'PROCESSING' && row.funds === 'SUBMITTED';
  const open = row.status === 'PENDING' || row.status === 'PROCESSING';
  return open && (row.funds === 'AWAITED' || (row.type === 'INCOMING' && row.funds === 'HELD'));
}

const environmentOf = (picture: Picture, { row }: Payment) =>
  picture.platforms.get(row.platform_id ?? '')?.environment;

/** What a payment waits to hear of from the operator, if it does. */
export function awaitedOf(picture: Picture, payment: Payment): string | undefined {
  const kind = picture.waits.get(payment.row.id as string);
  return kind !== undefined && isExpected(payment, kind) ? kind : undefined;
}

/** What is wrong with a payment's place in the queue. */
export function waitProblem(picture: Picture, payment: Payment, open: boolean): string | undefined {
  const { id, status, funds } = payment.row;
  const kind = picture.waits.get(id as string);
  if (kind !== undefined && environmentOf(picture, payment) !== 'production') {
    return `${id} waits for an operator of the sandbox`;
  }
  if (!open || picture.driven.has(id as string)) return undefined;
  if (awaitedOf(picture, payment) !== undefined) return undefined;
  return `${id} is ${status}, money ${funds}, with no job, and waits for ${kind ?? 'nothing'}`;
}

/** How long a server may go by a limit that was changed. */
const LATE_MS = 61_000;

const scopeOf = (to: string | undefined) => to || 'any';

const stepsOf = (transfers: readonly Transfer[], prefix: string) =>
  transfers
    .filter(({ step }) => step === prefix || step.startsWith(`${prefix}.`))
    .map(({ step, debit, amount }) => ({
      scope: scopeOf(step.slice(prefix.length + 1)),
      debit,
      amount,
    }));

/** The limits of a day that a payment is held to, now or a moment ago. */
function limitsOn(picture: Picture, row: Noted, at: number) {
  const lists = picture.limits.get(row.platform_id ?? '') ?? [];
  return lists
    .filter(({ until }) => until >= at)
    .flatMap(({ list }) => list)
    .filter(({ currency, to, perDay }) => {
      const way = currency === row.sent_currency && (to ?? row.received_currency);
      return way === row.received_currency && perDay !== undefined;
    });
}

/** Whether what a payment sends no longer counts. */
export function isGivenBack(row: Noted): boolean {
  if (refundOf(row) === 'COMPLETED' || refundOf(row) === 'FAILED') return true;
  return row.status === 'FAILED' && row.funds === 'NONE';
}

type Step = ReturnType<typeof stepsOf>[number];

/** Whether it counts for the agent that pays, and not for its platform. */
const isAgents = ({ scope }: Step) => scope.startsWith('agent.');

/** What is wrong with how a payment counts for its agent: for day, month and number, or not at all. */
function agentProblem({ row, transfers }: Payment, steps: readonly Step[]): string | undefined {
  const own = steps.filter(isAgents);
  const counts = transfers.filter(({ step }) => step === 'count.agent');
  if (own.length + counts.length === 0) return undefined;
  const as = own.map(({ scope }) => scope).sort();
  const whole = as.join() === 'agent.day,agent.month' && counts.length === 1;
  const same = new Set(own.map(({ amount }) => amount)).size === 1 && counts[0]?.amount === 1n;
  if (whole && same) return undefined;
  return `${row.id} counts for its agent as [${as}] and ${counts.length} payments`;
}

/** What is wrong with what a payment took of its day and gave back. */
export function volumeProblem(payment: Payment): string | undefined {
  const { row, transfers } = payment;
  const taken = stepsOf(transfers, 'velocity');
  const back = stepsOf(transfers, 'refund.velocity');
  const agents = agentProblem(payment, taken);
  if (agents) return agents;
  const odd = [...taken, ...back].find(
    (step) => !isAgents(step) && String(step.amount) !== row.sent_amount,
  );
  if (odd) return `${row.id} counts ${odd.amount} of the ${row.sent_amount} that it sends`;
  const due = isGivenBack(row) ? taken.length : 0;
  const scopes = new Set(back.map(({ scope }) => scope));
  if (back.length === due && scopes.size === due) return undefined;
  return `${row.id} is ${row.status}, took volume ${taken.length} times and gave back ${back.length}`;
}

/** What is wrong with the volume of a payment that has just begun. */
export function begunProblem(picture: Picture, { row, transfers }: Payment): string | undefined {
  const taken = stepsOf(transfers, 'velocity').filter((step) => !isAgents(step));
  // Money that came for a payment that cannot be made goes back at once.
  if (row.status === 'FAILED' && taken.length === 0) return undefined;
  const should = limitsOn(picture, row, Infinity).map(({ to }) => scopeOf(to));
  const is = taken.map(({ scope }) => scope);
  if (should.sort().join() !== is.sort().join()) {
    return `${row.id} began and counts for [${is}], not [${should}]`;
  }
  const late = limitsOn(picture, row, picture.now - LATE_MS);
  for (const { scope, debit } of taken) {
    const most = Math.max(
      ...late.flatMap(({ to, perDay }) => (scopeOf(to) === scope ? perDay! : [])),
    );
    const used = -(picture.accounts.get(debit)?.balance ?? 0n);
    if (used > BigInt(most)) return `${debit} has seen ${used} and at the most ${most} is allowed`;
    const day = new Date(picture.now).toISOString().slice(0, 10);
    if (!debit.endsWith(`:${day}`)) return `${row.id} counts for another day: ${debit}`;
  }
  return undefined;
}

/** Statuses in which nothing has moved, or ever will. */
const WAITING = ['PENDING', 'PENDING_AUTHORIZATION', 'EXPIRED'];

/** Whether a change of a payment is its beginning. */
export function begins(was: Noted | null, now: Noted | null): boolean {
  if (now?.type !== 'OUTGOING' || (was && !WAITING.includes(was.status ?? ''))) return false;
  if (was?.status === 'PENDING_AUTHORIZATION' && now.status === 'FAILED') return false;
  // What an agent asked for and was not let through ends without ever having begun.
  const kept = now.agent_id !== null && now.quote_id === null && now.status === 'FAILED';
  return !(kept && now.funds === 'NONE') && !WAITING.includes(now.status ?? '');
}

/** Of a customer's accounts outside, at most one takes what comes over UMA. */
export function defaultProblem(picture: Picture, now: Noted | null): string | undefined {
  if (now?.default_uma !== 'true' || now.deleted_at !== null) return undefined;
  for (const other of picture.outside.values()) {
    const same = other.customer_id === now.customer_id && other.id !== now.id;
    if (same && other.default_uma === 'true' && other.deleted_at === null) {
      return `${other.id} and ${now.id} are both the default`;
    }
  }
  return undefined;
}
