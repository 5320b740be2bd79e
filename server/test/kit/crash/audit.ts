// Compares the database with the replies that its clients received. Every acknowledged request has
// its effect once. Every effect has a stored reply.
import type { BookSnapshot } from './books.ts';
import { isDone, type RecordedRequest } from './load.ts';

/** IDs of the effects of requests, by the kind and identifier of the request. */
function effectsIn(snapshot: BookSnapshot): Map<string, string[]> {
  const idsByName = new Map<string, string[]>();
  const add = (name: string, id: string) =>
    idsByName.set(name, [...(idsByName.get(name) ?? []), id]);
  for (const quote of snapshot.quotes) add(`quote ${quote.description}`, quote.id);
  for (const payment of snapshot.payments) {
    if (payment.type === 'INCOMING' && payment.quote_id === null) {
      add(`fund ${payment.received_amount}`, payment.id);
    }
    if (payment.remittance !== null) add(`transfer ${payment.remittance}`, payment.id);
    const isStarted = payment.status !== 'PENDING' && payment.status !== 'EXPIRED';
    if (payment.type === 'OUTGOING' && isStarted)
      add(`execute ${payment.quote_id}`, payment.quote_id ?? '');
  }
  return idsByName;
}

/**
 * Differences between the database and the replies to the clients. Sets `wasStored` of every
 * request, and resets its `attempts`.
 */
export function replyProblems(
  snapshot: BookSnapshot,
  requests: readonly RecordedRequest[],
  isAnswered = (request: RecordedRequest) => request.response !== undefined,
): string[] {
  const effects = effectsIn(snapshot);
  const problems: string[] = [];
  const successCounts = new Map<string, number>();
  for (const request of requests) {
    const name = `${request.kind} ${request.identifier}`;
    const storedReply = snapshot.replies.get(request.key);
    request.wasStored = storedReply !== undefined;
    request.attempts = 0;
    const hasSucceeded = storedReply !== undefined && storedReply.status < 300;
    successCounts.set(name, (successCounts.get(name) ?? 0) + (hasSucceeded ? 1 : 0));
    if (!request.response || !isAnswered(request)) continue;
    const { status, body } = request.response;
    if (storedReply?.status !== status || storedReply.reply !== JSON.stringify(body)) {
      problems.push(`${name} returned ${status}, and the database has ${storedReply?.status}`);
    }
    const hasResource = request.kind !== 'fund' && isDone(request);
    if (hasResource && effects.get(name)?.[0] !== body.id)
      problems.push(`${name} created another resource`);
  }
  for (const [name, count] of successCounts) {
    const effectCount = effects.get(name)?.length ?? 0;
    if (count > 1) problems.push(`${name} has ${count} successful replies`);
    if (effectCount !== count)
      problems.push(
        `${name} was executed ${effectCount} times and has ${count} successful replies`,
      );
  }
  return problems;
}
