// Long work in steps: a generator pauses where other work may run, so that the event loop is never blocked
// for longer than one step.

/** Runs work without pauses and returns its result. */
export function runToEnd<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Runs work with a pause after each step and returns its result. */
export async function runInSteps<T>(
  work: Generator<void, T>,
  pause: () => Promise<unknown>,
): Promise<T> {
  let step = work.next();
  while (!step.done) {
    await pause();
    step = work.next();
  }
  return step.value;
}
