// The error of an outbound call that is prevented by the open circuit of its provider. The error is
// separate from other failures, because the provider received no request. The job is postponed, and its
// payment remains unchanged.
import type { Time } from '../effects.ts';

const CODE = 'ECIRCUITOPEN';
/** Maximum number of examined causes. Connectors wrap an error at most two times. */
const MAX_DEPTH = 8;

interface CircuitOpen extends Error {
  code: typeof CODE;
  provider: string;
  /** Earliest time of the next call to the provider. */
  retryAt: Time;
}

export const circuitOpen = (provider: string, retryAt: Time): CircuitOpen =>
  Object.assign(new Error(`the circuit of ${provider} is open`), {
    code: CODE,
    provider,
    retryAt,
  } as const);

/** The open circuit that caused an error, or undefined. */
export function circuitOpenIn(error: unknown): CircuitOpen | undefined {
  let cause = error;
  for (let depth = 0; depth < MAX_DEPTH && cause instanceof Error; depth++) {
    if ((cause as { code?: unknown }).code === CODE) return cause as CircuitOpen;
    cause = cause.cause;
  }
  return undefined;
}
