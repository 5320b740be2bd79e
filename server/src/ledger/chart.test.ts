import { describe, expect, it } from 'vitest';
import { HOUSE, house, houseAccounts } from './chart.ts';

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
