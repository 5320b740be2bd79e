// Operations of platform configuration. A feature that depends on this feature opens accounts for a
// new currency, so the composition provides that function.
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

interface PlatformDeps {
  provision: Provision;
  /** Whether sandbox platforms may use webhook endpoints on this machine. */
  loopbackWebhooks: boolean;
}

const SCHEMAS = { wallet: EmbeddedWalletConfig, card: CardTokenization2FAConfig };

export const platformOperations = ({ provision, loopbackWebhooks }: PlatformDeps) => [
  handle(getPlatformConfig, async (ctx) => ({
    status: 200,
    body: presentPlatform(await readOwnPlatform(ctx)),
  })),

  handle(updatePlatformConfig, async (ctx, { body }) => {
    const previousPlatform = await readOwnPlatform(ctx);
    checkUpdate(body, { environment: previousPlatform.environment, loopback: loopbackWebhooks });
    const patch = patchOf(previousPlatform, body, SCHEMAS);
    if (Object.keys(patch).length === 0)
      return { status: 200, body: presentPlatform(previousPlatform) };
    const row = await changeConfig(ctx, provision, previousPlatform, patch);
    if (patch.webhook_endpoint) ctx.emit(testEvent, row.id, {});
    return { status: 200, body: presentPlatform(row) };
  }),
];
