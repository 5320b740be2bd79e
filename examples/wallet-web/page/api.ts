// Asking the backend, and the signed retry: whatever needs the holder's consent is first asked for
// as it is, answered with a text, and asked for again, unchanged, with the text signed by the key
// of the session.
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

/** What the backend or the server refused, in its own words. */
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
    // Accepted, not done yet: the same request is sent again. A quote has a status of its own.
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

/** The value of the signature header: the text exactly as it came, signed. */
export async function stamp(keys: Keys, text: string): Promise<string> {
  const { privateKey: apiPrivateKey, publicKey: apiPublicKey } = keys;
  const { stampHeaderValue } = await new ApiKeyStamper({ apiPrivateKey, apiPublicKey }).stamp(text);
  return stampHeaderValue;
}

/** Asks, signs, and asks again. Answers what came of it, and the text that was signed. */
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
