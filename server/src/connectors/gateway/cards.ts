// The card issuer of a provider: orders and changes cards over the protocol. The funds of a card are in
// this ledger, so a funding debit needs no call.

import type {
  CardDetails,
  CardOrder,
  ChangedCard,
  IssueProgress,
  ProviderIssuerPort,
} from '../ports/cards.ts';
import { CardChanged, CardIssuing, CardNumber, type StandIn } from '../ports/providers/cards.ts';
import { NOT_FOUND, type ProviderClient } from './client.ts';

/** Interval of requests if the provider names none. No message reports the result of an order. */
const CHECK_AFTER_S = 60;

function progressOf(reported: CardIssuing): IssueProgress {
  if (reported.state === 'rejected') return { state: 'rejected' };
  if (reported.state === 'pending') {
    const { checkAfterSeconds = CHECK_AFTER_S } = reported;
    return { state: 'pending', checkAfterMs: checkAfterSeconds * 1_000 };
  }
  const { reference, processorReference = reference, brand, last4, expMonth, expYear } = reported;
  const refs = { issuerRef: reference, processorRef: processorReference, secret: reference };
  return { state: 'issued', card: { ...refs, brand, last4, expMonth, expYear } };
}

/** The rules for authorizations without an answer; no approval exceeds the limit of the platform. */
function standInOf(
  state: StandIn['state'],
  maxSpend: bigint | null | undefined,
  standInMax: bigint,
): StandIn {
  const limit = maxSpend ?? undefined;
  const max = limit !== undefined && limit < standInMax ? limit : standInMax;
  return {
    state,
    ...(limit === undefined ? {} : { maxPerPayment: Number(limit) }),
    maxAmount: state === 'ACTIVE' || state === 'PROCESSING' ? Number(max) : 0,
  };
}

export function cardCalls(client: ProviderClient): ProviderIssuerPort {
  async function served<R>(path: string, reply: Promise<R | typeof NOT_FOUND>): Promise<R> {
    const value = await reply;
    if (value === NOT_FOUND) throw new Error(`the provider does not serve ${path}`);
    return value as R;
  }

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
      const path = '/cards/issue';
      return progressOf(await served(path, client.call(path, input, CardIssuing)));
    },
    async check({ id }) {
      const state = await client.call('/cards/state', { cardId: id }, CardIssuing);
      if (state === NOT_FOUND) return { state: 'pending', checkAfterMs: CHECK_AFTER_S * 1_000 };
      return progressOf(state);
    },
    async change({ cardId, issuerRef, state, currency, maxSpend }: ChangedCard, standInMax) {
      const standIn = standInOf(state, maxSpend, standInMax);
      const input = { cardId, reference: issuerRef, currency, standIn };
      await served('/cards/change', client.call('/cards/change', input, CardChanged));
    },
    async details({ cardId, secret }): Promise<CardDetails> {
      const input = { cardId, reference: secret };
      return served('/cards/details', client.call('/cards/details', input, CardNumber));
    },
  };
}
