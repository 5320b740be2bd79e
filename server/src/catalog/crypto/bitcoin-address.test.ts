// Bitcoin addresses of every kind and network, and invalid addresses.
import { describe, expect, it } from 'vitest';
import { hasAddressFormat, isAddress } from './addresses.ts';
import { parseBitcoinAddress } from './bitcoin-address.ts';

const parseToHex = (text: string) => {
  const bitcoinAddress = parseBitcoinAddress(text);
  return (
    bitcoinAddress && {
      ...bitcoinAddress,
      program: Buffer.from(bitcoinAddress.program).toString('hex'),
    }
  );
};

describe('parseBitcoinAddress', () => {
  // BIP-173 and BIP-350, "Test vectors". The first two addresses are from the Bitcoin wiki,
  // "Technical background".
  it.each([
    ['1PMycacnJaSqwwJqjawXBErnLsZ7RkXUAs', 'main', 'p2pkh'],
    ['3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN', 'main', 'p2sh'],
    ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'test', 'p2pkh'],
    ['2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'test', 'p2sh'],
    ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'main', 'p2wpkh'],
    ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'test', 'p2wpkh'],
    ['tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7', 'test', 'p2wsh'],
    ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'main', 'p2tr'],
  ])('parses %s', (text, network, kind) => {
    expect(parseToHex(text)).toMatchObject({ network, kind });
    expect(hasAddressFormat('bitcoin', text)).toBe(true);
    expect(isAddress('bitcoin', text)).toBe(network === 'main');
  });

  it('returns the program of the output', () => {
    const generatorPoint = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
    const taprootAddress = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
    expect(parseToHex(taprootAddress)?.program).toBe(generatorPoint);
    const keyHash = '751e76e8199196d454941c45d1b3a323f1433bd6';
    expect(parseToHex('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')?.program).toBe(keyHash);
  });

  // Invalid addresses of BIP-350.
  it.each([
    'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
    'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
    'bc1pw5dgrnzv',
    'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P',
    'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq',
    '1PMycacnJaSqwwJqjawXBErnLsZ7RkXUAt',
    'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE',
    '',
  ])('rejects %s', (text) => {
    expect(parseBitcoinAddress(text)).toBeUndefined();
    expect(isAddress('bitcoin', text)).toBe(false);
  });

  it('accepts a sandbox suffix by format only', () => {
    const addressWithSuffix = '1PMycacnJaSqwwJqjawXBErnLsZ7Rk002';
    expect([
      hasAddressFormat('bitcoin', addressWithSuffix),
      isAddress('bitcoin', addressWithSuffix),
    ]).toEqual([true, false]);
    expect(hasAddressFormat('bitcoin', '0xde709f2102306220921060314715629080e2fb77')).toBe(false);
  });
});
