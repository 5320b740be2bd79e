// Registers the first sign-in method of a user with a single-use link. A recovery link replaces all
// earlier methods and revokes every session. The first administrator also enters a name and an
// address.
import { iso } from '../../../../kernel/effects.ts';
import { invalidField } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { INSTALLATION } from '../../../tenancy/platform/index.ts';
import {
  currentLink,
  findLink,
  linkEndedFault,
  type NewLink,
  type OpenedLink,
  openLink,
  revokeLinks,
  useLink,
} from '../links.ts';
import { addPasskey, removeMethods } from '../methods.ts';
import { operatorUsers, type UserRow } from '../store.ts';
import { emailColumns, emailOf, insertUser } from '../users.ts';
import type { Browser } from './browser.ts';
import { type Challenge, stageUse } from './challenges.ts';
import { type RegisteredCredential, registrationOptions, verifyRegistration } from './passkeys.ts';
import { type NewPassword, newPasswordColumns, totpEnrollment } from './passwords.ts';
import { recordRejection, type SignInAttempt } from './rejections.ts';
import { endSessionsOf } from './session-status.ts';
import { openSession, type SignedIn } from './sessions.ts';

/** Name and address that the first administrator enters. */
export interface Identity {
  name?: string | undefined;
  email?: string | undefined;
}

/**
 * The link of a request. Throws LINK_ENDED, and records the use of a used or expired link. Links
 * need no protection against guessing, because their secrets are random.
 */
async function requestedLink(
  runtime: Runtime,
  attempt: SignInAttempt,
  secret: string,
): Promise<OpenedLink> {
  const openedLink = await findLink(runtime, secret);
  if (openedLink && !openedLink.isEnded) return openedLink;
  if (openedLink) await recordRejection(runtime, attempt, openedLink.user, 'used or expired link');
  throw linkEndedFault();
}

/** The purpose and the user of a link. Throws LINK_ENDED. */
export async function showLink(runtime: Runtime, attempt: SignInAttempt, secret: string) {
  const { link, user } = await requestedLink(runtime, attempt, secret);
  const email = emailOf(runtime.vault, user);
  return {
    kind: link.kind,
    name: user.name,
    ...(email === undefined ? {} : { email }),
    needsIdentity: email === undefined,
    expiresAt: iso(link.expires_at),
  };
}

/** Stored or entered name and e-mail address. Throws INVALID_INPUT without an e-mail address. */
function identityOf({ vault }: Runtime, user: UserRow, { name, email }: Identity) {
  const storedEmail = emailOf(vault, user);
  if (storedEmail !== undefined) return { name: user.name, email: storedEmail };
  if (email === undefined) throw invalidField('email', 'is required for the first administrator');
  return { name: name ?? user.name, email };
}

export async function enrollmentPasskeyOptions(
  runtime: Runtime,
  attempt: SignInAttempt,
  { secret, ...identity }: { secret: string } & Identity,
) {
  const { link, user } = await requestedLink(runtime, attempt, secret);
  const { name, email } = identityOf(runtime, user, identity);
  const namedUser = { ...user, name };
  return registrationOptions(runtime, attempt.browser.site, {
    user: namedUser,
    name: email,
    owner: link.id,
  });
}

export async function enrollmentTotp(
  runtime: Runtime,
  attempt: SignInAttempt,
  { secret, ...identity }: { secret: string } & Identity,
) {
  const { link, user } = await requestedLink(runtime, attempt, secret);
  return totpEnrollment(runtime, link.id, identityOf(runtime, user, identity).email);
}

/** A verified sign-in method: its challenge, and the function that stages it. */
interface NewMethod {
  challenge: Challenge;
  stage(ctx: Ctx, user: UserRow): Promise<UserRow>;
}

/** Stages the use of the link and the new method. A recovery first removes all other methods. */
async function stageEnrollment(
  ctx: Ctx,
  openedLink: OpenedLink,
  identity: { name: string; email: string },
  { challenge, stage }: NewMethod,
): Promise<UserRow> {
  useLink(ctx, openedLink);
  stageUse(ctx, challenge);
  // An enrolled user can invite others, so the link of the first administrator is revoked.
  if (openedLink.user.id !== FIRST_ADMINISTRATOR) await revokeLinks(ctx, FIRST_ADMINISTRATOR);
  let { user } = openedLink;
  if (openedLink.link.kind === 'RECOVERY') {
    user = await removeMethods(ctx, user);
    await endSessionsOf(ctx, user.id);
  }
  const enteredColumns =
    user.email === null
      ? { name: identity.name, ...emailColumns(ctx.vault, user.id, identity.email) }
      : {};
  const enrollmentColumns = {
    ...enteredColumns,
    enrolled_at: user.enrolled_at ?? ctx.now,
    updated_at: ctx.now,
  };
  return stage(ctx, ctx.update(operatorUsers, user, enrollmentColumns));
}

interface PasskeyEnrollment extends Identity {
  secret: string;
  state: string;
  passkeyName: string;
  credential: RegisteredCredential;
}

interface Enrollment {
  browser: Browser;
  operationId: string;
  method: 'PASSKEY' | 'PASSWORD';
  input: { secret: string } & Identity;
  /** Verifies the method. */
  prepare(openedLink: OpenedLink, identity: { name: string; email: string }): Promise<NewMethod>;
}

async function enroll(
  runtime: Runtime,
  { browser, operationId, method, input, prepare }: Enrollment,
): Promise<SignedIn> {
  const openedLink = await requestedLink(runtime, { browser, operationId }, input.secret);
  const identity = identityOf(runtime, openedLink.user, input);
  const newMethod = await prepare(openedLink, identity);
  const user = { ...openedLink.user, name: identity.name };
  return openSession(runtime, { user, method, browser, operationId }, async (ctx) =>
    // A concurrent enrollment may have used the link.
    stageEnrollment(ctx, await openLink(ctx, input.secret), identity, newMethod),
  );
}

/** Registers a passkey with a link, and signs in. Throws LINK_ENDED, INVALID_INPUT and CONFLICT. */
export const enrollPasskey = (
  runtime: Runtime,
  browser: Browser,
  operationId: string,
  input: PasskeyEnrollment,
): Promise<SignedIn> =>
  enroll(runtime, {
    ...{ browser, operationId, input, method: 'PASSKEY' },
    async prepare({ link }) {
      const registration = verifyRegistration(runtime, browser.site, link.id, input);
      return {
        challenge: registration.challenge,
        async stage(ctx, user) {
          await addPasskey(ctx, user, input.passkeyName, registration);
          return user;
        },
      };
    },
  });

/** Sets a password and an authenticator app with a link, and signs in. */
export const enrollPassword = (
  runtime: Runtime,
  browser: Browser,
  operationId: string,
  input: { secret: string } & NewPassword & Identity,
): Promise<SignedIn> =>
  enroll(runtime, {
    ...{ browser, operationId, input, method: 'PASSWORD' },
    async prepare({ link, user }, identity) {
      const owner = { id: user.id, personal: [identity.name, identity.email] };
      const { challenge, columns } = await newPasswordColumns(runtime, link.id, owner, input);
      return { challenge, stage: async (ctx, row) => ctx.update(operatorUsers, row, columns) };
    },
  });

/** Fixed, so that concurrently starting processes create the same user. */
const FIRST_ADMINISTRATOR = 'OperatorUser:00000000-0000-7000-8000-000000000001';
const FIRST_START = 'first start';

/**
 * The link of the first administrator, or undefined if another user exists or a user has enrolled.
 */
export async function firstAdministratorLink(runtime: Runtime): Promise<NewLink | undefined> {
  return operate(runtime, INSTALLATION, async (ctx) => {
    const users = await ctx.db.find(operatorUsers, {});
    const firstUser = users.find(({ id }) => id === FIRST_ADMINISTRATOR);
    if (users.some(({ enrolled_at }) => enrolled_at !== null)) {
      await revokeLinks(ctx, FIRST_ADMINISTRATOR);
      return undefined;
    }
    if (!firstUser && users.length > 0) return undefined;
    const details = { name: 'Administrator', roles: ['administrator'] as const };
    const user = firstUser ?? insertUser(ctx, details, FIRST_START, FIRST_ADMINISTRATOR);
    return currentLink(ctx, user, 'ENROLLMENT', FIRST_START);
  });
}
