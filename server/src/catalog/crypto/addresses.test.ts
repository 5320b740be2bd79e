// Valid and invalid EVM, Solana, Tron and Spark addresses, and Lightning destinations.
import { bech32m } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  evmChecksumAddress,
  hasAddressFormat,
  hasBolt11Format,
  isAddress,
  isBolt11,
  isBolt12,
  isEvmAddress,
  isLightningAddress,
  isSolanaAddress,
  isSparkAddress,
  isTronAddress,
} from './addresses.ts';

/** The x coordinate of the generator point of secp256k1, as a public key of a Spark address. */
const GENERATOR_X = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const sparkAddress = (prefix: string) =>
  bech32m.encode(prefix, bech32m.toWords(Buffer.from(`0a2102${GENERATOR_X}`, 'hex')), 1000);

describe('the EVM validator', () => {
  // Examples of EIP-55.
  const VALID_ADDRESSES = [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ];
  it.each(VALID_ADDRESSES)('accepts %s', (address) => {
    expect([hasAddressFormat('evm', address), isAddress('evm', address)]).toEqual([true, true]);
    expect(isEvmAddress(address.toLowerCase())).toBe(true);
  });
  it('rejects an invalid checksum and other strings', () => {
    const invalidAddress = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    expect([hasAddressFormat('evm', invalidAddress), isEvmAddress(invalidAddress)]).toEqual([
      true,
      false,
    ]);
    expect(evmChecksumAddress(invalidAddress)).toBe('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed');
    for (const invalidText of [
      '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      '0x1',
      `0x${'g'.repeat(40)}`,
    ]) {
      expect([hasAddressFormat('evm', invalidText), isEvmAddress(invalidText)]).toEqual([
        false,
        false,
      ]);
    }
  });
});

describe('the Solana validator', () => {
  it.each([
    'So11111111111111111111111111111111111111112',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    '11111111111111111111111111111111',
  ])('accepts %s', (address) => {
    expect([hasAddressFormat('solana', address), isSolanaAddress(address)]).toEqual([true, true]);
  });
  it('rejects other lengths and characters outside base58', () => {
    const tooLongAddress = 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz';
    expect([hasAddressFormat('solana', tooLongAddress), isSolanaAddress(tooLongAddress)]).toEqual([
      true,
      false,
    ]);
    expect(hasAddressFormat('solana', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt0O')).toBe(false);
    expect(hasAddressFormat('solana', '0xde709f2102306220921060314715629080e2fb77')).toBe(false);
  });
  it('accepts a sandbox suffix by format only', () => {
    const addressWithSuffix = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTD002';
    expect([
      hasAddressFormat('solana', addressWithSuffix),
      isSolanaAddress(addressWithSuffix),
    ]).toEqual([true, false]);
  });
});

describe('the Tron validator', () => {
  it('accepts a published contract address, and rejects changed and other addresses', () => {
    const tetherAddress = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    expect([hasAddressFormat('tron', tetherAddress), isTronAddress(tetherAddress)]).toEqual([
      true,
      true,
    ]);
    const changedAddress = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u';
    expect([hasAddressFormat('tron', changedAddress), isTronAddress(changedAddress)]).toEqual([
      true,
      false,
    ]);
    const addressWithSuffix = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjL003';
    expect([hasAddressFormat('tron', addressWithSuffix), isTronAddress(addressWithSuffix)]).toEqual(
      [true, false],
    );
    expect(hasAddressFormat('tron', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toBe(false);
  });
});

describe('the Spark validator', () => {
  it('accepts lower and upper case, and distinguishes the networks', () => {
    const [mainnetAddress, regtestAddress] = [sparkAddress('spark'), sparkAddress('sparkrt')];
    expect([isSparkAddress(mainnetAddress), isSparkAddress(mainnetAddress.toUpperCase())]).toEqual([
      true,
      true,
    ]);
    expect([isSparkAddress(regtestAddress), isSparkAddress(regtestAddress, 'regtest')]).toEqual([
      false,
      true,
    ]);
    expect([mainnetAddress, regtestAddress].every((each) => hasAddressFormat('spark', each))).toBe(
      true,
    );
  });
  it('rejects a changed character, another prefix and another payload', () => {
    const mainnetAddress = sparkAddress('spark');
    const changedAddress = `${mainnetAddress.slice(0, -1)}${mainnetAddress.endsWith('q') ? 'p' : 'q'}`;
    expect([hasAddressFormat('spark', changedAddress), isSparkAddress(changedAddress)]).toEqual([
      true,
      false,
    ]);
    expect([
      hasAddressFormat('spark', sparkAddress('bc')),
      isSparkAddress(sparkAddress('bc')),
    ]).toEqual([false, false]);
    const addressWithoutKey = bech32m.encode('spark', bech32m.toWords(new Uint8Array(35)), 1000);
    expect(isSparkAddress(addressWithoutKey)).toBe(false);
    expect(hasAddressFormat('spark', `${mainnetAddress.slice(0, -3)}002`)).toBe(true);
  });
});

describe('the Lightning validators', () => {
  // Donation example of BOLT 11.
  const INVOICE = [
    'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzq',
    'fqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g',
    '6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjj',
    'srvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql',
  ].join('');

  it('distinguish valid and invalid invoices', () => {
    expect([hasBolt11Format(INVOICE), isBolt11(INVOICE)]).toEqual([true, true]);
    expect(isBolt11(INVOICE.toUpperCase())).toBe(true);
    const changedInvoice = INVOICE.replace('pvjluez', 'pvjluex');
    expect([hasBolt11Format(changedInvoice), isBolt11(changedInvoice)]).toEqual([true, false]);
    expect([
      hasBolt11Format('lnbcrt500u1pjqqqqqqqqqqq'),
      isBolt11('lnbcrt500u1pjqqqqqqqqqqq'),
    ]).toEqual([true, false]);
    expect([hasBolt11Format('bc1qar0srrr7xfkvy5l643'), hasBolt11Format('')]).toEqual([
      false,
      false,
    ]);
  });

  it('distinguish valid and invalid offers and addresses', () => {
    expect(isBolt12('lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcn')).toBe(true);
    expect([isBolt12('lno1'), isBolt12('lnbc1pvjluez'), isBolt12('lno1bio0000000')]).toEqual([
      false,
      false,
      false,
    ]);
    for (const validAddress of ['satoshi@bank.example', 'a.b_c-1+tip@x.co']) {
      expect([validAddress, isLightningAddress(validAddress)]).toEqual([validAddress, true]);
    }
    for (const invalidLightningAddress of [
      'satoshi',
      '@bank.example',
      'a b@x.co',
      'a@b',
      'a@-x.co',
    ]) {
      expect([invalidLightningAddress, isLightningAddress(invalidLightningAddress)]).toEqual([
        invalidLightningAddress,
        false,
      ]);
    }
  });
});

describe('the address validators', () => {
  it('throw no error for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const kind of ['evm', 'solana', 'tron', 'spark'] as const) {
          hasAddressFormat(kind, text);
          isAddress(kind, text);
        }
        isBolt11(text);
        isBolt12(text);
        isLightningAddress(text);
      }),
    );
  });
});
