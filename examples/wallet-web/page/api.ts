// Requests to the backend, which forwards them to the API. A signed retry has two additional
// headers, created by the SDK.
import { type Signature, signed, untilDone, type WalletKeys } from './sdk.ts';

/** An error reply of the backend or the API, with its message. */
export interface ApiError extends Error {
  code: string;
}

async function send<T>(
  method: string,
  path: string,
  body?: object,
  { walletSignature, requestId }: Signature = {},
): Promise<T> {
  const reply = await fetch(`/api/${path}`, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(walletSignature && { 'service-wallet-signature': walletSignature }),
      ...(requestId && { 'request-id': requestId }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await reply.text();
  const content = text ? JSON.parse(text) : undefined;
  if (!reply.ok) throw Object.assign(new Error(content.reason), { code: content.code });
  return content as T;
}

export const request = <T>(
  method: string,
  path: string,
  body?: object,
  signature?: Signature,
): Promise<T> => untilDone(() => send<T>(method, path, body, signature)) as Promise<T>;

/**
 * Performs an operation, signed if the API requires it. Returns the result and the signed payload,
 * which is empty without a signature.
 */
export async function requestWithSignature<T>(
  keys: WalletKeys,
  method: string,
  path: string,
  body?: object,
): Promise<{ result: T; payloadToSign: string }> {
  const { data, payloadToSign = '' } = await signed(keys, (signature) =>
    send<T>(method, path, body, signature),
  );
  return { result: data as T, payloadToSign };
}
