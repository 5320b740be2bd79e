// Keys that sign for a wallet by themselves. Their stamps are the texts that the client libraries of wallets
// put into the signature header, with the same members in the same order, so that whoever reads a stamp need
// not know who made it.
import { sign } from 'node:crypto';
import { compressedPoint, type P256Pair, p256PrivateKey } from '../../kernel/crypto/p256.ts';
import type { CustodyKeys, CustodyPort } from '../ports/wallets.ts';
import { sealedPair } from './keys.ts';

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256';

const contextOf = (id: string) => `signer of ${id}`;

const publicKeyOf = ({ point }: P256Pair) => compressedPoint(point.toString('hex')) as string;

function stampOf(pair: P256Pair, payload: string): string {
  const key = p256PrivateKey(pair);
  const signature = sign('sha256', Buffer.from(payload), { key, dsaEncoding: 'der' });
  const publicKey = publicKeyOf(pair);
  const stamp = { publicKey, scheme: SCHEME, signature: signature.toString('hex') };
  return Buffer.from(JSON.stringify(stamp)).toString('base64url');
}

export const selfSigning = (
  draw: () => P256Pair,
  keys: Pick<CustodyKeys, 'seal' | 'open'>,
): Pick<CustodyPort, 'newSigner' | 'stampWith'> => ({
  async newSigner({ id }) {
    const pair = draw();
    try {
      return { publicKey: publicKeyOf(pair), signer: keys.seal(pair.scalar, contextOf(id)) };
    } finally {
      pair.scalar.fill(0);
    }
  },

  async stampWith({ id, signer, payload }) {
    const pair = sealedPair(keys, signer, contextOf(id));
    try {
      return stampOf(pair, payload);
    } finally {
      pair.scalar.fill(0);
    }
  },
});
