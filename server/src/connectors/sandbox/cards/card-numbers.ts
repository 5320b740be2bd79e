// Numbers and codes of sandbox cards: the only module with both in clear text. Numbers and codes
// are sealed for their card and opened only for the hosted card page. The number is derived from
// the order and the installation's key, so that it is unpredictable and the same for a repeated
// order. With an issuer of real cards only its reference is stored.
import { createHash, createHmac } from 'node:crypto';
import type { Effects } from '../../../kernel/effects.ts';
import type { CardDetails, CardOrder, IssuedCard } from '../../ports/cards.ts';

/**
 * First digits of 4111 1111 1111 1111, which payment services publish for tests. Sources: the
 * testing guide of Visa's gateway (developer.cybersource.com, "Testing card numbers") and the
 * sandbox cards of TabaPay. Such numbers exist in the sandbox only and are never sent to a network.
 */
const TEST_RANGE = '411111';
const VALIDITY_YEARS = 4;

/** Sealing, and secrets derived from a purpose. */
interface NumberKeys {
  seal(text: string, context: string): string;
  /** Throws for another context or a damaged text. */
  open(sealedText: string, context: string): Buffer;
  derive(purpose: string): Uint8Array;
}

type GeneratedCard = Omit<IssuedCard, 'issuerRef' | 'processorRef'>;

export interface CardNumbers {
  generate(order: CardOrder): GeneratedCard;
  /** Throws for the details of another card. */
  open(card: { cardId: string; secret: string }): CardDetails;
}

export const numberContext = (cardId: string) => `number of ${cardId}`;

/** Decimal digits of a hash. */
const digitsOf = (hash: Buffer, count: number): string =>
  String(hash.readUIntBE(0, 6) % 10 ** count).padStart(count, '0');

/** Luhn checksum. A number is valid if the checksum is a multiple of ten. */
export function luhnSum(number: string): number {
  let sum = 0;
  for (const [index, digit] of [...number].reverse().entries()) {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum;
}

/**
 * The number with a check digit between its parts. An even count of digits must follow the check
 * digit.
 */
const insertCheckDigit = (leadingDigits: string, trailingDigits: string): string =>
  `${leadingDigits}${(10 - (luhnSum(`${leadingDigits}0${trailingDigits}`) % 10)) % 10}${trailingDigits}`;

export function cardNumbers(effects: Effects, keys: NumberKeys): CardNumbers {
  function numberOf({ id, platformCardId, cardholderId }: CardOrder): string {
    // The suffix is predictable, so that tests can choose it.
    const name = platformCardId ?? cardholderId;
    const last4 = digitsOf(createHash('sha256').update(name).digest(), 4);
    const middle = createHmac('sha256', keys.derive('card numbers')).update(id).digest();
    return insertCheckDigit(TEST_RANGE + digitsOf(middle, 5), last4);
  }

  return {
    generate(order) {
      const number = numberOf(order);
      const code = digitsOf(Buffer.from(effects.random(6)), 3);
      const orderDate = new Date(order.orderedAt);
      const expMonth = orderDate.getUTCMonth() + 1;
      const expYear = orderDate.getUTCFullYear() + VALIDITY_YEARS;
      const text = [number, code, expMonth, expYear].join(' ');
      const secret = keys.seal(text, numberContext(order.id));
      return { brand: 'VISA', last4: number.slice(-4), expMonth, expYear, secret };
    },

    open({ cardId, secret }) {
      const text = keys.open(secret, numberContext(cardId)).toString();
      const [number = '', code = '', expMonth, expYear] = text.split(' ');
      return { number, code, expMonth: Number(expMonth), expYear: Number(expYear) };
    },
  };
}
