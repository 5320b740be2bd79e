// Order of results and errors of concurrent work.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { allInOrder } from './in-order.ts';

const after = async (ms: number, error: string): Promise<never> => {
  await sleep(ms);
  throw new Error(error);
};

describe('inOrder', () => {
  it('throws the first in the given order, even if it rejects last', async () => {
    await expect(allInOrder([after(30, 'source'), after(0, 'destination')])).rejects.toThrow(
      'source',
    );
    await expect(allInOrder([after(0, 'source'), after(30, 'other')])).rejects.toThrow('source');
    await expect(allInOrder([sleep(5, 1), after(0, 'destination')])).rejects.toThrow('destination');
  });

  it('returns all results', async () => {
    expect(await allInOrder([sleep(5, 1), sleep(0, 'two')])).toEqual([1, 'two']);
  });
});
