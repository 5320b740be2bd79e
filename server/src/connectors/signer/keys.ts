// The custodian's signing keys and the key pairs of sealed scalars. Signing keys are derived from
// the master key, so every process signs with the same keys.
import { generateP256, type P256Pair, p256Pair, p256PrivateKey } from '../../kernel/crypto/p256.ts';
import type { CustodyKeys } from '../ports/wallets.ts';
import type { Signer } from './bundles.ts';

/** The signer of a purpose. An invalid scalar is replaced with the next derived one. */
export function signerOf(keys: Pick<CustodyKeys, 'derive'>, purpose: string): Signer {
  let round = 0;
  const pair = generateP256(() => keys.derive(round++ ? `${purpose} ${round}` : purpose));
  const signer = { privateKey: p256PrivateKey(pair), publicKey: pair.point.toString('hex') };
  pair.scalar.fill(0);
  return signer;
}

/** The key pair of a scalar that was sealed before, for the caller to wipe. */
export function sealedPair(
  keys: Pick<CustodyKeys, 'open'>,
  sealedScalar: string,
  context: string,
): P256Pair {
  const pair = p256Pair(keys.open(sealedScalar, context));
  if (!pair) throw new Error(`the ${context} is not a valid P-256 key`);
  return pair;
}
