// The scripted card issuer. It keeps no state: the state of a card or a debit follows from its
// timeline and the time since the request, so restarts and repetitions change nothing. It sends no
// messages of its own; the sandbox operations act as its network.
import type { Time } from '../../../kernel/effects.ts';
import type {
  CardFundingDebit,
  CardMerchant,
  CardOrder,
  FundingDebitProgress,
  IssueProgress,
  IssuerPort,
} from '../../ports/cards.ts';
import type { CardNumbers } from './card-numbers.ts';
import {
  type CardTimeline,
  CONFIRMED,
  DESCRIPTOR_DECLINES,
  FUNDING_DEBIT_OUTCOMES,
  FUNDING_REJECTIONS,
  ISSUE_OUTCOMES,
  ISSUED,
} from './card-outcomes.ts';

const endOf = (text: string): string => text.slice(-3);
const endOfDescriptor = ({ descriptor }: CardMerchant): string => endOf(descriptor);

/** State of a timeline after `elapsedMs`, and the time until it changes. */
function stepAt<State>(timeline: CardTimeline<State>, elapsedMs: number) {
  const done = timeline.filter((step) => step.afterMs <= elapsedMs);
  const { state } = done.at(-1) ?? timeline[0];
  const next = timeline[done.length];
  return { state, waitMs: next && next.afterMs - elapsedMs };
}

function pullAt({ merchant }: CardFundingDebit, elapsedMs: number): FundingDebitProgress {
  const timeline = FUNDING_DEBIT_OUTCOMES[endOfDescriptor(merchant)] ?? CONFIRMED;
  const { state, waitMs = 0 } = stepAt(timeline, elapsedMs);
  return state === 'pending' ? { state, checkAfterMs: waitMs } : { state };
}

/** The issuer's references of a card. */
const refsOf = (id: string) => {
  const own = id.slice(id.indexOf(':') + 1);
  return { issuerRef: `sandbox-card-${own}`, processorRef: `sandbox-processor-${own}` };
};

/** The sandbox issuer, with the generator of card numbers. */
export function sandboxIssuer(numbers: CardNumbers): IssuerPort {
  async function issueAt(order: CardOrder, elapsedMs: number): Promise<IssueProgress> {
    const timeline = ISSUE_OUTCOMES[endOf(order.platformCardId ?? '')] ?? ISSUED;
    const { state, waitMs } = stepAt(timeline, elapsedMs);
    if (state === 'issued') {
      return { state, card: { ...(await numbers.draw(order)), ...refsOf(order.id) } };
    }
    if (state === 'rejected') return { state };
    return waitMs === undefined ? { state } : { state, checkAfterMs: waitMs };
  }

  return {
    issue: (order) => issueAt(order, 0),
    check: (order, now: Time) => issueAt(order, now - order.orderedAt),
    details: async (card) => numbers.open(card),
    declineReason: ({ merchant }) => DESCRIPTOR_DECLINES[endOfDescriptor(merchant)],
    accepts: (_, { platformCardId, isNew }) =>
      FUNDING_REJECTIONS[endOf(platformCardId ?? '')] !== (isNew ? 'create' : 'update'),
    debitFunding: async (pull) => pullAt(pull, 0),
    checkFundingDebit: async (pull, now: Time) => pullAt(pull, now - pull.requestedAt),
  };
}
