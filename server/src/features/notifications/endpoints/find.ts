// Finds an endpoint of the calling platform by its ID.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';
import { configuredId } from './present.ts';
import { CONFIGURED, type EndpointRow, webhookEndpoints } from './store.ts';

const notFound = () => new Fault('NOT_FOUND', 'Webhook endpoint not found.');

/**
 * An endpoint with its row. `platform` is set only for the configured endpoint, and contains its
 * URL. That endpoint has a row only after its status, types, description or format was set.
 */
export type Endpoint =
  | { number: 0; platform: PlatformRow; row: EndpointRow | undefined }
  | { number: number; platform: null; row: EndpointRow };

/** The row of the configured endpoint, or undefined if there is none. */
async function readConfiguredRow(ctx: Ctx, platformId: string): Promise<EndpointRow | undefined> {
  const where = { platform_id: platformId, number: CONFIGURED };
  return (await ctx.db.find(webhookEndpoints, where, { limit: 1 }))[0];
}

/** An endpoint of the calling platform. Throws NOT_FOUND. */
export async function endpointOf(ctx: Ctx, id: string): Promise<Endpoint> {
  const { platformId } = ctx.caller;
  if (!isId(id, 'WebhookEndpoint')) throw notFound();
  if (id === configuredId(platformId)) {
    const platform = await readOwnPlatform(ctx);
    const row = await readConfiguredRow(ctx, platformId);
    if (platform.webhook_endpoint === null) throw notFound();
    return { number: CONFIGURED, platform, row };
  }
  const row = await ctx.read(webhookEndpoints, id);
  if (row?.platform_id !== platformId || row.deleted_at !== null || row.number === CONFIGURED) {
    throw notFound();
  }
  return { number: row.number, platform: null, row };
}

/** An endpoint whose deliveries are pulled, or undefined if they are sent. Throws NOT_FOUND. */
export async function pulledEndpointOf(ctx: Ctx, id: string): Promise<EndpointRow | undefined> {
  const { platform, row } = await endpointOf(ctx, id);
  return platform || row.url !== null ? undefined : row;
}
