// The card issuer of a provider: orders and changes cards over the provider protocol. The funds of
// a card are in this ledger, so that a funding debit requires no call.

import type {
  CardDetails,
  CardOrder,
  ChangedCard,
  IssueProgress,
  ProviderIssuerPort,
} from '../ports/cards.ts';
import { CardChanged, CardIssuing, CardNumber, type StandIn } from '../ports/providers/cards.ts';
import { NOT_FOUND, type ProviderClient } from './client.ts';

/**
 * Default interval of state requests. The requests are required, because no message reports the
 * result of an order.
 */
const CHECK_AFTER_S = 60;

function progressOf(reportedState: CardIssuing): IssueProgress {
  if (reportedState.state === 'rejected') return { state: 'rejected' };
  if (reportedState.state === 'pending') {
    const { checkAfterSeconds = CHECK_AFTER_S } = reportedState;
    return { state: 'pending', checkAfterMs: checkAfterSeconds * 1_000 };
  }
  const {
    reference,
    processorReference = reference,
    brand,
    last4,
    expMonth,
    expYear,
  } = reportedState;
  const refs = { issuerRef: reference, processorRef: processorReference, secret: reference };
  return { state: 'issued', card: { ...refs, brand, last4, expMonth, expYear } };
}

/** The stand-in rules of a card. The amount never exceeds the limit of the platform. */
function standInOf(
  state: StandIn['state'],
  maxSpend: bigint | null | undefined,
  standInMax: bigint,
): StandIn {
  const limit = maxSpend ?? undefined;
  const maxAmount = limit !== undefined && limit < standInMax ? limit : standInMax;
  return {
    state,
    ...(limit === undefined ? {} : { maxPerPayment: Number(limit) }),
    maxAmount: state === 'ACTIVE' || state === 'PROCESSING' ? Number(maxAmount) : 0,
  };
}

export function cardCalls(client: ProviderClient): ProviderIssuerPort {
  return {
    async issue(order: CardOrder, standInMax) {
      const { id, cardholderId, platformCardId, currency, maxSpend } = order;
      const input = {
        cardId: id,
        cardholderId,
        ...(platformCardId === null ? {} : { platformCardId }),
        currency,
        standIn: standInOf('ACTIVE', maxSpend, standInMax),
      };
      return progressOf(await client.call('/cards/issue', input, CardIssuing));
    },
    async check({ id }) {
      const state = await client.callOrNotFound('/cards/state', { cardId: id }, CardIssuing);
      if (state === NOT_FOUND) return { state: 'pending', checkAfterMs: CHECK_AFTER_S * 1_000 };
      return progressOf(state);
    },
    async change({ cardId, issuerRef, state, currency, maxSpend }: ChangedCard, standInMax) {
      const standIn = standInOf(state, maxSpend, standInMax);
      const input = { cardId, reference: issuerRef, currency, standIn };
      await client.call('/cards/change', input, CardChanged);
    },
    async details({ cardId, secret }): Promise<CardDetails> {
      const input = { cardId, reference: secret };
      return client.call('/cards/details', input, CardNumber);
    },
  };
}
