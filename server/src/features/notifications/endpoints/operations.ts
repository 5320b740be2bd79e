// Operations of webhook endpoints. For the endpoint of the configuration, all settings except its
// URL are changed here.
import type { Time } from '../../../kernel/effects.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../../kernel/fault.ts';
import { endpointProblem } from '../../../kernel/net/endpoint.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { changePlatform, type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';
import {
  createWebhookEndpoint,
  DEFAULT_OVERLAP_HOURS,
  deleteWebhookEndpointById,
  getWebhookEndpointById,
  listWebhookEndpoints,
  rotateWebhookEndpointKey,
  updateWebhookEndpoint,
} from './contract.ts';
import { endpointOf } from './find.ts';
import { newEndpointKey, validKeys } from './keys.ts';
import { type EndpointView, presentConfigured, presentEndpoint } from './present.ts';
import {
  CONFIGURED,
  type EndpointRow,
  type EventFormat,
  MAX_ENDPOINTS,
  rowsOfPlatform,
  webhookEndpoints,
} from './store.ts';

const MAX_VALID_KEYS = 3;
const HOUR_MS = 3_600_000;

interface EndpointDeps {
  /** Whether sandbox platforms may use loopback endpoints. */
  loopbackWebhooks: boolean;
}

interface Change {
  url?: string | null;
  description?: string | null;
  eventTypes?: string[];
  standardWebhooks?: boolean;
  format?: EventFormat;
  status?: 'ENABLED' | 'PAUSED';
  statusReason?: string;
}

function checkUrl(ctx: Ctx, { loopbackWebhooks }: EndpointDeps, url: string | null | undefined) {
  if (url == null) return;
  const rule = { environment: ctx.caller.environment, loopback: loopbackWebhooks };
  const message = endpointProblem(url, rule);
  const error: FieldError = { field: 'url', constraint: { format: 'url' }, message: message ?? '' };
  if (message) throw invalid([error]);
}

const typesOf = (types: readonly string[]) => (types.length ? [...new Set(types)] : null);

/**
 * The number of a new endpoint. A number is not reused while the row of a deleted endpoint has it.
 */
async function findNextNumber(ctx: Ctx): Promise<number> {
  const rows = await rowsOfPlatform(ctx.db, ctx.caller.platformId);
  const addedEndpoints = rows.filter((row) => row.number !== CONFIGURED);
  if (addedEndpoints.filter((row) => row.deleted_at === null).length >= MAX_ENDPOINTS) {
    throw new Fault(
      'INVALID_INPUT',
      `A platform has at most ${MAX_ENDPOINTS} endpoints in addition to its configured endpoint. ` +
        'Delete an endpoint first.',
    );
  }
  return Math.max(CONFIGURED, ...addedEndpoints.map((row) => row.number)) + 1;
}

/** The columns that a change of the settings of an endpoint sets. */
function patchOf(ctx: Ctx, previousRow: Pick<EndpointRow, 'status'>, change: Change) {
  const { description, eventTypes, format, status, statusReason } = change;
  const isChanged = status !== undefined && status !== previousRow.status;
  return {
    ...(description === undefined ? {} : { description }),
    ...(eventTypes === undefined ? {} : { event_types: typesOf(eventTypes) }),
    ...(format === undefined ? {} : { format }),
    ...(status === undefined ? {} : { status }),
    ...(status === 'ENABLED' ? { status_reason: null } : {}),
    ...(status === 'PAUSED' && statusReason !== undefined ? { status_reason: statusReason } : {}),
    ...(isChanged ? { status_changed_at: ctx.now } : {}),
    // The five-day period restarts when an endpoint is enabled again.
    ...(isChanged && status === 'ENABLED' ? { failing_since: null } : {}),
    updated_at: ctx.now,
  };
}

function changeConfigured(
  ctx: Ctx,
  previousPlatform: PlatformRow,
  row: EndpointRow | undefined,
  change: Change,
) {
  if (change.url !== undefined)
    throw invalidField('url', 'must be changed with updatePlatformConfig');
  const { standardWebhooks } = change;
  const platform =
    standardWebhooks === undefined || standardWebhooks === previousPlatform.standard_webhooks
      ? previousPlatform
      : changePlatform(ctx, previousPlatform, { standard_webhooks: standardWebhooks });
  if (row) {
    return presentConfigured(
      platform,
      ctx.update(webhookEndpoints, row, patchOf(ctx, row, change)),
    );
  }
  const { updated_at, ...settings } = patchOf(ctx, { status: 'ENABLED' }, change);
  if (Object.keys(settings).length === 0) return presentConfigured(platform);
  const addedEndpoint = ctx.insert(webhookEndpoints, {
    id: ctx.id('WebhookEndpoint'),
    platform_id: previousPlatform.id,
    number: CONFIGURED,
    status: 'ENABLED',
    status_changed_at: previousPlatform.created_at,
    standard_webhooks: true,
    format: 'FULL',
    keys: [],
    ...settings,
    created_at: previousPlatform.created_at,
    updated_at,
  });
  return presentConfigured(platform, addedEndpoint);
}

function rotateKey(ctx: Ctx, row: EndpointRow, overlapHours: number) {
  const realTime = ctx.effects.now();
  const until = realTime + overlapHours * HOUR_MS;
  const { key, secret } = newEndpointKey(ctx);
  const earlierKeys = validKeys(row.keys, realTime).map((key) => ({
    ...key,
    expiresAt: Math.min(key.expiresAt ?? until, until),
  }));
  const keys = validKeys([key, ...earlierKeys], realTime);
  if (keys.length > MAX_VALID_KEYS) {
    throw new Fault(
      'CONFLICT',
      `The endpoint has ${MAX_VALID_KEYS} valid keys. Wait until one expires, or rotate with ` +
        '`overlapHours` 0.',
    );
  }
  return { row: ctx.update(webhookEndpoints, row, { keys, updated_at: ctx.now }), secret };
}

const configuredConflict = (problem: string) =>
  new Fault('CONFLICT', `The endpoint of the platform configuration ${problem}`);

/** All endpoints of a platform as the API shows them, with their numbers. */
export async function endpointViews(
  db: Pick<Database, 'find'>,
  platform: PlatformRow,
  realTime: Time,
): Promise<{ number: number; view: EndpointView }[]> {
  const rows = await rowsOfPlatform(db, platform.id);
  const addedEndpoints = rows.filter((row) => row.number !== CONFIGURED && row.deleted_at === null);
  const settings = rows.find((row) => row.number === CONFIGURED);
  const configuredViews =
    platform.webhook_endpoint === null
      ? []
      : [{ number: CONFIGURED, view: presentConfigured(platform, settings) }];
  const addedViews = addedEndpoints.map((row) => ({
    number: row.number,
    view: presentEndpoint(row, realTime),
  }));
  return [...configuredViews, ...addedViews];
}

/** Pauses or resumes an endpoint of the calling platform. Throws NOT_FOUND. */
export async function setEndpointStatus(
  ctx: Ctx,
  endpointId: string,
  status: 'ENABLED' | 'PAUSED',
  statusReason?: string,
): Promise<EndpointView> {
  const change = { status, ...(statusReason === undefined ? {} : { statusReason }) };
  const { platform, row } = await endpointOf(ctx, endpointId);
  if (platform) return changeConfigured(ctx, platform, row, change);
  const changedEndpoint = ctx.update(webhookEndpoints, row, patchOf(ctx, row, change));
  return presentEndpoint(changedEndpoint, ctx.effects.now());
}

/**
 * The platform of an endpoint by its ID. An ID without a row may be the ID of a configured
 * endpoint, which contains the ID of its platform. This platform may not exist.
 */
export async function platformOfEndpoint(
  { read }: Pick<Ctx, 'read'>,
  endpointId: string,
): Promise<string> {
  const row = await read(webhookEndpoints, endpointId);
  return row?.platform_id ?? `PlatformConfig:${endpointId.slice(endpointId.indexOf(':') + 1)}`;
}

export const endpointOperations = (deps: EndpointDeps) => [
  handle(listWebhookEndpoints, async (ctx) => {
    const views = await endpointViews(ctx.db, await readOwnPlatform(ctx), ctx.effects.now());
    return { status: 200, body: { data: views.map(({ view }) => view) } };
  }),

  handle(createWebhookEndpoint, async (ctx, { body }) => {
    checkUrl(ctx, deps, body.url);
    const number = await findNextNumber(ctx);
    const { key, secret } = newEndpointKey(ctx);
    const row = ctx.insert(webhookEndpoints, {
      id: ctx.id('WebhookEndpoint'),
      platform_id: ctx.caller.platformId,
      number,
      url: body.url ?? null,
      description: body.description ?? null,
      event_types: typesOf(body.eventTypes ?? []),
      status: 'ENABLED',
      status_changed_at: ctx.now,
      standard_webhooks: body.standardWebhooks ?? true,
      format: body.format ?? 'FULL',
      keys: [key],
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    return { status: 201, body: { ...presentEndpoint(row, ctx.effects.now()), secret } };
  }),

  handle(getWebhookEndpointById, async (ctx, { params }) => {
    const { platform, row } = await endpointOf(ctx, params.endpointId);
    const body = platform
      ? presentConfigured(platform, row)
      : presentEndpoint(row, ctx.effects.now());
    return { status: 200, body };
  }),

  handle(updateWebhookEndpoint, async (ctx, { params, body }) => {
    const { platform, row } = await endpointOf(ctx, params.endpointId);
    if (platform) return { status: 200, body: changeConfigured(ctx, platform, row, body) };
    if (body.url !== undefined && row.url === null) {
      throw invalidField('url', 'must be absent, because the deliveries are pulled');
    }
    checkUrl(ctx, deps, body.url);
    const { url, standardWebhooks } = body;
    const changedEndpoint = ctx.update(webhookEndpoints, row, {
      ...patchOf(ctx, row, body),
      ...(url === undefined ? {} : { url }),
      ...(standardWebhooks === undefined ? {} : { standard_webhooks: standardWebhooks }),
    });
    return { status: 200, body: presentEndpoint(changedEndpoint, ctx.effects.now()) };
  }),

  handle(deleteWebhookEndpointById, async (ctx, { params }) => {
    const { platform, row } = await endpointOf(ctx, params.endpointId);
    if (platform) throw configuredConflict('cannot be deleted. Pause the endpoint.');
    const changes = { keys: [], deleted_at: ctx.now, updated_at: ctx.now };
    ctx.update(webhookEndpoints, row, changes);
    return { status: 204, body: undefined };
  }),

  handle(rotateWebhookEndpointKey, async (ctx, { params, body }) => {
    const endpoint = await endpointOf(ctx, params.endpointId);
    if (endpoint.platform) {
      throw configuredConflict(
        'has no own keys. The operator of the service rotates the keys that sign its deliveries.',
      );
    }
    const hours = body.overlapHours ?? DEFAULT_OVERLAP_HOURS;
    const { row, secret } = rotateKey(ctx, endpoint.row, hours);
    return { status: 200, body: { ...presentEndpoint(row, ctx.effects.now()), secret } };
  }),
];
