// Operations of platform configuration. A later feature opens accounts for a new currency, so the
// composition provides that function.
import { handle } from '../../../runtime/operation/handle.ts';
import { readOwnPlatform } from '../platform/index.ts';
import { changeConfig, type Provision } from './change.ts';
import { checkUpdate, patchOf, presentPlatform } from './config.ts';
import {
  CardTokenization2FAConfig,
  EmbeddedWalletConfig,
  getPlatformConfig,
  testEvent,
  updatePlatformConfig,
} from './contract.ts';

interface PlatformParts {
  provision: Provision;
  /** Whether sandbox platforms may use webhook endpoints on this machine. */
  loopbackWebhooks: boolean;
}

const SCHEMAS = { wallet: EmbeddedWalletConfig, card: CardTokenization2FAConfig };

export const platformOperations = ({ provision, loopbackWebhooks }: PlatformParts) => [
  handle(getPlatformConfig, async (ctx) => ({
    status: 200,
    body: presentPlatform(await readOwnPlatform(ctx)),
  })),

  handle(updatePlatformConfig, async (ctx, { body }) => {
    const previous = await readOwnPlatform(ctx);
    checkUpdate(body, { environment: previous.environment, loopback: loopbackWebhooks });
    const patch = patchOf(previous, body, SCHEMAS);
    if (Object.keys(patch).length === 0) return { status: 200, body: presentPlatform(previous) };
    const row = await changeConfig(ctx, provision, previous, patch);
    if (patch.webhook_endpoint) ctx.emit(testEvent, row.id, {});
    return { status: 200, body: presentPlatform(row) };
  }),
];
