// Every state of a card with every change that a platform can request.
import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kernel/fault.ts';
import { type CardChange, stateEventFor } from './card.ts';
import { cardStates } from './states.ts';

type State = Parameters<typeof stateEventFor>[0];

function resultOf(from: State, change: CardChange): string | undefined {
  try {
    const event = stateEventFor(from, change);
    return event && cardStates.next(from, event);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `${error.status} ${error.code}`;
  }
}

const NO_TRANSITION = '409 INVALID_STATE_TRANSITION';

// Result of requesting ACTIVE, FROZEN or CLOSED, or another change, in each state.
const RESULTS: Record<State, [string, string, string, string | undefined]> = {
  PROCESSING: [NO_TRANSITION, NO_TRANSITION, NO_TRANSITION, undefined],
  ACTIVE: [NO_TRANSITION, 'FROZEN', 'CLOSED', undefined],
  FROZEN: ['ACTIVE', NO_TRANSITION, 'CLOSED', undefined],
  CLOSED: [NO_TRANSITION, NO_TRANSITION, '409 CARD_ALREADY_CLOSED', '409 CARD_NOT_MUTABLE'],
};

const REQUESTED_STATES = ['ACTIVE', 'FROZEN', 'CLOSED', undefined] as const;

describe.each(Object.keys(RESULTS) as State[])('a card in state %s', (from) => {
  it.each(REQUESTED_STATES.map((state, index) => ({ state, after: RESULTS[from][index] })))(
    'has the result $after if $state is requested',
    ({ state, after: expectedResult }) => {
      expect(resultOf(from, state ? { state } : { maxSpendPerTransaction: null })).toBe(
        expectedResult,
      );
    },
  );
});

it('the table covers every state', () => {
  expect(Object.keys(cardStates.transitions).sort()).toEqual(Object.keys(RESULTS).sort());
});
