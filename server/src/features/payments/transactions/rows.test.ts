// Guarantees of each transaction type. The database enforces them and the read functions check them.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { type CardFixture, cardFixture } from '../../../../test/kit/cards/cards.ts';
import { asCardPayment } from '../../cards/clearing/payment.ts';
import { asIncoming, asOutgoing, asPayment, loadTransaction } from './rows.ts';
import type { TransactionRow } from './store.ts';

const app = testApp();
let cards: CardFixture;
const rows = {} as Record<TransactionRow['type'], TransactionRow>;

beforeAll(async () => {
  cards = cardFixture(app);
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'EUR');
  ok(await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)), 201);
  const { id } = await cards.createCard(await cards.createCardholder({ funds: 100_00 }));
  await cardNetwork(app).request(id, 10_00, 'AUTHORIZATION');
  const ids = await app.runtime.db.query<{ id: string }>(
    'select distinct on (type) id from transactions order by type, id',
  );
  for (const each of ids) {
    const row = await loadTransaction(app.runtime.db, each.id);
    rows[row.type] = row;
  }
});

describe('transaction columns', () => {
  it.each([
    ['OUTGOING', 'destination_account'],
    ['OUTGOING', 'sent_amount'],
    ['OUTGOING', 'sent_currency'],
    ['OUTGOING', 'received_amount'],
    ['OUTGOING', 'received_currency'],
    ['OUTGOING', 'fees'],
    ['OUTGOING', 'platform_fees'],
    ['OUTGOING', 'exchange_rate'],
    ['INCOMING', 'destination_account'],
    ['INCOMING', 'received_amount'],
    ['INCOMING', 'received_currency'],
    ['CARD', 'customer_id'],
    ['CARD', 'source_account'],
    ['CARD', 'sent_amount'],
    ['CARD', 'sent_currency'],
    ['CARD', 'card'],
    ['CARD', 'card_authorized'],
    ['CARD', 'card_clearings'],
    ['CARD', 'card_funding_debit_statuses'],
    ['CARD', 'card_last_event_at'],
  ] as const)('of type %s have no null in %s', async (type, column) => {
    const updateSql = `update transactions set ${column} = null where id = $1`;
    await expect(app.runtime.db.query(updateSql, [rows[type].id])).rejects.toMatchObject({
      constraint: 'transactions_columns',
    });
  });

  it.each([["type = 'OTHER'"], ["direction = 'CREDIT'"], ["card = '{}'"], ['card_authorized = 1']])(
    'must match the transaction type: %s',
    async (change) => {
      const updateSql = `update transactions set ${change} where id = $1`;
      await expect(app.runtime.db.query(updateSql, [rows.OUTGOING.id])).rejects.toMatchObject({
        constraint: 'transactions_columns',
      });
    },
  );
});

describe('typed transaction', () => {
  it('is accepted only as its own type', () => {
    expect(asOutgoing(rows.OUTGOING)).toBe(rows.OUTGOING);
    expect(asIncoming(rows.INCOMING)).toBe(rows.INCOMING);
    expect(asCardPayment(rows.CARD)).toBe(rows.CARD);
    expect(() => asOutgoing(rows.INCOMING)).toThrow('is INCOMING, not OUTGOING');
    expect(() => asIncoming(rows.CARD)).toThrow('is CARD, not INCOMING');
    expect(() => asCardPayment(rows.OUTGOING)).toThrow('is OUTGOING, not CARD');
    expect(() => asPayment(rows.CARD)).toThrow('is a card payment');
  });

  it('cannot be loaded with an unknown ID', async () => {
    await expect(loadTransaction(app.runtime.db, 'Transaction:none')).rejects.toThrow('not found');
  });
});
