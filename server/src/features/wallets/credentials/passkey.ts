// Passkeys as credentials of a wallet. Registration uses a challenge of the platform. The challenge of a
// verification is the hash of the payload that opens the session, so the session key is fixed before
// signing. Every challenge can be used once.

import {
  checkAssertion,
  checkAttestation,
  matchesCredential,
  OTHER_PASSKEY,
  type Passkey,
} from '../../../kernel/crypto/webauthn.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../../kernel/fault.ts';
import { type AttemptRule, countAttempt } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import {
  clientKeyOf,
  factsOf,
  openSession,
  presentCredential,
  rejectUsedKey,
} from '../accounts/credentials.ts';
import type { Wallet, WalletDeps } from '../accounts/wallet.ts';
import type { Activity } from '../signing/payload.ts';
import {
  decryptColumn,
  findActiveRequest,
  issueChallenge,
  markDelivered,
  recheckOnFailure,
  requestIdOf,
} from '../signing/requests.ts';
import { credentials, type RequestRow } from '../store.ts';
import { verifyAuthCredential } from './contract.ts';
import type { CreateBodyOf, Kind, VerifyBodyOf, WalletCredential } from './kinds.ts';
import { recordFailure } from './limits.ts';

interface Facts extends Passkey {
  transports: readonly string[];
}

type CreateBody = CreateBodyOf<'PASSKEY'>;
type VerifyBody = VerifyBodyOf<'PASSKEY'>;

/** Challenges per passkey. A protection against client loops. */
const CHALLENGE_LIMITS: readonly AttemptRule[] = [{ max: 60, withinMs: 60_000 }];

const NICKNAME = /^[\p{L}\p{M}\p{Nd} ._'()-]{1,100}$/u;
const NICKNAME_RULE = "must be 1 to 100 letters, digits, spaces and . _ - ' ( )";

const prefixFields = (name: string, errors: readonly FieldError[]): FieldError[] =>
  errors.map((error) => ({ ...error, field: `${name}.${error.field}` }));

/** Throws if the passkey already exists or its challenge was already used. */
async function rejectReused(
  ctx: Ctx,
  wallet: Wallet,
  {
    uniquenessKey: uniqueness_key,
    challengeHash,
  }: { uniquenessKey: string; challengeHash: string },
): Promise<void> {
  const { platformId: platform_id } = ctx.caller;
  // In this order, so that a concurrent duplicate is reported as an existing passkey.
  const usedCredentials = await ctx.db.find(credentials, {
    platform_id,
    challenge_hash: challengeHash,
  });
  const existingCredentials = await ctx.db.find(credentials, {
    account_id: wallet.row.id,
    uniqueness_key,
  });
  if (existingCredentials.length > 0) {
    throw new Fault('PASSKEY_CREDENTIAL_ALREADY_EXISTS', 'The wallet already has this passkey.');
  }
  if (usedCredentials.length > 0) throw invalidField('challenge', 'was already used for a passkey');
}

/** Activity that a session signs, with the authenticator data as received. */
const creationActivity = (wallet: Wallet, body: CreateBody, nickname: string): Activity => {
  const { credentialId, clientDataJson, attestationObject, transports = [] } = body.attestation;
  return {
    type: 'CREATE_AUTHENTICATORS_V2',
    parameters: {
      authenticators: [
        {
          attestation: { attestationObject, clientDataJson, credentialId },
          authenticatorName: nickname,
          challenge: body.challenge,
          transports,
        },
      ],
      userId: wallet.row.user_id,
    },
  };
};

async function register(ctx: Ctx, _deps: WalletDeps, wallet: Wallet, body: CreateBody) {
  const nickname = body.nickname.trim();
  const checkedAttestation = checkAttestation(body.attestation, body.challenge);
  const errors = NICKNAME.test(nickname) ? [] : [{ field: 'nickname', message: NICKNAME_RULE }];
  if ('errors' in checkedAttestation)
    throw invalid([...errors, ...prefixFields('attestation', checkedAttestation.errors)]);
  if (errors.length > 0) throw invalid(errors);
  const { passkey, signCount } = checkedAttestation;
  const uniqueFields = {
    uniquenessKey: `PASSKEY ${passkey.credentialId}`,
    challengeHash: sha256Hex(body.challenge),
  };
  await rejectReused(ctx, wallet, uniqueFields);
  const facts: Facts = { ...passkey, transports: body.attestation.transports ?? [] };
  return {
    activity: creationActivity(wallet, body, nickname),
    row: { type: 'PASSKEY' as const, ...uniqueFields, nickname, facts, signCount },
  };
}

/** Operation and resource of a verification. */
const verificationOf = (id: string) => ({
  operationId: verifyAuthCredential.operationId,
  resourceId: id,
});

async function challengePasskey(
  ctx: Ctx,
  _deps: WalletDeps,
  { wallet, row }: WalletCredential,
  { clientPublicKey }: { clientPublicKey?: string },
) {
  if (clientPublicKey === undefined) {
    throw invalidField('clientPublicKey', 'is required for a passkey');
  }
  await rejectUsedKey(ctx, row.account_id, clientKeyOf(clientPublicKey));
  await countAttempt(ctx, `challenge ${row.id}`, CHALLENGE_LIMITS);
  const signable = {
    ...verificationOf(row.id),
    input: { params: { id: row.id }, body: { clientPublicKey } },
    headers: {},
  };
  const { payloadToSign, requestId, expiresAt } = await issueChallenge(ctx, signable, {
    wallet,
    payload: {
      type: 'CREATE_READ_WRITE_SESSION_V2',
      parameters: { targetPublicKey: clientPublicKey },
    },
    boundData: { clientPublicKey },
    signer: { by: 'nobody' },
  });
  const credential = presentCredential(ctx, wallet, row);
  return { ...credential, challenge: sha256Hex(payloadToSign), requestId, expiresAt };
}

/** Verifies an assertion against the passkey and the challenge. */
function verifyAssertion(
  ctx: Ctx,
  deps: WalletDeps,
  { wallet, row }: WalletCredential,
  request: RequestRow,
  { assertion }: VerifyBody,
): ReturnType<typeof checkAssertion> {
  const passkey = factsOf<Facts>(ctx, wallet, row);
  const signCount = Number(row.sign_count);
  const script = deps.connectors(ctx.caller.environment).walletScript;
  if (script?.assertionSignature === assertion.signature) {
    return matchesCredential(passkey, assertion.credentialId)
      ? { signCount }
      : { failed: OTHER_PASSKEY };
  }
  const signedHash = sha256Hex(decryptColumn<string>(ctx, wallet, request, 'payload'));
  const challenge = Buffer.from(signedHash).toString('base64url');
  return checkAssertion(assertion, { passkey, signCount, challenge });
}

async function verify(
  ctx: Ctx,
  deps: WalletDeps,
  heldCredential: WalletCredential,
  body: VerifyBody,
  headers: Parameters<typeof requestIdOf>[0],
) {
  const { wallet, row } = heldCredential;
  const requestId = requestIdOf(headers);
  if (requestId === undefined) {
    throw new Fault('REQUEST_ID_MISSING', 'The Request-Id header is missing.');
  }
  const { row: request } = await findActiveRequest(ctx, verificationOf(row.id), requestId);
  const checkedAssertion = verifyAssertion(ctx, deps, heldCredential, request, body);
  if ('errors' in checkedAssertion)
    throw invalid(prefixFields('assertion', checkedAssertion.errors));
  if ('failed' in checkedAssertion) {
    return recordFailure(ctx, row.id, new Fault('UNAUTHORIZED', checkedAssertion.failed));
  }
  ctx.update(credentials, row, { sign_count: BigInt(checkedAssertion.signCount) });
  markDelivered(ctx, request);
  const { clientPublicKey } = decryptColumn<{ clientPublicKey: string }>(
    ctx,
    wallet,
    request,
    'bound',
  );
  const session = await recheckOnFailure(ctx, verificationOf(row.id), request.id, () =>
    openSession(ctx, deps, wallet, row, clientPublicKey),
  );
  return { status: 200, body: session };
}

export const passkeyKind: Kind<'PASSKEY'> = {
  register,
  challenge: challengePasskey,
  verify,
  removalActivity: (_ctx, { wallet, row }) => ({
    type: 'DELETE_AUTHENTICATORS',
    parameters: { authenticatorIds: [row.id], userId: wallet.row.user_id },
  }),
};
