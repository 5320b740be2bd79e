// Operations on credentials of all types. They handle wallets, signatures and rows. The last
// credential of a wallet cannot be removed. A credential cannot be removed by its own session,
// because a stolen device could otherwise lock the owner out.
import type { Static } from '@sinclair/typebox';
import type { Bound } from '../../../kernel/contract/operation.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  addCredential,
  credentialsOf,
  presentCredential,
  revokeCredentialWithSessions,
} from '../accounts/credentials.ts';
import {
  findWallet,
  requireProvisionedWallet,
  type WalletDeps,
  walletOf,
} from '../accounts/wallet.ts';
import { simulateProcessing } from '../signing/processing.ts';
import { signedOperation } from '../signing/signed.ts';
import { type CredentialRow, type CredentialType, credentials, wallets } from '../store.ts';
import {
  challengeAuthCredential,
  createAuthCredential,
  listAuthCredentials,
  revokeAuthCredential,
  verifyAuthCredential,
} from './contract.ts';
import type { Kind, WalletCredential } from './kinds.ts';
import { oauthKind } from './oauth.ts';
import { otpKind } from './otp.ts';
import { passkeyKind } from './passkey.ts';

const KINDS = {
  EMAIL_OTP: otpKind('EMAIL_OTP'),
  SMS_OTP: otpKind('SMS_OTP'),
  OAUTH: oauthKind,
  PASSKEY: passkeyKind,
} satisfies Record<CredentialType, object>;

/** Callers pass bodies of the same type only, which the type system cannot express here. */
const kindOf = (type: CredentialType): Kind => KINDS[type] as Kind;

/**
 * The wallet of a list query, or undefined for other accounts. Throws INVALID_INPUT for other IDs.
 */
export async function requireListedWallet(ctx: Ctx, accountId: string) {
  if (!isId(accountId, 'InternalAccount')) {
    throw invalidField('accountId', 'must be the ID of an internal account');
  }
  return findWallet(ctx, accountId);
}

/** An active credential. Throws AUTH_METHOD_NOT_FOUND. */
async function requireCredential(ctx: Ctx, id: string): Promise<WalletCredential> {
  const row = isId(id, 'AuthMethod') ? await ctx.read(credentials, id) : undefined;
  const isOwn = row?.platform_id === ctx.caller.platformId && row.status === 'ACTIVE';
  const wallet = isOwn ? await requireProvisionedWallet(ctx, row.account_id) : undefined;
  if (!row || !wallet) throw new Fault('AUTH_METHOD_NOT_FOUND', 'Credential not found.');
  return { wallet, row };
}

const create = (deps: WalletDeps) =>
  signedOperation(createAuthCredential, deps, {
    completion: 'background',

    async begin(ctx, { body }) {
      const wallet = await walletOf(ctx, body.accountId);
      // Read first, so that a concurrent addition conflicts with the checks below.
      const isFirst = (await credentialsOf(ctx, wallet.row.id)).length === 0;
      const { type } = body;
      const registrationPromise = kindOf(type).register(ctx, deps, wallet, body, undefined);
      const { activity, row, boundData } = await registrationPromise;
      if (!isFirst) {
        const signer = { by: 'session', accounts: [wallet.row.id] } as const;
        return { signatureRequest: { wallet, type, payload: activity, boundData, signer } };
      }
      // An empty update, so that one of two concurrent first credentials is retried and requires a
      // signature.
      ctx.update(wallets, wallet.row, {});
      const addedCredential = addCredential(ctx, wallet, row);
      return { status: 201, body: presentCredential(ctx, wallet, addedCredential) };
    },

    async perform(ctx, { body }, { wallet, boundData }) {
      const kind = kindOf(body.type);
      const { row: newCredential } = await kind.register(ctx, deps, wallet, body, boundData);
      const row = addCredential(ctx, wallet, newCredential);
      const addedFields = await kind.addedFields?.(ctx, deps, { wallet, row });
      return { status: 201, body: { ...presentCredential(ctx, wallet, row), ...addedFields } };
    },
  });

/** Throws if no other credential would remain, now or at commit. */
async function rejectLastCredential(ctx: Ctx, { row }: WalletCredential): Promise<void> {
  const otherCredentials = (await credentialsOf(ctx, row.account_id)).filter(
    ({ id }) => id !== row.id,
  );
  if (!otherCredentials.length) {
    const reason =
      'The only credential of a wallet cannot be removed. Add another credential first.';
    throw new Fault('INVALID_INPUT', reason);
  }
  for (const remainingCredential of otherCredentials) ctx.require(credentials, remainingCredential);
}

const revoke = (deps: WalletDeps) =>
  signedOperation(revokeAuthCredential, deps, {
    completion: 'background',
    resourceId: ({ params }) => params.id,

    async begin(ctx, { params }) {
      const credential = await requireCredential(ctx, params.id);
      await rejectLastCredential(ctx, credential);
      const { wallet, row } = credential;
      const accounts = [wallet.row.id];
      return {
        signatureRequest: {
          wallet,
          type: row.type,
          payload: kindOf(row.type).removalActivity(ctx, credential),
          signer: { by: 'session', accounts, except: row.id },
        },
      };
    },

    async perform(ctx, { params }) {
      const credential = await requireCredential(ctx, params.id);
      await rejectLastCredential(ctx, credential);
      await revokeCredentialWithSessions(ctx, credential.row);
      return { status: 204, body: undefined };
    },
  });

const verify = (deps: WalletDeps) =>
  signedOperation(verifyAuthCredential, deps, {
    completion: 'background',
    resourceId: ({ params }) => params.id,
    // Verified without a signature. A passkey sends the ID of its challenge in `Request-Id`.
    isDirect: ({ body: { type } }) => type === 'OAUTH' || type === 'PASSKEY',

    async begin(ctx, { params, body }, headers) {
      const credential = await requireCredential(ctx, params.id);
      if (body.type !== credential.row.type) {
        throw invalidField('type', `must be ${credential.row.type}, the type of the credential`);
      }
      return kindOf(body.type).verify(ctx, deps, credential, body, headers);
    },

    async perform(ctx, { params, body }, authorization) {
      const credential = await requireCredential(ctx, params.id);
      const { completeVerification } = kindOf(body.type);
      if (!completeVerification) throw new Error(`${body.type} is verified without a signature`);
      return completeVerification(ctx, deps, credential, authorization);
    },
  });

type ChallengeReply = Static<(typeof challengeAuthCredential.replies)[200]>;

const challenge = (deps: WalletDeps) =>
  handle(challengeAuthCredential, async (ctx, { params, body }) => {
    const credential = await requireCredential(ctx, params.id);
    const kind = kindOf(credential.row.type);
    if (!kind.challenge) {
      throw new Fault(
        'INVALID_INPUT',
        `A credential of type ${credential.row.type} is verified without a challenge. ` +
          'Call verifyAuthCredential.',
      );
    }
    const processing = await simulateProcessing(ctx, deps, `challenge ${credential.row.id}`);
    if (processing) return processing;
    return {
      status: 200,
      body: (await kind.challenge(ctx, deps, credential, body)) as ChallengeReply,
    };
  });

const list = handle(listAuthCredentials, async (ctx, { query }) => {
  const wallet = await requireListedWallet(ctx, query.accountId);
  const rows = wallet ? await credentialsOf(ctx, wallet.row.id) : [];
  const presentRow = (row: CredentialRow) =>
    presentCredential(ctx, wallet as WalletCredential['wallet'], row);
  return { status: 200, body: { data: rows.map(presentRow) } };
});

export const credentialOperations = (deps: WalletDeps): Bound<Ctx>[] => [
  create(deps),
  list,
  revoke(deps),
  challenge(deps),
  verify(deps),
];
