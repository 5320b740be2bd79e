// Slots of changes: without a limit, with one while authorizations arrive, and in turns of platforms.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createSlots } from './slots.ts';

/** Starts changes that the test completes. */
function createFixture() {
  let time = 0;
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const slots = createSlots(() => time);
  const add = (owner: string, count: number) => {
    for (let index = 0; index < count; index++) {
      void slots.run(owner, () => {
        started.push(owner);
        return new Promise<void>((end) => ends.push(end));
      });
    }
  };
  const end = async (count: number) => {
    for (const each of ends.splice(0, count)) each();
    await turn();
  };
  return { slots, started, add, end, advance: (ms: number) => (time += ms) };
}

describe('changes', () => {
  it('have no limit without card authorizations', async () => {
    const { started, add } = createFixture();
    add('a', 500);
    await turn();
    expect(started).toHaveLength(500);
  });

  it('wait while authorizations arrive, and platforms are served in turn', async () => {
    const { slots, started, add, end } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 50);
    add('b', 2);
    await turn();
    expect(started).toHaveLength(20);
    await end(4);
    expect(started.slice(20)).toEqual(['a', 'b', 'a', 'b']);
    await end(100);
    await end(100);
    expect(started).toHaveLength(52);
  });

  it('all start when the time after the last authorization has elapsed', async () => {
    const { slots, started, add, end, advance } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 50);
    await turn();
    advance(2_000);
    await end(1);
    expect(started).toHaveLength(50);
  });

  it('free their slot when they fail', async () => {
    const { slots } = createFixture();
    slots.prioritizeAuthorizations();
    const failing = () => Promise.reject(new Error('failed'));
    const all = Array.from({ length: 60 }, () => slots.run('a', failing));
    const results = await Promise.allSettled(all);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(await slots.run('a', async () => 1)).toBe(1);
  });

  it('release their slots if they hang', async () => {
    const { slots, started, add } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 20);
    add('b', 1);
    await turn();
    expect(started).not.toContain('b');
    await vi.waitFor(() => expect(started).toContain('b'));
  });
});
