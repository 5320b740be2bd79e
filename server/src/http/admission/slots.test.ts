// Limits of concurrent changes with and without card authorizations.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createSlots } from './slots.ts';

/** Starts changes that the test completes. */
function createFixture() {
  let time = 0;
  const startedOwners: string[] = [];
  const completions: (() => void)[] = [];
  const slots = createSlots(() => time);
  const add = (owner: string, count: number) => {
    for (let index = 0; index < count; index++) {
      void slots.run(owner, () => {
        startedOwners.push(owner);
        return new Promise<void>((resolve) => completions.push(resolve));
      });
    }
  };
  const finish = async (count: number) => {
    for (const each of completions.splice(0, count)) each();
    await turn();
  };
  return { slots, started: startedOwners, add, end: finish, advance: (ms: number) => (time += ms) };
}

describe('changes', () => {
  it('have no limit without card authorizations', async () => {
    const { started, add } = createFixture();
    add('a', 500);
    await turn();
    expect(started).toHaveLength(500);
  });

  it('wait while authorizations arrive and start alternately for each platform', async () => {
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

  it('start without a limit when the time after the last authorization has elapsed', async () => {
    const { slots, started, add, end, advance } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 50);
    await turn();
    advance(2_000);
    await end(1);
    expect(started).toHaveLength(50);
  });

  it('release their slots when they fail', async () => {
    const { slots } = createFixture();
    slots.prioritizeAuthorizations();
    const failingWork = () => Promise.reject(new Error('failed'));
    const changes = Array.from({ length: 60 }, () => slots.run('a', failingWork));
    const results = await Promise.allSettled(changes);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(await slots.run('a', async () => 1)).toBe(1);
  });

  it('release their slots after a time limit, although they continue', async () => {
    const { slots, started, add } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 20);
    add('b', 1);
    await turn();
    expect(started).not.toContain('b');
    await vi.waitFor(() => expect(started).toContain('b'));
  });
});
