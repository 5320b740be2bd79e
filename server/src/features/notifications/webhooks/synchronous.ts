// Synchronous webhooks: an event whose response determines the next step. The feature that requires
// the response sends the event and decides whether to send it again. The attempt is recorded like
// any other.

import type { Effects } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import { CONFIGURED } from '../endpoints/index.ts';
import { eventWithAttempts } from './attempts-store.ts';
import { type AttemptOutcome, excerptOf, headOf, type SendDeps, send } from './send.ts';
import { recordOutcomes } from './store.ts';

export interface SynchronousDeps extends Omit<SendDeps, 'effects'> {
  metrics: Metrics;
}

interface SynchronousEvent {
  eventId: string;
  endpoint: string;
  environment: Mode;
}

/** Statuses of a valid response, whether it accepts or rejects. */
const VALID_STATUSES = [200, 202, 403, 422];

/** Sends a stored event to `endpoint` once and returns the response. */
export async function sendSynchronously(
  runtime: { effects: Effects; db: Database },
  deps: SynchronousDeps,
  { eventId, endpoint, environment }: SynchronousEvent,
): Promise<AttemptOutcome> {
  const { effects, db } = runtime;
  const event = await eventWithAttempts(db, eventId);
  if (!event) throw new Error(`event ${eventId} not found`);
  const outcome = await send({ effects, ...deps }, event, { url: endpoint, environment });
  const { at, status, error, ms, responseText } = outcome;
  const result = status !== null && VALID_STATUSES.includes(status) ? 'delivered' : 'dropped';
  // Only events of the outbox count as `dropped`. The job of the approval can send the event again.
  deps.metrics.delivery(result === 'dropped' ? 'failed' : result);
  const attempt = event.attempts + 1;
  const response = excerptOf(responseText);
  const head = headOf(outcome.headers);
  const attemptKey = {
    platform_id: event.platform_id,
    endpoint: CONFIGURED,
    event_id: eventId,
    attempt,
  };
  const row = { ...attemptKey, at, status, error, ms, head, response, result } as const;
  await recordOutcomes(db, [{ ...row, next: null }]);
  return outcome;
}
