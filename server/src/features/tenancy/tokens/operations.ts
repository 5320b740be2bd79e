// The operations of API tokens. A token cannot delete itself, and each deletion requires that the
// calling token is unchanged at the commit. Of two tokens that delete each other concurrently, only
// one succeeds, so a deletion never removes the last token with MANAGE of a platform. For the same
// reason, a token that is being deleted cannot create another token.
import type { Static } from '@sinclair/typebox';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import { timeFilters } from '../../../runtime/db/paging.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { Authenticator } from './authenticator.ts';
import { createToken, deleteTokenById, getTokenById, listTokens } from './contract.ts';
import { type TokenRow, tokens } from './store.ts';
import { createTokenFor } from './token.ts';

const presentToken = (row: TokenRow): Static<(typeof getTokenById)['replies'][200]> => ({
  id: row.id,
  name: row.name,
  permissions: row.permissions,
  clientId: row.client_id,
  ...timestamps(row),
});

async function tokenOf(ctx: Ctx, id: string): Promise<TokenRow> {
  const row = isId(id, 'Token') ? await ctx.read(tokens, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('TOKEN_NOT_FOUND', 'Token not found.');
  }
  return row;
}

/** Requires that the calling token is unchanged at the commit. */
async function requireCallingToken(ctx: Ctx): Promise<void> {
  const callingToken = ctx.caller.tokenId && (await ctx.read(tokens, ctx.caller.tokenId));
  if (!callingToken) throw new Fault('UNAUTHORIZED', 'The API credentials are missing or invalid.');
  ctx.require(tokens, callingToken);
}

/**
 * Stages the removal of all other tokens of the platform. Throws UNAUTHORIZED if the calling
 * token was removed concurrently, so that a token remains.
 */
export async function removeOtherTokens(
  ctx: Ctx,
  { drop }: Pick<Authenticator, 'drop'>,
): Promise<void> {
  if (ctx.caller.tokenId) await requireCallingToken(ctx);
  const rows = await ctx.db.find(tokens, { platform_id: ctx.caller.platformId }, UNPAGED);
  for (const row of rows) {
    if (row.id === ctx.caller.tokenId) continue;
    ctx.remove(tokens, row);
    drop(row.id);
  }
}

export const tokenOperations = ({ drop }: Pick<Authenticator, 'drop'>) => [
  handle(createToken, async (ctx, { body }) => {
    const missingPermissions = body.permissions.filter(
      (each) => !ctx.caller.permissions.includes(each),
    );
    if (missingPermissions.length) {
      const names = [...new Set(missingPermissions)].join(', ');
      throw new Fault(
        'FORBIDDEN',
        `A token can only grant permissions that it has. Missing: ${names}.`,
      );
    }
    await requireCallingToken(ctx);
    const { platformId } = ctx.caller;
    const { row, clientSecret } = await createTokenFor(ctx, { platformId, ...body });
    return { status: 201, body: { ...presentToken(row), clientSecret } };
  }),

  handle(listTokens, async (ctx, { query }) => {
    const { name, limit, cursor } = query;
    const { rows, ...rest } = await ctx.db.page(tokens, {
      filters: [
        { column: 'platform_id', op: '=', value: ctx.caller.platformId },
        ...(name === undefined ? [] : [{ column: 'name', op: '=', value: name } as const]),
        ...timeFilters(query),
      ],
      sort: 'desc',
      limit: limit ?? 20,
      cursor,
    });
    return { status: 200, body: { data: rows.map(presentToken), ...rest } };
  }),

  handle(getTokenById, async (ctx, { params }) => ({
    status: 200,
    body: presentToken(await tokenOf(ctx, params.tokenId)),
  })),

  handle(deleteTokenById, async (ctx, { params }) => {
    const row = await tokenOf(ctx, params.tokenId);
    if (row.id === ctx.caller.tokenId) {
      const message = 'must be another token, because a token cannot delete itself';
      throw invalidField('tokenId', message);
    }
    await requireCallingToken(ctx);
    ctx.remove(tokens, row);
    drop(row.id);
    return { status: 204, body: undefined };
  }),
];
