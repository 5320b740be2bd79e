// Sign-in at the identity provider. A user is found by issuer and subject. The groups determine the
// roles. Users with another sign-in method are never linked, even if the e-mail addresses are
// equal.
import { Fault, invalidField } from '../../../../kernel/fault.ts';
import { newId } from '../../../../kernel/id.ts';
import { readUrl } from '../../../../kernel/net/url.ts';
import type { Database } from '../../../../runtime/db/database.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { randomText } from '../../../../runtime/security/crypto.ts';
import { INSTALLATION } from '../../../tenancy/platform/index.ts';
import type { RoleName } from '../../roles/index.ts';
import { operatorUsers, type UserRow } from '../store.ts';
import { emailDigest, insertUser, userById } from '../users.ts';
import type { Browser } from './browser.ts';
import { type Challenge, issueChallenge, openChallenge, stageUse } from './challenges.ts';
import type { IdentityProvider, ProvidedPerson } from './identity-provider.ts';
import { recordRejection, type SignInAttempt } from './rejections.ts';
import { endSessionsOf } from './session-status.ts';
import { openSession, type SignedIn, signInRuntime } from './sessions.ts';
import type { Site } from './site.ts';

const CREATOR = 'identity provider';

const redirectUriOf = ({ origin }: Site) => `${origin}/operator/sign-in`;

function requireProvider(provider: IdentityProvider | undefined): IdentityProvider {
  if (provider) return provider;
  throw new Fault('NOT_IMPLEMENTED', 'No identity provider is configured.');
}

/** The address of the identity provider, and the state of the sign-in. */
export async function oidcOptions(
  runtime: Runtime,
  { site, deviceHash }: Browser,
  configuredProvider: IdentityProvider | undefined,
) {
  const provider = requireProvider(configuredProvider);
  const data = {
    nonce: randomText(runtime.effects, ''),
    verifier: randomText(runtime.effects, ''),
  };
  const { challenge, state } = issueChallenge(runtime, 'identity provider', deviceHash, data);
  const pendingSignIn = { ...data, redirectUri: redirectUriOf(site), state: challenge };
  return { state, authorizationUrl: await provider.authorizationUrl(pendingSignIn) };
}

/** The address to which the provider returned the browser. Throws INVALID_INPUT. */
function callbackOf(site: Site, { challenge }: Challenge, text: string): URL {
  const url = readUrl(text);
  if (!url || `${url.origin}${url.pathname}` !== redirectUriOf(site)) {
    throw invalidField('callbackUrl', `must begin with ${redirectUriOf(site)}`);
  }
  if (url.searchParams.get('state') !== challenge) {
    throw invalidField('callbackUrl', 'belongs to another sign-in. Begin again');
  }
  return url;
}

async function findUser(
  { db }: { db: Pick<Database, 'find'> },
  { issuer, subject }: ProvidedPerson,
): Promise<UserRow | undefined> {
  const [row] = await db.find(operatorUsers, {
    identity_issuer: issuer,
    identity_subject: subject,
  });
  return row;
}

/** The user with the e-mail address of a person. */
async function userWithAddress(
  { db, vault }: Pick<Ctx, 'db' | 'vault'>,
  { email }: ProvidedPerson,
): Promise<UserRow | undefined> {
  if (email === undefined) return undefined;
  const [row] = await db.find(operatorUsers, { email_digest: emailDigest(vault, email) });
  return row;
}

const addressTakenFault = (): Fault =>
  new Fault(
    'CONFLICT',
    'Another operator user has this e-mail address, and users are not linked. Sign in with the ' +
      'passkey or password of that user.',
  );

/** Stages the user of a first sign-in. Throws CONFLICT if another user has the e-mail address. */
async function stageUser(ctx: Ctx, id: string, person: ProvidedPerson): Promise<UserRow> {
  if (await findUser(ctx, person)) {
    throw new Fault('CONFLICT', 'A concurrent sign-in created this user. Begin the sign-in again.');
  }
  const { name, email, roles } = person;
  if (await userWithAddress(ctx, person)) throw addressTakenFault();
  return insertUser(ctx, { name, email, roles, identity: person }, CREATOR, id);
}

const sortedText = (roles: readonly RoleName[]) => [...roles].sort().join();

/** Stages the current roles of a known user. */
async function stageRoles(ctx: Ctx, id: string, roles: readonly RoleName[]): Promise<UserRow> {
  const row = await userById(ctx, id);
  if (row.status !== 'ACTIVE') throw disabledFault();
  if (sortedText(row.roles) === sortedText(roles)) return row;
  return ctx.update(operatorUsers, row, { roles: [...roles], updated_at: ctx.now });
}

const disabledFault = (): Fault =>
  new Fault('FORBIDDEN', 'This user is disabled. Ask an administrator to enable the user.');

/** Revokes the access of a user whose groups no longer have a role. */
async function removeAccess(
  runtime: Runtime,
  attempt: SignInAttempt,
  user: UserRow,
): Promise<void> {
  await operate(signInRuntime(runtime, { user, ...attempt }), INSTALLATION, async (ctx) => {
    await stageRoles(ctx, user.id, []);
    await endSessionsOf(ctx, user.id);
  });
}

/**
 * Signs in with the response of the identity provider. Throws UNAUTHORIZED and INVALID_INPUT for an
 * invalid response. Throws FORBIDDEN for a disabled user and a user without a role. Throws CONFLICT
 * for a used state and for an e-mail address of another user.
 */
export async function signInWithOidc(
  runtime: Runtime,
  attempt: SignInAttempt,
  configuredProvider: IdentityProvider | undefined,
  { state, callbackUrl }: { state: string; callbackUrl: string },
): Promise<SignedIn> {
  const { deviceHash, site } = attempt.browser;
  const provider = requireProvider(configuredProvider);
  const challenge = openChallenge(runtime, 'identity provider', deviceHash, state);
  const callback = callbackOf(site, challenge, callbackUrl);
  // The state is used before the exchange, because a provider revokes the tokens of a code that it
  // receives twice.
  await operate(runtime, INSTALLATION, async (ctx) => stageUse(ctx, challenge));
  const { nonce = '', verifier = '' } = challenge.data;
  const person = await provider.person(callback, { state: challenge.challenge, nonce, verifier });
  const { roles, name } = person;
  const existingUser = await findUser(runtime, person);
  if (existingUser && existingUser.status !== 'ACTIVE') {
    await recordRejection(runtime, attempt, existingUser, 'disabled user');
    throw disabledFault();
  }
  if (roles.length === 0) {
    if (existingUser) {
      await removeAccess(runtime, attempt, existingUser);
      await recordRejection(runtime, attempt, existingUser, 'groups without a role');
    }
    throw new Fault(
      'FORBIDDEN',
      'None of your groups at the identity provider has a role here. Ask an administrator for a ' +
        'group with a role.',
    );
  }
  const addressOwner = existingUser ? undefined : await userWithAddress(runtime, person);
  if (addressOwner) {
    await recordRejection(runtime, attempt, addressOwner, 'identity of another person');
    throw addressTakenFault();
  }
  const id = existingUser?.id ?? newId(runtime.effects, 'OperatorUser');
  const user = existingUser
    ? { ...existingUser, roles: [...roles] }
    : { id, name, roles: [...roles], platform_ids: null };
  return openSession(runtime, { user, method: 'IDENTITY_PROVIDER', ...attempt }, (ctx) =>
    existingUser ? stageRoles(ctx, id, roles) : stageUser(ctx, id, person),
  );
}
