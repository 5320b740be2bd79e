// Fields of a card payment at each stage. Summaries of clearings and refunds are present only if
// they have items.
import { describe, expect, it } from 'vitest';
import { type CardFacts, columnsOf, newFacts } from '../card-payments/facts.ts';
import type { CardStatus } from '../card-payments/states.ts';
import type { CardPaymentRow } from '../transactions/store.ts';
import { presentCardPayment } from './present-card.ts';

const TIME = Date.UTC(2026, 0, 5, 9);

const facts: CardFacts = {
  ...newFacts(30_00n),
  fundingDebits: [{ amount: 30_00n, status: 'PENDING' }],
};

function presentWith(
  overrides: Partial<CardFacts>,
  status: CardStatus = 'AUTHORIZED',
  isCredit = false,
) {
  const account = 'InternalAccount:1';
  const row = {
    id: 'CardTransaction:1',
    platform_id: 'PlatformConfig:1',
    customer_id: 'Customer:1',
    platform_customer_id: 'ada',
    type: 'CARD',
    direction: isCredit ? 'CREDIT' : 'DEBIT',
    status,
    source_account: isCredit ? null : account,
    destination_account: isCredit ? account : null,
    created_at: TIME,
    updated_at: TIME + 2_000,
    card: {
      cardId: 'Card:1',
      token: 'token-1',
      merchant: { descriptor: 'Corner shop' },
      currency: 'USD',
    },
    ...columnsOf({ ...facts, ...overrides }),
    card_last_event_at: TIME + 1_000,
  } as CardPaymentRow;
  return presentCardPayment(row);
}

const USD = { code: 'USD', name: 'United States Dollar', symbol: '$', decimals: 2 };

describe('presentCardPayment', () => {
  it('shows the authorized amount and pending debits, and omits later fields', () => {
    expect(presentWith({})).toEqual({
      type: 'CARD',
      id: 'CardTransaction:1',
      cardId: 'Card:1',
      customerId: 'Customer:1',
      platformCustomerId: 'ada',
      issuerTransactionToken: 'token-1',
      status: 'AUTHORIZED',
      direction: 'DEBIT',
      merchant: { descriptor: 'Corner shop' },
      authorizedAmount: { amount: 30_00, currency: USD },
      accountId: 'InternalAccount:1',
      pullSummary: { count: 1, totalAmount: 30_00, pendingCount: 1 },
      authorizedAt: '2026-01-05T09:00:00.000Z',
      lastEventAt: '2026-01-05T09:00:01.000Z',
      createdAt: '2026-01-05T09:00:00.000Z',
      updatedAt: '2026-01-05T09:00:02.000Z',
    });
  });

  it('sums clearings, refunds and funding debits', () => {
    const view = presentWith(
      {
        clearings: [10_00n, 25_00n],
        refunds: [4_00n, 1_00n],
        fundingDebits: [
          { amount: 30_00n, status: 'CONFIRMED' },
          { amount: 5_00n, status: 'STUCK' },
          { amount: 2_50n, status: 'FAILED' },
        ],
      },
      'SETTLED',
    );
    expect(view).toMatchObject({
      status: 'SETTLED',
      settledAmount: { amount: 35_00, currency: USD },
      refundedAmount: { amount: 5_00, currency: USD },
      settlementSummary: { count: 2, totalAmount: 35_00 },
      refundSummary: { count: 2, totalAmount: 5_00 },
      // The failed debit is not included.
      pullSummary: { count: 2, totalAmount: 35_00, pendingCount: 0 },
    });
  });

  it('shows a settled amount of zero after the release of the authorization', () => {
    const view = presentWith({ closed: true }, 'SETTLED');
    expect(view.settledAmount).toEqual({ amount: 0, currency: USD });
    expect(view).not.toHaveProperty('settlementSummary');
    expect(view).not.toHaveProperty('refundedAmount');
  });

  it('shows the credited account, without debits', () => {
    const view = presentWith(
      { fundingDebits: [], clearings: [30_00n], closed: true },
      'SETTLED',
      true,
    );
    expect(view).toMatchObject({ direction: 'CREDIT', accountId: 'InternalAccount:1' });
    expect(view).not.toHaveProperty('pullSummary');
  });
});
