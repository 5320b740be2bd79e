// Bitcoin signed messages: a double SHA-256 of a prefix and the message, with a recoverable
// signature of 65 bytes in base64. The first byte selects the key and, by BIP-137, the address
// type. Electrum has no header for SegWit, so any type is compared. BIP-137 predates Taproot, so
// its header for native SegWit is accepted for both versions.
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 as sha256Of } from '@noble/hashes/sha2.js';
import {
  type BitcoinAddress,
  parseBitcoinAddress,
} from '../../../../catalog/crypto/bitcoin-address.ts';
import { compressKey, recoverKey, tweakedX } from './secp256k1.ts';

export type SignatureScheme = 'bip137' | 'electrum';

const sha256 = (...parts: Uint8Array[]): Uint8Array => sha256Of(Buffer.concat(parts));
const hash160 = (bytes: Uint8Array): Uint8Array => ripemd160(sha256(bytes));

function prefixWithLength(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length < 0xfd) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const lengthPrefix = Buffer.from([0xfd, bytes.length & 0xff, bytes.length >> 8]);
  return Buffer.concat([lengthPrefix, bytes]);
}

/** The digest of a message of up to 65,535 bytes. */
export const bitcoinDigest = (message: string): Uint8Array =>
  sha256(sha256(prefixWithLength('Bitcoin Signed Message:\n'), prefixWithLength(message)));

type Kind = BitcoinAddress['kind'];

const SEGWIT: readonly Kind[] = ['p2wpkh', 'p2tr'];
const ANY_KIND: readonly Kind[] = ['p2pkh', 'p2sh', ...SEGWIT];

/** The first of four header values, and the address types that these values indicate. */
const HEADERS: Record<SignatureScheme, readonly { firstHeader: number; kinds: readonly Kind[] }[]> =
  {
    bip137: [
      { firstHeader: 27, kinds: ['p2pkh'] },
      { firstHeader: 31, kinds: ['p2pkh'] },
      { firstHeader: 35, kinds: ['p2sh'] },
      { firstHeader: 39, kinds: SEGWIT },
    ],
    electrum: [
      { firstHeader: 27, kinds: ['p2pkh'] },
      { firstHeader: 31, kinds: ANY_KIND },
    ],
  };
const UNCOMPRESSED_HEADER = 27;

function tapTweak(key: Uint8Array): Uint8Array {
  const tag = sha256(Buffer.from('TapTweak'));
  return sha256(tag, tag, key.subarray(1, 33));
}

/** The program of an address of this kind for this single key. */
function programOf(kind: Kind, key: Buffer, isUncompressed: boolean): Uint8Array | undefined {
  if (isUncompressed) return hash160(key);
  const keyHash = hash160(compressKey(key));
  if (kind === 'p2sh') return hash160(Buffer.concat([Buffer.from([0, 20]), keyHash]));
  return kind === 'p2tr' ? tweakedX(key, tapTweak(key)) : keyHash;
}

/** Script addresses (P2WSH) cannot be proved by a signature. */
export function canSignBitcoinMessage(address: string): boolean {
  return parseBitcoinAddress(address)?.kind !== 'p2wsh';
}

/** Whether the key of this address signed the message. */
export function isValidBitcoinSignature(
  address: string,
  message: string,
  signature: string,
  scheme: SignatureScheme,
): boolean {
  const target = parseBitcoinAddress(address);
  const bytes = Buffer.from(signature, 'base64');
  if (!target || bytes.length !== 65 || bytes.toString('base64') !== signature) return false;
  const header = bytes[0]!;
  const headerGroup = HEADERS[scheme].find(
    ({ firstHeader }) => header >= firstHeader && header < firstHeader + 4,
  );
  if (!headerGroup?.kinds.includes(target.kind)) return false;
  const key = recoverKey(
    bitcoinDigest(message),
    bytes.subarray(1),
    header - headerGroup.firstHeader,
  );
  const program =
    key && programOf(target.kind, key, headerGroup.firstHeader === UNCOMPRESSED_HEADER);
  return !!program && Buffer.from(program).equals(target.program);
}
