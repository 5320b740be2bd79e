// Every state of a card against everything that a platform may ask of one.
import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kernel/fault.ts';
import { type CardChange, moveFor } from './card.ts';
import { cardStates } from './states.ts';

type State = Parameters<typeof moveFor>[0];

function answer(from: State, change: CardChange): string | undefined {
  try {
    const move = moveFor(from, change);
    return move && cardStates.next(from, move);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `${error.status} ${error.code}`;
  }
}

const NO_MOVE = '409 INVALID_STATE_TRANSITION';

// From a state: what becomes of it when it is asked to be ACTIVE, FROZEN or CLOSED, and when it is not asked.
const TABLE: Record<State, [string, string, string, string | undefined]> = {
  PROCESSING: [NO_MOVE, NO_MOVE, NO_MOVE, undefined],
  ACTIVE: [NO_MOVE, 'FROZEN', 'CLOSED', undefined],
  FROZEN: ['ACTIVE', NO_MOVE, 'CLOSED', undefined],
  CLOSED: [NO_MOVE, NO_MOVE, '409 CARD_ALREADY_CLOSED', '409 CARD_NOT_MUTABLE'],
};

const ASKED = ['ACTIVE', 'FROZEN', 'CLOSED', undefined] as const;

describe.each(Object.keys(TABLE) as State[])('a card that is %s', (from) => {
  it.each(ASKED.map((state, at) => ({ state, after: TABLE[from][at] })))(
    'asked to be $state: $after',
    ({ state, after }) => {
      expect(answer(from, state ? { state } : { maxSpendPerTransaction: null })).toBe(after);
    },
  );
});

it('has a line for every state there is', () => {
  expect(Object.keys(cardStates.transitions).sort()).toEqual(Object.keys(TABLE).sort());
});
