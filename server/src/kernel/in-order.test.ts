// Order of results and errors of concurrent work.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { allInOrder } from './in-order.ts';

const rejectAfter = async (ms: number, error: string): Promise<never> => {
  await sleep(ms);
  throw new Error(error);
};

describe('allInOrder', () => {
  it('throws the first error in the order of the list, even if it occurs last', async () => {
    await expect(
      allInOrder([rejectAfter(30, 'source'), rejectAfter(0, 'destination')]),
    ).rejects.toThrow('source');
    await expect(allInOrder([rejectAfter(0, 'source'), rejectAfter(30, 'other')])).rejects.toThrow(
      'source',
    );
    await expect(allInOrder([sleep(5, 1), rejectAfter(0, 'destination')])).rejects.toThrow(
      'destination',
    );
  });

  it('returns all results', async () => {
    expect(await allInOrder([sleep(5, 1), sleep(0, 'two')])).toEqual([1, 'two']);
  });
});
