// A client of the API: one function that throws the error of a rejected request.
import { randomUUID } from 'node:crypto';

/** `call(method, path, body)` returns the JSON of a reply. `signal` aborts all calls. */
export function connect({ baseUrl, clientId, clientSecret }, signal) {
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
  return async function call(method, path, body) {
    const reply = await fetch(baseUrl + path, {
      method,
      signal,
      headers: {
        authorization,
        // The server executes requests with the same key once.
        ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body && JSON.stringify(body),
    }).catch((error) => {
      if (signal.aborted) throw error;
      throw new Error(`${baseUrl} cannot be reached: ${error.cause?.code ?? error.message}.`);
    });
    const json = await reply.json();
    if (reply.ok) return json;
    throw new Error(`${method} ${path} was rejected: ${reply.status} ${json.code}, ${json.reason}`);
  };
}
