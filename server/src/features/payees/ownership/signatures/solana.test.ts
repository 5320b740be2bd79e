// Signatures of Solana wallets: valid, malformed and forged.
import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { solanaWallet } from '../../../../../test/kit/wallets/chain-wallets.ts';
import { isValidSolanaSignature } from './solana.ts';

const encode = (hex: string) => base58.encode(Buffer.from(hex, 'hex'));

describe('isValidSolanaSignature', () => {
  // RFC 8032, section 7.1: tests 1 and 2. The message of test 2 is the letter r.
  it.each([
    [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e3970' +
        '1cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      'r',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613' +
        'd0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
  ])('matches RFC 8032 for %s', (key, message, signature) => {
    expect(isValidSolanaSignature(encode(key), message, encode(signature))).toBe(true);
    expect(isValidSolanaSignature(encode(key), `${message}.`, encode(signature))).toBe(false);
  });

  const wallet = solanaWallet(createHash('sha256').update('one').digest());
  const otherWallet = solanaWallet(createHash('sha256').update('two').digest());
  const validSignature = wallet.sign('text');

  it('rejects the signature of another key and of another message', () => {
    expect(isValidSolanaSignature(wallet.address, 'text', validSignature)).toBe(true);
    expect(isValidSolanaSignature(wallet.address, 'text', otherWallet.sign('text'))).toBe(false);
    expect(isValidSolanaSignature(otherWallet.address, 'text', validSignature)).toBe(false);
  });

  it('rejects malformed signatures', () => {
    const bytes = Buffer.from(base58.decode(validSignature));
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    // s + L also verifies unless s is range-checked (Wycheproof, "SignatureMalleability").
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
    const nonCanonicalScalar = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
    const invalidSignatures = [
      Buffer.concat([bytes.subarray(0, 32), nonCanonicalScalar]),
      Buffer.concat([bytes, Buffer.of(0)]),
      bytes.subarray(0, 63),
      Buffer.alloc(64),
      Buffer.alloc(64, 255),
      Buffer.concat([Buffer.alloc(32), bytes.subarray(32)]),
      Buffer.concat([bytes.subarray(0, 32), Buffer.alloc(32)]),
    ];
    for (const each of invalidSignatures) {
      expect(isValidSolanaSignature(wallet.address, 'text', base58.encode(each))).toBe(false);
    }
    for (const each of [
      '',
      '0',
      bytes.toString('hex'),
      bytes.toString('base64'),
      ` ${validSignature}`,
    ]) {
      expect(isValidSolanaSignature(wallet.address, 'text', each)).toBe(false);
    }
    expect(isValidSolanaSignature('not an address', 'text', validSignature)).toBe(false);
  });

  // With the neutral point as key and as R, s = 0 satisfies the equation for every message.
  it.each([
    ['y = 1', `01${'00'.repeat(31)}`],
    ['y = 0, the address of all ones', '00'.repeat(32)],
    ['y = -1', `ec${'ff'.repeat(30)}7f`],
    ['order 8', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
    ['order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
    ['y = 1 encoded as p + 1', `ee${'ff'.repeat(30)}7f`],
  ])('rejects forged signatures of weak keys: %s', (_, key) => {
    const neutralPoint = `01${'00'.repeat(31)}`;
    for (const pointR of [neutralPoint, key]) {
      const forgedSignature = encode(`${pointR}${'00'.repeat(32)}`);
      for (const message of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
        expect(isValidSolanaSignature(encode(key), message, forgedSignature)).toBe(false);
      }
    }
  });
});
