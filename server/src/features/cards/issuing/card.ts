// What a platform may do to a card, and how the API shows one. Three refusals tell a client apart what it
// can mend: a closed card that is to be closed again, one that is to be changed, and every other move that
// there is not. Pure.
import type { Static } from '@sinclair/typebox';
import { Fault } from '../../../kernel/fault.ts';
import { stamps } from '../../../runtime/operation/context.ts';
import type { Card, updateCardById } from '../contract.ts';
import type { CardRow } from '../store.ts';
import { type CardState, cardStates } from './states.ts';

type CardView = Static<typeof Card>;
export type CardChange = Static<(typeof updateCardById)['body']>;

const MOVES = { ACTIVE: 'unfreeze', FROZEN: 'freeze', CLOSED: 'close' } as const;
export type CardMove = (typeof MOVES)[keyof typeof MOVES];

/** The move that a change asks for, if any. Throws where the card may not change so. */
export function moveFor(
  from: CardState,
  { state }: Pick<CardChange, 'state'>,
): CardMove | undefined {
  if (from === 'CLOSED' && state === undefined) {
    throw new Fault('CARD_NOT_MUTABLE', 'The card is closed: nothing about it changes any more.');
  }
  if (state === undefined) return undefined;
  if (from === 'CLOSED' && state === 'CLOSED') {
    throw new Fault('CARD_ALREADY_CLOSED', 'The card is closed already.');
  }
  const move = MOVES[state];
  // What the issuer has not answered about yet is the service's alone to end.
  if (from === 'PROCESSING' || cardStates.peek(from, move) === undefined) {
    const reason = `The card is ${from} and cannot become ${state}.`;
    // The issuer's answer ends PROCESSING.
    const isRetryable = from === 'PROCESSING';
    throw new Fault('INVALID_STATE_TRANSITION', reason, undefined, { isRetryable });
  }
  return move;
}

const unlessNull = <K extends string, V>(name: K, value: V | null) =>
  (value === null ? {} : { [name]: value }) as { [N in K]?: V };

/** The resource `Card`. */
export const presentCard = (row: CardRow): CardView => ({
  id: row.id,
  cardholderId: row.customer_id,
  platformCardId: row.platform_card_id,
  state: row.state,
  stateReason: row.state_reason,
  ...unlessNull('brand', row.brand as CardView['brand'] & string),
  form: 'VIRTUAL',
  ...unlessNull('last4', row.last4),
  ...unlessNull('expMonth', row.exp_month),
  ...unlessNull('expYear', row.exp_year),
  fundingSources: row.funding,
  maxSpendPerTransaction: row.max_spend === null ? null : Number(row.max_spend),
  currency: row.currency,
  ...unlessNull('processorRef', row.processor_ref),
  ...unlessNull('issuerRef', row.issuer_ref),
  ...stamps(row),
});
