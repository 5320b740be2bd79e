import { describe, expect, it } from 'vitest';
import { createLanes, LIMITS } from './lanes.ts';
import type { DueEvent } from './store.ts';

let made = 0;
const due = (platform: string, more: Partial<DueEvent> = {}): DueEvent => {
  const n = ++made;
  return {
    id: `Webhook:${n}`,
    platform_id: platform,
    type: 'OUTGOING_PAYMENT.COMPLETED',
    subject: `Transaction:${n}`,
    data: '{}',
    balance: null,
    held: null,
    created_at: 0,
    attempts: 0,
    due_at: 0,
    endpoint: 'https://hooks.example.com',
    environment: 'sandbox',
    sealed_for: null,
    data_key: null,
    ...more,
  };
};

type Lanes = ReturnType<typeof createLanes>;

/** Fills a platform's room and answers what may fly. */
function fill(lanes: Lanes, platform: string): DueEvent[] {
  for (let room = lanes.room(platform); room > 0; room--) lanes.add(due(platform));
  return lanes.next();
}

function finish(lanes: Lanes, flown: DueEvent[], delivered: boolean, ms = 5): void {
  for (const each of flown) {
    lanes.done(each, { delivered, ms });
    lanes.written(each);
  }
}

/** After some rounds of answers, how many requests may be under way to a platform. */
function widthAfter(lanes: Lanes, delivered: boolean, rounds: number, ms = 5): number {
  for (let i = 0; i < rounds; i++) finish(lanes, fill(lanes, 'A'), delivered, ms);
  const flown = fill(lanes, 'A');
  for (const each of flown) lanes.done(each, null);
  lanes.clear();
  return flown.length;
}

describe('a lane', () => {
  it('starts narrow, widens to the limit with each answer and never beyond', () => {
    const lanes = createLanes(LIMITS);
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(widthAfter(createLanes(LIMITS), true, 1)).toBe(4);
    expect(widthAfter(createLanes(LIMITS), true, 20)).toBe(8);
  });

  it('falls to one request for a receiver that keeps failing, and recovers', () => {
    const lanes = createLanes(LIMITS);
    widthAfter(lanes, true, 20);
    expect(widthAfter(lanes, false, 3)).toBe(1);
    expect(widthAfter(lanes, true, 20)).toBe(8);
  });

  it('reads ahead for a fast receiver, by the slot for a slow or unknown one', () => {
    const lanes = createLanes(LIMITS);
    expect(lanes.room('A')).toBe(2);
    widthAfter(lanes, true, 20);
    expect(lanes.room('A')).toBe(8 * 64);
    widthAfter(lanes, true, 30, 5_000);
    expect(lanes.room('A')).toBe(8);
  });

  it('forgets what it read ahead when its receiver becomes slow', () => {
    const lanes = createLanes(LIMITS);
    widthAfter(lanes, true, 20);
    const flown = fill(lanes, 'A');
    expect(lanes.total).toBe(8 * 64);
    for (const each of flown.slice(0, 3)) lanes.done(each, { delivered: false, ms: 30_000 });
    expect(lanes.inHand('A').size).toBeLessThanOrEqual(8 + 1);
    expect(lanes.total).toBe(lanes.inHand('A').size);
  });

  it('keeps an event in hand until its result is written, and takes none twice', () => {
    const lanes = createLanes(LIMITS);
    const event = due('A');
    lanes.add(event);
    lanes.add(event);
    expect(lanes.next()).toEqual([event]);
    lanes.done(event, { delivered: true, ms: 1 });
    expect([...lanes.inHand('A')]).toEqual([event.id]);
    expect(lanes.active()).toEqual(['A']);
    lanes.written(event);
    expect(lanes.total).toBe(0);
    expect(lanes.active()).toEqual([]);
  });

  it('forgets its queue when another process has the platform', () => {
    const lanes = createLanes(LIMITS);
    lanes.hold('A', 100);
    for (let i = 0; i < 5; i++) lanes.add(due('A'));
    const [first] = lanes.next();
    expect(lanes.leased(99)).toEqual(['A']);
    lanes.lose('A');
    expect(lanes.leased(99)).toEqual([]);
    expect(lanes.total).toBe(2);
    lanes.done(first as DueEvent, { delivered: true, ms: 1 });
    expect(lanes.next()).toEqual([]);
  });

  it('keeps the events of one resource apart and in order, but not balances', () => {
    const lanes = createLanes(LIMITS);
    const [first, second, third] = [1, 2, 3].map(() => due('A', { subject: 'Transaction:T' }));
    const other = due('A');
    for (const each of [first, second, other, third]) lanes.add(each as DueEvent);
    expect(lanes.next()).toEqual([first, other]);
    lanes.done(first as DueEvent, { delivered: true, ms: 1 });
    expect(lanes.next()).toEqual([second]);
    const balances = [1, 2].map(() => due('B', { subject: 'InternalAccount:X', balance: 1n }));
    for (const each of balances) lanes.add(each);
    expect(lanes.next()).toEqual(balances);
  });
});

describe('all lanes', () => {
  it('leave half of the room to others, however many receivers fail', () => {
    const lanes = createLanes({ ...LIMITS, inAll: 10 });
    const dead = Array.from({ length: 20 }, (_, at) => `dead ${at}`);
    for (const platform of dead) lanes.add(due(platform));
    let flown = lanes.next();
    expect(flown).toHaveLength(10);
    for (; flown.length; flown = lanes.next()) finish(lanes, flown, false, 30_000);
    for (const platform of dead) lanes.add(due(platform));
    expect(lanes.next()).toHaveLength(5);
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(fill(lanes, 'B')).toHaveLength(2);
    expect(fill(lanes, 'C')).toHaveLength(1);
  });

  it('take turns when all slots are taken', () => {
    const lanes = createLanes({ ...LIMITS, inAll: 2 });
    const order: string[] = [];
    for (let i = 0; i < 3; i++) for (const platform of ['A', 'B', 'C']) lanes.add(due(platform));
    for (let flown = lanes.next(); flown.length; flown = lanes.next()) {
      order.push(...flown.map((each) => each.platform_id));
      finish(lanes, flown, true);
    }
    expect(order.slice(0, 3).sort()).toEqual(['A', 'B', 'C']);
    expect(order).toHaveLength(9);
  });

  it('never have more in hand than allowed', () => {
    const lanes = createLanes({ ...LIMITS, inHand: 3 });
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(fill(lanes, 'B')).toHaveLength(1);
    expect(lanes.room('C')).toBe(0);
    expect(lanes.total).toBe(3);
  });
});
