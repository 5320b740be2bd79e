// Sign-in at the identity provider. A user is found by issuer and subject and has the roles of its
// groups; it is never linked to a user with a sign-in method here, whatever its e-mail address is.
import { Fault, invalidField } from '../../../../kernel/fault.ts';
import { newId } from '../../../../kernel/id.ts';
import { readUrl } from '../../../../kernel/net/url.ts';
import type { Database } from '../../../../runtime/db/database.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { randomText } from '../../../../runtime/security/crypto.ts';
import { INSTALLATION, type RoleName } from '../../roles/index.ts';
import { operatorUsers, type UserRow } from '../store.ts';
import { emailDigest, insertUser, userById } from '../users.ts';
import type { Browser } from './browser.ts';
import { type Challenge, issueChallenge, openChallenge, stageUse } from './challenges.ts';
import type { IdentityProvider, ProvidedPerson } from './identity-provider.ts';
import { recordRejection, type SignInAttempt } from './rejections.ts';
import { endSessionsOf } from './session-ends.ts';
import { openSession, type SignedIn, signInRuntime } from './sessions.ts';
import type { Site } from './site.ts';

const CREATOR = 'identity provider';

const redirectUriOf = ({ origin }: Site) => `${origin}/operator/sign-in`;

function required(provider: IdentityProvider | undefined): IdentityProvider {
  if (provider) return provider;
  throw new Fault('NOT_IMPLEMENTED', 'No identity provider is configured.');
}

/** The address of the identity provider, and the state of the sign-in. */
export async function oidcOptions(
  runtime: Runtime,
  { site, deviceHash }: Browser,
  configured: IdentityProvider | undefined,
) {
  const provider = required(configured);
  const data = {
    nonce: randomText(runtime.effects, ''),
    verifier: randomText(runtime.effects, ''),
  };
  const { challenge, state } = issueChallenge(runtime, 'identity provider', deviceHash, data);
  const pending = { ...data, redirectUri: redirectUriOf(site), state: challenge };
  return { state, authorizationUrl: await provider.authorizationUrl(pending) };
}

/** The address to which the provider returned the browser. Throws INVALID_INPUT. */
function callbackOf(site: Site, { challenge }: Challenge, text: string): URL {
  const url = readUrl(text);
  if (!url || `${url.origin}${url.pathname}` !== redirectUriOf(site)) {
    throw invalidField('callbackUrl', `must begin with ${redirectUriOf(site)}`);
  }
  if (url.searchParams.get('state') !== challenge) {
    throw invalidField('callbackUrl', 'belongs to another sign-in; begin again');
  }
  return url;
}

async function userOf(
  { db }: { db: Pick<Database, 'find'> },
  { issuer, subject }: ProvidedPerson,
): Promise<UserRow | undefined> {
  const [row] = await db.find(operatorUsers, {
    identity_issuer: issuer,
    identity_subject: subject,
  });
  return row;
}

/** A user who has the e-mail address of a person. */
async function userWithAddress(
  { db, vault }: Pick<Ctx, 'db' | 'vault'>,
  { email }: ProvidedPerson,
): Promise<UserRow | undefined> {
  if (email === undefined) return undefined;
  const [row] = await db.find(operatorUsers, { email_digest: emailDigest(vault, email) });
  return row;
}

const taken = (): Fault =>
  new Fault(
    'CONFLICT',
    'Another operator user has this e-mail address. Sign in as that user with its passkey or ' +
      'password: users are not linked.',
  );

/** Stages the first sign-in of a person. Throws CONFLICT if another user has the e-mail address. */
async function stageNew(ctx: Ctx, id: string, person: ProvidedPerson): Promise<UserRow> {
  if (await userOf(ctx, person)) {
    throw new Fault('CONFLICT', 'Another sign-in created this user at the same time. Begin again.');
  }
  const { name, email, roles } = person;
  if (await userWithAddress(ctx, person)) throw taken();
  return insertUser(ctx, { name, email, roles, identity: person }, CREATOR, id);
}

const withoutOrder = (roles: readonly RoleName[]) => [...roles].sort().join();

/** Stages the roles of a user that signs in again. */
async function stageRoles(ctx: Ctx, id: string, roles: readonly RoleName[]): Promise<UserRow> {
  const row = await userById(ctx, id);
  if (row.status !== 'ACTIVE') throw disabled();
  if (withoutOrder(row.roles) === withoutOrder(roles)) return row;
  return ctx.update(operatorUsers, row, { roles: [...roles], updated_at: ctx.now });
}

const disabled = (): Fault => new Fault('FORBIDDEN', 'This user is disabled.');

/** Ends the access of a user whose groups give no role any more. */
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
 * Signs in with the response of the identity provider. Throws UNAUTHORIZED and INVALID_INPUT for a
 * response that is not valid, FORBIDDEN for a disabled user and without a role, and CONFLICT for a
 * used state and an e-mail address of another user.
 */
export async function signInWithOidc(
  runtime: Runtime,
  attempt: SignInAttempt,
  configured: IdentityProvider | undefined,
  { state, callbackUrl }: { state: string; callbackUrl: string },
): Promise<SignedIn> {
  const { deviceHash, site } = attempt.browser;
  const provider = required(configured);
  const challenge = openChallenge(runtime, 'identity provider', deviceHash, state);
  const callback = callbackOf(site, challenge, callbackUrl);
  // Before the exchange: a provider that sees a code twice revokes the tokens of the first time.
  await operate(runtime, INSTALLATION, async (ctx) => stageUse(ctx, challenge));
  const { nonce = '', verifier = '' } = challenge.data;
  const person = await provider.person(callback, { state: challenge.challenge, nonce, verifier });
  const { roles, name } = person;
  const known = await userOf(runtime, person);
  if (known && known.status !== 'ACTIVE') {
    await recordRejection(runtime, attempt, known, 'disabled user');
    throw disabled();
  }
  if (roles.length === 0) {
    if (known) {
      await removeAccess(runtime, attempt, known);
      await recordRejection(runtime, attempt, known, 'groups without a role');
    }
    throw new Fault('FORBIDDEN', 'Your groups at the identity provider give no role here.');
  }
  const other = known ? undefined : await userWithAddress(runtime, person);
  if (other) {
    await recordRejection(runtime, attempt, other, 'identity of another person');
    throw taken();
  }
  const id = known?.id ?? newId(runtime.effects, 'OperatorUser');
  const user = known
    ? { ...known, roles: [...roles] }
    : { id, name, roles: [...roles], platform_ids: null };
  return openSession(runtime, { user, method: 'IDENTITY_PROVIDER', ...attempt }, (ctx) =>
    known ? stageRoles(ctx, id, roles) : stageNew(ctx, id, person),
  );
}
