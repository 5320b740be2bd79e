// One try to deliver one event, whoever asks for it: the loop that works off what is due, or a platform
// that tests its endpoint. A try never throws; what went wrong is its result.

import type { Naming } from '../../../catalog/naming.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { endpointProblem, mustBePublic } from '../../../kernel/net/endpoint.ts';
import type { SigningKeys } from '../../../runtime/security/keys.ts';
import { bodyOf, headersOf, type StoredEvent } from './envelope.ts';
import { ANSWER_TIMEOUT_MS } from './schedule.ts';

export interface SendDeps {
  effects: Effects;
  keys: SigningKeys;
  naming: Naming;
  /** Whether sandbox platforms may use endpoints on this machine. */
  loopbackWebhooks: boolean;
  /** Shortened by tests; the product's is `ANSWER_TIMEOUT_MS`. */
  answerTimeoutMs?: number;
}

/** What came of a try. Either `status` or `error` is there. */
export interface Sent {
  /** When it was begun. */
  at: Time;
  status: number | null;
  error: string | null;
  ms: number;
  /** The answer's body, up to `MAX_ANSWER` bytes. */
  answer: string | null;
}

/** A little more than what is kept, so that ordinary answers leave their connection open. Bytes. */
const MAX_ANSWER = 16_384;
const KEPT_ANSWER = 1_024;
const KEPT_ERROR = 200;

/** PostgreSQL has no text with a zero character. */
const storable = (text: string) => text.replaceAll('\0', '');

/** The start of an answer as it is kept: at most 1 KB. */
export function excerptOf(answer: string | null): string | null {
  if (answer === null) return null;
  const bytes = Buffer.from(storable(answer));
  if (bytes.length <= KEPT_ANSWER) return bytes.toString('utf8');
  // The last character may be cut in two.
  return bytes.toString('utf8', 0, KEPT_ANSWER).replace(/\uFFFD$/, '');
}

function wordsOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const words = [code, message].filter((each) => typeof each === 'string' && each !== '');
  return storable(words.join(': ') || 'failed').slice(0, KEPT_ERROR);
}

/** Sends an event to `endpoint` and says what came of it. Takes up to `ANSWER_TIMEOUT_MS`. */
export async function send(
  deps: SendDeps,
  event: StoredEvent,
  endpoint: string,
  environment: Mode,
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
      headers: headersOf(event.id, body, started, keys[environment], naming),
      body,
      timeoutMs: deps.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
      maxBytes: MAX_ANSWER,
      publicOnly: mustBePublic(endpoint),
    });
    const ms = effects.now() - started;
    return { at: started, status: reply.status, error: null, ms, answer: reply.body };
  } catch (error) {
    const ms = effects.now() - started;
    return { at: started, status: null, error: wordsOf(error), ms, answer: null };
  }
}
