// The operations of platform configuration. Opening accounts for a new currency belongs to a feature that
// comes later in the import order, so whoever composes the server hands that function in.
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { changePlatform, ownPlatform } from '../platform/index.ts';
import { addedCurrencies, checkUpdate, patchOf, presentPlatform } from './config.ts';
import {
  CardTokenization2FAConfig,
  EmbeddedWalletConfig,
  getPlatformConfig,
  testEvent,
  updatePlatformConfig,
} from './contract.ts';
import { BACKFILL_ACCOUNTS } from './jobs.ts';

interface PlatformParts {
  /** Stages the platform's own accounts in currencies that were just switched on. */
  provision(ctx: Ctx, currencies: string[]): Promise<void>;
  /** Whether sandbox platforms may use webhook endpoints on this machine. */
  loopbackWebhooks: boolean;
}

const SCHEMAS = { wallet: EmbeddedWalletConfig, card: CardTokenization2FAConfig };

export const platformOperations = ({ provision, loopbackWebhooks }: PlatformParts) => [
  handle(getPlatformConfig, async (ctx) => ({
    status: 200,
    body: presentPlatform(await ownPlatform(ctx)),
  })),

  handle(updatePlatformConfig, async (ctx, { body }) => {
    const was = await ownPlatform(ctx);
    checkUpdate(body, { environment: was.environment, loopback: loopbackWebhooks });
    const patch = patchOf(was, body, SCHEMAS);
    if (Object.keys(patch).length === 0) return { status: 200, body: presentPlatform(was) };
    const row = changePlatform(ctx, was, patch);
    const added = addedCurrencies(was.currencies, row.currencies);
    if (added.length) {
      await provision(ctx, added);
      // Customers may be many: their accounts are opened after the commit, in pieces.
      ctx.later(BACKFILL_ACCOUNTS, { platformId: row.id, currencies: added });
    }
    if (patch.webhook_endpoint) ctx.emit(testEvent, row.id, {});
    return { status: 200, body: presentPlatform(row) };
  }),
];
