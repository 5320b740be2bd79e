// Webhook deliveries for the operator: pending ones, those of an event, events that were dropped,
// and sending an event again. Deliveries are shown as the API shows them.
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { deliveryTargets, isWanted } from '../endpoints/index.ts';
import { requeueEvents } from '../webhooks/index.ts';
import { pageOfDeliveries } from './list.ts';
import { deliveryId } from './position.ts';
import {
  type DeliveryDetailsView,
  type DeliveryView,
  presentDelivery,
  presentDetails,
} from './present.ts';
import { details, droppedEvents, findAttempts, findEvent, pendingKeys } from './store.ts';

async function eventById(db: Database, eventId: string) {
  const event = await findEvent(db, eventId);
  if (!event) throw new Fault('NOT_FOUND', 'Event not found.');
  return event;
}

/** Pending deliveries by platform and endpoint, oldest events first; of one platform or of all. */
export async function listPending(
  { db }: Pick<Runtime, 'db'>,
  platformId: string | undefined,
  limit: number,
): Promise<(DeliveryView & { platformId: string })[]> {
  const keys = await pendingKeys(db, platformId, limit);
  const views: (DeliveryView & { platformId: string })[] = [];
  for (const platform of new Set(keys.map((key) => key.platformId))) {
    const keysOfPlatform = keys.filter((key) => key.platformId === platform);
    const targets = await deliveryTargets(db, platform);
    const filter = { platformId: platform, status: 'PENDING' as const };
    const rows = await details(db, filter, keysOfPlatform, { order: 'asc', limit });
    views.push(...rows.map((row) => ({ platformId: platform, ...presentDelivery(row, targets) })));
  }
  return views;
}

/** The deliveries of an event with all attempts, by endpoint. Throws NOT_FOUND. */
export async function listAttempts(
  { db }: Pick<Runtime, 'db'>,
  eventId: string,
): Promise<DeliveryDetailsView[]> {
  const { platformId } = await eventById(db, eventId);
  const targets = await deliveryTargets(db, platformId);
  const filter = { platformId, endpoints: [...targets.keys()], eventId };
  const step = { order: 'asc', after: undefined, limit: targets.size } as const;
  const { rows } = await pageOfDeliveries(db, filter, step);
  return Promise.all(
    rows.map(async (row) => {
      const key = { eventId, endpoint: row.endpoint };
      return presentDetails(row, targets, await findAttempts(db, platformId, key));
    }),
  );
}

/** Deliveries that failed and were not sent again since, latest first. */
export async function listDroppedEvents({ db }: Pick<Runtime, 'db'>, limit: number) {
  return (await droppedEvents(db, limit)).map((row) => ({
    eventId: row.id,
    platformId: row.platform_id,
    type: row.type,
    subject: row.subject,
    createdAt: iso(row.created_at),
    attempts: row.attempts,
  }));
}

/**
 * Sends an event again, delivered or not, to one endpoint or to all that get its type. Returns the
 * ids of the deliveries. Throws NOT_FOUND and CONFLICT.
 */
export async function resendEventByOperator(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  eventId: string,
  endpointId?: string,
): Promise<string[]> {
  const { platformId, type } = await eventById(db, eventId);
  const targets = [...(await deliveryTargets(db, platformId)).values()];
  const recipients = targets.filter((target) =>
    endpointId === undefined ? isWanted(target, type) : target.isLive && target.id === endpointId,
  );
  if (endpointId !== undefined && !recipients.length) {
    throw new Fault('NOT_FOUND', 'Webhook endpoint not found.');
  }
  if (!recipients.length) {
    throw new Fault('CONFLICT', 'The event cannot be resent: no endpoint gets events of its type.');
  }
  const numbers = recipients.map(({ number }) => number);
  const resent = await requeueEvents(db, [eventId], effects.now(), numbers);
  if (!resent.length) {
    throw new Fault(
      'CONFLICT',
      'The event cannot be resent. Its data was erased together with the customer.',
    );
  }
  return resent.map(deliveryId);
}
