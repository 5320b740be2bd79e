import { describe, expect, it } from 'vitest';
import {
  circulatingTokensAccount,
  HOUSE,
  house,
  houseAccounts,
  houseLike,
  issuedTokensAccount,
  velocityCounterAccount,
  velocityLimitAccount,
  velocityLimitOf,
} from './chart.ts';

describe('houseAccounts', () => {
  const accounts = houseAccounts(['USD', 'EUR']);

  it('has one account for each environment, purpose and currency', () => {
    expect(accounts).toHaveLength(2 * Object.keys(HOUSE).length * 2);
    expect(new Set(accounts.map((each) => each.id)).size).toBe(accounts.length);
  });

  it('finds each by the name that postings use, in its own currency', () => {
    for (const environment of ['sandbox', 'production'] as const) {
      for (const purpose of Object.keys(HOUSE) as (keyof typeof HOUSE)[]) {
        for (const currency of ['USD', 'EUR']) {
          expect(accounts).toContainEqual({ id: house(environment, purpose, currency), currency });
        }
      }
    }
  });
});

describe('an id of an account', () => {
  const limit = velocityLimitOf;

  // Stored in the ledger, so none may change.
  it.each([
    [house('sandbox', 'clearing', 'USD'), 'house:sandbox:clearing:USD'],
    [houseLike('suspense'), 'house:%:suspense:%'],
    [
      velocityLimitAccount(limit.sending('P', 'USD:EUR', '2026-01-05')),
      'volume:P:USD:EUR:2026-01-05',
    ],
    [velocityLimitAccount(limit.starts('C', '2026-01-05T09')), 'volume:C:hour:2026-01-05T09'],
    [velocityLimitAccount(limit.spending('A', 'USD', '2026-01')), 'volume:A:USD:2026-01'],
    [velocityLimitAccount(limit.payments('A', '2026-01-05')), 'volume:A:count:2026-01-05'],
    [velocityLimitAccount(limit.liveCards('P')), 'volume:cards:P'],
    [velocityCounterAccount('production', 'USD'), 'volume:production:USD'],
    [issuedTokensAccount('S'), 'stablecoin:S:issued'],
    [circulatingTokensAccount('S'), 'stablecoin:S:circulating'],
  ])('is %s', (id, stored) => {
    expect(id).toBe(stored);
  });
});
