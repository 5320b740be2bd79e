// Creates and verifies ownership challenges, for wallets of customers and of the platform. The
// rejection of an invalid or late signature commits a change set, which also changes the account.

import type { Static } from '@sinclair/typebox';
import { primaryIdentifierOf, rowOf } from '../../../catalog/accounts/account-info.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { uuid7 } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { randomText, sha256Hex } from '../../../runtime/security/crypto.ts';
import {
  type ExternalAccountRow,
  externalAccountOf,
  presentExternalAccountTo,
  requireExternalAccount,
  transitionExternalAccount,
} from '../external-accounts/index.ts';
import {
  CHALLENGE_MS,
  checkApplicable,
  checkSignable,
  isSigned,
  isVerifiable,
  messageOf,
} from './challenge.ts';
import {
  createExternalAccountOwnershipChallenge,
  createPlatformExternalAccountOwnershipChallenge,
  verifyExternalAccountOwnership,
  verifyPlatformExternalAccountOwnership,
} from './contract.ts';
import { LIVENESS_CHECK, LIVENESS_PATH } from './liveness.ts';
import { closeChallenge } from './outcome.ts';
import { decodeHex, evmDigest } from './signatures/personal.ts';
import { type OwnershipChallengeRow, type OwnershipMethod, ownershipChallenges } from './store.ts';

interface OwnershipDeps {
  connectors: (environment: Mode) => Connectors;
  /** Public origin of this server, without a trailing slash. */
  origin: () => string;
}

type VerifyRequest = Static<(typeof verifyExternalAccountOwnership)['body']>;
type NewChallenge = Pick<OwnershipChallengeRow, 'method' | 'nonce' | 'message' | 'token_hash'>;

async function saveChallenge(
  ctx: Ctx,
  account: ExternalAccountRow,
  newChallenge: NewChallenge,
): Promise<number> {
  const expires_at = ctx.now + CHALLENGE_MS;
  const values = { ...newChallenge, issued_at: ctx.now, expires_at };
  const previousChallenge = await ctx.read(ownershipChallenges, account.id);
  if (previousChallenge) ctx.update(ownershipChallenges, previousChallenge, values);
  else {
    const { id, platform_id } = account;
    ctx.insert(ownershipChallenges, { id, platform_id, ...values });
  }
  if (account.status === 'UNVERIFIED') transitionExternalAccount(ctx, account, 'challenge');
  else requireExternalAccount(ctx, account);
  return expires_at;
}

async function startSignature(ctx: Ctx, account: ExternalAccountRow) {
  const method = 'WALLET_SIGNATURE' as const;
  const { id: accountId, info } = account;
  checkSignable(info);
  const nonce = uuid7(ctx.effects);
  const message = messageOf({ accountId, info, nonce, expiresAt: ctx.now + CHALLENGE_MS });
  const expiresAt = await saveChallenge(ctx, account, { method, nonce, message, token_hash: null });
  return { method, messageToSign: message, expiresAt: iso(expiresAt) };
}

async function startLiveness(ctx: Ctx, account: ExternalAccountRow, origin: string) {
  const method = 'LIVENESS' as const;
  const nonce = uuid7(ctx.effects);
  const token = randomText(ctx.effects, '');
  const newChallenge = { method, nonce, message: null, token_hash: sha256Hex(token) };
  const expiresAt = await saveChallenge(ctx, account, newChallenge);
  const { platform_id: platformId, id: accountId } = account;
  ctx.later(LIVENESS_CHECK, { platformId, accountId, nonce });
  const verificationLink = `${origin}${LIVENESS_PATH}/${token}`;
  return { method, verificationLink, token, expiresAt: iso(expiresAt) };
}

async function start(
  ctx: Ctx,
  { connectors, origin }: OwnershipDeps,
  owner: 'customer' | 'platform',
  id: string,
  method: OwnershipMethod,
) {
  const account = await externalAccountOf(ctx, id, owner);
  checkApplicable(account);
  if (method === 'WALLET_SIGNATURE') {
    return { status: 201, body: await startSignature(ctx, account) } as const;
  }
  if (!connectors(ctx.caller.environment).liveness) {
    throw new Fault('NOT_IMPLEMENTED', 'Liveness checks are not available. Use WALLET_SIGNATURE.');
  }
  return { status: 201, body: await startLiveness(ctx, account, origin()) } as const;
}

/**
 * Whether the contract wallet approves the signature. Throws SERVICE_UNAVAILABLE if no node
 * responds.
 */
async function isApproved(
  { contractWallets }: Connectors,
  { info }: ExternalAccountRow,
  message: string,
  signature: string,
): Promise<boolean> {
  const { accountType } = info;
  const bytes = decodeHex(signature);
  if (!bytes || rowOf(info).addressKind !== 'evm') return false;
  if (!contractWallets?.reaches(accountType)) return false;
  const address = primaryIdentifierOf(info);
  const digest = evmDigest(message);
  try {
    return await contractWallets.approves({ accountType, address, digest, signature: bytes });
  } catch (cause) {
    const reason = 'The blockchain of the wallet did not respond. Retry.';
    throw new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 5, cause });
  }
}

async function verify(
  ctx: Ctx,
  { connectors }: OwnershipDeps,
  owner: 'customer' | 'platform',
  id: string,
  { signature, signatureScheme: scheme = 'bip137' }: VerifyRequest,
) {
  const account = await externalAccountOf(ctx, id, owner);
  const challenge = await ctx.read(ownershipChallenges, account.id);
  const message = challenge?.message ?? null;
  if (!challenge || message === null || !isVerifiable(account)) {
    throw new Fault(
      'CONFLICT',
      'The account has no pending WALLET_SIGNATURE challenge. Start a new challenge.',
    );
  }
  const reject = (reason: string) => {
    closeChallenge(ctx, challenge, account, false);
    return { rejected: invalidField('signature', `${reason}. Start a new challenge`) };
  };
  if (ctx.now >= challenge.expires_at) return reject('was submitted after the challenge expired');
  const currentConnectors = connectors(ctx.caller.environment);
  const isValid =
    isSigned(account.info, { message, signature, scheme }) ||
    (await isApproved(currentConnectors, account, message, signature));
  if (!isValid) return reject('is not a valid signature of this wallet over the challenge message');
  const provenAccount = closeChallenge(ctx, challenge, account, true);
  return { status: 200, body: presentExternalAccountTo(ctx, provenAccount) } as const;
}

export const ownershipOperations = (deps: OwnershipDeps) => [
  handle(createExternalAccountOwnershipChallenge, (ctx, { params, body }) =>
    start(ctx, deps, 'customer', params.externalAccountId, body.method),
  ),
  handle(verifyExternalAccountOwnership, (ctx, { params, body }) =>
    verify(ctx, deps, 'customer', params.externalAccountId, body),
  ),
  handle(createPlatformExternalAccountOwnershipChallenge, (ctx, { params, body }) =>
    start(ctx, deps, 'platform', params.externalAccountId, body.method),
  ),
  handle(verifyPlatformExternalAccountOwnership, (ctx, { params, body }) =>
    verify(ctx, deps, 'platform', params.externalAccountId, body),
  ),
];
