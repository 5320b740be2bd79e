// Card messages of providers. The decision about an authorization and the stored message are one
// change set, so a response needs one commit. Authorizations and entries are identified by the IDs
// of the provider, so a repetition in another message has no further effect.

import type { CardDecision, CardRequest } from '../../../connectors/ports/cards.ts';
import type { CardAnswer } from '../../../connectors/ports/providers/cards.ts';
import type { Message } from '../../../connectors/ports/providers/protocol.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type Provider, providerOfTransfer } from '../../providers/index.ts';
import type { CardEntry, CardNetwork, CardOutcome, StageMessage } from './card-network.ts';

export type CardMessage = Extract<Message, { type: `card.${string}` }>;
type AuthorizationMessage = Extract<Message, { type: 'card.authorization' }>;
type EntryMessage = Exclude<CardMessage, AuthorizationMessage>;

/** Result of a card message, and the response to an authorization. */
export type CardResult = CardOutcome & { authorization?: CardAnswer };

export interface CardMessageDeps {
  runtime: Runtime;
  /** The handler of an environment. */
  cards(environment: Mode): CardNetwork;
}

const RESPONSE_WITHIN_MS = 2_000;

const ENTRY_KINDS = {
  'card.clearing': 'CLEARING',
  'card.reversal': 'REVERSAL',
  'card.adjustment': 'ADJUSTMENT',
  'card.refund': 'REFUND',
  'card.refund_reversal': 'REFUND_REVERSAL',
} as const satisfies Record<EntryMessage['type'], CardEntry['kind']>;

export const isCardMessage = (message: Message): message is CardMessage =>
  message.type.startsWith('card.');

/** The provider is part of the ID, so IDs of different providers cannot collide. */
const tokenOf = (providerId: string, authorizationId: string) => `${providerId}/${authorizationId}`;
const requestIdOf = (providerId: string, authorizationId: string) =>
  `${providerId}/authorization/${authorizationId}`;

function requestOf(providerId: string, message: AuthorizationMessage): CardRequest {
  const { authorizationId, cardId, amount, currency, merchant, kind = 'AUTHORIZATION' } = message;
  return {
    id: requestIdOf(providerId, authorizationId),
    token: tokenOf(providerId, authorizationId),
    ...{ cardId, kind, amount: BigInt(amount), currency, merchant, providerId },
  };
}

function entryOf(providerId: string, message: EntryMessage): CardEntry {
  const { type, authorizationId, entryId, cardId, currency, amount } = message;
  return {
    id: `${providerId}/entry/${entryId}`,
    token: tokenOf(providerId, authorizationId),
    requestId: requestIdOf(providerId, authorizationId),
    kind: ENTRY_KINDS[type],
    amount: amount === undefined ? undefined : BigInt(amount),
    merchant: 'merchant' in message ? message.merchant : undefined,
    ...{ cardId, currency },
  };
}

const responseTo = (
  { amount, currency }: AuthorizationMessage,
  decision: CardDecision,
): CardAnswer => {
  if (!decision.approved) {
    return { decision: 'DECLINED', approvedAmount: 0, currency, reason: decision.reason };
  }
  const { transactionId } = decision;
  const payment = transactionId === undefined ? {} : { transactionId };
  return { decision: 'APPROVED', approvedAmount: amount, currency, ...payment };
};

async function authorize(
  { runtime, cards }: CardMessageDeps,
  { row }: Provider,
  message: AuthorizationMessage,
  stage: StageMessage,
): Promise<CardResult> {
  const network = cards(row.environment);
  const request = requestOf(row.id, message);
  if (message.stoodIn) {
    const id = `${row.id}/stand-in/${message.authorizationId}`;
    const outcome = await network.postApproved({ ...request, id }, request.id, stage);
    const { transactionId } = outcome;
    const recordedPayment = transactionId === null ? {} : { transactionId };
    return {
      ...outcome,
      authorization: responseTo(message, { approved: true, ...recordedPayment }),
    };
  }
  const deadline = runtime.effects.now() + (message.answerWithinMs ?? RESPONSE_WITHIN_MS);
  const { decision, ...outcome } = await network.decide(request, deadline, stage);
  return { ...outcome, authorization: responseTo(message, decision) };
}

/** Applies a message. Throws NOT_FOUND for a card that the provider does not issue. */
export async function applyCardMessage(
  deps: CardMessageDeps,
  provider: Provider,
  message: CardMessage,
  stage: StageMessage,
): Promise<CardResult> {
  if ((await providerOfTransfer(deps.runtime, message.cardId)) !== provider.row.id) {
    throw new Fault('NOT_FOUND', 'The provider has not issued this card.');
  }
  if (message.type === 'card.authorization') return authorize(deps, provider, message, stage);
  const { row } = provider;
  return deps.cards(row.environment).postEntry(entryOf(row.id, message), stage);
}
