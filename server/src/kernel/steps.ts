// Long work in steps. A generator pauses where other work may run. With `runInSteps`, the event
// loop is blocked for one step at a time.

/** Runs work without pauses and returns its result. */
export function runToEnd<T>(work: Generator<void, T>): T {
  let iteration = work.next();
  while (!iteration.done) iteration = work.next();
  return iteration.value;
}

/** Runs work with a pause after each step and returns its result. */
export async function runInSteps<T>(
  work: Generator<void, T>,
  pause: () => Promise<unknown>,
): Promise<T> {
  let iteration = work.next();
  while (!iteration.done) {
    await pause();
    iteration = work.next();
  }
  return iteration.value;
}
