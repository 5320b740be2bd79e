import { describe, expect, it } from 'vitest';
import { filled } from './run.ts';
import { overridden, overrideOf, resolve } from './step.ts';

const replies = new Map<string, unknown>([
  ['ada', { id: 'Customer:1', balance: { amount: 5, currency: { code: 'USD', decimals: 2 } } }],
  ['list', { data: [{ id: '2' }] }],
]);

describe('references', () => {
  it('are replaced by values of earlier replies', () => {
    const input = {
      a: '$ada.id',
      b: ['$list.data.0.id'],
      c: '$success.usd@sandbox.uma.money',
      d: 5,
    };
    expect(resolve(input, replies)).toEqual({
      ...{ a: 'Customer:1', b: ['2'], c: '$success.usd@sandbox.uma.money', d: 5 },
    });
    expect(() => resolve('$ada.unknown', replies)).toThrow('No earlier step has $ada.unknown');
    expect(filled('{ada.balance} of {ada.none}', replies)).toBe('0.05 USD of –');
  });
});

describe('overrides', () => {
  const steps = [
    {
      name: 'quote',
      operationId: 'createQuote',
      input: { amount: 1, inner: { list: ['a', 'b'] } },
    },
    { advance: 'P2D' },
  ] as const;

  it('replace values, also deep inside', () => {
    const texts = [
      'quote.amount=2',
      'quote.inner.list.1=c',
      'quote.more.name=Ada L',
      'quote.flag=true',
    ];
    expect(overridden(steps, texts.map(overrideOf))[0]).toMatchObject({
      input: { amount: 2, inner: { list: ['a', 'c'] }, more: { name: 'Ada L' }, flag: true },
    });
  });

  it.each([
    ['quote', 'does not have the form'],
    ['=1', 'does not have the form'],
    ['quote=1', 'does not have the form'],
    ['quot.amount=1', 'has no step quot'],
  ])('%s is rejected', (text, reason) => {
    expect(() => overridden(steps, [overrideOf(text)])).toThrow(reason);
  });
});
