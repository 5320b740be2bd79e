// Every allowed transition of outgoing payments and refunds, and the rejection of all others.
import { describe, expect, it } from 'vitest';
import {
  type OutgoingStatus,
  outgoingStates,
  type PaymentEvent,
  type RefundStatus,
  refundStates,
} from './states.ts';

const STATUSES: OutgoingStatus[] = [
  'PENDING',
  'PENDING_AUTHORIZATION',
  'PROCESSING',
  'COMPLETED',
  'FAILED',
  'EXPIRED',
];
const EVENTS: PaymentEvent[] = [
  'authorize',
  'release',
  'start',
  'settle',
  'fail',
  'return',
  'expire',
];

const ALLOWED_TRANSITIONS: Record<string, OutgoingStatus> = {
  'PENDING authorize': 'PENDING_AUTHORIZATION',
  'PENDING start': 'PROCESSING',
  'PENDING expire': 'EXPIRED',
  'PENDING fail': 'FAILED',
  'PENDING_AUTHORIZATION release': 'PENDING',
  'PENDING_AUTHORIZATION start': 'PROCESSING',
  'PENDING_AUTHORIZATION fail': 'FAILED',
  'PROCESSING settle': 'COMPLETED',
  'PROCESSING fail': 'FAILED',
  'COMPLETED return': 'FAILED',
};

describe('outgoing payment', () => {
  const transitions = STATUSES.flatMap((from) => EVENTS.map((event) => ({ from, event })));
  it.each(transitions)('allows $event from $from only if the table lists it', ({ from, event }) => {
    const to = ALLOWED_TRANSITIONS[`${from} ${event}`];
    expect(outgoingStates.targetOf(from, event)).toBe(to);
    if (to) expect(outgoingStates.next(from, event)).toBe(to);
    else
      expect(() => outgoingStates.next(from, event)).toThrow(`no transition ${event} from ${from}`);
  });

  it('has no other status', () => {
    expect(Object.keys(outgoingStates.transitions).sort()).toEqual([...STATUSES].sort());
  });
});

describe('refund', () => {
  const REFUND_STATUSES: RefundStatus[] = ['NONE', 'PENDING', 'COMPLETED', 'FAILED'];
  const allowedTransitions: Record<string, RefundStatus> = {
    'NONE open': 'PENDING',
    'PENDING pay': 'COMPLETED',
    'PENDING fail': 'FAILED',
    'FAILED resolve': 'COMPLETED',
  };
  const transitions = REFUND_STATUSES.flatMap((from) =>
    (['open', 'pay', 'fail', 'resolve'] as const).map((event) => ({ from, event })),
  );
  it.each(transitions)('allows $event from $from only if the table lists it', ({ from, event }) => {
    expect(refundStates.targetOf(from, event)).toBe(allowedTransitions[`${from} ${event}`]);
  });
});
