// Decodes Bitcoin addresses. Legacy kinds are base58 with a checksum and a first byte for kind and
// network; SegWit kinds are bech32 (version 0) or bech32m (version 1, Taproot) as defined by
// BIP-173 and BIP-350. Later versions are rejected.
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';

export interface BitcoinAddress {
  /** `test` covers all test networks. */
  network: 'main' | 'test';
  kind: 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr';
  /** The hash or key of the output script. */
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

function segwit(text: string): BitcoinAddress | undefined {
  for (const [version, code] of [bech32, bech32m].entries()) {
    const read = code.decodeUnsafe(text as `${string}1${string}`, 90);
    if (!read || read.words[0] !== version) continue;
    const network = NETWORKS[read.prefix];
    const program = code.fromWordsUnsafe(read.words.slice(1));
    const kind = program && KINDS[`${version} ${program.length}`];
    return network && kind ? { network, kind, program } : undefined;
  }
  return undefined;
}

function legacy(text: string): BitcoinAddress | undefined {
  try {
    const bytes = base58check.decode(text);
    const known = bytes.length === 21 ? VERSIONS[bytes[0] as number] : undefined;
    return known && { ...known, program: bytes.subarray(1) };
  } catch {
    return undefined;
  }
}

/** The decoded address; undefined for an invalid checksum or length. */
export const bitcoinAddress = (text: string): BitcoinAddress | undefined =>
  segwit(text) ?? legacy(text);
