// The whole client: one function that calls the API and throws what the server says when it refuses.
import { randomUUID } from 'node:crypto';

/** `call(method, path, body)` answers the JSON of a reply. Everything ends when `signal` does. */
export function connect({ baseUrl, clientId, clientSecret }, signal) {
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
  return async function call(method, path, body) {
    const reply = await fetch(baseUrl + path, {
      method,
      signal,
      headers: {
        authorization,
        // With one key a call that is sent twice happens once.
        ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body && JSON.stringify(body),
    }).catch((error) => {
      if (signal.aborted) throw error;
      throw new Error(`${baseUrl} cannot be reached: ${error.cause?.code ?? error.message}.`);
    });
    const answer = await reply.json();
    if (reply.ok) return answer;
    throw new Error(
      `${method} ${path} was refused: ${reply.status} ${answer.code}, ${answer.reason}`,
    );
  };
}
