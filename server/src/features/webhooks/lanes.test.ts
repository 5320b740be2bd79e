import { describe, expect, it } from 'vitest';
import { createLanes, LIMITS } from './lanes.ts';
import type { Claim } from './store.ts';

let made = 0;
const claim = (platform: string, more: Partial<Claim> = {}): Claim => {
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
    was_due: 0,
    lease: 0,
    endpoint: 'https://hooks.example.com',
    environment: 'sandbox',
    ...more,
  };
};

/** Fills a platform's room and answers what may fly. */
function fill(lanes: ReturnType<typeof createLanes>, platform: string): Claim[] {
  for (let room = lanes.room(platform); room > 0; room--) lanes.add(claim(platform));
  return lanes.next();
}

function run(lanes: ReturnType<typeof createLanes>, delivered: boolean, rounds: number): number {
  let flown: Claim[] = [];
  for (let i = 0; i < rounds; i++) {
    flown = [...flown, ...fill(lanes, 'A')];
    for (const each of flown.splice(0)) lanes.done(each, { delivered, ms: 5 });
  }
  flown = fill(lanes, 'A');
  const { length } = flown;
  for (const each of flown) lanes.done(each, null);
  return length;
}

describe('a lane', () => {
  it('starts narrow, widens to the limit with each answer and never beyond', () => {
    const lanes = createLanes(LIMITS);
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(run(createLanes(LIMITS), true, 1)).toBe(4);
    expect(run(createLanes(LIMITS), true, 20)).toBe(8);
  });

  it('falls to one request for a receiver that keeps failing, and recovers', () => {
    const lanes = createLanes(LIMITS);
    run(lanes, true, 20);
    expect(run(lanes, false, 3)).toBe(1);
    expect(run(lanes, true, 20)).toBe(8);
  });

  it('claims ahead for a fast receiver, by the slot for a slow or unknown one', () => {
    const lanes = createLanes(LIMITS);
    expect(lanes.room('A')).toBe(2);
    run(lanes, true, 20);
    for (const each of lanes.clear()) expect(each.platform_id).toBe('A');
    expect(lanes.room('A')).toBe(8 * 32);
    for (let i = 0; i < 30; i++) {
      for (const each of fill(lanes, 'A')) lanes.done(each, { delivered: true, ms: 5_000 });
    }
    lanes.clear();
    expect(lanes.room('A')).toBe(8);
  });

  it('keeps the events of one resource apart and in order, but not balances', () => {
    const lanes = createLanes(LIMITS);
    const [first, second, third] = [1, 2, 3].map(() => claim('A', { subject: 'Transaction:T' }));
    const other = claim('A');
    for (const each of [first, second, other, third]) lanes.add(each as Claim);
    expect(lanes.next()).toEqual([first, other]);
    lanes.done(first as Claim, { delivered: true, ms: 1 });
    expect(lanes.next()).toEqual([second]);
    const balances = [1, 2].map(() => claim('B', { subject: 'InternalAccount:X', balance: 1n }));
    for (const each of balances) lanes.add(each);
    expect(lanes.next()).toEqual(balances);
  });
});

describe('all lanes', () => {
  it('leave half of the room to others, however many receivers fail', () => {
    const lanes = createLanes({ ...LIMITS, inAll: 10 });
    const dead = Array.from({ length: 20 }, (_, at) => `dead ${at}`);
    for (const platform of dead) lanes.add(claim(platform));
    expect(lanes.next()).toHaveLength(10);
    for (let flown = lanes.held(); flown.length; flown = lanes.held()) {
      for (const each of flown.slice(0, lanes.inFlight)) {
        lanes.done(each, { delivered: false, ms: 30_000 });
      }
      lanes.next();
    }
    for (const platform of dead) lanes.add(claim(platform));
    expect(lanes.next()).toHaveLength(5);
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(fill(lanes, 'B')).toHaveLength(2);
    expect(fill(lanes, 'C')).toHaveLength(1);
    expect(lanes.inFlight).toBe(10);
  });

  it('take turns when all slots are taken', () => {
    const lanes = createLanes({ ...LIMITS, inAll: 2 });
    for (const platform of ['A', 'B', 'C']) {
      run(lanes, true, 1);
      const [one] = fill(lanes, platform);
      lanes.done(one as Claim, { delivered: true, ms: 1 });
      for (const each of lanes.held()) lanes.done(each, { delivered: true, ms: 1 });
      lanes.clear();
    }
    const order: string[] = [];
    for (const platform of ['A', 'B', 'C']) {
      for (let i = 0; i < 3; i++) lanes.add(claim(platform));
    }
    for (let flown = lanes.next(); flown.length; flown = lanes.next()) {
      for (const each of flown) {
        order.push(each.platform_id);
        lanes.done(each, { delivered: true, ms: 1 });
      }
    }
    expect(order.slice(0, 3).sort()).toEqual(['A', 'B', 'C']);
    expect(order).toHaveLength(9);
  });

  it('never hold more claims than allowed', () => {
    const lanes = createLanes({ ...LIMITS, claimed: 3 });
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(fill(lanes, 'B')).toHaveLength(1);
    expect(lanes.room('C')).toBe(0);
    expect(lanes.held()).toHaveLength(3);
  });
});
