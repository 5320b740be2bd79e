// Several lookups at once with a result that does not depend on which of them is faster.

/**
 * The results of work that is in progress together. When several reject, throws the reason of the first in
 * the given order, after all have settled.
 */
export async function inOrder<T extends readonly unknown[]>(
  work: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const settled = await Promise.allSettled(work);
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return settled.map((each) => (each as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
