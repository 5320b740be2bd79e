// System accounts, and the IDs of ledger accounts.
import { describe, expect, it } from 'vitest';
import {
  circulatingTokensAccount,
  issuedTokensAccount,
  providerAccount,
  SYSTEM_ACCOUNTS,
  type SystemAccount,
  systemAccount,
  systemAccountPattern,
  systemAccounts,
  velocityCounterAccount,
  velocityLimitAccount,
  velocityLimitOf,
} from './chart.ts';

describe('systemAccounts', () => {
  const accounts = systemAccounts(['USD', 'EUR']);
  /** Without accounts of providers, which are opened with the first statement. */
  const purposes = (Object.keys(SYSTEM_ACCOUNTS) as SystemAccount[]).filter(
    (purpose) => purpose !== 'provider',
  );

  it('has one account for each environment, purpose and currency', () => {
    expect(accounts).toHaveLength(2 * purposes.length * 2);
    expect(new Set(accounts.map((each) => each.id)).size).toBe(accounts.length);
  });

  it('has the ID and currency that postings use', () => {
    for (const environment of ['sandbox', 'production'] as const) {
      for (const purpose of purposes) {
        for (const currency of ['USD', 'EUR']) {
          expect(accounts).toContainEqual({
            id: systemAccount(environment, purpose, currency),
            currency,
          });
        }
      }
    }
  });
});

describe('account ID', () => {
  const limit = velocityLimitOf;

  // The IDs are stored in the ledger and must not change.
  it.each([
    [systemAccount('sandbox', 'rail_in_transit', 'USD'), 'system:sandbox:rail_in_transit:USD'],
    [providerAccount('production', 'EUR', 'acme-bank'), 'system:production:provider:EUR:acme-bank'],
    [systemAccountPattern('suspense'), 'system:%:suspense:%'],
    [
      velocityLimitAccount(limit.sending('P', 'USD:EUR', '2026-01-05')),
      'velocity:P:USD:EUR:2026-01-05',
    ],
    [velocityLimitAccount(limit.starts('C', '2026-01-05T09')), 'velocity:C:hour:2026-01-05T09'],
    [velocityLimitAccount(limit.spending('A', 'USD', '2026-01')), 'velocity:A:USD:2026-01'],
    [velocityLimitAccount(limit.payments('A', '2026-01-05')), 'velocity:A:count:2026-01-05'],
    [velocityLimitAccount(limit.openCards('P')), 'velocity:cards:P'],
    [velocityCounterAccount('production', 'USD'), 'velocity:production:USD'],
    [issuedTokensAccount('S'), 'stablecoin:S:issued'],
    [circulatingTokensAccount('S'), 'stablecoin:S:circulating'],
  ])('is %s', (id, storedId) => {
    expect(id).toBe(storedId);
  });
});
