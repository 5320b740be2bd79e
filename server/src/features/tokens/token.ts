// How a token comes into being: its secret is drawn here, handed out once and kept only as a hash.
import type { Permission } from '../../kernel/operation.ts';
import type { Ctx } from '../../runtime/context.ts';
import { newSecret, randomText, sha256Hex } from '../../runtime/crypto.ts';
import { type TokenRow, tokens } from './store.ts';

export interface NewToken {
  platformId: string;
  name: string;
  permissions: readonly Permission[];
  /** Fixed credentials, for a first start in CI; drawn when absent. */
  clientId?: string;
  clientSecret?: string;
}

const CLIENT_ID_BYTES = 16;

/** Stages a new token. `clientSecret` exists nowhere else: show it and forget it. */
export function createTokenFor(ctx: Ctx, given: NewToken): { row: TokenRow; clientSecret: string } {
  const clientSecret = given.clientSecret ?? newSecret(ctx.world);
  const row = ctx.insert(tokens, {
    id: ctx.id('Token'),
    platform_id: given.platformId,
    name: given.name,
    permissions: [...new Set(given.permissions)],
    client_id: given.clientId ?? randomText(ctx.world, 'rhc_', CLIENT_ID_BYTES),
    secret_hash: sha256Hex(clientSecret),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  return { row, clientSecret };
}
