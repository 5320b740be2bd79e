// What agents did: each action against its payment and its lines of the audit, and what an agent has used up
// of its limits counted anew from its payments. Written from the specification and not from the code that
// keeps it.
import type { Note, Noted, Payment, Picture } from './picture.ts';
import { isGivenBack } from './standing.ts';

export interface Agency {
  agents: Map<string, Noted>;
  actions: Map<string, Noted>;
  /** Ids of the actions about a payment. */
  ofPayment: Map<string, string[]>;
  /** What the audit says of an action. */
  audit: Map<string, string[]>;
  /** Payments that an agent began. */
  payments: Map<string, Set<string>>;
  /** Accounts in which it is counted what an agent uses up. */
  used: Map<string, Set<string>>;
}

export const emptyAgency = (): Agency => ({
  agents: new Map(),
  actions: new Map(),
  ofPayment: new Map(),
  audit: new Map(),
  payments: new Map(),
  used: new Map(),
});

/** `velocity:Agent:<uuid>:USD:2026-01-05`, by its parts. */
const COUNTED = /^velocity:(Agent:[^:]+):(\w+):([\d-]+)$/;

function into<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const known = map.get(key);
  if (known) known.add(value);
  else map.set(key, new Set([value]));
}

const APPLY: Readonly<Record<string, (agency: Agency, now: Noted, was: Noted | null) => void>> = {
  agents({ agents }, now) {
    agents.set(now.id as string, now);
  },
  agent_actions({ actions, ofPayment }, now, was) {
    const [id, payment] = [now.id as string, now.transaction_id as string];
    actions.set(id, now);
    if (!was) ofPayment.set(payment, [...(ofPayment.get(payment) ?? []), id]);
  },
  agent_audit({ audit }, { action_id: id, what }, was) {
    if (id && !was) audit.set(id, [...(audit.get(id) ?? []), what as string]);
  },
  transactions({ payments }, { id, agent_id: agent }) {
    if (agent) into(payments, agent, id as string);
  },
  ledger_accounts({ used }, { id }) {
    const agent = COUNTED.exec(id ?? '')?.[1];
    if (agent) into(used, agent, id as string);
  },
};

export const applyAgencyNote = (agency: Agency, { table, was, now }: Note): void => {
  if (now) APPLY[table]?.(agency, now, was);
};

/** The agent of an account in which something is counted. */
export const agentOf = (accountId: string | null | undefined): string | undefined =>
  COUNTED.exec(accountId ?? '')?.[1];

const WAITS = 'PENDING_APPROVAL';
const OPEN = [WAITS, 'APPROVED'];

/** What is wrong with a move of an action: it is decided once. */
export function actionMoveProblem(was: Noted | null, now: Noted | null): string | undefined {
  if (!now) return `${was?.id} was removed`;
  if (!was) return OPEN.includes(now.status ?? '') ? undefined : `${now.id} begins ${now.status}`;
  return was.status === WAITS ? undefined : `${now.id} was ${was.status} and was changed`;
}

const actionsOf = ({ agency }: Picture, payment: string): Noted[] =>
  (agency.ofPayment.get(payment) ?? []).map((id) => agency.actions.get(id) as Noted);

const statusesOf = (actions: readonly Noted[]) => actions.map(({ status }) => status).join();

/** Whether an agent asked for a transfer that nobody has let through. */
export const isKept = (picture: Picture, { row, transfers }: Payment): boolean =>
  row.agent_id !== null &&
  row.quote_id === null &&
  transfers.length === 0 &&
  actionsOf(picture, row.id as string).every(({ status }) => status !== 'APPROVED');

const LINES: Readonly<Record<string, string>> = {
  APPROVED: 'ACTION_SUBMITTED,ACTION_APPROVED',
  REJECTED: 'ACTION_SUBMITTED,ACTION_REJECTED',
  FAILED: 'ACTION_SUBMITTED,ACTION_FAILED',
  PENDING_APPROVAL: 'ACTION_SUBMITTED',
};

/** What is wrong with what was written down of an action. */
export function auditProblem({ agency }: Picture, id: string): string | undefined {
  const { status } = agency.actions.get(id) ?? {};
  const lines = (agency.audit.get(id) ?? []).join();
  const atOnce = status === 'APPROVED' && lines === 'ACTION_EXECUTED';
  if (atOnce || lines === LINES[status ?? '']) return undefined;
  return `is ${status} and of it is written [${lines}]`;
}

const UNTOUCHED = ['PENDING', 'EXPIRED'];
const counts = ({ transfers }: Payment) => transfers.filter(({ step }) => step === 'count.agent');

/** What is wrong between an agent's payment and the word on it. */
export function letThroughProblem(picture: Picture, payment: Payment): string | undefined {
  const { row, transfers } = payment;
  if (row.agent_id === null || row.agent_id === undefined) return undefined;
  const actions = actionsOf(picture, row.id as string);
  const open = actions.filter(({ status }) => OPEN.includes(status ?? ''));
  if (open.length > 1) return `has actions that are ${statusesOf(actions)}`;
  const approved = open[0]?.status === 'APPROVED';
  const waits = UNTOUCHED.includes(row.status ?? '') && row.funds === 'NONE';
  const told = `is ${row.status}, money ${row.funds}, and its actions are [${statusesOf(actions)}]`;
  if (approved) {
    if (counts(payment).length !== 1) return `${told}, counted ${counts(payment).length} times`;
    return waits && row.type === 'OUTGOING' ? told : undefined;
  }
  if (transfers.length) return `${told}, and something of it moved`;
  if (row.quote_id !== null) return waits ? undefined : told;
  const asked = open.length ? row.status === 'PENDING' : row.status === 'FAILED';
  return asked && row.funds === 'NONE' ? undefined : told;
}

/** Units for one dollar, in millionths: what amounts are counted at in the sandbox and elsewhere. */
const RATES: Readonly<Record<string, Readonly<Record<string, bigint>>>> = {
  sandbox: { USD: 1_000_000n, EUR: 920_000n, GBP: 780_000n, MXN: 17_250_000n, USDC: 1_000_000n },
  production: { USD: 1_000_000n, EUR: 915_400n, GBP: 787_100n, MXN: 18_250_000n, USDC: 1_000_000n },
};
const scaleOf = (currency: string) => (currency === 'USDC' ? 1_000_000n : 100n);

/** An amount in another currency, rounded up; undefined where these rates say nothing. */
export function converted(
  environment: string,
  amount: bigint,
  from: string,
  to: string,
): bigint | undefined {
  if (from === to) return amount;
  const [one, other] = [RATES[environment]?.[from], RATES[environment]?.[to]];
  if (!one || !other) return undefined;
  const [num, den] = [amount * other * scaleOf(to), one * scaleOf(from)];
  return (num + den - 1n) / den;
}

const environmentOf = ({ platforms }: Picture, row: Noted) =>
  platforms.get(row.platform_id ?? '')?.environment ?? 'sandbox';

/** What an agent should have used up, by account, counted from its payments. */
function usedBy(picture: Picture, id: string): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  const add = (of: string, amount: bigint) => sums.set(of, (sums.get(of) ?? 0n) + amount);
  for (const paymentId of picture.agency.payments.get(id) ?? []) {
    const payment = picture.payments.get(paymentId) as Payment;
    const { row, transfers } = payment;
    const action = actionsOf(picture, paymentId).find(({ status }) => status === 'APPROVED');
    const taken = transfers.find(({ step }) => step === 'velocity.agent.day');
    if (!action || !taken) continue;
    const day = new Date(action.updated_at as string).toISOString().slice(0, 10);
    add(`velocity:${id}:count:${day}`, 1n);
    // What was pulled and did not come, or not for good, was spent on nothing.
    if (isGivenBack(row) || (row.type === 'INCOMING' && row.status === 'FAILED')) continue;
    const currency = COUNTED.exec(taken.debit)?.[2] as string;
    const sent = BigInt(row.sent_amount ?? 0);
    const amount = converted(environmentOf(picture, row), sent, row.sent_currency ?? '', currency);
    for (const during of [day, day.slice(0, 7)]) {
      add(`velocity:${id}:${currency}:${during}`, amount ?? taken.amount);
    }
  }
  return sums;
}

/** What is wrong with what an agent has used up. */
export function usageProblem(picture: Picture, id: string): string | undefined {
  const due = usedBy(picture, id);
  for (const account of new Set([...(picture.agency.used.get(id) ?? []), ...due.keys()])) {
    const used = -(picture.accounts.get(account)?.balance ?? 0n);
    const should = due.get(account) ?? 0n;
    if (used !== should) return `has used up ${used} of ${account}, by its payments ${should}`;
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

/** The parts of a policy that are looked at here. */
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

/** What was used up in a period, in the currency of the limits; what was counted in others is converted. */
export function usedIn(picture: Picture, agent: Noted, during: string): bigint {
  const { currency } = (JSON.parse(agent.policy as string) as Policy).spendingLimits;
  const environment = environmentOf(picture, agent);
  let sum = 0n;
  for (const id of picture.agency.used.get(agent.id as string) ?? []) {
    const [, , unit = '', period] = COUNTED.exec(id) ?? [];
    if (period !== during || unit === 'count') continue;
    const used = -(picture.accounts.get(id)?.balance ?? 0n);
    sum += converted(environment, used, unit, currency) ?? 0n;
  }
  return sum;
}

/** How many payments an agent has made on a day. */
export const countedOn = ({ accounts }: Picture, { id }: Noted, day: string): bigint =>
  -(accounts.get(`velocity:${id}:count:${day}`)?.balance ?? 0n);

const isInside = (id: string | null | undefined) => id?.startsWith('InternalAccount:') ?? false;

/** The account inside that a payment touches: the one that pays, else the one that is paid into. */
const touchedBy = ({ source_account: from, destination_account: to }: Noted) =>
  isInside(from) || !isInside(to) ? from : to;

const over = (amount: bigint, limit: number | null | undefined) =>
  typeof limit === 'number' && amount > BigInt(limit);

/** What is wrong with a payment that was just let through, by its agent's policy as it is. */
export function policyProblem(picture: Picture, payment: Payment): string | undefined {
  const { row, transfers } = payment;
  const agent = picture.agency.agents.get(row.agent_id ?? '');
  if (!agent) return `${row.id} is counted and has no agent`;
  if (agent.paused === 'true' || agent.deleted_at) return `${agent.id} may not act, and did`;
  const { spendingLimits: limits, accountRestrictions } = JSON.parse(
    agent.policy as string,
  ) as Policy;
  const allowed = accountRestrictions?.allowedAccountIds;
  const account = touchedBy(row) as string;
  if (allowed && !allowed.includes(account)) return `${agent.id} touched ${account}`;
  const rule = accountRestrictions?.accountRules?.find((each) => each.accountId === account);
  const amount = transfers.find(({ step }) => step === 'velocity.agent.day')?.amount ?? 0n;
  const day = new Date(picture.now).toISOString().slice(0, 10);
  const broken = {
    perTransactionLimit: over(amount, rule?.perTransactionLimit ?? limits.perTransactionLimit),
    dailyTransactionLimit: over(countedOn(picture, agent, day), limits.dailyTransactionLimit),
    dailyLimit: over(usedIn(picture, agent, day), limits.dailyLimit),
    monthlyLimit: over(usedIn(picture, agent, day.slice(0, 7)), limits.monthlyLimit),
  };
  const names = Object.entries(broken).flatMap(([name, is]) => (is ? [name] : []));
  return names.length ? `${row.id} is beyond ${names.join(', ')} of ${agent.id}` : undefined;
}
