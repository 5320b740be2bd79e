// Endpoints as the API shows them. The endpoint of the configuration consists of columns of the
// platform, and of a row after its status, types, description or format was set.
import type { Static } from '@sinclair/typebox';
import { iso, type Time } from '../../../kernel/effects.ts';
import { timestamps } from '../../../runtime/operation/context.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import type { WebhookEndpoint } from './contract.ts';
import { validKeys } from './keys.ts';
import { CONFIGURED, type EndpointRow } from './store.ts';

export type EndpointView = Static<typeof WebhookEndpoint>;
type EventTypes = EndpointView['eventTypes'];

/** ID of the endpoint of a platform's configuration: the ID of the platform with another prefix. */
export const configuredId = (platformId: string) =>
  `WebhookEndpoint:${platformId.slice(platformId.indexOf(':') + 1)}`;

const configuredUrl = (platform: PlatformRow) =>
  platform.webhook_endpoint === null ? {} : { url: platform.webhook_endpoint };

type Settings = Pick<
  EndpointRow,
  'description' | 'event_types' | 'format' | 'status' | 'status_reason' | 'status_changed_at'
>;

const presentSettings = (row: Settings) => ({
  ...(row.description === null ? {} : { description: row.description }),
  eventTypes: (row.event_types ?? []) as EventTypes,
  format: row.format,
  status: row.status,
  ...(row.status === 'PAUSED' && row.status_reason !== null
    ? { statusReason: row.status_reason }
    : {}),
  statusChangedAt: iso(row.status_changed_at),
});

/** The settings of a configured endpoint without a row. */
const DEFAULT_SETTINGS = {
  description: null,
  event_types: null,
  format: 'FULL',
  status: 'ENABLED',
  status_reason: null,
} as const;

/** The endpoint of the configuration. `row` has its status, types, description and format. */
export function presentConfigured(platform: PlatformRow, row?: EndpointRow): EndpointView {
  return {
    id: configuredId(platform.id),
    ...configuredUrl(platform),
    delivery: 'PUSH',
    ...presentSettings(row ?? { ...DEFAULT_SETTINGS, status_changed_at: platform.created_at }),
    standardWebhooks: platform.standard_webhooks,
    isConfigured: true,
    keys: [],
    ...timestamps(row ?? platform),
  };
}

/** An endpoint with the keys that are valid at `realTime`. */
export function presentEndpoint(row: EndpointRow, realTime: Time): EndpointView {
  return {
    id: row.id,
    ...(row.url === null ? {} : { url: row.url }),
    delivery: row.url === null ? 'PULL' : 'PUSH',
    ...presentSettings(row),
    ...(row.failing_since === null ? {} : { failingSince: iso(row.failing_since) }),
    standardWebhooks: row.standard_webhooks,
    isConfigured: row.number === CONFIGURED,
    keys: validKeys(row.keys, realTime).map(({ id, createdAt, expiresAt }) => ({
      id,
      createdAt: iso(createdAt),
      ...(expiresAt === null ? {} : { expiresAt: iso(expiresAt) }),
    })),
    ...timestamps(row),
  };
}
