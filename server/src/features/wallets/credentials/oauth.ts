// Credentials of an identity provider (OIDC). A token opens at most one session, within its
// validity. Its nonce must bind the key of the session, so that an intercepted token is useless.
import { type OidcIdentity, providerName } from '../../../catalog/identity/oidc.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { countAttempt, isLimitReached } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import {
  clientKeyOf,
  credentialsOf,
  factsOf,
  openSession,
  rejectUsedKey,
} from '../accounts/credentials.ts';
import type { WalletDeps } from '../accounts/wallet.ts';
import type { Kind, WalletCredential } from './kinds.ts';
import { recordFailure } from './limits.ts';

type Facts = Pick<OidcIdentity, 'issuer' | 'audience' | 'subject'>;
/** Identity from the first request, because the token can be too old at the retry. */
type BoundIdentity = Facts & Pick<OidcIdentity, 'email'>;

const unauthorizedFault = (reason: string) => new Fault('UNAUTHORIZED', reason);

/** The identity of a token, or the fault for an invalid token. */
async function verifyToken(
  ctx: Ctx,
  deps: WalletDeps,
  token: string,
): Promise<OidcIdentity | Fault> {
  const { oidc } = deps.connectors(ctx.caller.environment);
  if (!oidc) throw new Fault('NOT_IMPLEMENTED', 'No identity provider is configured.');
  const verification = await oidc.verify(token, ctx.effects.now()).catch((cause: unknown) => {
    const reason = 'The identity provider does not respond. Retry later.';
    throw new Fault('SERVICE_UNAVAILABLE', reason, undefined, { cause });
  });
  if ('identity' in verification) return verification.identity;
  if (verification.problem === 'malformed') throw invalidField('oidcToken', verification.reason);
  return unauthorizedFault(verification.reason);
}

async function identityOf(ctx: Ctx, deps: WalletDeps, token: string): Promise<BoundIdentity> {
  const identity = await verifyToken(ctx, deps, token);
  if (identity instanceof Fault) throw identity;
  const { issuer, audience, subject, email } = identity;
  return { issuer, audience, subject, ...(email === undefined ? {} : { email }) };
}

/** Uniqueness key of an identity. A keyed hash that does not disclose it. */
const uniquenessKeyOf = (ctx: Ctx, { issuer, audience, subject }: Facts): string =>
  `OAUTH ${ctx.vault.digest('identity', JSON.stringify([issuer, audience, subject]))}`;

const CLAIMS = { issuer: 'iss', audience: 'aud', subject: 'sub' } as const;

/** The fault for a token that does not match the credential or the key, or undefined. */
function findMismatch(identity: OidcIdentity, facts: Facts, clientPublicKey: string) {
  for (const name of ['issuer', 'audience', 'subject'] as const) {
    if (identity[name] !== facts[name]) {
      return unauthorizedFault(
        `The ${CLAIMS[name]} of the token differs from the registered value.`,
      );
    }
  }
  const nonce = sha256Hex(clientPublicKey);
  if (identity.nonce === nonce) return undefined;
  return unauthorizedFault('The nonce of the token is not the SHA-256 of clientPublicKey in hex.');
}

/** Longer than the validity of any token, including clock skew. */
const SINGLE_USE = [{ max: 1, withinMs: 2 * 60_000 }];

/**
 * Claims the key for one session within the validity of tokens, so that a token cannot reopen a
 * session that was revoked. Of two concurrent claims one succeeds.
 */
async function claimKey(ctx: Ctx, { row }: WalletCredential, key: string): Promise<boolean> {
  const id = `oidc ${row.id} ${key}`;
  if (await isLimitReached(ctx, id, SINGLE_USE)) return false;
  await countAttempt(ctx, id, SINGLE_USE);
  return true;
}

export const oauthKind: Kind<'OAUTH'> = {
  async register(ctx, deps, wallet, { oidcToken }, boundData) {
    const identity =
      (boundData as BoundIdentity | null | undefined) ?? (await identityOf(ctx, deps, oidcToken));
    const { issuer, audience, subject, email = subject } = identity;
    const uniqueness_key = uniquenessKeyOf(ctx, identity);
    if (
      (await credentialsOf(ctx, wallet.row.id)).some(
        (each) => each.uniqueness_key === uniqueness_key,
      )
    ) {
      throw new Fault('CONFLICT', 'The wallet already has this credential.');
    }
    const provider = { oidcToken, providerName: providerName(issuer) };
    return {
      activity: {
        type: 'CREATE_OAUTH_PROVIDERS',
        parameters: { oauthProviders: [provider], userId: wallet.row.user_id },
      },
      row: {
        type: 'OAUTH',
        uniquenessKey: uniqueness_key,
        nickname: email,
        facts: { issuer, audience, subject },
      },
      boundData: identity,
    };
  },

  async verify(ctx, deps, credential, { oidcToken, clientPublicKey }) {
    const { wallet, row } = credential;
    const key = clientKeyOf(clientPublicKey);
    await rejectUsedKey(ctx, wallet.row.id, key);
    const reject = (fault: Fault) => recordFailure(ctx, row.id, fault);
    const identity = await verifyToken(ctx, deps, oidcToken);
    if (identity instanceof Fault) return reject(identity);
    const fault = findMismatch(identity, factsOf<Facts>(ctx, wallet, row), clientPublicKey);
    if (fault) return reject(fault);
    if (!(await claimKey(ctx, credential, key))) {
      const reason = 'A token for this key was already used. Obtain a token for a new key.';
      return reject(unauthorizedFault(reason));
    }
    return { status: 200, body: await openSession(ctx, deps, wallet, row, clientPublicKey) };
  },

  removalActivity: (_ctx, { wallet, row }) => ({
    type: 'DELETE_OAUTH_PROVIDERS',
    parameters: { providerIds: [row.id], userId: wallet.row.user_id },
  }),
};
