// How a token comes into being: its secret is drawn here, handed out once and kept only as a hash.

import type { Permission } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { newSecret, randomText, sha256Hex } from '../../../runtime/security/crypto.ts';
import { MAX_TOKENS, type TokenRow, tokens } from './store.ts';

interface NewToken {
  platformId: string;
  name: string;
  permissions: readonly Permission[];
  /** Fixed credentials, for a first start in CI; drawn when absent. */
  clientId?: string;
  clientSecret?: string;
}

const CLIENT_ID_BYTES = 16;

/** A free number of the platform, any of them, so that tokens created at once rarely meet. */
async function freeNumber(ctx: Ctx, platformId: string): Promise<number> {
  const rows = await ctx.db.find(tokens, { platform_id: platformId });
  const taken = new Set(rows.map(({ number }) => number));
  const free = Array.from({ length: MAX_TOKENS }, (_, at) => at + 1).filter((n) => !taken.has(n));
  const drawn = Buffer.from(ctx.world.random(4)).readUInt32BE();
  const number = free[drawn % free.length];
  if (rows.length < MAX_TOKENS && number !== undefined) return number;
  const reason = `The platform has ${MAX_TOKENS} tokens, which is the maximum. Delete one first.`;
  throw new Fault('INVALID_INPUT', reason);
}

/**
 * Stages a new token; throws INVALID_INPUT where the platform has the maximum number of them. `clientSecret`
 * exists nowhere else: show it and forget it.
 */
export async function createTokenFor(
  ctx: Ctx,
  given: NewToken,
): Promise<{ row: TokenRow; clientSecret: string }> {
  const number = await freeNumber(ctx, given.platformId);
  const clientSecret = given.clientSecret ?? newSecret(ctx.world);
  const row = ctx.insert(tokens, {
    id: ctx.id('Token'),
    platform_id: given.platformId,
    name: given.name,
    permissions: [...new Set(given.permissions)],
    client_id: given.clientId ?? randomText(ctx.world, 'rhc_', CLIENT_ID_BYTES),
    secret_hash: sha256Hex(clientSecret),
    number,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  return { row, clientSecret };
}
