// References between the steps of a scenario, and overrides of their values.
import { describe, expect, it } from 'vitest';
import { fillIn } from './run.ts';
import { applyOverrides, overrideOf, resolve } from './step.ts';

const replies = new Map<string, unknown>([
  ['ada', { id: 'Customer:1', balance: { amount: 5, currency: { code: 'USD', decimals: 2 } } }],
  ['list', { data: [{ id: '2' }] }],
]);

describe('references', () => {
  it('are replaced by values of earlier replies, and rejected if no reply has the value', () => {
    const input = {
      a: '$ada.id',
      b: ['$list.data.0.id'],
      c: '$success.usd@sandbox.uma.money',
      d: 5,
    };
    expect(resolve(input, replies)).toEqual({
      ...{ a: 'Customer:1', b: ['2'], c: '$success.usd@sandbox.uma.money', d: 5 },
    });
    expect(() => resolve('$ada.unknown', replies)).toThrow(
      'No earlier step returned a value for $ada.unknown',
    );
  });

  it('in a text are replaced by values, or by a dash if no reply has the value', () => {
    expect(fillIn('{ada.balance} of {ada.none}', replies)).toBe('0.05 USD of –');
  });
});

describe('overrides', () => {
  const steps = [
    {
      name: 'quote',
      operationId: 'createQuote',
      input: { lockedCurrencyAmount: 1, source: { accountId: 'a' } },
    },
    { advance: 'P2D' },
  ] as const;

  it('replace values at any depth', () => {
    const texts = [
      'quote.lockedCurrencyAmount=2',
      'quote.source.accountId=b',
      'quote.senderCustomerInfo.NAME=Ada L',
      'quote.immediatelyExecute=true',
    ];
    expect(applyOverrides(steps, texts.map(overrideOf))[0]).toMatchObject({
      input: {
        lockedCurrencyAmount: 2,
        source: { accountId: 'b' },
        senderCustomerInfo: { NAME: 'Ada L' },
        immediatelyExecute: true,
      },
    });
  });

  it('replace items of lists', () => {
    const input = { fundingSources: ['a', 'b'] };
    const card = { name: 'card', operationId: 'createCard', input } as const;
    const [step] = applyOverrides([card], [overrideOf('card.fundingSources.1=c')]);
    expect(step).toMatchObject({ input: { fundingSources: ['a', 'c'] } });
  });

  it.each([
    ['quote', 'does not have the form'],
    ['=1', 'does not have the form'],
    ['quote=1', 'does not have the form'],
    ['quot.amount=1', 'has no step quot'],
    ['quote.lockedCurrencyAmont=1', 'has no field lockedCurrencyAmont'],
    ['quote.source.acountId=1', 'has no field source.acountId'],
  ])('like %s are rejected', (text, reason) => {
    expect(() => applyOverrides(steps, [overrideOf(text)])).toThrow(reason);
  });
});
