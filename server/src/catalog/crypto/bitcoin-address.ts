// Parser of Bitcoin addresses. Legacy addresses are base58check, and their first byte identifies
// kind and network. SegWit addresses are bech32 (version 0, BIP-173) or bech32m (version 1,
// Taproot, BIP-350). Later witness versions are not in use and are rejected.
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';

export interface BitcoinAddress {
  /** `test` includes regtest and all other test networks. */
  network: 'main' | 'test';
  kind: 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr';
  /** Hash or public key in an output to this address. */
  program: Uint8Array;
}

const base58check = createBase58check(sha256);

const VERSIONS: Readonly<Record<number, Pick<BitcoinAddress, 'network' | 'kind'>>> = {
  0: { network: 'main', kind: 'p2pkh' },
  5: { network: 'main', kind: 'p2sh' },
  111: { network: 'test', kind: 'p2pkh' },
  196: { network: 'test', kind: 'p2sh' },
};

const NETWORKS: Readonly<Record<string, BitcoinAddress['network']>> = {
  bc: 'main',
  tb: 'test',
  bcrt: 'test',
};

const KINDS: Readonly<Record<string, BitcoinAddress['kind']>> = {
  '0 20': 'p2wpkh',
  '0 32': 'p2wsh',
  '1 32': 'p2tr',
};

function parseSegwit(text: string): BitcoinAddress | undefined {
  for (const [version, codec] of [bech32, bech32m].entries()) {
    const bech32Data = codec.decodeUnsafe(text as `${string}1${string}`, 90);
    if (!bech32Data || bech32Data.words[0] !== version) continue;
    const network = NETWORKS[bech32Data.prefix];
    const program = codec.fromWordsUnsafe(bech32Data.words.slice(1));
    const kind = program && KINDS[`${version} ${program.length}`];
    return network && kind ? { network, kind, program } : undefined;
  }
  return undefined;
}

function parseLegacy(text: string): BitcoinAddress | undefined {
  try {
    const bytes = base58check.decode(text);
    const details = bytes.length === 21 ? VERSIONS[bytes[0] as number] : undefined;
    return details && { ...details, program: bytes.subarray(1) };
  } catch {
    return undefined;
  }
}

/** Undefined for a string that is not an address or has an invalid checksum or length. */
export const parseBitcoinAddress = (text: string): BitcoinAddress | undefined =>
  parseSegwit(text) ?? parseLegacy(text);
