// Public interface of operator users: people with roles, their sign-in and their sessions.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { totpContext } from './methods.ts';
import { readCurrentOperator } from './operator-rights.ts';
import { currentOperator } from './sign-in/authenticator.ts';
import {
  enrollmentPasskeyOptions,
  enrollmentTotp,
  enrollPasskey,
  enrollPassword,
  firstAdministratorLink,
  showLink,
} from './sign-in/enrollment.ts';
import { identityProvider } from './sign-in/identity-provider.ts';
import { oidcOptions, signInWithOidc } from './sign-in/oidc.ts';
import {
  addOwnPasskey,
  ownPasskeyOptions,
  ownPasskeys,
  removeOwnPasskey,
  signInOptions,
  signInWithPasskey,
} from './sign-in/passkeys.ts';
import { ownTotpEnrollment, setOwnPassword, signInWithPassword } from './sign-in/passwords.ts';
import {
  csrfTokenIn,
  currentSession,
  endOtherSessions,
  endSession,
  listSessions,
} from './sign-in/sessions.ts';
import { signInSweep } from './sign-in/store.ts';
import { userStates } from './store.ts';
import { emailContext } from './users.ts';

export { MAX_PASSWORD, MIN_PASSWORD } from './password-rules.ts';
export { operatorAuthenticator } from './sign-in/authenticator.ts';
export { type Browser, browserOf, clearedCookie as endedCookie } from './sign-in/browser.ts';
export type { SignedIn } from './sign-in/sessions.ts';
export { siteOf } from './sign-in/site.ts';
export {
  createOperatorUser,
  type InvitedUser,
  listOperatorUsers,
  type OperatorUser,
  presentUser,
  recoverOperatorUser,
  updateOperatorUser,
} from './users.ts';

/** Registration of a sign-in method with a link, for a new user or a recovery. */
export const enrollment = {
  enrollPasskey,
  enrollPassword,
  firstAdministratorLink,
  passkeyOptions: enrollmentPasskeyOptions,
  showLink,
  totp: enrollmentTotp,
};

export const signIn = {
  identityProvider,
  oidcOptions,
  passkeyOptions: signInOptions,
  withOidc: signInWithOidc,
  withPasskey: signInWithPasskey,
  withPassword: signInWithPassword,
};

/** Sign-in methods of the caller. */
export const ownMethods = {
  addPasskey: addOwnPasskey,
  passkeyOptions: ownPasskeyOptions,
  passkeys: ownPasskeys,
  removePasskey: removeOwnPasskey,
  setPassword: setOwnPassword,
  totp: ownTotpEnrollment,
};

export const sessions = {
  csrfTokenIn,
  current: currentSession,
  currentOperator,
  end: endSession,
  endOthers: endOtherSessions,
  list: listSessions,
  readCurrentOperator,
};

/** Parts that this feature adds to a server. */
export const operatorUserFeature = {
  sealed: [
    { table: 'operator_users', column: 'email', contexts: (id) => [emailContext(id)] },
    { table: 'operator_users', column: 'totp_secret', contexts: (id) => [totpContext(id)] },
  ],
  states: { operatorUser: userStates },
  sweeps: () => [signInSweep()],
  reset: {
    retained: {
      operator_users: 'true',
      operator_passkeys: 'true',
      operator_links: 'true',
      operator_sessions: 'true',
      operator_used_challenges: 'true',
    },
  },
} satisfies Feature;
