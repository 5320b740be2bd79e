// Passkeys of operators: the options for the browser, registration, and sign-in. A passkey is
// discoverable and contains its user, so a sign-in needs no user name and reveals none.

import type { Operator } from '../../../../kernel/caller.ts';
import {
  type Assertion,
  type Attestation,
  checkAssertion,
  checkAttestation,
} from '../../../../kernel/crypto/webauthn.ts';
import { Fault, type FieldError, invalid } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { INSTALLATION } from '../../../tenancy/platform/index.ts';
import {
  addPasskey,
  passkeyByCredential,
  passkeysOf,
  presentPasskey,
  removePasskey,
} from '../methods.ts';
import {
  operatorPasskeys,
  operatorUsers,
  type PasskeyRow,
  type StoredPasskey,
  type UserRow,
} from '../store.ts';
import { emailOf } from '../users.ts';
import type { Browser } from './browser.ts';
import { type Challenge, issueChallenge, openChallenge, stageUse } from './challenges.ts';
import { recordRejection } from './rejections.ts';
import { endSessionsOf } from './session-status.ts';
import { currentSession, openSession, recentUser, type SignedIn } from './sessions.ts';
import type { Site } from './site.ts';

const TIMEOUT_MS = 5 * 60_000;

/** `PublicKeyCredential.toJSON()` of a registration. */
export interface RegisteredCredential {
  id: string;
  response: {
    clientDataJSON: string;
    attestationObject: string;
    transports?: string[] | undefined;
  };
}

/** `PublicKeyCredential.toJSON()` of a sign-in. */
export interface AssertedCredential {
  id: string;
  response: { clientDataJSON: string; authenticatorData: string; signature: string };
}

/** Fields of the browser's JSON by field of the shared WebAuthn module. */
const FIELDS: Readonly<Record<string, string>> = {
  credentialId: 'id',
  clientDataJson: 'response.clientDataJSON',
  attestationObject: 'response.attestationObject',
  authenticatorData: 'response.authenticatorData',
  signature: 'response.signature',
};

const invalidCredentialFault = (errors: readonly FieldError[]): Fault =>
  invalid(
    errors.map((each) => ({ ...each, field: `credential.${FIELDS[each.field] ?? each.field}` })),
  );

const requirementsOf = ({ rpId, origin }: Site) => ({
  userVerified: true,
  rpId,
  origins: [origin],
});

/** Options of `navigator.credentials.create`, as JSON, and the state of the registration. */
export async function registrationOptions(
  runtime: Runtime,
  { rpId }: Site,
  { user, name, owner }: { user: UserRow; name: string; owner: string },
) {
  const { challenge, state } = issueChallenge(runtime, 'passkey', owner);
  const existingPasskeys = await passkeysOf(runtime.db, user.id);
  const publicKey = {
    rp: { id: rpId, name: 'Railhead' },
    user: { id: Buffer.from(user.id).toString('base64url'), name, displayName: user.name },
    challenge,
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: existingPasskeys.map(({ credential_id: id, passkey: { transports } }) => ({
      ...{ type: 'public-key', id, transports },
    })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
  };
  return { state, publicKey };
}

/** A verified registration. */
export interface VerifiedPasskey {
  passkey: StoredPasskey;
  signCount: number;
  challenge: Challenge;
}

/** Verifies the response of a browser to `registrationOptions`. Throws INVALID_INPUT. */
export function verifyRegistration(
  runtime: Runtime,
  site: Site,
  owner: string,
  { state, credential }: { state: string; credential: RegisteredCredential },
): VerifiedPasskey {
  const challenge = openChallenge(runtime, 'passkey', owner, state);
  const {
    clientDataJSON: clientDataJson,
    attestationObject,
    transports = [],
  } = credential.response;
  const attestation: Attestation = {
    credentialId: credential.id,
    clientDataJson,
    attestationObject,
  };
  const result = checkAttestation(attestation, challenge.challenge, requirementsOf(site));
  if ('errors' in result) throw invalidCredentialFault(result.errors);
  const { passkey, signCount } = result;
  return { passkey: { ...passkey, transports }, signCount, challenge };
}

/** Options of `navigator.credentials.get`, as JSON, and the state of the sign-in. */
export function signInOptions(runtime: Runtime, { site, deviceHash }: Browser) {
  const { challenge, state } = issueChallenge(runtime, 'sign-in', deviceHash);
  const publicKey = {
    challenge,
    timeout: TIMEOUT_MS,
    rpId: site.rpId,
    allowCredentials: [],
    userVerification: 'required',
  };
  return { state, publicKey };
}

/** The reply omits the reason, so that it does not reveal which users exist. */
const rejectedFault = (): Fault =>
  new Fault('UNAUTHORIZED', 'The sign-in was not accepted. Begin the sign-in again.');

/** Verifies an assertion. Returns undefined if it is invalid. */
function verifyAssertion(
  row: PasskeyRow | undefined,
  credential: AssertedCredential,
  { challenge }: Challenge,
  site: Site,
): { row: PasskeyRow; signCount: number } | undefined {
  const { clientDataJSON: clientDataJson, authenticatorData, signature } = credential.response;
  const assertion: Assertion = {
    ...{ credentialId: credential.id, clientDataJson, authenticatorData, signature },
  };
  if (!row) return undefined;
  const result = checkAssertion(assertion, {
    passkey: row.passkey,
    signCount: Number(row.sign_count),
    challenge,
    requirements: requirementsOf(site),
  });
  if ('errors' in result || 'failed' in result) return undefined;
  return { row, signCount: result.signCount };
}

/**
 * Signs in with a passkey. Throws UNAUTHORIZED and INVALID_INPUT, and CONFLICT for a used state.
 */
export async function signInWithPasskey(
  runtime: Runtime,
  browser: Browser,
  operationId: string,
  { state, credential }: { state: string; credential: AssertedCredential },
): Promise<SignedIn> {
  const challenge = openChallenge(runtime, 'sign-in', browser.deviceHash, state);
  const passkeyRow = await passkeyByCredential(runtime.db, credential.id);
  const user = passkeyRow && (await runtime.db.read(operatorUsers, passkeyRow.user_id));
  const verifiedAssertion = verifyAssertion(passkeyRow, credential, challenge, browser.site);
  if (!verifiedAssertion || user?.status !== 'ACTIVE') {
    const reason = verifiedAssertion ? 'disabled user' : 'the response of the passkey is invalid';
    await recordRejection(runtime, { browser, operationId }, user, reason);
    throw rejectedFault();
  }
  const { row, signCount } = verifiedAssertion;
  const verification = { user, method: 'PASSKEY', browser, operationId } as const;
  return openSession(runtime, verification, async (ctx) => {
    stageUse(ctx, challenge);
    // A concurrent sign-in with this passkey may be complete.
    const currentPasskey = await ctx.read(operatorPasskeys, row.id);
    if (currentPasskey?.sign_count !== row.sign_count) throw rejectedFault();
    const patch = { sign_count: BigInt(signCount), used_at: ctx.now, updated_at: ctx.now };
    ctx.update(operatorPasskeys, currentPasskey, patch);
    return user;
  });
}

/**
 * Options to register another passkey of the caller. Throws FORBIDDEN if the sign-in is not recent.
 */
export async function ownPasskeyOptions(runtime: Runtime, operator: Operator, site: Site) {
  const user = await recentUser(runtime, operator);
  const name = emailOf(runtime.vault, user) ?? user.name;
  return registrationOptions(runtime, site, { user, name, owner: `${operator.sessionId}` });
}

/** Registers another passkey of the caller. */
export async function addOwnPasskey(
  runtime: Runtime,
  operator: Operator,
  site: Site,
  input: { name: string; state: string; credential: RegisteredCredential },
) {
  const user = await recentUser(runtime, operator);
  const verification = verifyRegistration(runtime, site, `${operator.sessionId}`, input);
  return operate(runtime, INSTALLATION, async (ctx) => {
    stageUse(ctx, verification.challenge);
    return presentPasskey(await addPasskey(ctx, user, input.name, verification));
  });
}

/** The passkeys of the caller, oldest first. */
export async function ownPasskeys(runtime: Runtime, operator: Operator) {
  const { user } = await currentSession(runtime, operator);
  return (await passkeysOf(runtime.db, user.id)).map(presentPasskey);
}

/**
 * Removes a passkey of the caller and revokes all other sessions. Throws FORBIDDEN if the sign-in
 * is not recent, NOT_FOUND, and CONFLICT for the only sign-in method.
 */
export async function removeOwnPasskey(
  runtime: Runtime,
  operator: Operator,
  id: string,
): Promise<void> {
  await recentUser(runtime, operator);
  await operate(runtime, INSTALLATION, async (ctx: Ctx) => {
    const { user } = await currentSession(runtime, operator);
    await removePasskey(ctx, user, id);
    await endSessionsOf(ctx, user.id, operator.sessionId);
  });
}
