// The allowed transitions of an internal account. All other transitions are rejected.
import { describe, expect, it } from 'vitest';
import {
  INTERNAL_ACCOUNT_STATUSES,
  type InternalAccountEvent,
  internalAccountStates,
  isOpen,
} from './states.ts';

const EVENTS: InternalAccountEvent[] = [
  'provision',
  'fail',
  'retry',
  'freeze',
  'unfreeze',
  'close',
];

const ALLOWED_TRANSITIONS: Record<string, string> = {
  'PENDING provision': 'ACTIVE',
  'PENDING fail': 'FAILED',
  'FAILED retry': 'PENDING',
  'ACTIVE freeze': 'FROZEN',
  'ACTIVE close': 'CLOSED',
  'FROZEN unfreeze': 'ACTIVE',
  'FROZEN close': 'CLOSED',
};

describe('internalAccountStates', () => {
  const transitions = INTERNAL_ACCOUNT_STATUSES.flatMap((from) =>
    EVENTS.map((event) => ({ from, event })),
  );
  it.each(transitions)('allows $event from $from only if the table lists it', ({ from, event }) => {
    const to = ALLOWED_TRANSITIONS[`${from} ${event}`];
    expect(internalAccountStates.targetOf(from, event)).toBe(to);
    if (to) expect(internalAccountStates.next(from, event)).toBe(to);
    else expect(() => internalAccountStates.next(from, event)).toThrow(`no transition ${event}`);
  });

  it('allows transfers in one state only', () => {
    expect(INTERNAL_ACCOUNT_STATUSES.filter(isOpen)).toEqual(['ACTIVE']);
  });
});
