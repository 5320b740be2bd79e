// Creation, list and revocation of operator tokens. The secret is returned once and stored as a
// hash.
import type { Operator } from '../../../kernel/caller.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { randomText, sha256Hex } from '../../../runtime/security/crypto.ts';
import { INSTALLATION, platformById } from '../../tenancy/platform/index.ts';
import { permissionsOf, type RoleName } from '../roles/index.ts';
import { type OperatorTokenRow, operatorTokens } from './store.ts';

const DAY_MS = 86_400_000;
export const MAX_TOKEN_DAYS = 366;

export interface NewOperatorToken {
  name: string;
  roles: readonly RoleName[];
  /** Absent: all platforms. */
  platformIds?: readonly string[] | undefined;
  /** Days until the expiry, 1 to `MAX_TOKEN_DAYS`. */
  days: number;
}

type TokenStatus = 'ACTIVE' | 'EXPIRED' | 'REVOKED';

const statusOf = ({ revoked_at, expires_at }: OperatorTokenRow, now: Time): TokenStatus => {
  if (revoked_at !== null) return 'REVOKED';
  return expires_at <= now ? 'EXPIRED' : 'ACTIVE';
};

const presentToken = (row: OperatorTokenRow, now: Time) => ({
  id: row.id,
  name: row.name,
  roles: [...row.roles],
  platformIds: row.platform_ids === null ? null : [...row.platform_ids],
  status: statusOf(row, now),
  createdBy: row.created_by,
  expiresAt: iso(row.expires_at),
  createdAt: iso(row.created_at),
});

type OperatorToken = ReturnType<typeof presentToken>;

/** Throws FORBIDDEN for permissions or platforms that the creator does not have. */
export function assertWithin(
  creator: Operator,
  { roles, platformIds }: Pick<NewOperatorToken, 'roles' | 'platformIds'>,
): void {
  const missingPermissions = permissionsOf(roles).filter(
    (each) => !creator.permissions.includes(each),
  );
  if (missingPermissions.length) {
    throw new Fault(
      'FORBIDDEN',
      `You do not have the permission ${missingPermissions[0]} of these roles.`,
    );
  }
  const creatorPlatformIds = creator.platformIds;
  if (creatorPlatformIds && !platformIds?.every((id) => creatorPlatformIds.includes(id))) {
    throw new Fault('FORBIDDEN', 'You do not have access to all of these platforms.');
  }
}

/**
 * Creates an operator token with at most the rights of its creator. Returns it with its secret,
 * which is not stored. Throws FORBIDDEN and PLATFORM_NOT_FOUND.
 */
export async function createOperatorToken(
  runtime: Runtime,
  creator: Operator,
  token: NewOperatorToken,
): Promise<OperatorToken & { secret: string }> {
  assertWithin(creator, token);
  const { name, roles, platformIds, days } = token;
  await Promise.all((platformIds ?? []).map((id) => platformById(runtime, id)));
  return operate(runtime, INSTALLATION, async (ctx) => {
    const secret = randomText(ctx.effects, 'rho_');
    const id = ctx.id('OperatorToken');
    const row = ctx.insert(operatorTokens, {
      id,
      name,
      roles: [...new Set(roles)],
      platform_ids: platformIds ? [...new Set(platformIds)] : null,
      secret_hash: sha256Hex(secret),
      created_by: creator.id,
      // The person who uses the command is unknown.
      person_id: creator.kind === 'COMMAND' ? id : creator.personId,
      expires_at: ctx.now + days * DAY_MS,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    return { ...presentToken(row, ctx.now), secret };
  });
}

/** A page of operator tokens, newest first. */
export async function listOperatorTokens(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  { limit = 20, cursor }: { limit?: number | undefined; cursor?: string | undefined },
) {
  const { rows, ...rest } = await db.page(operatorTokens, {
    filters: [],
    sort: 'desc',
    limit,
    cursor,
  });
  return { data: rows.map((row) => presentToken(row, effects.now())), ...rest };
}

async function tokenById({ read }: Pick<Ctx, 'read'>, id: string): Promise<OperatorTokenRow> {
  const row = isId(id, 'OperatorToken') ? await read(operatorTokens, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Operator token not found.');
  return row;
}

/**
 * Revokes an operator token immediately. A revoked token is unchanged. Throws NOT_FOUND, and
 * INVALID_INPUT for the token of the caller.
 */
export const revokeOperatorToken = (
  runtime: Runtime,
  caller: Operator,
  id: string,
): Promise<OperatorToken> =>
  operate(runtime, INSTALLATION, async (ctx) => {
    const row = await tokenById(ctx, id);
    if (id === caller.id) {
      const message = 'must be another token, because a token cannot revoke itself';
      throw invalidField('operatorTokenId', message);
    }
    if (row.revoked_at !== null) return presentToken(row, ctx.now);
    const patch = { revoked_at: ctx.now, updated_at: ctx.now };
    return presentToken(ctx.update(operatorTokens, row, patch), ctx.now);
  });
