// Changes of a card by its platform, and its API view. Three errors are distinguished for clients:
// closing a closed card, changing a closed card, and any other impossible transition. All
// functions are pure.
import type { Static } from '@sinclair/typebox';
import { Fault } from '../../../kernel/fault.ts';
import { timestamps } from '../../../runtime/operation/context.ts';
import type { Card, updateCardById } from '../contract.ts';
import type { CardRow } from '../store.ts';
import { type CardState, cardStates } from './states.ts';

type CardView = Static<typeof Card>;
export type CardChange = Static<(typeof updateCardById)['body']>;

const EVENTS = { ACTIVE: 'unfreeze', FROZEN: 'freeze', CLOSED: 'close' } as const;
export type CardStateEvent = (typeof EVENTS)[keyof typeof EVENTS];

/** The lifecycle event of a requested change. Throws if the state of the card does not allow it. */
export function stateEventFor(
  from: CardState,
  { state }: Pick<CardChange, 'state'>,
): CardStateEvent | undefined {
  if (from === 'CLOSED' && state === undefined) {
    throw new Fault('CARD_NOT_MUTABLE', 'The card is closed and cannot be changed.');
  }
  if (state === undefined) return undefined;
  if (from === 'CLOSED' && state === 'CLOSED') {
    throw new Fault('CARD_ALREADY_CLOSED', 'The card is already closed.');
  }
  const event = EVENTS[state];
  // Until the issuer has responded only the service can close a card.
  if (from === 'PROCESSING' || cardStates.targetOf(from, event) === undefined) {
    const reason = `The card is ${from} and cannot become ${state}.`;
    // PROCESSING ends with the response of the issuer.
    const isRetryable = from === 'PROCESSING';
    throw new Fault('INVALID_STATE_TRANSITION', reason, undefined, { isRetryable });
  }
  return event;
}

const fieldUnlessNull = <K extends string, V>(name: K, value: V | null) =>
  (value === null ? {} : { [name]: value }) as { [N in K]?: V };

/** The resource `Card`. */
export const presentCard = (row: CardRow): CardView => ({
  id: row.id,
  cardholderId: row.customer_id,
  platformCardId: row.platform_card_id,
  state: row.state,
  stateReason: row.state_reason,
  ...fieldUnlessNull('brand', row.brand as CardView['brand'] & string),
  form: 'VIRTUAL',
  ...fieldUnlessNull('last4', row.last4),
  ...fieldUnlessNull('expMonth', row.exp_month),
  ...fieldUnlessNull('expYear', row.exp_year),
  fundingSources: row.funding,
  maxSpendPerTransaction: row.max_spend === null ? null : Number(row.max_spend),
  currency: row.currency,
  ...fieldUnlessNull('processorRef', row.processor_ref),
  ...fieldUnlessNull('issuerRef', row.issuer_ref),
  ...timestamps(row),
});
