// Requests to the backend, and signed retries: a request that needs the consent of the holder is
// answered with a payload, and repeated unchanged with the payload signed by the session key.
import { ApiKeyStamper } from '@turnkey/api-key-stamper';

/** P-256, in hex; the public half compressed. */
export interface Keys {
  privateKey: string;
  publicKey: string;
}

export interface Challenge {
  payloadToSign: string;
  requestId: string;
}

/** An error reply of the backend or the API, with its message. */
export interface Refusal extends Error {
  code: string;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes; callers name theirs.
  body: any;
}

async function send(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const type = body ? { 'content-type': 'application/json' } : undefined;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    const reply = await fetch(`/api/${path}`, {
      method,
      headers: { ...headers, ...type },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await reply.text();
    const said = text ? JSON.parse(text) : undefined;
    if (!reply.ok) throw Object.assign(new Error(said.reason), { code: said.code });
    // In progress: the same request is repeated. A quote has its own field `status`.
    const isUnderWay = reply.status === 200 && said?.status === 'PROCESSING' && !said.id;
    if (!isUnderWay) return { status: reply.status, body: said };
    await pause(wait);
  }
}

export async function ask<T>(
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
): Promise<T> {
  return (await send(method, path, body, headers)).body as T;
}

/** Value of the signature header: the signed payload, exactly as received. */
export async function stamp(keys: Keys, text: string): Promise<string> {
  const { privateKey: apiPrivateKey, publicKey: apiPublicKey } = keys;
  const { stampHeaderValue } = await new ApiKeyStamper({ apiPrivateKey, apiPublicKey }).stamp(text);
  return stampHeaderValue;
}

/** Performs a signed retry. Returns the result and the signed payload. */
export async function askSigned<T>(
  keys: Keys,
  method: string,
  path: string,
  body?: object,
): Promise<{ answer: T; payloadToSign: string }> {
  const { payloadToSign, requestId } = await ask<Challenge>(method, path, body);
  const answer = await ask<T>(method, path, body, {
    'service-wallet-signature': await stamp(keys, payloadToSign),
    'request-id': requestId,
  });
  return { answer, payloadToSign };
}
