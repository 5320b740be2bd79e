// Signed messages of EVM chains, compared with published digests and signatures, and of Tron.
import { describe, expect, it } from 'vitest';
import { evmWallet, tronWallet } from '../../../../../test/kit/wallets/chain-wallets.ts';
import { decodeHex, evmDigest, isValidEvmSignature, isValidTronSignature } from './personal.ts';

/** The test key of the web3.js and eth-account documentation. */
const DOCUMENTED_SECRET = 0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318n;
const OWNER_ADDRESS = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23';

describe('EIP-191', () => {
  // web3.js documentation, web3.eth.accounts.sign. Eth-account, tests/core/test_accounts.py.
  const VECTORS = [
    [
      'Some data',
      '1da44b586eb0729ff70a73c326926f6ed5a25f5b056e7f47fbc6e58d86871655',
      '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd' +
        '6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
    ],
    [
      '10284',
      '0a162a5efbba02f38db3114531c8acba39fe676f09f7e471d93e8a06c471821c',
      '0x00515bc8fd32264e21ec0820e8c5123ed58c1195c9ea17cb018b1ad4073cc5a6' +
        '0080f5dcec397a5a8c523082bfa41771568903aa554ec06ba8475ca9050fb7d51b',
    ],
  ] as const;

  it.each(VECTORS)('matches the published signature of "%s"', (message, digest, signature) => {
    expect(Buffer.from(evmDigest(message)).toString('hex')).toBe(digest);
    expect(isValidEvmSignature(OWNER_ADDRESS, message, signature)).toBe(true);
    expect(isValidEvmSignature(OWNER_ADDRESS.toLowerCase(), message, signature.slice(2))).toBe(
      true,
    );
    expect(isValidEvmSignature(OWNER_ADDRESS, `${message} `, signature)).toBe(false);
    expect(evmWallet(DOCUMENTED_SECRET).address).toBe(OWNER_ADDRESS.toLowerCase());
  });

  // EIP-191 digest of "Hello World": go-ethereum and MetaMask's eth-sig-util.
  it('matches the published digest', () => {
    const digest = 'a1de988600a42c4b4ab089b619297c17d53cffae5d5120d82d8a92d0bb3b78f2';
    expect(Buffer.from(evmDigest('Hello World')).toString('hex')).toBe(digest);
  });

  const [message, , validSignature] = VECTORS[0];
  const replaceV = (v: string) => validSignature.slice(0, -2) + v;

  it('accepts v as 0 and 1 or as 27 and 28 only', () => {
    expect(isValidEvmSignature(OWNER_ADDRESS, message, replaceV('01'))).toBe(true);
    for (const v of ['00', '1b', '02', '1a', '1d', '1e', '25', '26', 'ff']) {
      expect([v, isValidEvmSignature(OWNER_ADDRESS, message, replaceV(v))]).toEqual([v, false]);
    }
  });

  it('rejects any text other than 65 bytes in hexadecimal', () => {
    // In the compact form of EIP-2098, the top bit of s is the parity of y.
    const compactSignature = `${validSignature.slice(0, 66)}e${validSignature.slice(67, -2)}`;
    const invalidSignatures = [
      validSignature.slice(0, -2),
      compactSignature,
      `${validSignature}00`,
      validSignature.slice(0, -1),
      '',
      '0x',
      'not hex',
    ];
    for (const each of [...invalidSignatures, `0x${validSignature}`, ` ${validSignature}`]) {
      expect([each, isValidEvmSignature(OWNER_ADDRESS, message, each)]).toEqual([each, false]);
    }
  });

  it('rejects a high s, the signature of another key, and of another message', () => {
    const wallet = evmWallet(11n);
    expect(isValidEvmSignature(wallet.address, message, wallet.sign(message))).toBe(true);
    expect(isValidEvmSignature(wallet.address, message, wallet.sign(message, { v: 0 }))).toBe(true);
    expect(isValidEvmSignature(wallet.address, message, wallet.sign(message, { high: true }))).toBe(
      false,
    );
    expect(isValidEvmSignature(wallet.address, message, evmWallet(12n).sign(message))).toBe(false);
    expect(isValidEvmSignature(wallet.address, message, wallet.sign('another'))).toBe(false);
  });

  it('uses the length in bytes', () => {
    const wallet = evmWallet(13n);
    expect(isValidEvmSignature(wallet.address, 'žluťoučký kůň', wallet.sign('žluťoučký kůň'))).toBe(
      true,
    );
  });
});

describe('Tron', () => {
  it('has its own prefix, so a signature is valid on one chain only', () => {
    const [tron, evm] = [tronWallet(11n), evmWallet(11n)];
    expect(isValidTronSignature(tron.address, 'text', tron.sign('text'))).toBe(true);
    expect(isValidTronSignature(tron.address, 'text', evm.sign('text'))).toBe(false);
    expect(isValidEvmSignature(evm.address, 'text', tron.sign('text'))).toBe(false);
    expect(isValidTronSignature(tronWallet(12n).address, 'text', tron.sign('text'))).toBe(false);
    expect(isValidTronSignature(tron.address, 'text!', tron.sign('text'))).toBe(false);
    expect(isValidTronSignature(tron.address, 'text', '0x00')).toBe(false);
  });
});

describe('decodeHex', () => {
  it('parses whole bytes', () => {
    expect(decodeHex('0xAb01')).toEqual(Buffer.from([0xab, 1]));
    expect([decodeHex('0xab0'), decodeHex(''), decodeHex('0x'), decodeHex('xy')]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
