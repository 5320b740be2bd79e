// Opens a server, or another resource with `close`, for a test file, and registers hooks that close
// it.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type AppOptions, startApp, type TestApp } from './harness.ts';

interface Closable {
  close(): unknown;
}

function hooksOf<T extends Closable>(open: () => Promise<T>) {
  const state: Partial<T> = {};
  const value = new Proxy(state, {
    get(target, name) {
      if (target.close || typeof name === 'symbol') return Reflect.get(target, name);
      throw new Error(
        `'${String(name)}' was used before the first hook. Use it in a hook or test.`,
      );
    },
  }) as T;
  const start = async () => {
    Object.defineProperties(state, Object.getOwnPropertyDescriptors(await open()));
  };
  const stop = async () => {
    await state.close?.();
  };
  return { value, start, stop };
}

/**
 * Opens a resource with `open` before the tests of the file or `describe` that calls this, and
 * closes it after them.
 */
export function openForFile<T extends Closable>(open: () => Promise<T>): T {
  const { value, start, stop } = hooksOf(open);
  beforeAll(start);
  afterAll(stop);
  return value;
}

/** A function if the options depend on a resource that an earlier hook opens. */
type Options = AppOptions | (() => AppOptions);
const start = (options: Options) => startApp(typeof options === 'function' ? options() : options);

/**
 * Opens one server for all tests of the file or `describe` that calls this. Closing the server
 * checks its books.
 */
export function testApp(options: Options = {}): TestApp {
  return openForFile(() => start(options));
}

/** As `testApp`, with a separate server for each test. */
export function testAppForEach(options: Options = {}): TestApp {
  const hooks = hooksOf(() => start(options));
  beforeEach(hooks.start);
  afterEach(hooks.stop);
  return hooks.value;
}
