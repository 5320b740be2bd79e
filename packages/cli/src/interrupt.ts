// Ctrl+C and the closing of the terminal, for commands that run until they are stopped.
import process from 'node:process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A signal that aborts at the first interruption. A second interruption ends the program
 * immediately.
 */
export function interruptionSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of SIGNALS) {
    process.once(name, () => {
      controller.abort();
      for (const each of SIGNALS) process.once(each, () => process.exit(130));
    });
  }
  return controller.signal;
}

/** Waits. Ends early without an error when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
