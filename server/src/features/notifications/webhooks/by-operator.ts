// Webhook delivery history for the operator: attempts, events that were dropped after a week, and resending.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { configuredId } from '../endpoints/index.ts';
import { attemptsOf, droppedEvents, isEvent, resendEvent } from './attempts-store.ts';

const noEvent = () => new Fault('NOT_FOUND', 'Event not found.');

/** All delivery attempts of an event, by endpoint and oldest first. Throws NOT_FOUND. */
export async function listAttempts({ db }: Runtime, eventId: string) {
  const rows = await attemptsOf(db, eventId);
  if (rows.length === 0 && !(await isEvent(db, eventId))) throw noEvent();
  return rows.map(({ platform_id, endpoint, endpointId, event_id, at, head, ...row }) => ({
    eventId: event_id,
    endpointId: endpointId ?? configuredId(platform_id),
    at: iso(at),
    ...row,
    head: head === null ? null : (JSON.parse(head) as Record<string, string>),
  }));
}

/** Events that were dropped and not resent since, latest first. */
export async function listDroppedEvents({ db }: Runtime, limit: number) {
  return (await droppedEvents(db, limit)).map((row) => ({
    eventId: row.id,
    platformId: row.platform_id,
    type: row.type,
    subject: row.subject,
    createdAt: iso(row.created_at),
    attempts: row.attempts,
  }));
}

/** Resends an event, delivered or not. Throws NOT_FOUND and CONFLICT. */
export async function resendEventByOperator(
  { db, effects }: Runtime,
  eventId: string,
): Promise<void> {
  if (await resendEvent(db, eventId, effects.now())) return;
  if (!(await isEvent(db, eventId))) throw noEvent();
  throw new Fault(
    'CONFLICT',
    'The event cannot be resent. Its data was erased together with the customer.',
  );
}
