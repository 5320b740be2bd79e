// Calls to a provider: signed, with a timeout, and with validated responses. Every call is an
// idempotent POST. Without a valid response the result is unknown, and the caller can retry.

import type { Static, TSchema } from '@sinclair/typebox';
import { fieldErrors } from '../../kernel/contract/validate.ts';
import { signRequest } from '../../kernel/crypto/http-signatures.ts';
import type { Effects } from '../../kernel/effects.ts';
import { circuitOpenIn } from '../../kernel/net/circuit.ts';
import type { ConnectedProvider } from '../ports/providers/port.ts';

const TIMEOUT_MS = 15_000;
/**
 * Timeout of the calls for custody and for a firm quote, for which a client or a card network
 * waits.
 */
export const QUICK_TIMEOUT_MS = 2_000;
const MAX_BYTES = 1_048_576;

/** Result of a call whose response has the status 404. */
export const NOT_FOUND = Symbol('not found');

export interface ProviderClient {
  /**
   * Calls `path` and returns the response body. Throws for every status but 200, and for a response
   * that does not match `schema`.
   */
  call<S extends TSchema>(
    path: string,
    body: object,
    schema: S,
    timeoutMs?: number,
  ): Promise<Static<S>>;
  /** Like `call`, with the status 404 as a result, such as for the state of a transfer. */
  callOrNotFound<S extends TSchema>(
    path: string,
    body: object,
    schema: S,
    timeoutMs?: number,
  ): Promise<Static<S> | typeof NOT_FOUND>;
}

type Observe = ConnectedProvider['observe'];

/**
 * Runs a call and reports it. A call that the open circuit breaker rejected was not sent, and is
 * not reported.
 */
async function observeCall<R>(
  effects: Effects,
  observe: Observe,
  call: () => Promise<R>,
): Promise<R> {
  const startedAt = effects.now();
  const report = (isSuccess: boolean) =>
    observe({ isSuccess, durationMs: Math.max(0, effects.now() - startedAt) });
  try {
    const result = await call();
    report(true);
    return result;
  } catch (error) {
    if (!circuitOpenIn(error)) report(false);
    throw error;
  }
}

export function providerClient(
  effects: Effects,
  { name, address, keyOf, observe }: Omit<ConnectedProvider, 'reportedRates'>,
): ProviderClient {
  const { url, isPrivateAllowed } = address;
  async function send<S extends TSchema>(
    path: string,
    input: object,
    schema: S,
    timeoutMs: number,
  ) {
    const request = {
      method: 'POST' as const,
      url: url + path,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(input),
    };
    const headers = await signRequest(keyOf(), request, effects.now());
    const { status, body } = await effects.http({
      ...request,
      headers,
      timeoutMs,
      maxBytes: MAX_BYTES,
      publicOnly: !isPrivateAllowed,
      repeatable: true,
    });
    if (status === 404) return NOT_FOUND;
    if (status !== 200) throw new Error(`${name} responded to ${path} with status ${status}`);
    return parseBody(name, path, body, schema);
  }
  const callOrNotFound: ProviderClient['callOrNotFound'] = (
    path,
    input,
    schema,
    timeoutMs = TIMEOUT_MS,
  ) => observeCall(effects, observe, () => send(path, input, schema, timeoutMs));
  return {
    callOrNotFound,
    async call<S extends TSchema>(path: string, input: object, schema: S, timeoutMs?: number) {
      const reply = await callOrNotFound(path, input, schema, timeoutMs);
      if (reply === NOT_FOUND) throw new Error(`${name} responded to ${path} with status 404`);
      return reply as Static<S>;
    },
  };
}

function parseBody<S extends TSchema>(
  name: string,
  path: string,
  body: string,
  schema: S,
): Static<S> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new Error(`${name} responded to ${path} with a body that is not JSON`);
  }
  const errors = fieldErrors(schema, value, 'body');
  if (errors.length === 0) return value as Static<S>;
  const fields = errors.map(({ field, message }) => `${field || 'the body'} ${message}`);
  throw new Error(`${name} responded to ${path} with an invalid body: ${fields.join('; ')}`);
}
