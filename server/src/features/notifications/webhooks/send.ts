// One delivery attempt, for the deliverer, a test of the endpoint or a synchronous webhook. It never throws;
// errors are part of the result.

import type { Naming } from '../../../catalog/naming.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { endpointProblem, mustBePublic } from '../../../kernel/net/endpoint.ts';
import type { SigningKeys } from '../../../runtime/security/keys.ts';
import { bodyOf, headersOf, type StoredEvent, standardHeaders } from './envelope.ts';
import { ANSWER_TIMEOUT_MS } from './schedule.ts';

export interface SendDeps {
  effects: Effects;
  keys: SigningKeys;
  naming: Naming;
  /** Whether sandbox platforms may use loopback endpoints. */
  loopbackWebhooks: boolean;
  /** Defaults to `ANSWER_TIMEOUT_MS`; shorter in tests. */
  answerTimeoutMs?: number;
}

/** Result of an attempt. Either `status` or `error` is set. */
export interface Sent {
  /** Start of the attempt. */
  at: Time;
  status: number | null;
  error: string | null;
  ms: number;
  /** Response body, up to `MAX_ANSWER` bytes. */
  answer: string | null;
}

/** Bytes read. More than is stored, so that connections stay open after ordinary responses. */
const MAX_ANSWER = 16_384;
const STORED_ANSWER = 1_024;
const STORED_ERROR = 200;

/** PostgreSQL text cannot contain a NUL character. */
const storable = (text: string) => text.replaceAll('\0', '');

/** The stored part of a response: at most 1 KB. */
export function excerptOf(answer: string | null): string | null {
  if (answer === null) return null;
  const bytes = Buffer.from(storable(answer));
  if (bytes.length <= STORED_ANSWER) return bytes.toString('utf8');
  // The last character may be incomplete.
  return bytes.toString('utf8', 0, STORED_ANSWER).replace(/\uFFFD$/, '');
}

function errorText(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const parts = [code, message].filter((each) => typeof each === 'string' && each !== '');
  return storable(parts.join(': ') || 'failed').slice(0, STORED_ERROR);
}

/**
 * Sends an event to `endpoint`, with the headers of Standard Webhooks if `standard`. Takes up to
 * `ANSWER_TIMEOUT_MS`.
 */
export async function send(
  deps: SendDeps,
  event: StoredEvent,
  endpoint: string,
  environment: Mode,
  standard = true,
): Promise<Sent> {
  const { effects, keys, naming } = deps;
  const started = effects.now();
  const problem = endpointProblem(endpoint, { environment, loopback: deps.loopbackWebhooks });
  if (problem) {
    const error = `EADDRREFUSED: the URL ${problem}`;
    return { at: started, status: null, error, ms: 0, answer: null };
  }
  try {
    const body = bodyOf(event, naming);
    const reply = await effects.http({
      url: endpoint,
      method: 'POST',
      headers: {
        ...headersOf(body, keys[environment], naming),
        ...(standard
          ? standardHeaders(event.id, body, started, keys[environment].standard.privateKey)
          : {}),
      },
      body,
      timeoutMs: deps.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
      maxBytes: MAX_ANSWER,
      publicOnly: mustBePublic(endpoint),
      repeatable: true,
    });
    const ms = effects.now() - started;
    return { at: started, status: reply.status, error: null, ms, answer: reply.body };
  } catch (error) {
    const ms = effects.now() - started;
    return { at: started, status: null, error: errorText(error), ms, answer: null };
  }
}
