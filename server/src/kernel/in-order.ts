// Concurrent work with a result that does not depend on the order of completion.

/**
 * The results of concurrent work. After all work has settled, throws the error of the first rejection in
 * the order of `work`.
 */
export async function allInOrder<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(work);
  for (const each of results) if (each.status === 'rejected') throw each.reason;
  return Promise.all(work);
}
