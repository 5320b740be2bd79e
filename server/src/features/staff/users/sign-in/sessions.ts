// Sessions of operator users. Sessions are read for each request, so that a revoked session, a disabled user
// or a changed role takes effect immediately.
import type { Operator } from '../../../../kernel/caller.ts';
import { iso, type Time } from '../../../../kernel/effects.ts';
import { Fault } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import { equals } from '../../../../runtime/db/database.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { randomText, sha256Hex } from '../../../../runtime/security/crypto.ts';
import { INSTALLATION } from '../../../tenancy/platform/index.ts';
import { auditedRuntime } from '../../audit/index.ts';
import { operatorOfUser } from '../operator-rights.ts';
import { operatorUsers, type UserRow } from '../store.ts';
import { type OperatorUser, presentUser } from '../users.ts';
import { type Browser, readCookies, sessionCookie } from './browser.ts';
import { endSessionsOf, statusOf } from './session-status.ts';
import { operatorSessions, type SessionRow, type SignInMethod } from './store.ts';

/** Maximum duration of a session. */
const SESSION_MS = 12 * 3_600_000;
/** Maximum age of the sign-in for a change of sign-in methods. */
const RECENT_MS = 10 * 60_000;

const presentSession = (row: SessionRow, now: Time) => ({
  id: row.id,
  operatorUserId: row.user_id,
  method: row.method,
  status: statusOf(row, now),
  ...(row.address === null ? {} : { address: row.address }),
  createdAt: iso(row.created_at),
  usedAt: iso(row.used_at),
  expiresAt: iso(row.expires_at),
});

export type OperatorSession = ReturnType<typeof presentSession>;

/** Derived from the secret of the session, which other sites cannot read. */
export const csrfTokenOf = (secret: string): string => sha256Hex(`csrf ${secret}`);

/** The CSRF token of the session in a Cookie header. */
export const csrfTokenIn = (cookie: string | undefined, operatorUrl: string | undefined): string =>
  csrfTokenOf(readCookies(cookie, operatorUrl).session ?? '');

/** The fields that identify a user and determine the permissions. */
export type Person = Pick<UserRow, 'id' | 'name' | 'roles' | 'platform_ids'>;

/** A user as an operator. */
export const operatorOf = (user: Person, sessionId?: string): Operator => ({
  ...operatorOfUser(user),
  ...(sessionId === undefined ? {} : { sessionId }),
});

/** Result of a sign-in. */
export interface SignedIn {
  session: OperatorSession;
  user: OperatorUser;
  csrfToken: string;
  /** Values of `Set-Cookie`. */
  cookies: readonly string[];
}

/** A verified sign-in that is not committed yet. */
interface VerifiedSignIn {
  user: Person;
  method: SignInMethod;
  browser: Browser;
  operationId: string;
}

/** A runtime whose commit records a sign-in by its user. */
export function signInRuntime(
  runtime: Runtime,
  { user, browser, operationId }: Omit<VerifiedSignIn, 'method'>,
): Runtime {
  const { address, requestId } = browser;
  const operator = {
    ...operatorOf(user),
    ...(address === undefined ? {} : { address }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  return auditedRuntime(runtime, { operator, operationId, subject: user.id }).runtime;
}

/**
 * Opens a session and records the sign-in, in one commit with the changes of `stage`, which returns the
 * changed user.
 */
export async function openSession(
  runtime: Runtime,
  verifiedSignIn: VerifiedSignIn,
  stage: (ctx: Ctx) => Promise<UserRow>,
): Promise<SignedIn> {
  const { user, method, browser } = verifiedSignIn;
  const { address, deviceHash, site, newCookies } = browser;
  return operate(signInRuntime(runtime, verifiedSignIn), INSTALLATION, async (ctx) => {
    const changedUser = await stage(ctx);
    const secret = randomText(ctx.effects, 'rhi_');
    const row = ctx.insert(operatorSessions, {
      id: ctx.id('OperatorSession'),
      user_id: user.id,
      method,
      secret_hash: sha256Hex(secret),
      device_hash: deviceHash,
      address: address ?? null,
      expires_at: ctx.now + SESSION_MS,
      used_at: ctx.now,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    return {
      session: presentSession(row, ctx.now),
      user: presentUser(ctx.vault, changedUser),
      csrfToken: csrfTokenOf(secret),
      cookies: [...newCookies, sessionCookie(site, secret, SESSION_MS / 1000)],
    };
  });
}

async function sessionRow({ db }: Pick<Runtime, 'db'>, id: string): Promise<SessionRow> {
  const row = isId(id, 'OperatorSession') ? await db.read(operatorSessions, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Operator session not found.');
  return row;
}

/** The session and the user of a request. Throws FORBIDDEN for a request without a session. */
export async function currentSession(
  runtime: Pick<Runtime, 'db' | 'effects' | 'vault'>,
  { sessionId }: Operator,
) {
  if (sessionId === undefined) {
    throw new Fault(
      'FORBIDDEN',
      'This operation requires a session. Operator tokens cannot use it.',
    );
  }
  const row = await sessionRow(runtime, sessionId);
  const user = await runtime.db.read(operatorUsers, row.user_id);
  if (!user) throw new Error(`${row.id} has no user`);
  return { row, user, session: presentSession(row, runtime.effects.now()) };
}

/**
 * The user of a recent session, in which sign-in methods can be changed. Throws FORBIDDEN for an older
 * session, and for a user of the identity provider, because another method would not check the groups.
 */
export async function recentUser(runtime: Runtime, operator: Operator): Promise<UserRow> {
  const { row, user } = await currentSession(runtime, operator);
  if (user.identity_issuer !== null) {
    throw new Fault('FORBIDDEN', 'This user signs in at the identity provider only.');
  }
  if (row.created_at + RECENT_MS > runtime.effects.now()) return user;
  throw new Fault('FORBIDDEN', 'Sign in again to change a sign-in method.');
}

/** A page of sessions, newest first. */
export async function listSessions(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  query: {
    operatorUserId?: string | undefined;
    limit?: number | undefined;
    cursor?: string | undefined;
  },
) {
  const { operatorUserId, limit = 20, cursor } = query;
  const filters = equals({ user_id: operatorUserId });
  const page = await db.page(operatorSessions, { filters, sort: 'desc', limit, cursor });
  const { rows, ...rest } = page;
  return { data: rows.map((row) => presentSession(row, effects.now())), ...rest };
}

/** Revokes a session immediately. An expired or revoked session is unchanged. Throws NOT_FOUND. */
export const endSession = (runtime: Runtime, id: string): Promise<OperatorSession> =>
  operate(runtime, INSTALLATION, async (ctx) => {
    const row = await sessionRow(ctx, id);
    if (statusOf(row, ctx.now) !== 'ACTIVE') return presentSession(row, ctx.now);
    const changes = { ended_at: ctx.now, updated_at: ctx.now };
    return presentSession(ctx.update(operatorSessions, row, changes), ctx.now);
  });

/** Revokes all sessions of the caller except the current one. */
export const endOtherSessions = (runtime: Runtime, { id, sessionId }: Operator): Promise<void> =>
  operate(runtime, INSTALLATION, (ctx) => endSessionsOf(ctx, id, sessionId));
