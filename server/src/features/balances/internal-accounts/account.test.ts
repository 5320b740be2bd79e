// The API view of internal accounts, and the account types of a currency.
import { describe, expect, it } from 'vitest';
import { withBalances } from '../../notifications/webhooks/envelope.ts';
import { presentInternalAccount, typesFor } from './account.ts';
import type { InternalAccountRow } from './store.ts';

const row: InternalAccountRow = {
  id: 'InternalAccount:1',
  platform_id: 'PlatformConfig:1',
  customer_id: null,
  currency: 'USD',
  type: 'INTERNAL_FIAT',
  status: 'ACTIVE',
  funding: [],
  private_enabled: null,
  owed: 0n,
  created_at: 0,
  updated_at: 1_000,
  version: 1,
};
const USD = { code: 'USD', name: 'United States Dollar', symbol: '$', decimals: 2 };

describe('presentInternalAccount', () => {
  it('shows the available balance and the total balance', () => {
    expect(presentInternalAccount(row, { balance: 1_000n, held: 300n })).toEqual({
      id: 'InternalAccount:1',
      type: 'INTERNAL_FIAT',
      status: 'ACTIVE',
      balance: { amount: 700, currency: USD },
      totalBalance: { amount: 1_000, currency: USD },
      fundingPaymentInstructions: [],
      createdAt: '1970-01-01T00:00:00.000Z',
      updatedAt: '1970-01-01T00:00:01.000Z',
    });
  });

  it('includes the customer and the privacy flag of a wallet', () => {
    const wallet = { ...row, customer_id: 'Customer:1', private_enabled: false };
    const internalAccount = presentInternalAccount(wallet, { balance: 0n, held: 0n });
    expect(internalAccount).toMatchObject({ customerId: 'Customer:1', privateEnabled: false });
  });
});

describe('withBalances', () => {
  it('returns a copy with the balances of an event', () => {
    const storedAccount = presentInternalAccount(row, { balance: 0n, held: 0n });
    const updatedAccount = withBalances(storedAccount, 1_000n, 300n);
    expect(updatedAccount).toEqual(presentInternalAccount(row, { balance: 1_000n, held: 300n }));
    expect(storedAccount.balance.amount).toBe(0);
  });
});

describe('typesFor', () => {
  it('distinguishes fiat currencies from digital assets', () => {
    expect(typesFor('USD', 'customer')).toEqual(['INTERNAL_FIAT']);
    expect(typesFor('USDC', 'customer')).toEqual(['INTERNAL_CRYPTO']);
  });

  it('adds a wallet to the USDB account of customers only', () => {
    expect(typesFor('USDB', 'customer')).toEqual(['INTERNAL_CRYPTO', 'EMBEDDED_WALLET']);
    expect(typesFor('USDB', 'platform')).toEqual(['INTERNAL_CRYPTO']);
  });
});
