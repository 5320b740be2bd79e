// IDs of deliveries and positions in their list. A delivery has no separate row. Its ID consists of
// the ID of an event and the number of an endpoint.
import type { Time } from '../../../kernel/effects.ts';
import { invalidField } from '../../../kernel/fault.ts';
import { idsFrom } from '../../../kernel/id.ts';

/** An event and the number of an endpoint that receives it. */
export interface DeliveryKey {
  eventId: string;
  endpoint: number;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const NUMBER = '(0|[1-9]\\d{0,8})';
const ID = new RegExp(`^WebhookDelivery:${NUMBER}-(${UUID})$`);
const CURSOR = new RegExp(`^${NUMBER} (${UUID})$`);

const uuidOf = (eventId: string) => eventId.slice(eventId.indexOf(':') + 1);

export const deliveryId = ({ eventId, endpoint }: DeliveryKey): string =>
  `WebhookDelivery:${endpoint}-${uuidOf(eventId)}`;

/** Parses the ID of a delivery. Returns undefined for any other text. */
export function deliveryOf(id: string): DeliveryKey | undefined {
  const [, endpoint, uuid] = ID.exec(id) ?? [];
  return uuid === undefined
    ? undefined
    : { eventId: `Webhook:${uuid}`, endpoint: Number(endpoint) };
}

/** The cursor of the deliveries after this delivery, in the order of the list. */
export const cursorAfter = ({ eventId, endpoint }: DeliveryKey): string =>
  Buffer.from(`${endpoint} ${uuidOf(eventId)}`).toString('base64url');

/** Throws a fault on the field `cursor` for a string that `cursorAfter` did not create. */
export function readCursor(cursor: string): DeliveryKey {
  const [, endpoint, uuid] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const key = uuid && { eventId: `Webhook:${uuid}`, endpoint: Number(endpoint) };
  if (!key || cursorAfter(key) !== cursor) {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return key;
}

/**
 * Maximum difference between the real time in the ID of an event and its `createdAt`, which is the
 * time of its operation.
 */
const DISORDER_MS = 120_000;

/**
 * Bounds of the IDs of events in a time range, both times inclusive. `from` is inclusive and
 * `before` is exclusive. IDs contain real time, which differs on a platform with its own clock.
 */
export const eventIdsOf = (after: Time, before: Time | undefined) => ({
  from: idsFrom('Webhook', after - DISORDER_MS),
  before: idsFrom(
    'Webhook',
    before === undefined ? Number.POSITIVE_INFINITY : before + DISORDER_MS,
  ),
});
