// Sign-in with a password and a code of an authenticator app. Attempts are limited for each e-mail
// address and for each IP address. The limit also applies to addresses without a user, so that it does not
// reveal which users exist.
import type { Operator } from '../../../../kernel/caller.ts';
import { generateSecret, stepOf, toBase32, totpUri } from '../../../../kernel/crypto/totp.ts';
import { Fault, invalidField } from '../../../../kernel/fault.ts';
import { countAttempt } from '../../../../runtime/operation/attempt-limiter.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { matchesPassword, passwordHash } from '../../../../runtime/security/password.ts';
import { INSTALLATION } from '../../../tenancy/platform/index.ts';
import { passwordColumns, totpSecretOf } from '../methods.ts';
import { assertStrong } from '../password-rules.ts';
import { operatorUsers, type UserRow } from '../store.ts';
import { emailDigest, emailOf, userById } from '../users.ts';
import type { Browser } from './browser.ts';
import { issueChallenge, openChallenge, stageUse } from './challenges.ts';
import { recordLimitedRejection, USER_LIMITS } from './rejections.ts';
import { endSessionsOf } from './session-status.ts';
import { openSession, recentUser, type SignedIn } from './sessions.ts';

const IP_LIMITS = [{ max: 30, withinMs: 15 * 60_000 }];

const rejectedFault = (): Fault =>
  new Fault('UNAUTHORIZED', 'The e-mail address, the password or the code is wrong.');

export interface PasswordSignIn {
  email: string;
  password: string;
  code: string;
}

/** A verified user and the step of the code, or the reason for the rejection. */
type PasswordResult =
  | { user: UserRow; step: number }
  | { user: UserRow | undefined; step?: undefined; reason: string };

/** Verifies password and code. Hashes the password even for an unknown address. */
async function verifyPassword(
  { db, vault, effects }: Runtime,
  digest: string,
  { password, code }: PasswordSignIn,
): Promise<PasswordResult> {
  const [user] = await db.find(operatorUsers, { email_digest: digest });
  const isCorrect = await matchesPassword(password, user?.password_hash ?? null);
  const secret = user && totpSecretOf(vault, user);
  if (!user || secret === undefined || !isCorrect) return { user, reason: 'wrong password' };
  const step = stepOf(secret, code, { now: effects.now(), after: Number(user.totp_step) });
  if (step === undefined) return { user, reason: 'wrong code' };
  return user.status === 'ACTIVE' ? { user, step } : { user, reason: 'disabled user' };
}

/** Signs in with a password and a code. Throws UNAUTHORIZED and RATE_LIMITED. */
export async function signInWithPassword(
  runtime: Runtime,
  browser: Browser,
  operationId: string,
  input: PasswordSignIn,
): Promise<SignedIn> {
  const digest = emailDigest(runtime.vault, input.email);
  // Counted before the comparison, so that concurrent attempts are limited as well.
  await operate(runtime, INSTALLATION, async (ctx) => {
    await countAttempt(ctx, `operator sign-in ${digest}`, USER_LIMITS);
    await countAttempt(ctx, `operator sign-in from ${browser.address}`, IP_LIMITS);
  });
  const result = await verifyPassword(runtime, digest, input);
  const { user, step } = result;
  if (step === undefined) {
    const attempt = { browser, operationId };
    await recordLimitedRejection(runtime, attempt, user, result.reason);
    throw rejectedFault();
  }
  const signIn = { user, method: 'PASSWORD', browser, operationId } as const;
  return openSession(runtime, signIn, async (ctx) => {
    // A concurrent sign-in may have used the code.
    const currentUser = await ctx.read(operatorUsers, user.id);
    if (!currentUser || currentUser.totp_step >= step) throw rejectedFault();
    return ctx.update(operatorUsers, currentUser, { totp_step: BigInt(step), updated_at: ctx.now });
  });
}

/** A new secret for an authenticator app, and the state that contains it. */
export function totpEnrollment(runtime: Runtime, owner: string, account: string) {
  const secret = generateSecret(runtime.effects);
  const { state } = issueChallenge(runtime, 'totp', owner, { secret });
  return {
    state,
    secret: toBase32(secret),
    uri: totpUri(secret, { issuer: 'Railhead', account }),
  };
}

export interface NewPassword {
  state: string;
  password: string;
  /** Current code of the authenticator app. */
  code: string;
}

/**
 * Verifies the code of the app. Returns the columns of the new password and the challenge to use.
 * Throws INVALID_INPUT.
 */
export async function newPasswordColumns(
  runtime: Runtime,
  owner: string,
  { id, personal }: { id: string; personal: readonly string[] },
  { state, password, code }: NewPassword,
) {
  const challenge = openChallenge(runtime, 'totp', owner, state);
  const totpSecret = challenge.data.secret ?? '';
  const step = stepOf(totpSecret, code, { now: runtime.effects.now(), after: 0 });
  if (step === undefined)
    throw invalidField('code', 'must be the current code of the authenticator app');
  await assertStrong(password, personal);
  const hash = await passwordHash(runtime.effects, password);
  return { challenge, columns: passwordColumns(runtime.vault, id, { hash, totpSecret, step }) };
}

/** A new secret for the authenticator app of the caller. */
export async function ownTotpEnrollment(runtime: Runtime, operator: Operator) {
  const user = await recentUser(runtime, operator);
  return totpEnrollment(runtime, `${operator.sessionId}`, user.name);
}

/** Sets the password and the authenticator app of the caller, and revokes other sessions. */
export async function setOwnPassword(
  runtime: Runtime,
  operator: Operator,
  input: NewPassword,
): Promise<void> {
  const user = await recentUser(runtime, operator);
  const personal = [user.name, emailOf(runtime.vault, user) ?? ''];
  const owner = { id: user.id, personal };
  const newPassword = await newPasswordColumns(runtime, `${operator.sessionId}`, owner, input);
  await operate(runtime, INSTALLATION, async (ctx) => {
    stageUse(ctx, newPassword.challenge);
    await endSessionsOf(ctx, user.id, operator.sessionId);
    ctx.update(operatorUsers, await userById(ctx, user.id), {
      ...newPassword.columns,
      updated_at: ctx.now,
    });
  });
}
