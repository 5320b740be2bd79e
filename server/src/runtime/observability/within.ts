// A time limit for work that may remain unfinished.

/**
 * Resolves when `work` settles or after `ms`, whichever comes first. Rejects only if `work` does.
 */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
