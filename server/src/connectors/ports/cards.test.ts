// Requirements for every card issuer. Each row of ISSUERS is tested against all requirements. The
// requirements of only one issuer are tested in the folder of the issuer.

import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import type { Mode } from '../../kernel/mode.ts';
import { createVault } from '../../runtime/security/vault.ts';
import { connectorRegistry, custodyKeysOf } from '../registry.ts';
import {
  CARD_REQUESTS,
  type CardFundingDebit,
  type CardOrder,
  type CardRequest,
  DECLINE_REASONS,
  type FundingDebitProgress,
  type IssuedCard,
  type IssueProgress,
  type IssuerPort,
} from './cards.ts';

const effects = testEffects();
const NOW = effects.now();
const keysOf = (byte: number) => custodyKeysOf(createVault(effects, () => Buffer.alloc(32, byte)));
const registry = connectorRegistry(effects, { custodyKeys: keysOf(7) });
const ISSUERS: readonly (readonly [string, Mode])[] = [['sandbox', 'sandbox']];

/** Suffixes that script the sandbox. Other issuers ignore them. */
const SUFFIXES = ['000', '001', '002', '003', '004', '005', '006', '007'];

let counter = 0;
const nextUuid = (suffix: string) =>
  `00000000-0000-7000-8000-${String(++counter).padStart(9, '0')}${suffix}`;

function createOrder(platformCardId: string | null, holderSuffix = '000'): CardOrder {
  return {
    ...{ id: `Card:${nextUuid('000')}`, platformId: 'PlatformConfig:1', platformCardId },
    ...{ cardholderId: `Customer:${nextUuid(holderSuffix)}`, currency: 'USD', orderedAt: NOW },
  };
}

const allOrders = SUFFIXES.flatMap((suffix) => [
  createOrder(`card-${suffix}`),
  createOrder(null, suffix),
]);

const merchant = (suffix: string) => ({ descriptor: `SHOP ${suffix}`, mcc: '5411', country: 'US' });

const fundingDebitOf = (suffix: string): CardFundingDebit => ({
  ...{
    id: `CardTransaction:${nextUuid('000')} funding.1`,
    cardId: 'Card:1',
    accountId: 'Account:1',
  },
  ...{ amount: 1_000n, currency: 'USD', merchant: merchant(suffix), requestedAt: NOW },
});

const allDebits = SUFFIXES.map(fundingDebitOf);

/**
 * The final result, requested at the times that the issuer returns, or undefined if it is pending
 * after twenty requests.
 */
async function finalResultOf<P extends { checkAfterMs?: number | undefined } | object>(
  firstProgress: P,
  check: (now: number) => Promise<P>,
): Promise<P | undefined> {
  let progress = firstProgress;
  let now = NOW;
  for (let count = 0; count < 20; count++) {
    const { checkAfterMs } = progress as { checkAfterMs?: number };
    if (checkAfterMs === undefined) return progress;
    expect(checkAfterMs).toBeGreaterThan(0);
    now += checkAfterMs;
    progress = await check(now);
  }
  return undefined;
}

const issueResultOf = (issuer: IssuerPort, order: CardOrder) =>
  issuer
    .issue(order)
    .then((firstProgress) =>
      finalResultOf<IssueProgress>(firstProgress, (now) => issuer.check(order, now)),
    );

/** All cards of `allOrders` that are issued. */
async function issuedCards(issuer: IssuerPort) {
  const cards: { order: CardOrder; card: IssuedCard }[] = [];
  for (const order of allOrders) {
    const result = await issueResultOf(issuer, order);
    if (result?.state === 'issued') cards.push({ order, card: result.card });
  }
  expect(cards.length).toBeGreaterThan(SUFFIXES.length / 2);
  return cards;
}

/** A card without the values that may be encrypted anew each time. */
const omitSecret = ({ secret: _, ...card }: IssuedCard) => card;

const omitSealedValues = (progress: IssueProgress) =>
  progress.state === 'issued' ? { ...progress, card: omitSecret(progress.card) } : progress;

/** Remainder of the Luhn sum divided by ten, which is zero for a valid number. */
const luhnRemainder = (number: string) =>
  [...number]
    .reverse()
    .map((digit, index) => Number(digit) * (1 + (index % 2)))
    .reduce((sum, each) => sum + (each > 9 ? each - 9 : each), 0) % 10;

describe.each(ISSUERS)('the issuer of the %s connector', (_name, environment) => {
  const { issuer } = registry(environment);
  if (!issuer) throw new Error(`The connector has no issuer in ${environment}.`);

  it('treats a second order of a card as the first', async () => {
    for (const cardOrder of allOrders) {
      const firstProgress = omitSealedValues(await issuer.issue(cardOrder));
      expect(omitSealedValues(await issuer.issue({ ...cardOrder }))).toEqual(firstProgress);
      const replies = await Promise.all([issuer.issue(cardOrder), issuer.issue(cardOrder)]);
      expect(replies.map(omitSealedValues)).toEqual([firstProgress, firstProgress]);
      const laterResult = omitSealedValues(await issuer.check(cardOrder, NOW + 60_000));
      await issuer.issue(cardOrder);
      expect(omitSealedValues(await issuer.check(cardOrder, NOW + 60_000))).toEqual(laterResult);
    }
  });

  it('issues one number for repeated orders of a card', async () => {
    for (const { order, card } of await issuedCards(issuer)) {
      const repeatedReply = await issueResultOf(issuer, order);
      if (repeatedReply?.state !== 'issued')
        throw new Error('The repeated order did not issue a card.');
      const cardId = order.id;
      const { number } = await issuer.details({ cardId, secret: card.secret });
      const repeatedDetails = await issuer.details({ cardId, secret: repeatedReply.card.secret });
      expect(repeatedDetails.number).toBe(number);
    }
  });

  it('completes an order or leaves it pending, with checks at the returned times', async () => {
    for (const each of allOrders) expect(await issueResultOf(issuer, each)).toBeDefined();
  });

  it('returns only the last digits with the card, and the number with its details', async () => {
    const numbers = new Set<string>();
    for (const { order, card } of await issuedCards(issuer)) {
      const { number, code, ...expiry } = await issuer.details({
        cardId: order.id,
        secret: card.secret,
      });
      numbers.add(number);
      expect(number).toMatch(/^\d{13,19}$/);
      expect(luhnRemainder(number)).toBe(0);
      expect(code).toMatch(/^\d{3,4}$/);
      expect(number.slice(-4)).toBe(card.last4);
      expect(expiry).toEqual({ expMonth: card.expMonth, expYear: card.expYear });
      const text = JSON.stringify(card);
      for (const digits of [number, number.slice(0, 12), number.slice(-12), number.slice(6)]) {
        expect(text).not.toContain(digits);
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          expect(text).not.toContain(Buffer.from(digits).toString(encoding).replaceAll('=', ''));
        }
      }
    }
    expect(numbers.size).toBeGreaterThan(SUFFIXES.length / 2);
  });

  it('opens sealed details for the same card only', async () => {
    const [firstCard, secondCard] = await issuedCards(issuer);
    if (!firstCard || !secondCard) throw new Error('The issuer issued fewer than two cards.');
    const detailsOfOtherCard = { cardId: secondCard.order.id, secret: firstCard.card.secret };
    await expect(issuer.details(detailsOfOtherCard)).rejects.toThrow();
    const damagedDetails = {
      cardId: firstCard.order.id,
      secret: `${firstCard.card.secret.slice(0, -4)}AAAA`,
    };
    await expect(issuer.details(damagedDetails)).rejects.toThrow();
    const otherIssuer = connectorRegistry(effects, { custodyKeys: keysOf(8) })(environment).issuer;
    const ownDetails = { cardId: firstCard.order.id, secret: firstCard.card.secret };
    await expect(otherIssuer?.details(ownDetails)).rejects.toThrow();
  });

  it('issues cards with an expiry after more than a year and unique references', async () => {
    const cards = await issuedCards(issuer);
    for (const { card } of cards) {
      expect(['VISA', 'MASTERCARD']).toContain(card.brand);
      expect(card.expMonth).toBeGreaterThanOrEqual(1);
      expect(card.expMonth).toBeLessThanOrEqual(12);
      expect(Date.UTC(card.expYear, card.expMonth)).toBeGreaterThan(NOW + 365 * 86_400_000);
    }
    for (const name of ['issuerRef', 'processorRef'] as const) {
      expect(new Set(cards.map(({ card }) => card[name])).size).toBe(cards.length);
    }
  });

  it('treats a second funding debit as the first, and completes it', async () => {
    for (const debit of allDebits) {
      const firstProgress = await issuer.debitFunding(debit);
      expect(await issuer.debitFunding({ ...debit })).toEqual(firstProgress);
      expect(await Promise.all([issuer.debitFunding(debit), issuer.debitFunding(debit)])).toEqual([
        firstProgress,
        firstProgress,
      ]);
      const result = await finalResultOf<FundingDebitProgress>(firstProgress, (now) =>
        issuer.checkFundingDebit(debit, now),
      );
      expect(['confirmed', 'failed']).toContain(result?.state);
      // A final result does not change when it is requested again.
      expect(await issuer.checkFundingDebit(debit, NOW + 86_400_000)).toEqual(result);
    }
  });

  it('declines a request only with a documented reason, the same each time', async () => {
    for (const kind of CARD_REQUESTS) {
      for (const suffix of SUFFIXES) {
        const request: CardRequest = {
          ...{ id: `CardMessage:${nextUuid('000')}`, token: 'token', cardId: 'Card:1', kind },
          ...{ amount: 1n, currency: 'USD', merchant: merchant(suffix) },
        };
        const reason = issuer.declineReason?.(request);
        if (reason !== undefined) expect(DECLINE_REASONS).toContain(reason);
        expect(issuer.declineReason?.({ ...request })).toBe(reason);
      }
    }
  });

  it('accepts the same accounts each time, and most of them', () => {
    const accounts = SUFFIXES.map((suffix) => `InternalAccount:${nextUuid(suffix)}`);
    for (const isNew of [true, false]) {
      const card = { platformCardId: null, isNew };
      const acceptedAccounts = accounts.filter((each) => issuer.accepts?.(each, card) ?? true);
      expect(accounts.filter((each) => issuer.accepts?.(each, card) ?? true)).toEqual(
        acceptedAccounts,
      );
      expect(acceptedAccounts.length).toBeGreaterThan(SUFFIXES.length / 2);
    }
  });
});

describe('an issuer', () => {
  it('exists only in the sandbox, and only with a sealing key', () => {
    expect(registry('production').issuer).toBeUndefined();
    expect(connectorRegistry(effects)('sandbox').issuer).toBeUndefined();
  });
});
