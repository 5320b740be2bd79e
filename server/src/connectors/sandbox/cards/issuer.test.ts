// The scripted issuer: the result of each suffix and its time. The suffixes are read from the
// tables of outcomes, so a row without an expectation fails.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../../test/kit/app/effects.ts';
import { createVault } from '../../../runtime/security/vault.ts';
import type {
  CardFundingDebit,
  CardOrder,
  FundingDebitProgress,
  IssueProgress,
} from '../../ports/cards.ts';
import { connectorRegistry, custodyKeysOf } from '../../registry.ts';
import {
  DESCRIPTOR_DECLINES,
  FUNDING_DEBIT_OUTCOMES,
  FUNDING_REJECTIONS,
  ISSUE_OUTCOMES,
} from './card-outcomes.ts';

const effects = testEffects();
const vault = createVault(effects, () => Buffer.alloc(32, 7));
const { issuer } = connectorRegistry(effects, { custodyKeys: custodyKeysOf(vault) })('sandbox');
if (!issuer) throw new Error('The sandbox connector has no issuer.');

const NOW = effects.now();

/**
 * Every result that polling returns, with its time in seconds. `…` marks a pending result that is
 * not polled again.
 */
async function runScenario(
  firstProgress: IssueProgress | FundingDebitProgress,
  check: (now: number) => Promise<IssueProgress | FundingDebitProgress>,
): Promise<string[]> {
  const results: string[] = [];
  let [elapsedMs, progress] = [0, firstProgress];
  for (;;) {
    const checkAfterMs = 'checkAfterMs' in progress ? progress.checkAfterMs : undefined;
    const remainsPending = progress.state === 'pending' && checkAfterMs === undefined;
    results.push(`${elapsedMs / 1_000} ${progress.state}${remainsPending ? ' …' : ''}`);
    if (checkAfterMs === undefined) return results;
    elapsedMs += checkAfterMs;
    progress = await check(NOW + elapsedMs);
  }
}

const UNSCRIPTED_SUFFIX = '000';
const suffixesOf = (table: object) => [...Object.keys(table), UNSCRIPTED_SUFFIX].sort();

const ISSUE_RESULTS: Readonly<Record<string, string[]>> = {
  [UNSCRIPTED_SUFFIX]: ['0 issued'],
  '001': ['0 pending …'],
  '002': ['0 rejected'],
  '005': ['0 pending', '30 issued'],
};

describe('an order', () => {
  const cardOrder = (platformCardId: string | null, cardholderId: string): CardOrder => ({
    ...{ id: 'Card:1', platformId: 'PlatformConfig:1', platformCardId, cardholderId },
    ...{ currency: 'USD', orderedAt: NOW },
  });
  const runIssueScenario = async (order: CardOrder) =>
    runScenario(await issuer.issue(order), (now) => issuer.check(order, now));

  it('has an expectation for every suffix of its table', () => {
    expect(Object.keys(ISSUE_RESULTS).sort()).toEqual(suffixesOf(ISSUE_OUTCOMES));
  });

  it.each(Object.keys(ISSUE_RESULTS))(
    'has the outcome of the suffix %s of the platformCardId',
    async (suffix) => {
      expect(await runIssueScenario(cardOrder(`card-${suffix}`, 'Customer:1-002'))).toEqual(
        ISSUE_RESULTS[suffix],
      );
    },
  );

  it.each(Object.keys(ISSUE_RESULTS))('ignores the suffix %s of the cardholder', async (suffix) => {
    expect(await runIssueScenario(cardOrder(null, `Customer:1-${suffix}`))).toEqual(
      ISSUE_RESULTS[UNSCRIPTED_SUFFIX],
    );
  });
});

const FUNDING_DEBIT_RESULTS: Readonly<Record<string, string[]>> = {
  [UNSCRIPTED_SUFFIX]: ['0 confirmed'],
  '005': ['0 pending', '30 confirmed'],
  '006': ['0 failed'],
};

describe('a funding debit', () => {
  it('has an expectation for every suffix of its table', () => {
    expect(Object.keys(FUNDING_DEBIT_RESULTS).sort()).toEqual(suffixesOf(FUNDING_DEBIT_OUTCOMES));
  });

  it.each(Object.keys(FUNDING_DEBIT_RESULTS))(
    'has the outcome of the suffix %s of the descriptor',
    async (suffix) => {
      const debit: CardFundingDebit = {
        ...{ id: 'debit', cardId: 'Card:1', accountId: 'InternalAccount:1-006', amount: 1n },
        ...{ currency: 'USD', merchant: { descriptor: `SHOP ${suffix}` }, requestedAt: NOW },
      };
      const results = await runScenario(await issuer.debitFunding(debit), (now) =>
        issuer.checkFundingDebit(debit, now),
      );
      expect(results).toEqual(FUNDING_DEBIT_RESULTS[suffix]);
    },
  );
});

describe('a request', () => {
  const suffixes = [...suffixesOf(DESCRIPTOR_DECLINES), ...Object.keys(FUNDING_DEBIT_OUTCOMES)];
  it('is declined only by the suffix of the descriptor', () => {
    const reasons = suffixes.map((suffix) => {
      const merchant = { descriptor: `SHOP ${suffix}` };
      const request = { id: '1', token: '1', cardId: 'Card:1-003', amount: 1n, currency: 'USD' };
      const reason = issuer.declineReason?.({ ...request, kind: 'AUTHORIZATION', merchant });
      return [suffix, reason];
    });
    expect(Object.fromEntries(reasons)).toEqual({
      ...{ [UNSCRIPTED_SUFFIX]: undefined, '002': 'INSUFFICIENT_FUNDS', '003': 'CARD_PAUSED' },
      ...{ '005': undefined, '006': undefined },
    });
  });
});

describe('an account', () => {
  const SUFFIXES = ['000', '001', '002', '003', '004', '005'];

  it('is accepted for a card, except for two suffixes of the platformCardId', () => {
    expect(FUNDING_REJECTIONS).toEqual({ '003': 'create', '004': 'update' });
    const rejectedSuffixes = (isNew: boolean) =>
      SUFFIXES.filter(
        (suffix) =>
          !issuer.accepts?.('InternalAccount:1', { platformCardId: `card-${suffix}`, isNew }),
      );
    expect([rejectedSuffixes(true), rejectedSuffixes(false)]).toEqual([['003'], ['004']]);
  });

  it('is accepted regardless of the suffix of its ID', () => {
    for (const suffix of SUFFIXES) {
      for (const isNew of [true, false]) {
        const card = { platformCardId: null, isNew };
        expect(issuer.accepts?.(`InternalAccount:1-${suffix}`, card)).toBe(true);
      }
    }
  });
});
