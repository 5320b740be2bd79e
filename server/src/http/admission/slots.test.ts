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
  return { slots, startedOwners, add, finish, advance: (ms: number) => (time += ms) };
}

describe('changes', () => {
  it('have no limit without card authorizations', async () => {
    const { startedOwners, add } = createFixture();
    add('a', 500);
    await turn();
    expect(startedOwners).toHaveLength(500);
  });

  it('wait while authorizations arrive and start alternately for each platform', async () => {
    const { slots, startedOwners, add, finish } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 50);
    add('b', 2);
    await turn();
    expect(startedOwners).toHaveLength(20);
    await finish(4);
    expect(startedOwners.slice(20)).toEqual(['a', 'b', 'a', 'b']);
    await finish(100);
    await finish(100);
    expect(startedOwners).toHaveLength(52);
  });

  it('start without a limit when the time after the last authorization has elapsed', async () => {
    const { slots, startedOwners, add, finish, advance } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 50);
    await turn();
    advance(2_000);
    await finish(1);
    expect(startedOwners).toHaveLength(50);
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
    const { slots, startedOwners, add } = createFixture();
    slots.prioritizeAuthorizations();
    add('a', 20);
    add('b', 1);
    await turn();
    expect(startedOwners).not.toContain('b');
    await vi.waitFor(() => expect(startedOwners).toContain('b'));
  });
});
