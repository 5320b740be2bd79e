// The queue of a lane, compared with a search of all its events.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLaneQueue } from './lane-queue.ts';
import type { DueEvent } from './store.ts';

interface EventFields {
  id: number;
  /** Resource of the event, or null for a balance event. */
  subject: number | null;
}

const eventOf = ({ id, subject }: EventFields) =>
  ({
    id: `Webhook:${id}`,
    subject: `Transaction:${subject}`,
    balance: subject === null ? 1n : null,
  }) as DueEvent;

/** A queue with the same rules that searches a list. */
function createSearchedQueue() {
  let queue: DueEvent[] = [];
  const busySubjects = new Set<string>();
  const isFree = (each: DueEvent) => each.balance !== null || !busySubjects.has(each.subject);
  return {
    push: (event: DueEvent) => void queue.push(event),
    take() {
      const event = queue.find(isFree);
      queue = queue.filter((each) => each !== event);
      if (event?.balance === null) busySubjects.add(event.subject);
      return event;
    },
    end(event: DueEvent) {
      if (event.balance === null) busySubjects.delete(event.subject);
    },
    shorten: (maximum: number) => queue.splice(maximum),
    size: () => queue.length,
    isReady: () => queue.some(isFree),
  };
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ push: fc.option(fc.nat(3), { freq: 4 }) }) },
  { weight: 4, arbitrary: fc.constant('take' as const) },
  { weight: 3, arbitrary: fc.record({ end: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ shorten: fc.nat(6) }) },
);

describe('queue of a lane', () => {
  it('takes the same events as a search of all events', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const [queue, searchedQueue] = [createLaneQueue(), createSearchedQueue()];
        const takenEvents: DueEvent[] = [];
        steps.forEach((action, id) => {
          if (action === 'take') {
            const event = queue.take();
            expect(event).toBe(searchedQueue.take());
            if (event) takenEvents.push(event);
          } else if ('push' in action) {
            const event = eventOf({ id, subject: action.push });
            queue.push(event);
            searchedQueue.push(event);
          } else if ('shorten' in action) {
            expect(queue.shorten(action.shorten)).toEqual(searchedQueue.shorten(action.shorten));
          } else {
            const [event] = takenEvents.splice(action.end % Math.max(1, takenEvents.length), 1);
            if (event) {
              queue.end(event);
              searchedQueue.end(event);
            }
          }
          expect([queue.size, queue.isReady]).toEqual([
            searchedQueue.size(),
            searchedQueue.isReady(),
          ]);
        });
      }),
    );
  });
});
