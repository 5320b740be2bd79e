// Payment instructions, validated as by the bank or wallet of a payer: against the published
// schema, by check digits, and by parsing codes and invoices.
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bech32m } from '@scure/base';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { isAbaRouting, isCbu, isClabe, isIban } from '../../../catalog/accounts/checks.ts';
import {
  isEvmAddress,
  isSolanaAddress,
  isSparkAddress,
  isTronAddress,
} from '../../../catalog/crypto/addresses.ts';
import { CURRENCIES } from '../../../catalog/currencies/currencies.ts';
import { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { realtimeFundingOf } from '../../../catalog/rails/realtime.ts';
import { toAjv } from '../../../kernel/schema.ts';
import type { PaymentFunding } from '../../ports/index.ts';
import { crc16 } from './account-details.ts';
import { sandboxFunding } from './funding.ts';
import { sandboxPaymentFunding } from './funding-payment.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const payment = (currency: string, network?: string, amount = 123_456n): PaymentFunding => ({
  transactionId: 'Transaction:0195a000-0000-7000-8000-000000000001',
  reference: 'RHABCDEFGH23',
  currency,
  amount,
  ...(network ? { network } : {}),
  owner: 'customer',
  at: NOW,
  expiresAt: NOW + (realtimeFundingOf(currency, network)?.ttlMs ?? 0),
});

type Info = Record<string, string> & { paymentRails?: unknown };
const accountInfoOf = (currency: string, network?: string, amount?: bigint): Info =>
  sandboxPaymentFunding(payment(currency, network, amount))[0]?.accountOrWalletInfo as Info;

const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
const validateInstructions = ajv.compile(toAjv(PaymentInstructions));

/** Every currency with each of its networks. */
const CURRENCY_NETWORKS = CURRENCIES.flatMap(({ code }) => {
  const funding = realtimeFundingOf(code);
  if (!funding) return [];
  return funding.isCrypto
    ? funding.networks.map((network): [string, string?] => [code, network])
    : ([[code]] as [string, string?][]);
});

/** Fields of a text of two-digit tags and lengths, as in EMV codes. */
function emvFields(text: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index < text.length; ) {
    const end = index + 4 + Number(text.slice(index + 2, index + 4));
    fields[text.slice(index, index + 2)] = text.slice(index + 4, end);
    index = end;
  }
  return fields;
}

/** Fields of a protobuf message by number. The last value of a repeated field is returned. */
function protobufFields(bytes: Uint8Array): Record<number, Uint8Array | bigint> {
  const fields: Record<number, Uint8Array | bigint> = {};
  let offset = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[offset++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (offset < bytes.length) {
    const tag = Number(varint());
    const value = varint();
    fields[tag >> 3] = tag & 2 ? bytes.subarray(offset, offset + Number(value)) : value;
    if (tag & 2) offset += Number(value);
  }
  return fields;
}

function sparkFields(text = '') {
  const { prefix, words } = bech32m.decode(text as `${string}1${string}`, 1_000);
  const invoiceFields = protobufFields(Uint8Array.from(bech32m.fromWords(words)));
  return {
    prefix,
    key: invoiceFields[1] as Uint8Array,
    fields: protobufFields(invoiceFields[2] as Uint8Array),
  };
}

describe('sandboxPaymentFunding', () => {
  it('covers the currencies and networks that settle within minutes', () => {
    expect(CURRENCY_NETWORKS.map((method) => method.join(' '))).toEqual([
      'ARS',
      'BRL',
      'COP',
      'EUR',
      'GBP',
      'INR',
      'MXN',
      'SGD',
      'USD',
      'BTC SPARK',
      'BTC LIGHTNING',
      'BTC BITCOIN',
      'USDB SPARK',
      'USDC SOLANA',
      'USDC BASE',
      'USDC POLYGON',
      'USDC ETHEREUM',
      'USDT TRON',
      'USDT ETHEREUM',
      'USDT SOLANA',
      'USDT PLASMA',
    ]);
  });

  it.each(CURRENCY_NETWORKS)(
    'returns for %s %s instructions that match the schema, with expiry and reference',
    (code, network) => {
      const requestedPayment = payment(code, network);
      const instructions = sandboxPaymentFunding(requestedPayment);
      expect(instructions).toHaveLength(1);
      for (const each of instructions) {
        expect(validateInstructions(each), JSON.stringify(validateInstructions.errors)).toBe(true);
        const notes = each.instructionsNotes ?? '';
        expect(notes).toContain(new Date(requestedPayment.expiresAt).toISOString());
        expect(notes).toContain(` ${code}${network ? ` over ${network}` : ''} by`);
        expect(each.isPlatformAccount).toBe(false);
        const { reference } = each.accountOrWalletInfo;
        if (reference !== undefined)
          expect([reference, notes]).toEqual([requestedPayment.reference, notes]);
        expect(notes.includes(requestedPayment.reference)).toBe(reference !== undefined);
      }
    },
  );

  it.each(CURRENCY_NETWORKS)(
    'returns for %s %s instructions that are stable and unique to the payment',
    (code, network) => {
      const paymentFunding = payment(code, network);
      const nextPayment = {
        ...paymentFunding,
        transactionId: 'Transaction:2',
        reference: 'RHZZZZZZZZ99',
      };
      expect(sandboxPaymentFunding(paymentFunding)).toEqual(sandboxPaymentFunding(paymentFunding));
      const [firstInstructions] = sandboxPaymentFunding(paymentFunding);
      const [secondInstructions] = sandboxPaymentFunding(nextPayment);
      const texts = (each: typeof firstInstructions) =>
        [
          'accountNumber',
          'iban',
          'clabeNumber',
          'address',
          'invoice',
          'qrCode',
          'paymentUrl',
          'vpa',
        ]
          .map((name) => each?.accountOrWalletInfo[name])
          .filter((value) => value !== undefined);
      expect(texts(firstInstructions).length).toBeGreaterThan(0);
      for (const text of texts(firstInstructions))
        expect(texts(secondInstructions)).not.toContain(text);
      const accountInstructions = sandboxFunding.instructions({
        accountId: 'InternalAccount:1',
        currency: code,
        owner: 'customer',
      });
      expect(accountInstructions.map((each) => each.accountOrWalletInfo)).not.toContainEqual(
        firstInstructions?.accountOrWalletInfo,
      );
    },
  );

  it('returns no instructions for currencies and networks that do not settle within minutes', () => {
    const unsupportedPairs: [string, string?][] = [
      ['KES'],
      ['JPY'],
      ['XXX'],
      ['USDC'],
      ['USDC', 'TRON'],
      ['USDT', 'BASE'],
      ['BTC', 'SOLANA'],
      ['USDB', 'LIGHTNING'],
    ];
    for (const [code, network] of unsupportedPairs) {
      expect(sandboxPaymentFunding(payment(code, network)), `${code} ${network}`).toEqual([]);
    }
  });

  it('returns instant rails only', () => {
    const rails = (code: string) => accountInfoOf(code).paymentRails;
    expect(rails('USD')).toEqual(['RTP', 'FEDNOW']);
    expect(rails('EUR')).toEqual(['SEPA_INSTANT']);
    expect(rails('GBP')).toEqual(['FASTER_PAYMENTS']);
    expect(rails('MXN')).toEqual(['SPEI']);
    expect(rails('INR')).toEqual(['UPI']);
    expect(rails('BRL')).toBeUndefined();
  });

  it('returns valid account numbers and addresses', () => {
    expect(isAbaRouting(accountInfoOf('USD').routingNumber ?? '')).toBe(true);
    expect(isIban(accountInfoOf('EUR').iban ?? '')).toBe(true);
    expect(isClabe(accountInfoOf('MXN').clabeNumber ?? '')).toBe(true);
    expect(isCbu(accountInfoOf('ARS').accountNumber ?? '')).toBe(true);
    expect(isSolanaAddress(accountInfoOf('USDC', 'SOLANA').address ?? '')).toBe(true);
    expect(isTronAddress(accountInfoOf('USDT', 'TRON').address ?? '')).toBe(true);
    expect(isEvmAddress(accountInfoOf('USDC', 'BASE').address ?? '')).toBe(true);
    expect(isEvmAddress(accountInfoOf('USDT', 'PLASMA').address ?? '')).toBe(true);
  });

  it('returns a PIX code for one payment of exactly the amount', () => {
    const { qrCode = '' } = accountInfoOf('BRL');
    expect(crc16(qrCode.slice(0, -4))).toBe(qrCode.slice(-4));
    const fields = emvFields(qrCode);
    expect(fields).toMatchObject({ '01': '12', 53: '986', 54: '1234.56', 58: 'BR' });
    expect(emvFields(fields[62] ?? '')).toEqual({ '05': 'RHABCDEFGH23' });
    const accountFields = emvFields(fields[26] ?? '');
    expect(accountFields['00']).toBe('br.gov.bcb.pix');
    expect(accountFields[25]).toMatch(/^pix\.railhead\.example\/v2\/[0-9a-f]{32}$/);
  });

  it('derives a PIX reference of 25 characters from any payment reference', () => {
    const txid = (reference: string) => {
      const [instructions] = sandboxPaymentFunding({ ...payment('BRL'), reference });
      return (
        emvFields(emvFields(String(instructions?.accountOrWalletInfo.qrCode))[62] ?? '')['05'] ?? ''
      );
    };
    const [firstReference, secondReference] = ['1', '2'].map((lastDigit) =>
      txid(`RH0195A00000007000800000000000000${lastDigit}`),
    );
    expect(firstReference).toMatch(/^[A-Za-z0-9]{25}$/);
    expect(secondReference).not.toBe(firstReference);
    expect(txid('A-1')).toMatch(/^[A-Za-z0-9]{25}$/);
  });

  it('returns a Lightning invoice on regtest that expires with the quote', () => {
    const { invoice = '' } = accountInfoOf('BTC', 'LIGHTNING', 250_000n);
    expect(invoice).toMatch(/^lnbcrt2500u1/);
    // Expiry field: tag x, length qz (2), value rc (3 × 32 + 24 = 120 s).
    expect(invoice).toContain('xqzrc');
  });

  it.each(['BTC', 'USDB'])('returns a Spark invoice in %s for the exact amount', (code) => {
    const requestedPayment = payment(code, 'SPARK', 123_456_789n);
    const { address = '', invoice } = accountInfoOf(code, 'SPARK', 123_456_789n);
    expect(isSparkAddress(address, 'regtest')).toBe(true);
    const { prefix, key, fields } = sparkFields(invoice);
    expect(prefix).toBe('sparkrt');
    const bytes = bech32m.fromWords(bech32m.decode(address as `${string}1${string}`, 200).words);
    expect(Buffer.from(bytes.subarray(2))).toEqual(Buffer.from(key));
    expect(() => secp256k1.Point.fromBytes(key).assertValidity()).not.toThrow();
    expect(fields[1]).toBe(1n);
    expect(fields[2]).toHaveLength(16);
    expect(Buffer.from(fields[5] as Uint8Array).toString()).toBe('Payment RHABCDEFGH23');
    expect(protobufFields(fields[7] as Uint8Array)).toEqual({
      1: BigInt(requestedPayment.expiresAt / 1000),
    });
    if (code === 'BTC') {
      expect(protobufFields(fields[4] as Uint8Array)).toEqual({ 1: 123_456_789n });
    } else {
      const token = protobufFields(fields[3] as Uint8Array);
      expect(token[1]).toHaveLength(32);
      expect(Buffer.from(token[2] as Uint8Array).toString('hex')).toBe('075bcd15');
    }
  });
});
