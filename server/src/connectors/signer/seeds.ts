// Seeds of wallets: 16 random bytes, which BIP-39 writes as twelve English words. What is stored is
// the bytes, sealed and bound to the wallet; the words exist only while they are being encrypted to
// their owner.
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { World } from '../../kernel/world.ts';
import type { CustodyKeys } from '../ports/wallets.ts';

const ENTROPY_BYTES = 16;

const contextOf = (walletId: string) => `seed of wallet ${walletId}`;

export function newSeed(
  world: World,
  keys: Pick<CustodyKeys, 'seal'>,
  { walletId }: { walletId: string },
): string {
  const entropy = world.random(ENTROPY_BYTES);
  try {
    return keys.seal(entropy, contextOf(walletId));
  } finally {
    entropy.fill(0);
  }
}

/** The words in ASCII, for the caller to wipe. The text they were is left to the collector. */
export function wordsOf(
  keys: Pick<CustodyKeys, 'open'>,
  { walletId, seed }: { walletId: string; seed: string },
): Buffer {
  const entropy = keys.open(seed, contextOf(walletId));
  try {
    return Buffer.from(entropyToMnemonic(new Uint8Array(entropy), wordlist), 'ascii');
  } finally {
    entropy.fill(0);
  }
}
