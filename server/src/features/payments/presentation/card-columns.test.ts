// The amounts of card payments in the database: rejections by the constraints, and the preservation
// of every payment by the migration to columns.
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { type CardFixture, cardFixture } from '../../../../test/kit/cards/cards.ts';
import { projectRoot } from '../../../runtime/config/root.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type TransactionRow, transactions } from '../transactions/store.ts';
import { presentTransaction } from './present.ts';

const app = testApp();
let fixture: CardFixture;
const readTransactionRows = async (): Promise<TransactionRow[]> =>
  app.runtime.db.find(transactions, {}, { orderBy: 'id' });

/** A process whose commits exceed the time limit of the network. */
const createProcessPastDeadline = (): Runtime => ({
  ...app.runtime,
  committer: {
    async commit(set) {
      const outcome = await app.runtime.committer.commit(set);
      app.effects.set(app.effects.now() + 2_001);
      return outcome;
    },
  },
});

/**
 * One payment per case: partial clearings with refunds, a failed funding debit, an authorization
 * without a clearing, a late approval, and a credit.
 */
beforeAll(async () => {
  fixture = cardFixture(app);
  const network = cardNetwork(app);
  const holder = await fixture.createCardholder({ funds: 100_00 });
  const { id } = await fixture.createCard(holder);
  const clearedRequest = network.message(id, 30_00);
  await network.send(clearedRequest);
  await app.settle();
  await network.notify(clearedRequest.token, { kind: 'CLEARING', amount: 12_00n });
  await network.notify(clearedRequest.token, { kind: 'CLEARING', amount: 20_00n });
  await app.settle();
  for (const amount of [3_00n, 4_00n])
    await network.notify(clearedRequest.token, { kind: 'RETURN', amount });
  await network.notify(clearedRequest.token, { kind: 'RETURN_REVERSAL' });
  const excessRequest = network.message(id, 10_00);
  await network.send(excessRequest);
  await network.notify(excessRequest.token, { kind: 'CLEARING', amount: 200_00n });
  const openRequest = network.message(id, 5_00);
  await network.send(openRequest);
  const lateRequest = network.message(id, 4_00);
  await cardNetwork(app, createProcessPastDeadline()).send(lateRequest, app.effects.now() + 2_000);
  await network.request(id, 2_00, 'FINANCIAL_CREDIT_AUTHORIZATION');
});

const query = (sql: string, values: unknown[] = []) => app.runtime.db.query(sql, values);

describe('card amount constraints', () => {
  it.each([
    ['a negative amount', 'card_authorized = -1'],
    ['a clearing of zero', "card_clearings = '{5,0}'"],
    [
      'a funding debit without an amount',
      "card_funding_debits = '{null}', card_funding_debit_statuses = '{FAILED}'",
    ],
    ['a funding debit without a status', "card_funding_debit_statuses = '{}'"],
    ['an unknown status', "card_funding_debits = '{1}', card_funding_debit_statuses = '{OTHER}'"],
    ['refunds above the cleared amount', "card_refunds = '{1000000}'"],
    ['a release above the debited amount', 'card_released = 1000000'],
    ['a write-off above the cleared amount', 'card_written_off = 1000000'],
    ['a recovery above the refunded amount', 'card_recovered = 1000000'],
  ])('reject %s', async (_, change) => {
    const cardPaymentSql =
      "select id from transactions where type = 'CARD' and direction = 'DEBIT' limit 1";
    const updateSql = `update transactions set ${change} where id = (${cardPaymentSql})`;
    await expect(query(updateSql)).rejects.toMatchObject({
      constraint: 'transactions_card_amounts',
    });
  });

  it('reject amounts on other transactions', async () => {
    const [cardRow] = (await readTransactionRows()).filter(({ type }) => type === 'CARD');
    const updateSql = "update transactions set type = 'INCOMING', card = null where id = $1";
    await expect(query(updateSql, [cardRow?.id])).rejects.toMatchObject({
      constraint: 'transactions_columns',
    });
  });
});

const COLUMNS =
  `card_authorized card_closed card_clearings card_refunds card_funding_debits card_funding_debit_statuses
  card_released card_written_off card_recovered card_undone_clearings card_reversed_refunds
  card_last_event_at`.split(/\s+/);

const textArraySql = (list: string) =>
  `(select coalesce(json_agg(each::text), '[]') from unnest(${list}) each)`;

/** Restores the rows to their form before the migration. */
const BEFORE_MIGRATION = `
  alter table transactions drop constraint transactions_columns,
    drop constraint transactions_card_amounts;
  update transactions t set card = json_strip_nulls(json_build_object(
    'cardId', card -> 'cardId', 'token', card -> 'token', 'merchant', card -> 'merchant',
    'currency', card -> 'currency', 'authorized', card_authorized::text, 'closed', card_closed,
    'settlements', ${textArraySql('card_clearings')}, 'returns', ${textArraySql('card_refunds')},
    'pulls', (select coalesce(json_agg(json_build_object('amount', amount::text, 'status', status)), '[]')
      from unnest(card_funding_debits, card_funding_debit_statuses) pull(amount, status)),
    'back', card_released::text, 'lost', card_written_off::text,
    'recovered', nullif(card_recovered, 0)::text, 'undone', card_undone_clearings,
    'reversed', nullif(card_reversed_refunds, 0),
    'lastEventAt', to_char(card_last_event_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
  where type = 'CARD';
  alter table transactions ${COLUMNS.map((name) => `drop column ${name}`).join(', ')};
  alter table transactions add constraint transactions_columns check (true);
  drop function card_sum, card_pulled;`;

describe('card amount migration', () => {
  it('preserves every payment', async () => {
    const transactionsBefore = await readTransactionRows();
    const cardRowsBefore = transactionsBefore.flatMap((row) => (row.type === 'CARD' ? [row] : []));
    expect(cardRowsBefore.some((row) => row.card_clearings.length === 2)).toBe(true);
    expect(cardRowsBefore.some((row) => row.card_reversed_refunds === 1)).toBe(true);
    expect(cardRowsBefore.some((row) => row.card_funding_debit_statuses.includes('FAILED'))).toBe(
      true,
    );
    expect(cardRowsBefore.some((row) => row.card_undone_clearings === 0)).toBe(true);
    expect(cardRowsBefore.some((row) => row.direction === 'CREDIT')).toBe(true);
    const readMigration = (name: string) =>
      fs.readFileSync(path.join(projectRoot(), 'server', 'migrations', `${name}.sql`), 'utf8');
    const renames = readMigration('0041_standard_names').match(/^.*rename column card_.*$/gm) ?? [];
    const client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    await client.query(BEFORE_MIGRATION);
    const { rows: oldRows } = await client.query(
      "select card from transactions where type = 'CARD'",
    );
    expect(oldRows.every(({ card }) => typeof card.authorized === 'string')).toBe(true);
    await client.query(readMigration('0040_card_amounts'));
    await client.query(renames.join('\n'));
    await client.end();
    const transactionsAfter = await readTransactionRows();
    expect(transactionsAfter).toEqual(transactionsBefore);
    expect(transactionsAfter.map(presentTransaction)).toEqual(
      transactionsBefore.map(presentTransaction),
    );
  });
});
