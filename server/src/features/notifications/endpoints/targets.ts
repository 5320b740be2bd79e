// Endpoints as the targets of deliveries. Deliveries remain after their endpoint is deleted, so
// deleted endpoints are included.
import type { Database } from '../../../runtime/db/database.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { configuredId } from './present.ts';
import { CONFIGURED, type EndpointRow, rowsOfPlatform } from './store.ts';

export interface Target {
  number: number;
  /** ID of the endpoint. */
  id: string;
  /** Null for all types. */
  eventTypes: readonly string[] | null;
  /** Whether the endpoint still receives events. */
  isLive: boolean;
  /**
   * Whether deliveries are sent at their due time. False for a paused, pulled or deleted endpoint.
   */
  isSent: boolean;
}

const targetOf = (row: EndpointRow): Target => ({
  number: row.number,
  id: row.id,
  eventTypes: row.event_types,
  isLive: row.deleted_at === null,
  isSent: row.deleted_at === null && row.status === 'ENABLED' && row.url !== null,
});

/**
 * All endpoints of a platform by number, including deleted endpoints and the configured endpoint.
 */
export async function deliveryTargets(
  db: Pick<Database, 'find' | 'read'>,
  platformId: string,
): Promise<ReadonlyMap<number, Target>> {
  const [platform, rows] = await Promise.all([
    readPlatform(db, platformId),
    rowsOfPlatform(db, platformId),
  ]);
  const settings = rows.find((row) => row.number === CONFIGURED);
  const isLive = platform != null && platform.webhook_endpoint !== null;
  const configuredTarget: Target = {
    number: CONFIGURED,
    id: configuredId(platformId),
    eventTypes: settings?.event_types ?? null,
    isLive,
    isSent: isLive && settings?.status !== 'PAUSED',
  };
  const addedTargets = rows.filter((row) => row.number !== CONFIGURED).map(targetOf);
  return new Map([configuredTarget, ...addedTargets].map((target) => [target.number, target]));
}

const TEST_TYPE = 'TEST';

/**
 * Whether an endpoint receives events of a type. Only the configured endpoint receives test events.
 */
export const receivesType = ({ number, eventTypes, isLive }: Target, type: string): boolean =>
  isLive &&
  (number === CONFIGURED || type !== TEST_TYPE) &&
  (eventTypes === null || type === TEST_TYPE || eventTypes.includes(type));
