// Every step of the published vectors of the encryption to a key. Also scalars, points and secrets
// that begin with zero bytes, because implementations often omit these bytes.
import { createCipheriv, createECDH, createHmac, createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { walletCrypto } from '../../../test/kit/wallets/client-libraries.ts';
import { RFC_9180, SEALED_KEY, STAMP } from '../../../test/kit/wallets/wallet-vectors.ts';
import {
  compressedPoint,
  type P256Pair,
  p256Pair,
  p256PrivateKey,
  p256PublicKey,
} from '../../kernel/crypto/p256.ts';
import { openWith, sealTo, suite } from './hpke.ts';

const { hpkeDecrypt, verifyStampSignature } = walletCrypto;

const hex = (text: string) => Buffer.from(text, 'hex');
const pairOf = (scalar: string) => p256Pair(hex(scalar)) as P256Pair;
const compressedKeyOf = ({ point }: P256Pair) => compressedPoint(point.toString('hex'));

/** The key schedule of RFC 9180 §4 and §5, implemented from the text of the RFC. */
const KEM_SUITE_ID = Buffer.from('4b454d0010', 'hex');
const HPKE_SUITE_ID = Buffer.from('48504b45001000010002', 'hex');
const hmac = (key: Buffer, text: Buffer) => createHmac('sha256', key).update(text).digest();
const extract = (suiteId: Buffer, salt: Buffer, label: string, ikm: Buffer) =>
  hmac(salt, Buffer.concat([Buffer.from('HPKE-v1'), suiteId, Buffer.from(label), ikm]));
function expand(suiteId: Buffer, key: Buffer, label: string, info: Buffer, length: number) {
  const labeledInput = [
    Buffer.from([0, length]),
    Buffer.from('HPKE-v1'),
    suiteId,
    Buffer.from(label),
  ];
  return hmac(key, Buffer.concat([...labeledInput, info, Buffer.from([1])])).subarray(0, length);
}

function schedule(dh: Buffer, points: Buffer, info: Buffer) {
  const emptyBytes = Buffer.alloc(0);
  const sharedSecret = expand(
    KEM_SUITE_ID,
    extract(KEM_SUITE_ID, emptyBytes, 'eae_prk', dh),
    'shared_secret',
    points,
    32,
  );
  const context = Buffer.concat([
    Buffer.from([0]),
    extract(HPKE_SUITE_ID, emptyBytes, 'psk_id_hash', emptyBytes),
    extract(HPKE_SUITE_ID, emptyBytes, 'info_hash', info),
  ]);
  const secret = extract(HPKE_SUITE_ID, sharedSecret, 'secret', emptyBytes);
  return {
    sharedSecret: sharedSecret.toString('hex'),
    context: context.toString('hex'),
    key: expand(HPKE_SUITE_ID, secret, 'key', context, 32).toString('hex'),
    nonce: expand(HPKE_SUITE_ID, secret, 'base_nonce', context, 12).toString('hex'),
  };
}

function sharedSecretOf({ scalar }: P256Pair, { point }: P256Pair): Buffer {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalar);
  return curve.computeSecret(point);
}

describe('the suite', () => {
  const { info, ikmE, ikmR, skR, pkR, pkE, aad, plaintext, ciphertext } = RFC_9180;

  it('matches the keys and messages of RFC 9180', async () => {
    const recipient = await suite.kem.deriveKeyPair(new Uint8Array(hex(ikmR)).buffer);
    const { kem } = suite;
    expect(Buffer.from(await kem.serializePrivateKey(recipient.privateKey)).toString('hex')).toBe(
      skR,
    );
    expect(Buffer.from(await kem.serializePublicKey(recipient.publicKey)).toString('hex')).toBe(
      pkR,
    );
    const sealedMessage = await suite.seal(
      { recipientPublicKey: recipient.publicKey, info: hex(info), ekm: hex(ikmE) },
      hex(plaintext),
      hex(aad),
    );
    expect(Buffer.from(sealedMessage.enc).toString('hex')).toBe(pkE);
    expect(Buffer.from(sealedMessage.ct).toString('hex')).toBe(ciphertext);
    const plaintextOfSuite = await suite.open(
      { recipientKey: recipient, info: hex(info), enc: hex(pkE) },
      hex(ciphertext),
      hex(aad),
    );
    expect(Buffer.from(plaintextOfSuite).toString('hex')).toBe(plaintext);
  });

  it('has vectors in RFC 9180 that the key schedule of this test reproduces', () => {
    const dh = sharedSecretOf(pairOf(RFC_9180.skE), pairOf(skR));
    const { sharedSecret, context, key, nonce } = RFC_9180;
    expect(schedule(dh, hex(pkE + pkR), hex(info))).toEqual({ sharedSecret, context, key, nonce });
  });
});

describe('data sealed to a client', () => {
  const { skR, skE, plaintext, ciphertext } = SEALED_KEY;
  const [recipient, ephemeral] = [pairOf(skR), pairOf(skE)];

  it('equals the published test vector at every step', () => {
    expect([compressedKeyOf(recipient), compressedKeyOf(ephemeral)]).toEqual([
      SEALED_KEY.pkR,
      SEALED_KEY.pkE,
    ]);
    const dh = sharedSecretOf(ephemeral, recipient);
    expect(dh.toString('hex')).toBe(SEALED_KEY.dh);
    const points = Buffer.concat([ephemeral.point, recipient.point]);
    const { sharedSecret, context, key, nonce } = SEALED_KEY;
    const steps = schedule(dh, points, Buffer.from('turnkey_hpke'));
    expect(steps).toEqual({ sharedSecret, context, key, nonce });
    const cipher = createCipheriv('aes-256-gcm', hex(key), hex(nonce));
    cipher.setAAD(points);
    const chunks = [cipher.update(hex(plaintext)), cipher.final(), cipher.getAuthTag()];
    expect(Buffer.concat(chunks).toString('hex')).toBe(ciphertext);
  });

  it('can be sealed and opened', async () => {
    const sealedMessage = await sealTo(recipient.point, hex(plaintext), ephemeral);
    expect(sealedMessage).toEqual({
      encapsulatedKey: ephemeral.point,
      ciphertext: hex(ciphertext),
    });
    expect(await openWith(recipient, sealedMessage)).toEqual(hex(plaintext));
  });

  it('cannot be opened with another key, or after a change', async () => {
    const sealedMessage = await sealTo(recipient.point, hex(plaintext), ephemeral);
    expect(await openWith(pairOf('44'.repeat(32)), sealedMessage)).toBeUndefined();
    const tamperedCiphertext = Buffer.from(sealedMessage.ciphertext);
    tamperedCiphertext[0] = (tamperedCiphertext[0] as number) ^ 1;
    expect(
      await openWith(recipient, { ...sealedMessage, ciphertext: tamperedCiphertext }),
    ).toBeUndefined();
    const encapsulatedKey = pairOf('55'.repeat(32)).point;
    expect(await openWith(recipient, { ...sealedMessage, encapsulatedKey })).toBeUndefined();
    const invalidPoint = Buffer.from(encapsulatedKey).fill(1, 1);
    expect(
      await openWith(recipient, { ...sealedMessage, encapsulatedKey: invalidPoint }),
    ).toBeUndefined();
    expect(
      await openWith(recipient, { ...sealedMessage, ciphertext: Buffer.alloc(3) }),
    ).toBeUndefined();
  });

  it('requires a point of the curve', async () => {
    const pointOffCurve = Buffer.from(recipient.point).fill(1, 1);
    await expect(sealTo(pointOffCurve, hex(plaintext), ephemeral)).rejects.toThrow();
    await expect(sealTo(Buffer.alloc(0), hex(plaintext), ephemeral)).rejects.toThrow();
  });
});

describe('numbers that begin with zeros', () => {
  /** The matching pair with the smallest scalar that is at least `from`. */
  function firstMatchingPair(from: number, matches: (pair: P256Pair) => boolean): P256Pair {
    for (let number = from; ; number++) {
      const pair = pairOf(number.toString(16).padStart(64, '0'));
      if (matches(pair)) return pair;
    }
  }
  const commonPair = pairOf('66'.repeat(32));
  const cases: Record<string, () => readonly [P256Pair, P256Pair]> = {
    'a scalar': () => [pairOf(`00${'77'.repeat(31)}`), pairOf(`0000${'78'.repeat(30)}`)],
    'a first coordinate': () => [firstMatchingPair(1, (pair) => pair.point[1] === 0), commonPair],
    'a second coordinate': () => [commonPair, firstMatchingPair(1, (pair) => pair.point[33] === 0)],
    'the agreed secret': () => [
      commonPair,
      firstMatchingPair(1, (pair) => sharedSecretOf(pair, commonPair)[0] === 0),
    ],
  };

  it.each(Object.keys(cases))('are preserved in %s', async (name) => {
    const [recipient, ephemeral] = (cases[name] as () => readonly [P256Pair, P256Pair])();
    const plaintext = hex(`00${'ab'.repeat(31)}`);
    const sealedMessage = await sealTo(recipient.point, plaintext, ephemeral);
    expect(sealedMessage.encapsulatedKey).toHaveLength(65);
    expect(await openWith(recipient, sealedMessage)).toEqual(plaintext);
    const decryptedBytes = hpkeDecrypt({
      ciphertextBuf: sealedMessage.ciphertext,
      encappedKeyBuf: sealedMessage.encapsulatedKey,
      receiverPriv: recipient.scalar.toString('hex'),
    });
    expect(Buffer.from(decryptedBytes)).toEqual(plaintext);
  });
});

describe('the published stamp', () => {
  const { privateKey, payload, publicKey, signature } = STAMP;

  it('verifies with the stated key, here and in the client library', async () => {
    expect(compressedKeyOf(pairOf(privateKey))).toBe(publicKey);
    const ownKey = createPublicKey(p256PrivateKey(pairOf(privateKey)));
    expect(ownKey.equals(p256PublicKey(publicKey))).toBe(true);
    expect(verify('sha256', Buffer.from(payload), ownKey, hex(signature))).toBe(true);
    expect(verify('sha256', Buffer.from(`${payload} `), ownKey, hex(signature))).toBe(false);
    expect(await verifyStampSignature(publicKey, signature, payload)).toBe(true);
  });
});
