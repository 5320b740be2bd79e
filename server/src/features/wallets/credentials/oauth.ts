// Credentials that are a user of an identity provider. A token of the provider says who it is; it is taken
// once, while it is fresh, and to open a session it must also name the key that the session is for, so that
// it is of no use to whoever sees it on its way.
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
import type { WalletParts } from '../accounts/wallet.ts';
import type { Kind, WalletCredential } from './kinds.ts';
import { recordFailure } from './limits.ts';

type Facts = Pick<OidcIdentity, 'issuer' | 'audience' | 'subject'>;
/** What the first leg found out: by the second the token is too old to be asked about again. */
type KnownIdentity = Facts & Pick<OidcIdentity, 'email'>;

const unauthorized = (reason: string) => new Fault('UNAUTHORIZED', reason);

/** Who a token is about, or the fault that says why it is not believed. */
async function verifyToken(
  ctx: Ctx,
  parts: WalletParts,
  token: string,
): Promise<OidcIdentity | Fault> {
  const { oidc } = parts.connectors(ctx.caller.environment);
  if (!oidc) throw new Fault('NOT_IMPLEMENTED', 'Nobody reads the tokens of identity providers.');
  const verdict = await oidc.verify(token, ctx.now).catch((cause: unknown) => {
    const reason = 'The identity provider gives no answer. Try again later.';
    throw new Fault('SERVICE_UNAVAILABLE', reason, undefined, { cause });
  });
  if ('identity' in verdict) return verdict.identity;
  if (verdict.problem === 'malformed') throw invalidField('oidcToken', verdict.reason);
  return unauthorized(verdict.reason);
}

async function identityOf(ctx: Ctx, parts: WalletParts, token: string): Promise<KnownIdentity> {
  const identity = await verifyToken(ctx, parts, token);
  if (identity instanceof Fault) throw identity;
  const { issuer, audience, subject, email } = identity;
  return { issuer, audience, subject, ...(email === undefined ? {} : { email }) };
}

/** An identity has one place at a wallet; who it is cannot be told from it. */
const uniquenessKeyOf = (ctx: Ctx, { issuer, audience, subject }: Facts): string =>
  `OAUTH ${ctx.vault.digest('identity', JSON.stringify([issuer, audience, subject]))}`;

const CLAIMS = { issuer: 'iss', audience: 'aud', subject: 'sub' } as const;

/** What of a token is not as the credential has it, or does not fit the key. */
function mismatch(identity: OidcIdentity, facts: Facts, clientPublicKey: string) {
  for (const name of ['issuer', 'audience', 'subject'] as const) {
    if (identity[name] !== facts[name]) {
      return unauthorized(`The ${CLAIMS[name]} of the token is not the one that was registered.`);
    }
  }
  const nonce = sha256Hex(clientPublicKey);
  if (identity.nonce === nonce) return undefined;
  return unauthorized('The nonce of the token is not the SHA-256 of clientPublicKey in hex.');
}

/** For longer than any token is good, clocks that differ included. */
const ONE_USE = [{ max: 1, withinMs: 2 * 60_000 }];

/**
 * Whether a session was opened for this key while a token for it could be good: one that was ended is not
 * opened again by the same token. Of two that come in one instant the second finds the first.
 */
async function claimKey(ctx: Ctx, { row }: WalletCredential, key: string): Promise<boolean> {
  const id = `oidc ${row.id} ${key}`;
  if (await isLimitReached(ctx, id, ONE_USE)) return false;
  await countAttempt(ctx, id, ONE_USE);
  return true;
}

export const oauthKind: Kind<'OAUTH'> = {
  async register(ctx, parts, wallet, { oidcToken }, bound) {
    const known =
      (bound as KnownIdentity | null | undefined) ?? (await identityOf(ctx, parts, oidcToken));
    const { issuer, audience, subject, email = subject } = known;
    const uniqueness_key = uniquenessKeyOf(ctx, known);
    if (
      (await credentialsOf(ctx, wallet.row.id)).some(
        (each) => each.uniqueness_key === uniqueness_key,
      )
    ) {
      throw new Fault('CONFLICT', 'The wallet has this credential already.');
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
      bound: known,
    };
  },

  async verify(ctx, parts, held, { oidcToken, clientPublicKey }) {
    const { wallet, row } = held;
    const key = clientKeyOf(clientPublicKey);
    await rejectUsedKey(ctx, wallet.row.id, key);
    const refuse = (fault: Fault) => recordFailure(ctx, row.id, fault);
    const identity = await verifyToken(ctx, parts, oidcToken);
    if (identity instanceof Fault) return refuse(identity);
    const fault = mismatch(identity, factsOf<Facts>(ctx, wallet, row), clientPublicKey);
    if (fault) return refuse(fault);
    if (!(await claimKey(ctx, held, key))) {
      return refuse(unauthorized('A token for this key was used before.'));
    }
    return { status: 200, body: await openSession(ctx, parts, wallet, row, clientPublicKey) };
  },

  removal: (_ctx, { wallet, row }) => ({
    type: 'DELETE_OAUTH_PROVIDERS',
    parameters: { providerIds: [row.id], userId: wallet.row.user_id },
  }),
};
