// Creation, list and change of operator users. Neither a creation nor a change grants more rights
// than the calling operator has. Users cannot change themselves.
import type { Operator } from '../../../kernel/caller.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { INSTALLATION, platformById } from '../../tenancy/platform/index.ts';
import type { RoleName } from '../roles/index.ts';
import { assertWithin } from '../tokens/index.ts';
import { type NewLink, replaceLink, revokeLinks } from './links.ts';
import { endSessionsOf } from './sign-in/session-status.ts';
import { operatorUsers, type UserRow, userStates } from './store.ts';

export type UserStatus = 'INVITED' | 'ACTIVE' | 'DISABLED';

/** Lower case, so that every spelling finds the user. */
const normalizedAddress = (email: string) => email.trim().toLowerCase();

export const emailDigest = (vault: Vault, email: string): string =>
  vault.digest('operator e-mail', normalizedAddress(email));

export const emailContext = (id: string) => `operator_users ${id} email`;

/** The columns of an e-mail address. */
export const emailColumns = (vault: Vault, id: string, email: string) => ({
  email: vault.sealOwn(normalizedAddress(email), emailContext(id)),
  email_digest: emailDigest(vault, email),
});

export const emailOf = (vault: Vault, { id, email }: UserRow): string | undefined =>
  email === null ? undefined : vault.openOwn(email, emailContext(id)).toString();

const statusOf = ({ status, enrolled_at }: UserRow): UserStatus =>
  status === 'ACTIVE' && enrolled_at === null ? 'INVITED' : status;

export const presentUser = (vault: Vault, row: UserRow) => {
  const email = emailOf(vault, row);
  return {
    id: row.id,
    name: row.name,
    ...(email === undefined ? {} : { email }),
    roles: [...row.roles],
    platformIds: row.platform_ids === null ? null : [...row.platform_ids],
    status: statusOf(row),
    hasPassword: row.password_hash !== null,
    usesIdentityProvider: row.identity_issuer !== null,
    createdBy: row.created_by,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
};

export type OperatorUser = ReturnType<typeof presentUser>;

export interface NewUser {
  name: string;
  email: string;
  roles: readonly RoleName[];
  /** Absent: all platforms. */
  platformIds?: readonly string[] | undefined;
}

const withoutDuplicates = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Subject at the identity provider. */
interface ProviderIdentity {
  issuer: string;
  subject: string;
}

interface InsertedUser extends Omit<NewUser, 'email'> {
  email?: string | undefined;
  /** The only sign-in method of a user of the identity provider. */
  identity?: ProviderIdentity | undefined;
}

/** Stages a user. */
export function insertUser(
  ctx: Ctx,
  { email, platformIds, identity, ...user }: InsertedUser,
  createdBy: string,
  id: string = ctx.id('OperatorUser'),
): UserRow {
  return ctx.insert(operatorUsers, {
    id,
    name: user.name,
    ...(email === undefined ? {} : emailColumns(ctx.vault, id, email)),
    roles: withoutDuplicates(user.roles),
    platform_ids: platformIds ? withoutDuplicates(platformIds) : null,
    status: 'ACTIVE',
    totp_step: 0n,
    ...(identity && {
      identity_issuer: identity.issuer,
      identity_subject: identity.subject,
      enrolled_at: ctx.now,
    }),
    created_by: createdBy,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/** A user with a single-use link, whose secret is not stored. */
export type InvitedUser = OperatorUser & { link: NewLink };

/**
 * Creates a user with at most the rights of the creator. Throws FORBIDDEN, PLATFORM_NOT_FOUND, and
 * CONFLICT if another user has the e-mail address.
 */
export async function createOperatorUser(
  runtime: Runtime,
  creator: Operator,
  user: NewUser,
): Promise<InvitedUser> {
  assertWithin(creator, user);
  await Promise.all((user.platformIds ?? []).map((id) => platformById(runtime, id)));
  return operate(runtime, INSTALLATION, async (ctx) => {
    const row = insertUser(ctx, user, creator.id);
    const link = await replaceLink(ctx, row, 'ENROLLMENT', creator.id);
    return { ...presentUser(ctx.vault, row), link };
  });
}

/** The user with this ID. Throws NOT_FOUND. */
export async function userById({ read }: Reader, id: string): Promise<UserRow> {
  const row = isId(id, 'OperatorUser') ? await read(operatorUsers, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Operator user not found.');
  return row;
}

/** A page of users, newest first. */
export async function listOperatorUsers(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  { limit = 20, cursor }: { limit?: number | undefined; cursor?: string | undefined },
) {
  const query = { filters: [], sort: 'desc' as const, limit, cursor };
  const { rows, ...rest } = await db.page(operatorUsers, query);
  return { data: rows.map((row) => presentUser(vault, row)), ...rest };
}

export interface UserChange {
  name?: string | undefined;
  roles?: readonly RoleName[] | undefined;
  /** Null: all platforms. */
  platformIds?: readonly string[] | null | undefined;
  isDisabled?: boolean | undefined;
}

function changesOf(row: UserRow, { name, roles, platformIds, isDisabled }: UserChange) {
  const event = isDisabled ? 'disable' : 'enable';
  const isSwitched = isDisabled !== undefined && isDisabled !== (row.status === 'DISABLED');
  return {
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles: withoutDuplicates(roles) }),
    ...(platformIds === undefined
      ? {}
      : { platform_ids: platformIds === null ? null : withoutDuplicates(platformIds) }),
    ...(isSwitched ? { status: userStates.next(row.status, event) } : {}),
  };
}

/**
 * Changes a user. The change applies from the next request. Neither the current nor the new rights
 * may exceed the rights of the caller. Throws NOT_FOUND, FORBIDDEN and PLATFORM_NOT_FOUND. Throws
 * INVALID_INPUT for the user of the caller, and for roles that are derived from groups of the
 * identity provider.
 */
export async function updateOperatorUser(
  runtime: Runtime,
  caller: Operator,
  id: string,
  change: UserChange,
): Promise<OperatorUser> {
  await Promise.all((change.platformIds ?? []).map((each) => platformById(runtime, each)));
  return operate(runtime, INSTALLATION, async (ctx) => {
    const row = await userById(ctx, id);
    if (id === caller.personId) {
      throw invalidField(
        'operatorUserId',
        'is your own user, which another administrator must change',
      );
    }
    if (change.roles !== undefined && row.identity_issuer !== null) {
      throw invalidField(
        'roles',
        'are determined by the groups of the user at the identity provider',
      );
    }
    assertWithin(caller, { roles: row.roles, platformIds: row.platform_ids ?? undefined });
    const patch = changesOf(row, change);
    const { roles = row.roles, platform_ids: platformIds = row.platform_ids } = patch;
    assertWithin(caller, { roles, platformIds: platformIds ?? undefined });
    if (patch.status === 'DISABLED') {
      // Revoked sessions and links remain revoked when the user is enabled again.
      await endSessionsOf(ctx, id);
      await revokeLinks(ctx, id);
    }
    // Also for an empty patch, so that its audit record is in the order of concurrent changes.
    const changedUser = ctx.update(operatorUsers, row, { ...patch, updated_at: ctx.now });
    return presentUser(ctx.vault, changedUser);
  });
}

/**
 * Creates a link for a user without a usable sign-in method. The user registers a new method with
 * the link. Throws NOT_FOUND and FORBIDDEN. Throws INVALID_INPUT for the user of the caller and for
 * a user who signs in at the identity provider.
 */
export const recoverOperatorUser = (
  runtime: Runtime,
  caller: Operator,
  id: string,
): Promise<InvitedUser> =>
  operate(runtime, INSTALLATION, async (ctx) => {
    const row = await userById(ctx, id);
    if (id === caller.personId) {
      throw invalidField(
        'operatorUserId',
        'is your own user, which another administrator must recover',
      );
    }
    if (row.identity_issuer !== null) {
      throw invalidField(
        'operatorUserId',
        'signs in at the identity provider. Recover the user there',
      );
    }
    assertWithin(caller, { roles: row.roles, platformIds: row.platform_ids ?? undefined });
    const kind = row.enrolled_at === null ? 'ENROLLMENT' : 'RECOVERY';
    const link = await replaceLink(ctx, row, kind, caller.id);
    return { ...presentUser(ctx.vault, row), link };
  });
