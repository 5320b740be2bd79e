// Several concurrent reads with a result that does not depend on their order of completion.

/**
 * The results of concurrent work. If several reject, throws the reason of the first in the given
 * order, after all have settled.
 */
export async function allInOrder<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(work);
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return Promise.all(work);
}
