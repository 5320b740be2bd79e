// Bitcoin addresses: what each kind contains. The older kinds are base58 with a checksum and a first byte
// that names the kind and the network; SegWit ones are bech32 (version 0) or bech32m (version 1, Taproot),
// as BIP-173 and BIP-350 have it. Later versions are not in use yet and are rejected.
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';

export interface BitcoinAddress {
  /** `test` stands for every network whose coins are worth nothing. */
  network: 'main' | 'test';
  kind: 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr';
  /** The hash or key that an output to this address holds. */
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

/** What an address stands for; undefined where a checksum or a length does not fit. */
export const bitcoinAddress = (text: string): BitcoinAddress | undefined =>
  segwit(text) ?? legacy(text);
