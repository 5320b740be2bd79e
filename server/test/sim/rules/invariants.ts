// What must hold after every step, as data. A rule looks at what the step has touched and names what is
// wrong; an empty answer is a world in order. `recount.ts` asks the same of everything that is there.
import {
  actionMoveProblem,
  auditProblem,
  isKept,
  letThroughProblem,
  policyProblem,
  usageProblem,
} from '../picture/agency.ts';
import { hasPendingFundingDebit } from '../picture/card-facts.ts';
import { effectProblem } from '../picture/effects.ts';
import {
  authorizationProblem,
  holdingProblem,
  spentProblem,
  walletMoveProblem,
} from '../picture/holdings.ts';
import {
  accountMoveProblem,
  moveProblem,
  outsideMoveProblem,
  refundOf,
  storyProblem,
} from '../picture/lifecycles.ts';
import {
  amountIn,
  applyNote,
  type Note,
  type Noted,
  type Payment,
  type Picture,
} from '../picture/picture.ts';
import { begunProblem, defaultProblem, volumeProblem, waitProblem } from '../picture/standing.ts';
import {
  challengeMoveProblem,
  challengesOf,
  failureProblem,
  proofProblem,
  standingMoveProblem,
  unprovedProblem,
  waitedProblem,
} from '../picture/strength.ts';
import { cardPaymentMoveProblem } from './card-rules.ts';
import { ISSUED_NOTE_RULES, ISSUED_STEP_RULES } from './issued.ts';
import { type Heard, type NoteRule, rule, type StepRule } from './rules.ts';
import { everything, nothing, type Touched, touch } from './touched.ts';

const NOTE_RULES: readonly NoteRule[] = [
  {
    name: 'transfers are only ever added, between accounts of their currency',
    table: 'ledger_transfers',
    check(picture, was, now) {
      if (was || !now) return `${(was ?? now)?.transaction_id} ${was?.step} was changed`;
      const ends = [now.debit, now.credit].map((id) => picture.accounts.get(id ?? ''));
      const fit = ends.every((end) => end?.currency === now.currency);
      return fit
        ? undefined
        : `${now.transaction_id} ${now.step} joins ${now.debit}, ${now.credit}`;
    },
  },
  {
    name: 'no account falls below its floor',
    table: 'ledger_accounts',
    check(picture, _was, now) {
      const account = picture.accounts.get(now?.id ?? '');
      if (!account) return `${_was?.id} was removed`;
      const { id, balance, held, floor } = account;
      const low = held < 0n || (floor !== null && balance - held < floor);
      return low ? `${id} has ${balance}, ${held} of it set aside` : undefined;
    },
  },
  {
    name: 'payments move along their lifecycle',
    table: 'transactions',
    check(_picture, was, now) {
      if (!now) return `${was?.id} was removed`;
      const isCard = now.type === 'CARD';
      const problem = isCard ? cardPaymentMoveProblem(was, now) : moveProblem(was, now);
      return problem && `${now.id} ${problem}`;
    },
  },
  {
    name: 'accounts move along their lifecycle',
    table: 'internal_accounts',
    check(_picture, was, now) {
      if (!now) return `${was?.id} was removed`;
      const problem = accountMoveProblem(was, now);
      return problem && `${now.id} ${problem}`;
    },
  },
  {
    name: 'accounts outside move along their lifecycle',
    table: 'external_accounts',
    check(picture, was, now) {
      if (!now) return `${was?.id} was removed`;
      const problem = outsideMoveProblem(was, now);
      return problem ? `${now.id} ${problem}` : defaultProblem(picture, now);
    },
  },
  {
    name: 'a balance is told as its commit left it',
    table: 'events',
    check(picture, was, now) {
      if (was || !now?.account) return undefined;
      const account = picture.accounts.get(now.account);
      const [balance, held] = [amountIn(now.balance), amountIn(now.held)];
      if (account?.balance === balance && account.held === held) return undefined;
      return `${now.id} says ${balance}, ${held} where it is ${account?.balance}, ${account?.held}`;
    },
  },
  {
    name: 'events are never removed',
    table: 'events',
    check: (_picture, was, now) => (now ? undefined : `${was?.id} ${was?.type} was removed`),
  },
  {
    name: 'quotes never change',
    table: 'quotes',
    check: (_picture, was) => (was ? `${was.id} was changed` : undefined),
  },
  ...['credentials', 'wallet_sessions', 'wallet_requests'].map((table) => ({
    name: `${table} move along their lifecycle`,
    table,
    check: (_picture: Picture, was: Noted | null, now: Noted | null) =>
      walletMoveProblem(table, was, now),
  })),
  {
    name: 'what a wallet has signed is written down for good, of a session that may',
    table: 'wallet_authorizations',
    check: authorizationProblem,
  },
  {
    name: 'a challenge is over once',
    table: 'sca_challenges',
    check: (_picture, was, now) => challengeMoveProblem(was, now),
  },
  {
    name: 'who fails is locked for as long as it should be',
    table: 'sca_lockouts',
    check: (_picture, was, now) => standingMoveProblem(was, now),
  },
  {
    name: 'actions of agents are decided once',
    table: 'agent_actions',
    check: (_picture, was, now) => actionMoveProblem(was, now),
  },
  ...['sca_events', 'agent_audit'].map((table) => ({
    name: `${table} are kept for good`,
    table,
    check: (_picture: Picture, was: Noted | null) => (was ? `${was.id} was changed` : undefined),
  })),
  ...ISSUED_NOTE_RULES,
];

function* eachOf<T>(ids: Iterable<string>, map: Map<string, T>): Iterable<T> {
  for (const id of ids) {
    const found = map.get(id);
    if (found) yield found;
  }
}

function isOpen(picture: Picture, payment: Payment): boolean {
  const { row } = payment;
  if (row.type === 'CARD') return hasPendingFundingDebit(row);
  if (row.status === 'PROCESSING' || refundOf(row) === 'PENDING') return true;
  return row.type === 'INCOMING' && row.status === 'PENDING' && !isKept(picture, payment);
}

function outboxProblem(event: Noted, results: string[], picture: Picture, heard: Heard) {
  const endpoint = picture.platforms.get(event.platform_id ?? '')?.webhook_endpoint;
  const last = results.at(-1);
  if (event.due_at !== null) return undefined;
  // A question is put by a job, once, and not by the usual deliveries.
  const question = event.type === 'INCOMING_PAYMENT.PENDING';
  if (last === undefined) return endpoint && !question ? 'is neither due nor tried' : undefined;
  if (last === 'retry') return 'was to be tried again and is not due';
  if (last !== 'delivered') return undefined;
  // One that was told before was heard then, and has been forgotten since.
  if (results.slice(0, -1).includes('delivered')) return undefined;
  return heard.has(event.id as string) ? undefined : 'counts as delivered, and nobody has heard it';
}

const STEP_RULES: readonly StepRule[] = [
  {
    name: 'every currency sums to zero',
    *check(picture) {
      for (const [currency, total] of picture.totals) {
        if (total !== 0n) yield `${currency} sums to ${total}`;
      }
    },
  },
  {
    name: 'accounts are what their transfers say',
    *check(picture, touched) {
      for (const { id, balance, held } of eachOf(touched.accounts, picture.accounts)) {
        const sum = picture.sums.get(id) ?? { balance: 0n, held: 0n };
        if (sum.balance !== balance || sum.held !== held) {
          yield `${id} has ${balance}, ${held} and its transfers say ${sum.balance}, ${sum.held}`;
        }
      }
    },
  },
  {
    name: 'what is posted or released was set aside before',
    *check(picture, touched) {
      for (const { row, transfers } of eachOf(touched.payments, picture.payments)) {
        const held = new Map(
          transfers.filter((each) => each.phase === 'pending').map((each) => [each.step, each]),
        );
        for (const each of transfers) {
          if (each.phase !== 'post' && each.phase !== 'void') continue;
          const first = held.get(each.step.slice(0, -1));
          const same = first?.amount === each.amount && first.debit === each.debit;
          if (!same) yield `${row.id} ${each.step} resolves no hold`;
        }
      }
    },
  },
  {
    name: 'a payment has moved what its state says',
    *check(picture, touched) {
      for (const payment of eachOf(touched.payments, picture.payments)) {
        if (!payment.row.status) yield `${payment.row.id} is in transfers or events alone`;
        const problem = payment.row.status && effectProblem(picture, payment);
        if (problem) yield `${payment.row.id} ${problem}`;
      }
    },
  },
  rule('a payment has told what its state says', 'payments', (picture, id) => {
    const payment = picture.payments.get(id);
    if (!payment?.row.status || payment.row.type === 'CARD') return undefined;
    const { length: challenges } = challengesOf(picture, payment.row);
    return storyProblem(payment, { challenges, kept: isKept(picture, payment) });
  }),
  {
    name: 'a job is about a transaction that is there',
    *check(picture, touched) {
      for (const id of touched.payments) {
        const there = picture.payments.get(id)?.row.status;
        if (picture.driven.has(id) && !there) yield `${id} has jobs and is not there`;
      }
    },
  },
  {
    name: 'an open payment has a job, or waits for a notice',
    *check(picture, touched) {
      for (const payment of eachOf(touched.payments, picture.payments)) {
        const problem =
          payment.row.status && waitProblem(picture, payment, isOpen(picture, payment));
        if (problem) yield problem;
      }
    },
  },
  {
    name: 'a payment counts toward its day, unless it goes back',
    *check(picture, touched) {
      for (const payment of eachOf(touched.payments, picture.payments)) {
        const problem = payment.row.type === 'OUTGOING' && volumeProblem(payment);
        if (problem) yield problem;
      }
    },
  },
  {
    name: 'a payment that begins counts, within the limits of its day',
    *check(picture, touched) {
      for (const payment of eachOf(touched.begun, picture.payments)) {
        const problem = begunProblem(picture, payment);
        if (problem) yield problem;
      }
    },
  },
  {
    name: 'an event is delivered, due or given up',
    *check(picture, touched, heard) {
      for (const { row, results } of eachOf(touched.events, picture.events)) {
        const problem = outboxProblem(row, results, picture, heard);
        if (problem) yield `${row.id} ${row.type} ${problem}`;
      }
    },
  },
  {
    name: 'money leaves a wallet once its holder has signed for it, and once',
    *check(picture, touched) {
      for (const { row } of eachOf(touched.payments, picture.payments)) {
        const problem = row.type === 'OUTGOING' && spentProblem(picture, row);
        if (problem) yield problem;
      }
    },
  },
  rule(
    'a wallet keeps a credential, and what was signed for happens once',
    'wallets',
    holdingProblem,
  ),
  rule('a payment waits for its customer, and for nothing else', 'payments', (picture, id) => {
    const payment = picture.payments.get(id);
    return payment?.row.status ? waitedProblem(picture, payment) : undefined;
  }),
  rule(
    'money that is regulated leaves once its customer has proved itself',
    'begun',
    (picture, id) => {
      const payment = picture.payments.get(id);
      return payment && unprovedProblem(picture, payment);
    },
  ),
  rule('a challenge is satisfied by one proof', 'challenges', proofProblem),
  rule('every failure counts, once', 'standings', failureProblem),
  rule('an agent moves what it was let through, and no more', 'payments', (picture, id) => {
    const payment = picture.payments.get(id);
    return payment && letThroughProblem(picture, payment);
  }),
  rule('an agent has used up what its payments say', 'agents', usageProblem),
  rule('what an agent begins is within its policy', 'counted', (picture, id) => {
    const payment = picture.payments.get(id);
    return payment && policyProblem(picture, payment);
  }),
  rule('what became of an action is written down', 'actions', auditProblem),
  {
    name: 'what owners owe is what the service is owed',
    *check(picture, touched) {
      const moved = [...touched.accounts].some((id) => id.includes(':receivable:'));
      if (touched.internal.size === 0 && !moved) return;
      const owed = new Map<string, bigint>();
      for (const { owed: amount, currency, platform_id } of picture.internal.values()) {
        const environment = picture.platforms.get(platform_id ?? '')?.environment;
        const systemAccount = `system:${environment}:receivable:${currency}`;
        owed.set(systemAccount, (owed.get(systemAccount) ?? 0n) + amountIn(amount));
      }
      for (const [systemAccount, sum] of owed) {
        const balance = picture.accounts.get(systemAccount)?.balance ?? 0n;
        if (-balance !== sum) yield `${systemAccount} has ${balance} and owners owe ${sum}`;
      }
    },
  },
  ...ISSUED_STEP_RULES,
];

/** Events that are through are forgotten, so that a long run costs no more than a short one. */
function forgetTold(picture: Picture, touched: Touched, heard: Heard): void {
  for (const id of touched.events) {
    if (picture.events.get(id)?.row.due_at !== null) continue;
    picture.events.delete(id);
    heard.delete(id);
  }
}

const checkStep = (picture: Picture, touched: Touched, heard: Heard) =>
  STEP_RULES.flatMap((rule) =>
    [...rule.check(picture, touched, heard)].map((problem) => `${rule.name}: ${problem}`),
  );

/** Takes a step's notes into the picture and says everything that is wrong with them. */
export function takeIn(picture: Picture, notes: readonly Note[], heard: Heard): string[] {
  const touched = nothing();
  const problems: string[] = [];
  for (const note of notes) {
    applyNote(picture, note);
    touch(touched, note, picture);
    for (const rule of NOTE_RULES) {
      if (rule.table !== note.table) continue;
      const problem = rule.check(picture, note.was, note.now);
      if (problem) problems.push(`${rule.name}: ${problem}`);
    }
  }
  problems.push(...checkStep(picture, touched, heard));
  forgetTold(picture, touched, heard);
  return problems;
}

/** The rules of a step, asked of everything in the picture. */
export function checkAll(picture: Picture, heard: Heard): string[] {
  return checkStep(picture, everything(picture), heard);
}
