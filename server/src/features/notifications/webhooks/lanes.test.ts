// Concurrency of a lane for fast, slow and failing receivers.
import { describe, expect, it } from 'vitest';
import { createLanes, LIMITS } from './lanes.ts';
import type { DueEvent } from './store.ts';

let createdCount = 0;
const createDueEvent = (platform: string, overrides: Partial<DueEvent> = {}): DueEvent => {
  const n = ++createdCount;
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
    endpoint: 0,
    url: 'https://hooks.example.com',
    keys: null,
    failing_since: null,
    environment: 'sandbox',
    standard: true,
    format: 'FULL',
    sealed_for: null,
    data_key: null,
    ...overrides,
  };
};

const laneIdOf = (platformId: string, endpoint = 0) => ({ platformId, endpoint });

type Lanes = ReturnType<typeof createLanes>;

/** Fills a platform's lane and returns the events that can be sent. */
function fill(lanes: Lanes, platform: string): DueEvent[] {
  for (
    let remainingCapacity = lanes.capacity(laneIdOf(platform));
    remainingCapacity > 0;
    remainingCapacity--
  )
    lanes.add(createDueEvent(platform));
  return lanes.next();
}

function finish(lanes: Lanes, events: DueEvent[], isDelivered: boolean, ms = 5): void {
  for (const each of events) {
    lanes.done(each, { delivered: isDelivered, ms });
    lanes.recorded(each);
  }
}

/** The number of concurrent requests to a platform after some rounds of deliveries. */
function measureWidthAfter(lanes: Lanes, isDelivered: boolean, rounds: number, ms = 5): number {
  for (let i = 0; i < rounds; i++) finish(lanes, fill(lanes, 'A'), isDelivered, ms);
  const events = fill(lanes, 'A');
  for (const each of events) lanes.done(each, null);
  lanes.clear();
  return events.length;
}

describe('lane', () => {
  it('starts with two concurrent requests and adds one per success up to the limit', () => {
    const lanes = createLanes(LIMITS);
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(measureWidthAfter(createLanes(LIMITS), true, 1)).toBe(4);
    expect(measureWidthAfter(createLanes(LIMITS), true, 20)).toBe(8);
  });

  it('is reduced to one request for a failing receiver and recovers', () => {
    const lanes = createLanes(LIMITS);
    measureWidthAfter(lanes, true, 20);
    expect(measureWidthAfter(lanes, false, 3)).toBe(1);
    expect(measureWidthAfter(lanes, true, 20)).toBe(8);
  });

  it('reads ahead for a fast receiver, and one event per request for other receivers', () => {
    const lanes = createLanes(LIMITS);
    expect(lanes.capacity(laneIdOf('A'))).toBe(2);
    measureWidthAfter(lanes, true, 20);
    expect(lanes.capacity(laneIdOf('A'))).toBe(8 * 64);
    measureWidthAfter(lanes, true, 30, 5_000);
    expect(lanes.capacity(laneIdOf('A'))).toBe(8);
  });

  it('drops its read-ahead when the receiver becomes slow', () => {
    const lanes = createLanes(LIMITS);
    measureWidthAfter(lanes, true, 20);
    const events = fill(lanes, 'A');
    expect(lanes.total).toBe(8 * 64);
    for (const each of events.slice(0, 3)) lanes.done(each, { delivered: false, ms: 30_000 });
    expect(lanes.buffered(laneIdOf('A')).size).toBeLessThanOrEqual(8 + 1);
    expect(lanes.total).toBe(lanes.buffered(laneIdOf('A')).size);
  });

  it('keeps an event buffered until its result is recorded, and ignores duplicates', () => {
    const lanes = createLanes(LIMITS);
    const event = createDueEvent('A');
    lanes.add(event);
    lanes.add(event);
    expect(lanes.next()).toEqual([event]);
    lanes.done(event, { delivered: true, ms: 1 });
    expect([...lanes.buffered(laneIdOf('A'))]).toEqual([event.id]);
    expect(lanes.active()).toEqual(['A']);
    lanes.recorded(event);
    expect(lanes.total).toBe(0);
    expect(lanes.active()).toEqual([]);
  });

  it('clears its queue when another process has the lease', () => {
    const lanes = createLanes(LIMITS);
    lanes.setLease('A', 100);
    for (let i = 0; i < 5; i++) lanes.add(createDueEvent('A'));
    const [firstEvent] = lanes.next();
    expect(lanes.leased(99)).toEqual(['A']);
    lanes.dropLease('A');
    expect(lanes.leased(99)).toEqual([]);
    expect(lanes.total).toBe(2);
    lanes.done(firstEvent as DueEvent, { delivered: true, ms: 1 });
    expect(lanes.next()).toEqual([]);
  });

  it('sends the events of one resource sequentially, except balance events', () => {
    const lanes = createLanes(LIMITS);
    const [firstEvent, secondEvent, thirdEvent] = [1, 2, 3].map(() =>
      createDueEvent('A', { subject: 'Transaction:T' }),
    );
    const otherEvent = createDueEvent('A');
    for (const each of [firstEvent, secondEvent, otherEvent, thirdEvent])
      lanes.add(each as DueEvent);
    expect(lanes.next()).toEqual([firstEvent, otherEvent]);
    lanes.done(firstEvent as DueEvent, { delivered: true, ms: 1 });
    expect(lanes.next()).toEqual([secondEvent]);
    const balanceEvents = [1, 2].map(() =>
      createDueEvent('B', { subject: 'InternalAccount:X', balance: 1n }),
    );
    for (const each of balanceEvents) lanes.add(each);
    expect(lanes.next()).toEqual(balanceEvents);
  });
});

describe('several lanes', () => {
  it('reserve half of the requests for healthy receivers, for any number of failing receivers', () => {
    const lanes = createLanes({ ...LIMITS, inFlightTotal: 10 });
    const failingPlatforms = Array.from({ length: 20 }, (_, index) => `failing ${index}`);
    for (const platform of failingPlatforms) lanes.add(createDueEvent(platform));
    let events = lanes.next();
    expect(events).toHaveLength(10);
    for (; events.length; events = lanes.next()) finish(lanes, events, false, 30_000);
    for (const platform of failingPlatforms) lanes.add(createDueEvent(platform));
    expect(lanes.next()).toHaveLength(5);
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(fill(lanes, 'B')).toHaveLength(2);
    expect(fill(lanes, 'C')).toHaveLength(1);
  });

  it('share the total limit equally', () => {
    const lanes = createLanes({ ...LIMITS, inFlightTotal: 2 });
    const servedPlatforms: string[] = [];
    for (let i = 0; i < 3; i++)
      for (const platform of ['A', 'B', 'C']) lanes.add(createDueEvent(platform));
    for (let events = lanes.next(); events.length; events = lanes.next()) {
      servedPlatforms.push(...events.map((each) => each.platform_id));
      finish(lanes, events, true);
    }
    expect(servedPlatforms.slice(0, 3).sort()).toEqual(['A', 'B', 'C']);
    expect(servedPlatforms).toHaveLength(9);
  });

  it('of one platform share its limit, which each lane may exceed by one request', () => {
    const lanes = createLanes(LIMITS);
    measureWidthAfter(lanes, true, 20);
    const events = fill(lanes, 'A');
    expect(events).toHaveLength(8);
    const otherEvents = [1, 2, 3].flatMap((endpoint) => [
      createDueEvent('A', { endpoint }),
      createDueEvent('A', { endpoint }),
    ]);
    for (const each of otherEvents) lanes.add(each);
    expect(lanes.next().map((each) => each.endpoint)).toEqual([1, 2, 3]);
    finish(lanes, events.slice(0, 2), true);
    // Nine of eleven requests are still in flight, so no lane may send a second request yet.
    expect(lanes.next()).toEqual([]);
    finish(lanes, events.slice(2, 4), true);
    expect(lanes.next().map((each) => each.endpoint)).toHaveLength(1);
    lanes.dropLease('A');
    expect(lanes.next()).toEqual([]);
  });

  it('buffer at most as many events as the total limit', () => {
    const lanes = createLanes({ ...LIMITS, buffered: 3 });
    expect(fill(lanes, 'A')).toHaveLength(2);
    expect(fill(lanes, 'B')).toHaveLength(1);
    expect(lanes.capacity(laneIdOf('C'))).toBe(0);
    expect(lanes.total).toBe(3);
  });
});
