// Creation of tokens. The secret is generated here, returned once and stored only as a hash. An operator
// creates, lists and revokes tokens of any platform, the last one included.

import type { Permission } from '../../../kernel/contract/operation.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { allRows, equals } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { newSecret, randomText, sha256Hex } from '../../../runtime/security/crypto.ts';
import { callerOf, platformById, systemCaller } from '../platform/index.ts';
import { MAX_TOKENS, type TokenRow, tokens } from './store.ts';

interface NewToken {
  platformId: string;
  name: string;
  permissions: readonly Permission[];
  /** Fixed credentials, for a first start in CI. Generated if absent. */
  clientId?: string;
  clientSecret?: string;
}

const CLIENT_ID_BYTES = 16;

/** A random free number of the platform, so that tokens created concurrently rarely conflict. */
async function findFreeNumber(ctx: Ctx, platformId: string): Promise<number> {
  const rows = await ctx.db.find(tokens, { platform_id: platformId });
  const usedNumbers = new Set(rows.map(({ number }) => number));
  const freeNumbers = Array.from({ length: MAX_TOKENS }, (_, index) => index + 1).filter(
    (n) => !usedNumbers.has(n),
  );
  const randomValue = Buffer.from(ctx.effects.random(4)).readUInt32BE();
  const number = freeNumbers[randomValue % freeNumbers.length];
  if (rows.length < MAX_TOKENS && number !== undefined) return number;
  const reason = `The platform has the maximum of ${MAX_TOKENS} tokens. Delete a token first.`;
  throw new Fault('INVALID_INPUT', reason);
}

/**
 * Stages a new token. Throws INVALID_INPUT if the platform has the maximum number of tokens.
 * `clientSecret` is not stored, so the caller must return it once.
 */
export async function createTokenFor(
  ctx: Ctx,
  input: NewToken,
): Promise<{ row: TokenRow; clientSecret: string }> {
  const number = await findFreeNumber(ctx, input.platformId);
  const clientSecret = input.clientSecret ?? newSecret(ctx.effects);
  const row = ctx.insert(tokens, {
    id: ctx.id('Token'),
    platform_id: input.platformId,
    name: input.name,
    permissions: [...new Set(input.permissions)],
    client_id: input.clientId ?? randomText(ctx.effects, 'rhc_', CLIENT_ID_BYTES),
    secret_hash: sha256Hex(clientSecret),
    number,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  return { row, clientSecret };
}

const summaryOf = (row: TokenRow) => ({
  tokenId: row.id,
  platformId: row.platform_id,
  name: row.name,
  permissions: row.permissions,
  clientId: row.client_id,
  createdAt: iso(row.created_at),
});

/**
 * Creates a token of any platform. The secret is only in the result. Throws PLATFORM_NOT_FOUND,
 * and CONFLICT if the platform has the maximum number of tokens.
 */
export async function createPlatformToken(
  runtime: Runtime,
  input: Pick<NewToken, 'platformId' | 'name' | 'permissions'>,
) {
  const { id, environment } = await platformById(runtime, input.platformId);
  const createdToken = await operate(runtime, systemCaller(id, environment), (ctx) =>
    createTokenFor(ctx, input),
  ).catch((error: unknown) => {
    // The input is valid and conflicts with the tokens of the platform.
    const isRejected = error instanceof Fault && error.code === 'INVALID_INPUT';
    throw isRejected ? new Fault('CONFLICT', error.message) : error;
  });
  return { ...summaryOf(createdToken.row), clientSecret: createdToken.clientSecret };
}

/** Tokens of one platform, or of all. Oldest first and without their secrets. Throws PLATFORM_NOT_FOUND. */
export async function listPlatformTokens(runtime: Runtime, platformId: string | undefined) {
  const platform = platformId === undefined ? undefined : await platformById(runtime, platformId);
  const rows = await allRows(runtime.db, tokens, equals({ platform_id: platform?.id }));
  return rows.map(summaryOf);
}

/** A page of the tokens of one platform, or of all, as `listPlatformTokens`. */
export async function pageOfPlatformTokens(
  runtime: Runtime,
  {
    platformId,
    limit = 20,
    cursor,
  }: {
    platformId?: string | undefined;
    limit?: number | undefined;
    cursor?: string | undefined;
  },
) {
  const platform = platformId === undefined ? undefined : await platformById(runtime, platformId);
  const filters = equals({ platform_id: platform?.id });
  const { rows, ...rest } = await runtime.db.page(tokens, { filters, sort: 'asc', limit, cursor });
  return { data: rows.map(summaryOf), ...rest };
}

/** Revokes a token of any platform and returns it. Throws TOKEN_NOT_FOUND. */
export async function revokeToken(runtime: Runtime, tokenId: string) {
  const readToken = async ({ read }: Pick<Ctx, 'read'>) => {
    const row = isId(tokenId, 'Token') ? await read(tokens, tokenId) : undefined;
    if (!row) throw new Fault('TOKEN_NOT_FOUND', 'Token not found.');
    return row;
  };
  const { platform_id } = await readToken(runtime.db);
  const caller = await callerOf(runtime.db, platform_id);
  return operate(runtime, caller, async (ctx) => {
    const row = await readToken(ctx);
    ctx.remove(tokens, row);
    return summaryOf(row);
  });
}
