// Signatures of Spark wallets in compact and DER encoding, and malformed signatures.
import { createECDH, createPrivateKey, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sparkWallet } from '../../../../../test/kit/wallets/chain-wallets.ts';
import { isLow, toBigInt } from './secp256k1.ts';
import { isValidSparkSignature } from './spark.ts';

const wallet = sparkWallet(31n);
const validSignature = wallet.sign('text');

/** A DER signature from OpenSSL, repeated until `s` is low or high as required. */
function signDer(message: string, isLowRequired: boolean): string {
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(Buffer.from('1f'.padStart(64, '0'), 'hex'));
  const point = curve.getPublicKey();
  const coordinateAt = (offset: number) =>
    point.subarray(offset, offset + 32).toString('base64url');
  const d = Buffer.from('1f'.padStart(64, '0'), 'hex').toString('base64url');
  const key = createPrivateKey({
    format: 'jwk',
    key: { kty: 'EC', crv: 'secp256k1', d, x: coordinateAt(1), y: coordinateAt(33) },
  });
  for (;;) {
    const signature = sign('sha256', Buffer.from(message), key);
    const s = signature.subarray(4 + signature[3]! + 2);
    if (isLow(toBigInt(s)) === isLowRequired) return signature.toString('hex');
  }
}

describe('isValidSparkSignature', () => {
  it('accepts compact and DER signatures, as wallet SDKs produce them', () => {
    expect(isValidSparkSignature(wallet.address, 'text', validSignature)).toBe(true);
    expect(isValidSparkSignature(wallet.address.toUpperCase(), 'text', `0x${validSignature}`)).toBe(
      true,
    );
    expect(isValidSparkSignature(wallet.address, 'text', signDer('text', true))).toBe(true);
  });

  it('rejects a high s, the signature of another key, and of another message', () => {
    expect(isValidSparkSignature(wallet.address, 'text', wallet.sign('text', { high: true }))).toBe(
      false,
    );
    expect(isValidSparkSignature(wallet.address, 'text', signDer('text', false))).toBe(false);
    expect(isValidSparkSignature(wallet.address, 'other', validSignature)).toBe(false);
    expect(isValidSparkSignature(sparkWallet(32n).address, 'text', validSignature)).toBe(false);
    expect(isValidSparkSignature(`${wallet.address.slice(0, -3)}002`, 'text', validSignature)).toBe(
      false,
    );
  });

  it('rejects malformed signatures', () => {
    const derSignature = signDer('text', true);
    const invalidSignatures = [
      '',
      '00',
      validSignature.slice(2),
      `${validSignature}00`,
      '00'.repeat(64),
      'ff'.repeat(64),
    ];
    for (const signature of [
      ...invalidSignatures,
      `${derSignature}00`,
      derSignature.slice(0, -2),
      `31${derSignature.slice(2)}`,
      '30',
    ]) {
      expect([signature, isValidSparkSignature(wallet.address, 'text', signature)]).toEqual([
        signature,
        false,
      ]);
    }
  });
});
