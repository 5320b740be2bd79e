// Packed JSON, restored byte by byte.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currencyView } from '../../catalog/currencies/currencies.ts';
import { packJson, STORED_TEXTS, unpackJson } from './stored-json.ts';

const account = 'InternalAccount:019b8d60-2a80-7000-8000-000000000001';
const payment = JSON.stringify({
  type: 'OUTGOING',
  id: 'Transaction:019b8d60-2a80-7000-8000-000000000002',
  status: 'COMPLETED',
  source: { sourceType: 'ACCOUNT', accountId: account, currency: 'USD' },
  destination: { destinationType: 'ACCOUNT', accountId: account, currency: 'EUR' },
  quoteId: 'Quote:019b8d60-2a80-7000-8000-000000000003',
  exchangeRate: 1.08743169,
  createdAt: '2026-01-05T09:00:00.000Z',
  sentAmount: { amount: 1000, currency: currencyView('USD') },
  receivedAmount: { amount: 915, currency: currencyView('EUR') },
  transactionId: null,
  paymentRail: null,
});

describe('packJson', () => {
  it('reduces the text of a payment to less than 55 %', () => {
    const storedText = packJson(payment);
    expect(storedText.length).toBeLessThan(payment.length * 0.55);
    expect(unpackJson(storedText)).toBe(payment);
  });

  it('returns text without replaceable parts unchanged', () => {
    for (const text of ['{}', 'null', '"text"', '', '{"unknownName":"X:1"}', 's1.ZGF0YQ.ZGF0YQ']) {
      expect(packJson(text)).toBe(text);
      expect(unpackJson(text)).toBe(text);
    }
  });

  it('replaces currencies in the form of the catalog', () => {
    for (const code of ['USD', 'EUR', 'GBP', 'USDC']) {
      expect(STORED_TEXTS).toContain(JSON.stringify(currencyView(code)));
    }
  });

  it('keeps the names for which an erasure searches', () => {
    const names = { id: 'Quote:1', transactionId: 'Transaction:1', correlationId: 'one' };
    const text = JSON.stringify({ type: 'OUTGOING', ...names });
    const storedText = packJson(text);
    expect(storedText.length).toBeLessThan(text.length);
    for (const [name, value] of Object.entries(names)) {
      expect(storedText).toContain(`"${name}":"${value}"`);
    }
  });

  it('is reversible byte by byte, for any text', () => {
    const textPart = fc.constantFrom(
      ...STORED_TEXTS,
      '"',
      '\\"',
      ',',
      '{"code":"USD"}',
      '\\u0001',
      '€',
    );
    const mixedText = fc.array(fc.oneof(textPart, fc.string()), { maxLength: 20 });
    const json = fc.oneof(
      fc.jsonValue(),
      mixedText.map((parts) => ({ [parts.join('')]: parts })),
    );
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        expect(unpackJson(packJson(text))).toBe(text);
      }),
    );
    for (const each of STORED_TEXTS) expect(unpackJson(packJson(each))).toBe(each);
  });
});

describe('the list of texts', () => {
  it('grows at its end only, because stored tokens are positions in the list', () => {
    const firstTexts = STORED_TEXTS.slice(0, 74);
    const hash = createHash('sha256').update(JSON.stringify(firstTexts)).digest('hex');
    expect(hash).toBe('55c3dce87af0b6e4d4f06f757b517333ac1e1f81280ef03f03b232b0a9965bef');
    expect(new Set(STORED_TEXTS).size).toBe(STORED_TEXTS.length);
  });

  it('rejects a token that it does not contain', () => {
    expect(() => unpackJson('{"a":1}\u0007z')).toThrow('a newer version has stored this JSON');
  });
});
