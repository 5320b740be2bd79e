// Check digits and generated card numbers.
import { describe, expect, it } from 'vitest';
import { systemEffects } from '../../../runtime/config/system-effects.ts';
import { createVault } from '../../../runtime/security/vault.ts';
import { custodyKeysOf } from '../../registry.ts';
import { cardNumbers, luhnSum } from './card-numbers.ts';

const NOW = Date.parse('2026-11-30T23:30:00Z');

const effects = { ...systemEffects(), now: () => NOW };
const numbersOf = (key: number) =>
  cardNumbers(effects, custodyKeysOf(createVault(effects, () => new Uint8Array(32).fill(key))));
const numbers = numbersOf(7);

const orderOf = (
  id: string,
  platformCardId: string | null = 'card_1',
  cardholderId = 'Customer:1',
) => ({
  id,
  platformId: 'p',
  cardholderId,
  platformCardId,
  currency: 'USD',
  orderedAt: NOW,
});

const detailsOf = (id: string, name?: string) => {
  const { secret } = numbers.generate(orderOf(id, name));
  return numbers.open({ cardId: id, secret });
};

describe('luhnSum', () => {
  // Worked examples: ISO/IEC 7812-1 annex B, and numbers that payment services publish for tests.
  it.each([
    '49927398716',
    '1234567812345670',
    '4111111111111111',
    '5555555555554444',
    '378282246310005',
  ])('is a multiple of ten for %s', (number) => expect(luhnSum(number) % 10).toBe(0));

  it.each(['49927398717', '1234567812345678', '4111111111111112', '1411111111111111'])(
    'is no multiple of ten for %s',
    (number) => expect(luhnSum(number) % 10).not.toBe(0),
  );

  it('is 70 for the worked example', () => expect(luhnSum('49927398716')).toBe(70));
});

describe('numbers of sandbox cards', () => {
  it('have 16 digits of the test range, a valid check digit, a code and an expiry', () => {
    for (let index = 0; index < 200; index++) {
      const { number, code, ...expiry } = detailsOf(`Card:${index}`, `card_${index}`);
      expect(number).toMatch(/^411111\d{10}$/);
      expect(luhnSum(number) % 10).toBe(0);
      expect(code).toMatch(/^\d{3}$/);
      expect(expiry).toEqual({ expMonth: 11, expYear: 2030 });
    }
  });

  it('have last digits derived from platformCardId or, without it, from the cardholder', () => {
    const firstCard = numbers.generate(orderOf('Card:1', 'card_x'));
    const secondCard = numbers.generate(orderOf('Card:2', 'card_x', 'Customer:2'));
    expect(firstCard).toMatchObject({ brand: 'VISA', expMonth: 11, expYear: 2030 });
    expect(secondCard.last4).toBe(firstCard.last4);
    expect(numbers.open({ cardId: 'Card:1', secret: firstCard.secret }).number.slice(-4)).toBe(
      firstCard.last4,
    );
    expect(numbers.generate(orderOf('Card:3', 'card_y')).last4).not.toBe(firstCard.last4);
    const unnamedCard = numbers.generate(orderOf('Card:4', null, 'Customer:7'));
    expect(numbers.generate(orderOf('Card:5', null, 'Customer:7')).last4).toBe(unnamedCard.last4);
    expect(numbers.generate(orderOf('Card:6', null, 'Customer:8')).last4).not.toBe(
      unnamedCard.last4,
    );
  });

  it('differ by card and by installation, and are stable for a card', () => {
    const cardNumbersOfIds = Array.from(
      { length: 50 },
      (_, index) => detailsOf(`Card:${index}`).number,
    );
    expect(new Set(cardNumbersOfIds).size).toBe(50);
    expect(detailsOf('Card:3').number).toBe(cardNumbersOfIds[3]);
    const otherInstallation = numbersOf(8);
    const { secret } = otherInstallation.generate(orderOf('Card:3'));
    expect(otherInstallation.open({ cardId: 'Card:3', secret }).number).not.toBe(
      cardNumbersOfIds[3],
    );
  });

  it('can be decrypted only for the card that they were encrypted for', () => {
    const { secret } = numbers.generate(orderOf('Card:1'));
    const { number, code } = numbers.open({ cardId: 'Card:1', secret });
    for (const text of [number, number.slice(-12), number.slice(0, 12)]) {
      expect(secret).not.toContain(text);
    }
    expect(code).toHaveLength(3);
    expect(() => numbers.open({ cardId: 'Card:2', secret })).toThrow();
    expect(() => numbersOf(8).open({ cardId: 'Card:1', secret })).toThrow();
  });
});
