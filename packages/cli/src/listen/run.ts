// The loop of `listen`: pulls deliveries, forwards them one after the other, and acknowledges
// them. An event is acknowledged after its result is in the journal.
import { pause } from '../interrupt.ts';
import { backoff, isRetryable } from '../retry.ts';
import type { Client, Output } from '../sdk.ts';
import type { Forwarded } from './forward.ts';
import type { Journal } from './journal.ts';

export type Delivery = Output<'pullWebhookDeliveries'>['data'][number];

export interface Listener {
  readonly client: Client;
  readonly endpointId: string;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  forward(delivery: Delivery): Promise<Forwarded>;
  report(
    delivery: Delivery,
    result: Exclude<Forwarded, { kind: 'refused' }>,
    isRepeated: boolean,
  ): Promise<void>;
  /** The server or the receiver cannot be reached, or can be reached again (`undefined`). */
  onInterruption(error: string | undefined): void;
}

const WAIT_S = 30;
const PAGE = 100;
/** Minimum time between two acknowledgments while events are forwarded. */
const ACKNOWLEDGE_MS = 1_000;
/** Maximum duration of the acknowledgment when the program exits. */
const LAST_MS = 3_000;

const reasonOf = (error: unknown) => (error as { reason?: string }).reason ?? String(error);

/** Repeats a request until it succeeds, cannot succeed, or the listener stops. */
export async function retryUntilDone<T>(
  request: () => Promise<T>,
  { signal, onInterruption }: Pick<Listener, 'signal' | 'onInterruption'>,
): Promise<T | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const result = await request();
      if (attempt > 0) onInterruption(undefined);
      return result;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isRetryable(error)) throw error;
      onInterruption(reasonOf(error));
      await pause(backoff(attempt, error), signal);
    }
  }
  return undefined;
}

async function acknowledge(listener: Listener): Promise<void> {
  const { client, endpointId, journal, signal } = listener;
  const eventIds = [...journal.forwarded];
  if (eventIds.length === 0) return;
  const request = (timeout?: number) =>
    client.webhookEndpoints.acknowledgeWebhookDeliveries(
      { endpointId, eventIds },
      { maxRetries: 0, ...(timeout !== undefined && { timeout }) },
    );
  // The journal keeps the events if the last attempt fails.
  const isDone = signal.aborted
    ? await request(LAST_MS).catch(() => undefined)
    : await retryUntilDone(request, listener);
  if (isDone) journal.clear();
}

/** Forwards deliveries. Returns false as soon as the receiver cannot be reached. */
async function forwardAll(listener: Listener, deliveries: readonly Delivery[]): Promise<boolean> {
  const { journal, signal } = listener;
  let acknowledgedAt = performance.now();
  for (const delivery of deliveries) {
    if (signal.aborted) return true;
    const { eventId } = delivery;
    // The event has been forwarded, and its acknowledgment is repeated later.
    if (journal.forwarded.has(eventId)) continue;
    const isRepeated = journal.uncertain.has(eventId);
    journal.begin(eventId);
    const result = await listener.forward(delivery);
    if (result.kind === 'refused') {
      journal.cancel(eventId);
      listener.onInterruption(result.error);
      return false;
    }
    journal.finish(eventId);
    await listener.report(delivery, result, isRepeated);
    if (performance.now() - acknowledgedAt < ACKNOWLEDGE_MS) continue;
    await acknowledge(listener);
    acknowledgedAt = performance.now();
  }
  return true;
}

/**
 * Runs until the signal aborts. Rejects for an error that cannot be retried, such as the removal of
 * the endpoint.
 */
export async function run(listener: Listener): Promise<void> {
  const { client, endpointId, signal } = listener;
  // Events that an earlier run forwarded.
  await acknowledge(listener);
  for (let failedAttempts = 0; !signal.aborted; ) {
    const page = await retryUntilDone(
      () =>
        client.webhookEndpoints.pullWebhookDeliveries(
          { endpointId, wait: WAIT_S, limit: PAGE },
          { maxRetries: 0, signal },
        ),
      listener,
    );
    if (!page) break;
    const isReachable = await forwardAll(listener, page.data);
    await acknowledge(listener);
    if (isReachable && page.data.length > 0 && failedAttempts > 0)
      listener.onInterruption(undefined);
    failedAttempts = isReachable ? 0 : failedAttempts + 1;
    // Signatures have an age limit, so the page is pulled again afterwards.
    if (!isReachable) await pause(backoff(failedAttempts), signal);
  }
}
