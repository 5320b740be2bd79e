// An event that asks. Most events tell, and are told until somebody hears them; this one is sent once by
// whoever needs the answer, which decides what happens next. What came of it is kept like any other try.

import type { Effects } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import { excerptOf, type SendDeps, type Sent, send } from './send.ts';
import { recordOutcomes, storedEvent } from './store.ts';

export interface QuestionDeps extends Omit<SendDeps, 'effects'> {
  metrics: Metrics;
}

interface Question {
  eventId: string;
  endpoint: string;
  environment: Mode;
}

/** Whether the receiver has understood the question, whatever it said to it. */
const ANSWERS = [200, 202, 403, 422];

/** Sends a stored event to `endpoint`, now and once, and answers what was said. */
export async function putQuestion(
  runtime: { effects: Effects; db: Database },
  deps: QuestionDeps,
  { eventId, endpoint, environment }: Question,
): Promise<Sent> {
  const { effects, db } = runtime;
  const event = await storedEvent(db, eventId);
  if (!event) throw new Error(`there is no event ${eventId}`);
  const sent = await send({ effects, ...deps }, event, endpoint, environment);
  const { at, status, error, ms, answer } = sent;
  const result = status !== null && ANSWERS.includes(status) ? 'delivered' : 'dropped';
  deps.metrics.delivery(result);
  const attempt = event.attempts + 1;
  const response = excerptOf(answer);
  const row = { event_id: eventId, attempt, at, status, error, ms, response, result } as const;
  await recordOutcomes(db, [{ ...row, next: null }]);
  return sent;
}
