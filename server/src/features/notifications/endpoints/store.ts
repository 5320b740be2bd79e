// Webhook endpoints of a platform. Number 0 is the endpoint of the platform's configuration. Its
// URL is `platforms.webhook_endpoint`. It has a row here only after its status, types,
// description or format was set.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

/** Maximum number of endpoints of a platform, without the endpoint of its configuration. */
export const MAX_ENDPOINTS = 15;

/** Number of the endpoint of the platform's configuration. */
export const CONFIGURED = 0;

/** Content of the body of a delivery: the resource, or its identifier only. */
export type EventFormat = 'FULL' | 'THIN';

/** A signing key of an endpoint. */
export interface EndpointKey {
  id: string;
  /** The secret, encrypted with the master key. */
  sealed: string;
  /** Real time of the creation. The expiry is also in real time. */
  createdAt: Time;
  /** Time after which the key no longer signs, or null for the current key. */
  expiresAt: Time | null;
}

export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    id: col.text,
    platform_id: col.text,
    number: col.int4,
    /** Null if its deliveries are pulled. */
    url: col.text.null.mut,
    description: col.text.null.mut,
    /** Null for all types. */
    event_types: col.json<string[]>().null.mut,
    status: col.enum<'ENABLED' | 'PAUSED'>().mut,
    status_reason: col.text.null.mut,
    status_changed_at: col.time.mut,
    standard_webhooks: col.bool.mut,
    format: col.enum<EventFormat>().mut,
    /** Signing keys, the latest first. */
    keys: col.json<EndpointKey[]>().mut,
    /** Time of the first failed attempt since the last success. Written by the deliverer. */
    failing_since: col.time.null.mut,
    deleted_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['webhook_endpoints_number'] },
);

export type EndpointRow = RowOf<typeof webhookEndpoints>;

/** All rows of a platform, including deleted endpoints. */
export const rowsOfPlatform = (db: Pick<Database, 'find'>, platformId: string) =>
  db.find(webhookEndpoints, { platform_id: platformId }, { orderBy: 'number' });
