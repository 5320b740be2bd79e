// Transitions of a state table.
import { describe, expect, it } from 'vitest';
import { stateTable } from './states.ts';

const doorStates = stateTable<'OPEN' | 'SHUT' | 'LOCKED', 'shut' | 'open' | 'lock'>('door', {
  OPEN: { shut: 'SHUT' },
  SHUT: { open: 'OPEN', lock: 'LOCKED' },
  LOCKED: {},
});

describe('stateTable', () => {
  it('returns the next state of an event and throws for a missing transition', () => {
    expect(doorStates.next('OPEN', 'shut')).toBe('SHUT');
    expect(doorStates.targetOf('LOCKED', 'open')).toBe(undefined);
    expect(() => doorStates.next('LOCKED', 'open')).toThrow('door: no transition open from LOCKED');
  });

  it('allows exactly its transitions and the same state', () => {
    const states = ['OPEN', 'SHUT', 'LOCKED'];
    const pairs = states.flatMap((from) => states.map((to) => [from, to] as const));
    const allowedPairs = pairs.filter(([from, to]) => from !== to && doorStates.allows(from, to));
    expect(allowedPairs).toEqual([
      ['OPEN', 'SHUT'],
      ['SHUT', 'OPEN'],
      ['SHUT', 'LOCKED'],
    ]);
    for (const state of states) expect(doorStates.allows(state, state)).toBe(true);
    expect(doorStates.allows('BROKEN', 'OPEN')).toBe(false);
  });
});
