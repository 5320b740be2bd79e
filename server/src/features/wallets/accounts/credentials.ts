// Credentials and sessions of a wallet, independent of the credential type: creation, search,
// revocation and presentation. A session is a P-256 key that may sign for the wallet for at most 15
// minutes.

import { compressedPoint, isUncompressed } from '../../../kernel/crypto/p256.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { invalidField } from '../../../kernel/fault.ts';
import { uuid7 } from '../../../kernel/id.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import { cancelAfterSignIn } from '../recovery/recovery.ts';
import { cacheKey } from '../signing/stamp.ts';
import { credentialStates, sessionStates } from '../states.ts';
import {
  type CredentialRow,
  type CredentialType,
  credentials,
  type SessionRow,
  walletSessions,
} from '../store.ts';
import { custodyOf, openFor, sealFor, type Wallet, type WalletDeps } from './wallet.ts';

export interface NewCredential {
  id?: string;
  type: CredentialType;
  /** Unique in the wallet. */
  uniquenessKey: string;
  /** For OAUTH and PASSKEY. One-time codes use the contact of the customer. */
  nickname?: string;
  facts?: unknown;
  signCount?: number;
  /** Hash of the registration challenge of a passkey. Unique in the platform. */
  challengeHash?: string;
}

export const nicknameContext = (id: string) => `credentials ${id} nickname`;
export const factsContext = (id: string) => `credentials ${id} facts`;

/** Stages a credential. The caller has checked that `uniquenessKey` is free. */
export function addCredential(
  ctx: Ctx,
  wallet: Pick<Wallet, 'row' | 'key'>,
  input: NewCredential,
): CredentialRow {
  const {
    id = ctx.id('AuthMethod'),
    type,
    uniquenessKey: uniqueness_key,
    nickname,
    facts,
    signCount = 0,
  } = input;
  return ctx.insert(credentials, {
    id,
    platform_id: ctx.caller.platformId,
    account_id: wallet.row.id,
    customer_id: wallet.row.customer_id,
    type,
    status: 'ACTIVE',
    uniqueness_key,
    nickname: nickname === undefined ? null : sealFor(ctx, wallet, nickname, nicknameContext(id)),
    facts: facts === undefined ? null : sealFor(ctx, wallet, facts, factsContext(id)),
    sign_count: BigInt(signCount),
    challenge_hash: input.challengeHash,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/** Active credentials of a wallet, oldest first. */
export const credentialsOf = (ctx: Ctx, accountId: string): Promise<CredentialRow[]> =>
  ctx.db.find(
    credentials,
    { account_id: accountId, status: 'ACTIVE' },
    { ...UNPAGED, orderBy: 'created_at' },
  );

/** Decrypted data of the credential type. */
export const factsOf = <T>(ctx: Ctx, wallet: Wallet, row: CredentialRow): T =>
  openFor<T>(ctx, wallet, row.facts, factsContext(row.id));

/** The contact that receives one-time codes of this type. */
export const contactOf = (
  { customer }: Pick<Wallet, 'customer'>,
  type: CredentialType,
): string | null => (type === 'SMS_OTP' ? customer.phone : customer.email);

const nicknameOf = (ctx: Ctx, wallet: Wallet, row: CredentialRow): string =>
  row.nickname === null
    ? (contactOf(wallet, row.type) ?? '')
    : openFor<string>(ctx, wallet, row.nickname, nicknameContext(row.id));

/** The resource of a credential. For a passkey with its WebAuthn credential ID. */
export function presentCredential(ctx: Ctx, wallet: Wallet, row: CredentialRow) {
  return {
    id: row.id,
    accountId: row.account_id,
    type: row.type,
    nickname: nicknameOf(ctx, wallet, row),
    ...(row.type === 'PASSKEY'
      ? { credentialId: factsOf<{ credentialId: string }>(ctx, wallet, row).credentialId }
      : {}),
    ...timestamps(row),
  };
}

const SESSION_MS = 15 * 60_000;
/** Maximum time of refreshes without a new verification of the credential. */
const REFRESH_WINDOW_MS = 12 * 3_600_000;

const ACTIVE_SESSIONS_SQL = `select id from wallet_sessions
  where account_id = $1 and expires_at > $2 and status = 'ACTIVE' order by created_at, id`;

/**
 * Active sessions of a wallet, oldest first. Expired sessions accumulate in the table, so they are excluded
 * in the query.
 */
export async function sessionsOf(ctx: Ctx, accountId: string): Promise<SessionRow[]> {
  const queryValues = [accountId, new Date(ctx.now)];
  const ids = await ctx.db.query<{ id: string }>(ACTIVE_SESSIONS_SQL, queryValues);
  const rows = await Promise.all(ids.map(({ id }) => ctx.read(walletSessions, id)));
  return rows.filter((row) => row?.status === 'ACTIVE') as SessionRow[];
}

/** The resource of a session. `credential` is the credential that opened it. */
export function presentSession(
  ctx: Ctx,
  wallet: Wallet,
  row: SessionRow,
  credential: CredentialRow,
  encryptedSessionSigningKey?: string,
) {
  return {
    ...presentCredential(ctx, wallet, credential),
    id: row.id,
    ...timestamps(row),
    expiresAt: iso(row.expires_at),
    ...(encryptedSessionSigningKey === undefined ? {} : { encryptedSessionSigningKey }),
  };
}

/** A client key in compressed form. Throws INVALID_INPUT if it is not a point of the curve. */
export function clientKeyOf(publicKey: string, field = 'clientPublicKey'): string {
  const key = compressedPoint(publicKey);
  if (!key) throw invalidField(field, 'must be a point of P-256');
  return key;
}

/**
 * Throws INVALID_INPUT if the key already belongs to an active session of the wallet.
 */
export async function rejectUsedKey(
  ctx: Ctx,
  accountId: string,
  key: string,
  field = 'clientPublicKey',
): Promise<void> {
  const isUsed = (await sessionsOf(ctx, accountId)).some(
    (row) => row.client_key === key || row.public_key === key,
  );
  if (isUsed) throw invalidField(field, 'already belongs to a session of the wallet');
}

/**
 * Opens a session for a credential that was verified at `authenticatedAt`, and presents it. For an
 * uncompressed client key, a session key is generated and encrypted to it. A compressed client key is itself
 * the session key, as is every client key if `isSealed` is false.
 */
export async function openSession(
  ctx: Ctx,
  deps: WalletDeps,
  wallet: Wallet,
  credential: CredentialRow,
  clientPublicKey: string,
  {
    authenticatedAt = ctx.now,
    isSealed = isUncompressed(clientPublicKey),
  }: {
    authenticatedAt?: Time;
    isSealed?: boolean;
  } = {},
) {
  const clientKey = clientKeyOf(clientPublicKey);
  await rejectUsedKey(ctx, wallet.row.id, clientKey);
  const sessionKey = isSealed
    ? await custodyOf(ctx, deps).newSessionKey(clientPublicKey.toLowerCase())
    : undefined;
  await cancelAfterSignIn(ctx, wallet.row.id);
  // An empty update, so that a concurrent revocation of the credential retries and also revokes this session.
  ctx.update(credentials, credential, {});
  const row = ctx.insert(walletSessions, {
    id: ctx.id('Session'),
    platform_id: ctx.caller.platformId,
    account_id: wallet.row.id,
    customer_id: wallet.row.customer_id,
    credential_id: credential.id,
    status: 'ACTIVE',
    public_key: sessionKey?.publicKey ?? clientKey,
    client_key: clientKey,
    api_key_id: uuid7(ctx.effects),
    authenticated_at: authenticatedAt,
    expires_at: Math.min(ctx.now + SESSION_MS, authenticatedAt + REFRESH_WINDOW_MS),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  cacheKey(row.public_key);
  return presentSession(ctx, wallet, row, credential, sessionKey?.sealedKey);
}

/** Stages the revocation of a session. */
export const revokeSession = (ctx: Ctx, row: SessionRow): SessionRow =>
  ctx.update(walletSessions, row, {
    status: sessionStates.next(row.status, 'revoke'),
    updated_at: ctx.now,
  });

/** Stages the revocation of a credential and of all its sessions. */
export async function revokeCredentialWithSessions(ctx: Ctx, row: CredentialRow): Promise<void> {
  ctx.update(credentials, row, {
    status: credentialStates.next(row.status, 'revoke'),
    uniqueness_key: null,
    updated_at: ctx.now,
  });
  for (const session of await sessionsOf(ctx, row.account_id)) {
    if (session.credential_id === row.id) revokeSession(ctx, session);
  }
}
