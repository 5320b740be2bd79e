// The scripted, stateless card issuer. The state of a card or a debit follows from its timeline and
// the time since the request. Restarts and repetitions therefore have no effect. The sandbox
// operations simulate the card network.
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

const suffixOf = (text: string): string => text.slice(-3);
const descriptorSuffixOf = ({ descriptor }: CardMerchant): string => suffixOf(descriptor);

/** State of a timeline after `elapsedMs`, and the time until it changes. */
function stepAt<State>(timeline: CardTimeline<State>, elapsedMs: number) {
  const reachedSteps = timeline.filter((step) => step.afterMs <= elapsedMs);
  const { state } = reachedSteps.at(-1) ?? timeline[0];
  const nextStep = timeline[reachedSteps.length];
  return { state, waitMs: nextStep && nextStep.afterMs - elapsedMs };
}

function debitProgressAt({ merchant }: CardFundingDebit, elapsedMs: number): FundingDebitProgress {
  const timeline = FUNDING_DEBIT_OUTCOMES[descriptorSuffixOf(merchant)] ?? CONFIRMED;
  const { state, waitMs = 0 } = stepAt(timeline, elapsedMs);
  return state === 'pending' ? { state, checkAfterMs: waitMs } : { state };
}

/** The issuer's references of a card. */
const refsOf = (id: string) => {
  const uuid = id.slice(id.indexOf(':') + 1);
  return { issuerRef: `sandbox-card-${uuid}`, processorRef: `sandbox-processor-${uuid}` };
};

/** The sandbox issuer, with the generator of card numbers. */
export function sandboxIssuer(numbers: CardNumbers): IssuerPort {
  async function issueAt(order: CardOrder, elapsedMs: number): Promise<IssueProgress> {
    const timeline = ISSUE_OUTCOMES[suffixOf(order.platformCardId ?? '')] ?? ISSUED;
    const { state, waitMs } = stepAt(timeline, elapsedMs);
    if (state === 'issued') {
      return { state, card: { ...(await numbers.generate(order)), ...refsOf(order.id) } };
    }
    if (state === 'rejected') return { state };
    return waitMs === undefined ? { state } : { state, checkAfterMs: waitMs };
  }

  return {
    issue: (order) => issueAt(order, 0),
    check: (order, now: Time) => issueAt(order, now - order.orderedAt),
    details: async (card) => numbers.open(card),
    declineReason: ({ merchant }) => DESCRIPTOR_DECLINES[descriptorSuffixOf(merchant)],
    accepts: (_, { platformCardId, isNew }) =>
      FUNDING_REJECTIONS[suffixOf(platformCardId ?? '')] !== (isNew ? 'create' : 'update'),
    debitFunding: async (debit) => debitProgressAt(debit, 0),
    checkFundingDebit: async (debit, now: Time) => debitProgressAt(debit, now - debit.requestedAt),
  };
}
