// Tokens that say who has shown a one-time code: compact JWTs, ES256, whose signature is the two
// numbers side by side. Claims are written as they are given: clients of embedded wallets want
// `exp` as a text of milliseconds, where other tokens have a number of seconds.
import { createPublicKey } from 'node:crypto';
import { CompactSign, calculateJwkThumbprint } from 'jose';
import type { Signer } from './bundles.ts';

/** A signer of tokens, with the name of its key: the thumbprint of RFC 7638. */
interface TokenSigner extends Signer {
  kid: string;
}

export const tokenSigner = async (signer: Signer): Promise<TokenSigner> => ({
  ...signer,
  kid: await calculateJwkThumbprint(createPublicKey(signer.privateKey).export({ format: 'jwk' })),
});

export const tokenOf = (
  claims: Readonly<Record<string, unknown>>,
  { privateKey, kid }: TokenSigner,
): Promise<string> =>
  new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid })
    .sign(privateKey);
