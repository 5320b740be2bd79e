// Compares invoices with the examples of BOLT 11 byte for byte. Parses arbitrary invoices with an
// independent parser that shares only bech32.
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasBolt11Format, isBolt11 } from '../../../catalog/crypto/addresses.ts';
import { type Bolt11, bolt11 } from './bolt11.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

const PUBLISHED_INVOICE: Omit<Bolt11, 'description'> = {
  prefix: 'lnbc',
  amountMsat: 250_000_000n,
  timestamp: 1_496_314_658,
  expirySeconds: 60,
  paymentHash: hex('0001020304050607080900010203040506070809000102030405060708090102'),
  paymentSecret: new Uint8Array(32).fill(0x11),
  privateKey: hex('e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734'),
};
const PUBLISHED_NODE_KEY = '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad';

const PICO_PER_UNIT: Record<string, bigint> = {
  '': 1_000_000_000_000n,
  m: 1_000_000_000n,
  u: 1_000_000n,
  n: 1_000n,
  p: 1n,
};

/** Parses an invoice by the specification only. Returns its amount, fields and signer. */
function parseInvoice(text: string) {
  const { prefix, words } = bech32.decode(text as `${string}1${string}`, 5_000);
  const [, network, digits, unit] = /^(ln(?:bcrt|bc))(\d+)([munp]?)$/.exec(prefix) ?? [];
  const value = (groups: number[]) => groups.reduce((sum, group) => sum * 32 + group, 0);
  const data = words.slice(0, -104);
  const fields: Record<string, number[]> = {};
  for (let index = 7; index < data.length; ) {
    const [type, highDigit, lowDigit] = data.slice(index, index + 3) as [number, number, number];
    const end = index + 3 + highDigit * 32 + lowDigit;
    fields['qpzry9x8gf2tvdw0s3jn54khce6mua7l'[type] as string] = data.slice(index + 3, end);
    index = end;
  }
  const bytes = (letter: string) => {
    const groups = fields[letter] ?? [];
    const bits = BigInt(`0b1${groups.map((each) => each.toString(2).padStart(5, '0')).join('')}`);
    const paddingBits = BigInt((groups.length * 5) % 8);
    return Buffer.from((bits >> paddingBits).toString(16).slice(1), 'hex');
  };
  const paddingLength = (8 - ((data.length * 5) % 8)) % 8;
  const bits =
    data.map((each) => each.toString(2).padStart(5, '0')).join('') + '0'.repeat(paddingLength);
  const body = Buffer.from(BigInt(`0b1${bits}`).toString(16).slice(1), 'hex');
  const signature = bech32.fromWords(words.slice(-104));
  const recoverableSignature = Uint8Array.from([
    signature[64] as number,
    ...signature.subarray(0, 64),
  ]);
  const hash = sha256(Uint8Array.from([...Buffer.from(prefix), ...body]));
  const node = secp256k1.recoverPublicKey(recoverableSignature, hash, { prehash: false });
  return {
    network,
    pico: BigInt(digits ?? 0) * (PICO_PER_UNIT[unit ?? ''] as bigint),
    timestamp: value(data.slice(0, 7)),
    expirySeconds: value(fields.x ?? []),
    features: value(fields['9'] ?? []).toString(2),
    paymentHash: bytes('p').toString('hex'),
    paymentSecret: bytes('s').toString('hex'),
    description: bytes('d').toString('utf8'),
    node: Buffer.from(node).toString('hex'),
  };
}

describe('bolt11', () => {
  it.each([
    [
      '1 cup coffee',
      'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqf' +
        'qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vd' +
        'x85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh',
    ],
    [
      'ナンセンス 1杯',
      'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqf' +
        'qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpquwpc4curk03c9wlrswe78q4eyqc7d8d0xqzpu9qrsgqhtjpauu9' +
        'ur7fw2thcl4y9vfvh4m9wlfyz2gem29g5ghe2aak2pm3ps8fdhtceqsaagty2vph7utlgj48u0ged6a337aewvraed' +
        'endscp573dxr',
    ],
  ])('writes the published invoice for %s', (description, publishedText) => {
    expect(bolt11({ ...PUBLISHED_INVOICE, description })).toBe(publishedText);
    expect(parseInvoice(publishedText).node).toBe(PUBLISHED_NODE_KEY);
  });

  it.each([
    [2_000_000_000n, 'lnbc20m1'],
    [2_500_000_000n, 'lnbc25m1'],
    [967_878_534n, 'lnbc9678785340p1'],
    [100_000_000_000n, 'lnbc11'],
    [1_000n, 'lnbc10n1'],
  ])('writes %d msat as the shortest amount', (amountMsat, start) => {
    const text = bolt11({ ...PUBLISHED_INVOICE, amountMsat, description: '' });
    expect(text.startsWith(`${start}pvjluez`)).toBe(true);
  });

  it('creates invoices that a wallet decodes, signed by the node', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const key = bytes.filter((each) => secp256k1.utils.isValidSecretKey(each));
    const invoices = fc.record({
      prefix: fc.constantFrom('lnbc', 'lnbcrt'),
      amountMsat: fc.bigInt(1n, 2_100_000_000_000_000_000n),
      timestamp: fc.integer({ min: 1_500_000_000, max: 34_000_000_000 }),
      expirySeconds: fc.integer({ min: 1, max: 10_000_000 }),
      paymentHash: bytes,
      paymentSecret: bytes,
      description: fc.string({ maxLength: 60 }),
      privateKey: key,
    });
    fc.assert(
      fc.property(invoices, (invoice) => {
        const text = bolt11(invoice);
        expect(hasBolt11Format(text)).toBe(true);
        expect(isBolt11(text)).toBe(invoice.prefix === 'lnbc');
        expect(parseInvoice(text)).toEqual({
          network: invoice.prefix,
          pico: invoice.amountMsat * 10n,
          timestamp: invoice.timestamp,
          expirySeconds: invoice.expirySeconds,
          features: '100000100000000',
          paymentHash: Buffer.from(invoice.paymentHash).toString('hex'),
          paymentSecret: Buffer.from(invoice.paymentSecret).toString('hex'),
          description: invoice.description,
          node: Buffer.from(secp256k1.getPublicKey(invoice.privateKey, true)).toString('hex'),
        });
      }),
      { numRuns: 30 },
    );
  });
});
