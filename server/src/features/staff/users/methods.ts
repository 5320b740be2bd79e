// Sign-in methods of a user: passkeys, and a password together with an authenticator app.
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import {
  operatorPasskeys,
  operatorUsers,
  type PasskeyRow,
  type StoredPasskey,
  type UserRow,
} from './store.ts';

/** Maximum for one user. */
const MAX_PASSKEYS = 20;

export const presentPasskey = (row: PasskeyRow) => ({
  id: row.id,
  name: row.name,
  ...(row.used_at === null ? {} : { usedAt: iso(row.used_at) }),
  createdAt: iso(row.created_at),
});

/** The passkeys of a user, oldest first. */
export async function passkeysOf(
  db: Pick<Database, 'find'>,
  userId: string,
): Promise<PasskeyRow[]> {
  const rows = await db.find(operatorPasskeys, { user_id: userId });
  return rows.sort((a, b) => a.created_at - b.created_at);
}

/** Stages a passkey. Throws CONFLICT if the user has too many. */
export async function addPasskey(
  ctx: Ctx,
  user: Pick<UserRow, 'id'>,
  name: string,
  { passkey, signCount }: { passkey: StoredPasskey; signCount: number },
): Promise<PasskeyRow> {
  const existingPasskeys = await ctx.db.find(operatorPasskeys, { user_id: user.id });
  if (existingPasskeys.length >= MAX_PASSKEYS) {
    throw new Fault(
      'CONFLICT',
      `A user has at most ${MAX_PASSKEYS} passkeys. Remove a passkey first.`,
    );
  }
  return ctx.insert(operatorPasskeys, {
    id: ctx.id('OperatorPasskey'),
    user_id: user.id,
    name,
    credential_id: passkey.credentialId,
    passkey,
    sign_count: BigInt(signCount),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

export const totpContext = (id: string) => `operator_users ${id} totp`;

/** The secret of the authenticator app, hexadecimal, or undefined if there is none. */
export const totpSecretOf = (vault: Vault, { id, totp_secret }: UserRow): string | undefined =>
  totp_secret === null ? undefined : vault.openOwn(totp_secret, totpContext(id)).toString();

/** The hash of a password, the secret of its authenticator app, and the step of the last used code. */
export interface PasswordMethod {
  hash: string;
  totpSecret: string;
  step: number;
}

export const passwordColumns = (vault: Vault, id: string, method: PasswordMethod) => ({
  password_hash: method.hash,
  totp_secret: vault.sealOwn(method.totpSecret, totpContext(id)),
  totp_step: BigInt(method.step),
});

/** Stages the removal of every sign-in method, before a new one replaces them. */
export async function removeMethods(ctx: Ctx, user: UserRow): Promise<UserRow> {
  for (const row of await ctx.db.find(operatorPasskeys, { user_id: user.id })) {
    ctx.remove(operatorPasskeys, row);
  }
  return ctx.update(operatorUsers, user, {
    password_hash: null,
    totp_secret: null,
    totp_step: 0n,
    updated_at: ctx.now,
  });
}

/** Stages the removal of a passkey. Throws NOT_FOUND, and CONFLICT for the only sign-in method. */
export async function removePasskey(ctx: Ctx, user: UserRow, id: string): Promise<void> {
  const rows = await ctx.db.find(operatorPasskeys, { user_id: user.id });
  const row = rows.find((each) => each.id === id);
  if (!row) throw new Fault('NOT_FOUND', 'Passkey not found.');
  if (rows.length === 1 && user.password_hash === null && user.identity_issuer === null) {
    throw new Fault('CONFLICT', 'This is the only sign-in method. Add another method first.');
  }
  ctx.remove(operatorPasskeys, row);
  // Concurrent removals must leave one method.
  ctx.require(operatorUsers, user);
  for (const remainingPasskey of rows)
    if (remainingPasskey !== row) ctx.require(operatorPasskeys, remainingPasskey);
}

/** The passkey with this credential ID. */
export async function passkeyByCredential(
  db: Pick<Database, 'find'>,
  credentialId: string,
): Promise<PasskeyRow | undefined> {
  const [row] = await db.find(operatorPasskeys, { credential_id: credentialId });
  return row;
}
