// Amounts as text and as API values.
import { describe, expect, it } from 'vitest';
import { formatAmount, formatMoney, moneyView } from './money-format.ts';

const yen = { currency: 'JPY', amount: 1_234n };

describe('money as text', () => {
  it('has the decimals of its currency', () => {
    expect(formatMoney({ currency: 'USD', amount: 1_234_567n })).toBe('12,345.67 USD');
    expect(formatMoney(yen)).toBe('1,234 JPY');
    expect(formatAmount({ currency: 'BTC', amount: -1n })).toBe('-0.00000001');
  });

  it('has minor units of an unknown currency in formatAmount, and throws in formatMoney', () => {
    const unknownCurrency = { currency: 'XXX', amount: 1_234n };
    expect(formatAmount(unknownCurrency)).toBe('1,234');
    expect(() => formatMoney(unknownCurrency)).toThrow('unknown currency XXX');
  });
});

describe('moneyView', () => {
  it('includes the currency with its decimals', () => {
    const currency = { code: 'JPY', name: 'Japanese Yen', symbol: '¥', decimals: 0 };
    expect(moneyView(yen)).toEqual({ amount: 1_234, currency });
  });
});
