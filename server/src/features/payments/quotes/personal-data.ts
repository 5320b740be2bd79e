// Export and erasure of the personal data in a customer's payments and quotes. An erasure keeps the kind of
// each party, Railhead IDs and amounts. The erasure runs in short statements, each of which continues after
// the previous statement.
import { rateDetailsOf, type StoredRateDetails } from '../../../catalog/currencies/rate-details.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import {
  CUSTOMER_ROWS_SQL,
  type DataSubject,
  ERASED,
  type Json,
  type PersonalData,
} from '../../../runtime/operation/personal-data.ts';
import { tombstoneOf } from '../../customers/records/index.ts';

const BATCH_SIZE = 500;

/** A party after erasure: its kind, Railhead IDs and currency. A UMA address is replaced. */
const erasedPartySql = (column: string) => `case when json_typeof(${column}) = 'object' then (
    select json_object_agg(key,
      case key when 'umaAddress' then to_json('${ERASED}'::text) else value end)
    from json_each(${column}) where key in
      ('sourceType', 'destinationType', 'accountId', 'customerId', 'currency', 'umaAddress'))
  else ${column} end`;

const eraseMerchantSql = (column: string) => `case when json_typeof(${column}) = 'object' then
    (${column}::jsonb || '{"merchant": {"descriptor": "${ERASED}"}}')::json end`;

const ownIdSql = (column: string) =>
  `case when ${column} ~ '^(Internal|External)Account:' then ${column} end`;

// $1: customer. $2: tombstone. $3, $4: position after which to continue.
const ERASE_PAYMENTS_SQL = `with batch as (
    select id, quote_id, created_at from transactions
    where customer_id = $1 and (created_at, id) > ($3::timestamptz, $4::text)
    order by created_at, id limit ${BATCH_SIZE}
  ), erased_quotes as (
    update quotes q set source = ${erasedPartySql('q.source')},
      destination = ${erasedPartySql('q.destination')}, description = null
    from batch b where q.id = b.quote_id
  ), erased_transactions as (
    update transactions t set platform_customer_id = $2, source = ${erasedPartySql('t.source')},
      destination = ${erasedPartySql('t.destination')}, source_account = ${ownIdSql('t.source_account')},
      destination_account = ${ownIdSql('t.destination_account')}, description = null,
      remittance = null, purpose = null, counterparty = null, rail_payload = null,
      requested_fields = null, instructions = null, source_chain = null,
      destination_chain = null, card = ${eraseMerchantSql('t.card')}, version = t.version + 1
    from batch b where t.id = b.id
  )
  select created_at as at, id, quote_id is not null as quoted from batch order by created_at, id`;

interface PaymentOfBatch {
  at: Time;
  id: string;
  quoted: boolean;
}

async function emptyPayments({ db }: Runtime, { id }: DataSubject) {
  const counts = { transactions: 0, quotes: 0 };
  let [time, after]: [Time, string] = [0, ''];
  for (;;) {
    const values = [id, tombstoneOf(id), new Date(time), after];
    const rows = await db.query<PaymentOfBatch & object>(ERASE_PAYMENTS_SQL, values);
    counts.transactions += rows.length;
    counts.quotes += rows.filter((row) => row.quoted).length;
    const lastRow = rows.at(-1);
    if (!lastRow || rows.length < BATCH_SIZE) return counts;
    [time, after] = [lastRow.at, lastRow.id];
  }
}

/** Rate details with the names of the API. */
const openRates = (_: unknown, { rate_details: storedDetails }: Json): Json =>
  storedDetails ? { rate_details: rateDetailsOf(storedDetails as StoredRateDetails) } : {};

export const paymentPersonalData: PersonalData = {
  tables: {
    quotes: {
      rows: 't.id in (select quote_id from transactions where customer_id = $1)',
      erasure: 'emptied',
      open: openRates,
    },
    transactions: { rows: CUSTOMER_ROWS_SQL, erasure: 'emptied', open: openRates },
  },
  subjects: { transactions: 'customer_id = $1' },
  empty: emptyPayments,
};
