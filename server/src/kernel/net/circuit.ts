// The error of an outbound call that was not made because the circuit of its provider is open. It is kept
// apart from every other failure: nothing reached the provider, so a job that meets it is postponed and its
// payment stays as it is.
import type { Time } from '../effects.ts';

const CODE = 'ECIRCUITOPEN';
/** Causes that are searched: connectors wrap errors once or twice. */
const MAX_DEPTH = 8;

interface CircuitOpen extends Error {
  code: typeof CODE;
  provider: string;
  /** When the next call to the provider may be made. */
  retryAt: Time;
}

export const circuitOpen = (provider: string, retryAt: Time): CircuitOpen =>
  Object.assign(new Error(`the circuit of ${provider} is open`), {
    code: CODE,
    provider,
    retryAt,
  } as const);

/** The open circuit that an error, or one of its causes, stems from. */
export function circuitOpenIn(error: unknown): CircuitOpen | undefined {
  let each = error;
  for (let depth = 0; depth < MAX_DEPTH && each instanceof Error; depth++) {
    if ((each as { code?: unknown }).code === CODE) return each as CircuitOpen;
    each = each.cause;
  }
  return undefined;
}
