// Bitcoin signed messages of each address type, and malformed signatures.
import { describe, expect, it } from 'vitest';
import { bitcoinWallet } from '../../../../../test/kit/wallets/chain-wallets.ts';
import { bitcoinDigest, canSignBitcoinMessage, isValidBitcoinSignature } from './bitcoin.ts';

const hexOf = (text: string) => Buffer.from(text, 'base64').toString('hex');
const base64Of = (text: string) => Buffer.from(text, 'hex').toString('base64');

describe('bitcoinDigest', () => {
  // bitcoinjs-message, test/fixtures.json, "magicHash".
  it.each([
    ['', '80e795d4a4caadd7047af389d9f7f220562feb6196032e2131e10563352c4bcc'],
    ['Vires is Numeris', 'f8a5affbef4a3241b19067aa694562f64f513310817297089a8929a930f4f933'],
  ])('matches the published digest of "%s"', (message, digest) => {
    expect(Buffer.from(bitcoinDigest(message)).toString('hex')).toBe(digest);
  });
});

const VIRES_MESSAGE = 'vires is numeris';
const TREZOR_MESSAGE = 'This is an example of a signed message.';
const LONG_MESSAGE = 'VeryLongMessage!'.repeat(64);
const LONG_MESSAGE_SIGNATURE =
  '5ff795c29aef7538f8b3bdb2e8add0d0722ad630a140b6aefd504a5a895cbd867cbb00981afc50edd0398211' +
  'e8d7c304bb8efa461181bc0afa67ea4a720a89ed';
const TREZOR_SIGNATURE =
  '9e23edf0e4e47ff1dec27f32cd78c50e74ef018ee8a6adf35ae17c7a9b0dd96f48b493fd7dbab03efb6f439c' +
  '6383c9523b3bbc5f1a7d158a6af90ab154e9be80';

describe('bip137', () => {
  // The first four: bitcoinjs-message, test/fixtures.json, "verify". Then trezor-firmware,
  // tests/device_tests/bitcoin/test_verifymessage*.py. Then bitcoinj, MessageVerifyUtilsTest.
  const VECTORS: [address: string, message: string, signature: string][] = [
    [
      '16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvM',
      VIRES_MESSAGE,
      'G8JawPtQOrybrSP1WHQnQPr67B9S3qrxBrl1mlzoTJOSHEpmnF7D3+t+LX0Xei9J20B5AIdPbeL3AaTBZ4N3bY0=',
    ],
    [
      '1PMycacnJaSqwwJqjawXBErnLsZ7RkXUAs',
      VIRES_MESSAGE,
      'H8JawPtQOrybrSP1WHQnQPr67B9S3qrxBrl1mlzoTJOSHEpmnF7D3+t+LX0Xei9J20B5AIdPbeL3AaTBZ4N3bY0=',
    ],
    [
      '3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN',
      VIRES_MESSAGE,
      'JF8nHqFr3K2UKYahhX3soVeoW8W1ECNbr0wfck7lzyXjCS5Q16Ek45zyBuy1Fiy9sTPKVgsqqOuPvbycuVSSVl8=',
    ],
    [
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      VIRES_MESSAGE,
      'KF8nHqFr3K2UKYahhX3soVeoW8W1ECNbr0wfck7lzyXjCS5Q16Ek45zyBuy1Fiy9sTPKVgsqqOuPvbycuVSSVl8=',
    ],
    ['14LmW5k4ssUrtbAB4255zdqv3b4w1TuX9e', LONG_MESSAGE, base64Of(`20${LONG_MESSAGE_SIGNATURE}`)],
    ['14LmW5k4ssUrtbAB4255zdqv3b4w1TuX9e', TREZOR_MESSAGE, base64Of(`20${TREZOR_SIGNATURE}`)],
    ['mirio8q3gtv7fhdnmb3TpZ4EuafdzSs7zL', TREZOR_MESSAGE, base64Of(`20${TREZOR_SIGNATURE}`)],
    ['3CwYaeWxhpXXiHue3ciQez1DLaTEAXcKa1', TREZOR_MESSAGE, base64Of(`24${TREZOR_SIGNATURE}`)],
    [
      'bc1qyjjkmdpu7metqt5r36jf872a34syws33s82q2j',
      TREZOR_MESSAGE,
      base64Of(`28${TREZOR_SIGNATURE}`),
    ],
    [
      'tb1qyjjkmdpu7metqt5r36jf872a34syws336p3n3p',
      TREZOR_MESSAGE,
      base64Of(`28${TREZOR_SIGNATURE}`),
    ],
    [
      'bc1qyjjkmdpu7metqt5r36jf872a34syws33s82q2j',
      LONG_MESSAGE,
      base64Of(`28${LONG_MESSAGE_SIGNATURE}`),
    ],
    [
      '1JwSSubhmg6iPtRjtyqhUYYH7bZg3Lfy1T',
      TREZOR_MESSAGE,
      'G6d+Aanhe6FYuWLP718T3+1nb/wrS62iTlj3hEWLUrl0IUcNAB1T1YgM9eEOdvAr4+gL8h4YOYy9QejDtK90yMI=',
    ],
    [
      '1KzXE97kV7DrpxCViCN3HbGbiKhzzPM7TQ',
      'žluťoučký kůň úpěl ďábelské ódy',
      'HMaU8PI5Ad/jYDeJFC82o/xYLQ1cDschXPLM1kHk43IoUE89TcPuoou9v12ifEnUY1wJcATZ8ih1DM2Dao4UYMA=',
    ],
    [
      '33wW4GTkzMhgS3QvTP5K7jKY7i8zuzwqKg',
      '12345678',
      'I6N4ZR5jYHLO9HgpGjlWF87TU91cRELtg84TZmEJQnkGQ9XGNQiGd2MB+XKkbzPVpgbvqrgvbVV+n81X1m52TYI=',
    ],
    [
      'bc1q6nmtgxgfx2up7zuuydglme8fydugkh7jsrnz7f',
      '12345678',
      'J4cRzK+gDAJfGddCKB9EAHA2rOnxCZXowwGO/Zu4AmMvONsAE0b8vTez6pvMYl+gTjyn9AJv7PieFrGVTSWKK4M=',
    ],
  ];

  it.each(VECTORS)('accepts the published signature of %s', (address, message, signature) => {
    expect(isValidBitcoinSignature(address, message, signature, 'bip137')).toBe(true);
    expect(isValidBitcoinSignature(address, `${message}.`, signature, 'bip137')).toBe(false);
  });

  const [uncompressedVector, compressedVector, wrappedVector, nativeVector] = VECTORS.slice(
    0,
    4,
  ) as [string, string, string][];

  it('requires the header of the address type', () => {
    const mismatchedPairs = [
      [uncompressedVector![0], compressedVector![2]],
      [compressedVector![0], uncompressedVector![2]],
      [wrappedVector![0], nativeVector![2]],
      [nativeVector![0], wrappedVector![2]],
      // The header that Electrum uses for SegWit.
      [nativeVector![0], base64Of(`20${hexOf(nativeVector![2]).slice(2)}`)],
    ] as const;
    for (const [address, signature] of mismatchedPairs) {
      expect(isValidBitcoinSignature(address, VIRES_MESSAGE, signature, 'bip137')).toBe(false);
    }
  });

  it('rejects malformed signatures', () => {
    const [address, message, validSignature] = compressedVector as [string, string, string];
    const hex = hexOf(validSignature);
    // The first three: bitcoinjs-message, test/fixtures.json, "invalid".
    const invalidSignatures = [
      base64Of(
        '2b987ceade6a304fc5823ab38f99fc3c5f772a2d3e89ea05931e2726105fc53b9e601fc3231f35962c714fcb' +
          'ce5c95b427496edc7ae8b3d12e93791d7629795b62',
      ),
      base64Of(`${hex}000000`),
      base64Of(hex.slice(0, -8)),
      base64Of(`1a${hex.slice(2)}`),
      base64Of(`00${hex.slice(2)}`),
      base64Of(`ff${hex.slice(2)}`),
      base64Of(hex.slice(0, -2).concat('00')),
      validSignature.slice(0, -1),
      `${validSignature}=`,
      ` ${validSignature}`,
      hex,
      '',
      'no base64 at all',
    ];
    for (const each of invalidSignatures) {
      expect([each, isValidBitcoinSignature(address, message, each, 'bip137')]).toEqual([
        each,
        false,
      ]);
    }
    expect(
      isValidBitcoinSignature('1111111111111111111114oLvT2', message, validSignature, 'bip137'),
    ).toBe(false);
    expect(isValidBitcoinSignature('nonsense', message, validSignature, 'bip137')).toBe(false);
  });
});

describe('electrum', () => {
  // bitcoinj, MessageVerifyUtilsTest: created with Electrum 4.2.1 and with a Coldcard.
  const VECTORS: [address: string, message: string, signature: string][] = [
    [
      'bc1qr98j5exfpgn3g6tup064sjtr8hqf4hwesg8x2n',
      '⚡️⚡️⚡️  We löööve Lightning. This signature was created with Electrum 4.2.1 and ' +
        'a P2PWKH address (native segwit).',
      'ICD+yhkWDgBMHLhLwFkKC7ndcc2STRSCWApKDQDBhuuCd9AjigggCMGyrZvXNWBXn650WB9uncaq22adCyYYNQQ=',
    ],
    [
      '19rK6PL7KUQNk2Z9dGRGjnhDd6QUA5QXwa',
      '⚡️⚡️⚡️🤯🥳🥸  We still lööve Lightning.  :) This signature was created with ' +
        'Electrum 4.2.1 and a compressed P2PKH address (legacy 1.. address).',
      'HyKVgA7lPUXt50BqMhRYrLQNiP3hVOiU9SavIzopactCUWcy9NVcIb/FvmknKQQpeH3A38DZv7mHM/uSQPXhWf8=',
    ],
    [
      '383jWSXohdSkpLKQPV2a91xqqJ83ZkGrA4',
      '🥸🤮😻 Legäcy segwit, wrapped into P2SH, compressed, this signature was created ' +
        'with Electrum 4.2.1 P2SH-P2WPKH address (3er.. legacy segwit address).',
      'H3B3EvJKTvVSjr8o7ZssUfeoEfauqj3jRIs0Js/QCsQjN230pIM2C3GMqmDDP+Uo+OB6OZaXiVrAkuSmJ0iABvU=',
    ],
    [
      'bc1qp2ltq2tgsjav3rq3lt38lzfnpzewv8fcharjyk',
      '1113875075',
      'HzXKbcRCe5By+a/7CRh0QMd6B2SdnDKcNKzieBRCkYtzCrBquTRZO49iDmwWqiAMphlpqmVQUxmHLSe0Y9GGysQ=',
    ],
    [
      'bc1qzeacswvlulg0jngad9gmtkvdp9lwum42wwzdu5',
      'Hello',
      'HxuuWQwjw0417fLV9L0kWbt7w9XOIWKhHMhjXhyXTczcSozGTXM4knqdISiYbbmqSRXqI5mNTWH9qkDoqZTpnPc=',
    ],
    [
      '1FizteKkFBDvqYX5FKSqaXXsoieFv8YXC3',
      '😶‍🌫️🧐🤓  Old and legäcy, this signature was created with Electrum 4.2.1 and a ' +
        'UNCOMPRESSED P2PKH address (1er.. address). Uncompressed is soooo retro... 🙈',
      'HBLk5Jy5WzCGBpzrNQxABbJ4lT34f12uwMgmg4TSwIAXWQZ2FvLXHib1Vl9n9TmFWIdwGiHuNtpv+q0a7sHOT5U=',
    ],
  ];

  it.each(VECTORS)('accepts the published signature of %s', (address, message, signature) => {
    expect(isValidBitcoinSignature(address, message, signature, 'electrum')).toBe(true);
    expect(isValidBitcoinSignature(address, `${message}.`, signature, 'electrum')).toBe(false);
  });

  it('rejects headers above 34', () => {
    const wallet = bitcoinWallet(21n);
    for (const header of ['p2sh', 'segwit'] as const) {
      const signature = wallet.sign('text', header);
      expect(isValidBitcoinSignature(wallet[header], 'text', signature, 'bip137')).toBe(true);
      expect(isValidBitcoinSignature(wallet[header], 'text', signature, 'electrum')).toBe(false);
    }
  });

  it('rejects an uncompressed key for SegWit', () => {
    const wallet = bitcoinWallet(22n);
    const signature = wallet.sign('text', 'uncompressed');
    expect(isValidBitcoinSignature(wallet.uncompressed, 'text', signature, 'electrum')).toBe(true);
    for (const address of [wallet.p2pkh, wallet.p2sh, wallet.segwit]) {
      expect(isValidBitcoinSignature(address, 'text', signature, 'electrum')).toBe(false);
    }
    const otherSignature = bitcoinWallet(23n).sign('text', 'p2pkh');
    expect(isValidBitcoinSignature(wallet.segwit, 'text', otherSignature, 'electrum')).toBe(false);
  });
});

describe('a Taproot address', () => {
  // BIP-86 test vectors, first receiving address. Its internal key belongs to this secret.
  const address = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
  const secret = 0x41f41d69260df4cf277826a9b65a3717e4eeddbeedf637f212ca096576479361n;

  it('is proved by its internal key, tweaked as in BIP-86', () => {
    const wallet = bitcoinWallet(secret);
    for (const [header, scheme] of [
      ['segwit', 'bip137'],
      ['p2pkh', 'electrum'],
    ] as const) {
      const signature = wallet.sign('text', header);
      expect(isValidBitcoinSignature(address, 'text', signature, scheme)).toBe(true);
      expect(isValidBitcoinSignature(address, 'other', signature, scheme)).toBe(false);
    }
    const otherSignature = bitcoinWallet(25n).sign('text', 'segwit');
    expect(isValidBitcoinSignature(address, 'text', otherSignature, 'bip137')).toBe(false);
    expect(isValidBitcoinSignature(address, 'text', wallet.sign('text', 'p2pkh'), 'bip137')).toBe(
      false,
    );
  });
});

describe('canSignBitcoinMessage', () => {
  it('is true for an address of a single key and false for a script address', () => {
    expect(canSignBitcoinMessage('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toBe(true);
    const scriptAddress = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
    expect(canSignBitcoinMessage(scriptAddress)).toBe(false);
  });
});
