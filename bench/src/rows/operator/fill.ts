// Fills a database with payments of a year, in SQL. The payments are copies of a few that were
// created over HTTP, with their postings, outcomes and sums. Customers, external accounts, quotes
// and events are created in proportion. Events are at most three weeks old, because older events
// are removed.
import pg from 'pg';
import {
  OUTCOME,
  PAYMENT_COLUMNS,
} from '../../../../server/src/features/payments/monitoring/metrics-store.ts';
import {
  createPartitions,
  onClient,
} from '../../../../server/src/runtime/db/partitions/partitions.ts';
import { printProgress } from '../../table/row.ts';

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const EVENTS_MS = 20 * DAY_MS;
/** Payments for each customer and each external account. */
const PER_PERSON = 100;
/** Payments for each event, and for each quote. */
const PER_EVENT = 10;
const PER_QUOTE = 10;
/** Number of payments for each failed payment. */
const PER_FAILED = 100;
const AMOUNTS = 5_000;
export const FIRST_AMOUNT = 1_000;

/** An ID with the time and the number of its row. */
const idSql = (resource: string, time: string, n: string) =>
  `'${resource}:' || overlay(lpad(to_hex((${time})::bigint), 12, '0') placing '-' from 9 for 0)
    || '-7000-8000-' || lpad((${n})::text, 12, '0')`;

/** The ID of the row with this number, if the time is irrelevant. */
const numberedIdSql = (resource: string, n: string) => idSql(resource, '1700000000000', n);

/** The customer or account with this number. */
export const numberedId = (resource: string, n: number): string =>
  `${resource}:018bcfe5-6800-7000-8000-${String(n).padStart(12, '0')}`;

/** The customer or account of a payment. The first customer or account has every third payment. */
const resourceOfPaymentSql = (resource: string, maximum: number) =>
  `case when n % 3 = 0 then ${numberedIdSql(resource, '1')}
    else ${numberedIdSql(resource, `2 + n % ${maximum}`)} end`;

interface Copies {
  table: string;
  /** IDs of the rows that are copied cyclically. */
  templates: readonly string[];
  count: number;
  columns: Record<string, string>;
  isPartitioned?: boolean;
}

/** Runs `work` without indexes, because building one afterwards is much faster than single entries. */
async function withoutIndexes(client: pg.Client, table: string, work: () => Promise<unknown>) {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid = $1::regclass
        and not exists (select from pg_constraint where conindid = indexrelid)`,
    [table],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await work();
  for (const { definition } of rows) await client.query(definition);
}

/** Without a log, copies need half of the time. Reads are unaffected. */
const withoutLog = (client: pg.Client, table: string) =>
  client.query(`alter table ${table} set unlogged`);

/** Prints the duration of a step, which is long at ten million payments. */
async function timeStep<R>(name: string, work: () => Promise<R>): Promise<R> {
  const startMs = performance.now();
  const result = await work();
  printProgress(`${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  return result;
}

const copy = (client: pg.Client, copies: Copies) =>
  timeStep(`${copies.count} ${copies.table}`, () => insertCopies(client, copies));

async function insertCopies(
  client: pg.Client,
  { table, templates, count, columns, isPartitioned = false }: Copies,
) {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'
      order by ordinal_position`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => columns[name] ?? `t.${name}`).join(', ');
  const insert = () =>
    client.query(
      `insert into ${table} (${names.join(', ')}) select ${values}
        from generate_series(1, ${count}) n
        join (select row_number() over () - 1 as turn, copied.* from unnest($1::text[]) id
          join ${table} copied using (id)) t on t.turn = n % ${templates.length}`,
      [templates],
    );
  if (isPartitioned) await insert();
  else {
    await withoutLog(client, table);
    await withoutIndexes(client, table, insert);
  }
  await client.query(`vacuum analyze ${table}`);
}

/** Outcomes and sums of the payments, as the sweep counts them. */
async function countPayments(client: pg.Client) {
  const countedPayments = `transactions t where ${OUTCOME} <> 'NONE'`;
  const countedRows = `select ${PAYMENT_COLUMNS}, ${OUTCOME} as outcome from ${countedPayments}`;
  await client.query('truncate payment_counts, payment_metrics');
  await withoutLog(client, 'payment_counts');
  await withoutIndexes(client, 'payment_counts', () =>
    client.query(`insert into payment_counts
        (platform_id, id, created_at, currency, amount, outcome)
      select platform_id, id, created_at, currency, amount, outcome from (${countedRows}) c
      order by platform_id, id`),
  );
  const sums = ['COMPLETED', 'FAILED', 'RETURNED']
    .map((outcome) => `count(*) filter (where outcome = '${outcome}')`)
    .concat(
      'sum(amount)',
      ...['COMPLETED', 'RETURNED'].map(
        (outcome) => `coalesce(sum(amount) filter (where outcome = '${outcome}'), 0)`,
      ),
    );
  await client.query(`insert into payment_metrics (platform_id, grain, bucket, type, currency, rail,
      payments, completed, failed, returned, amount, completed_amount, returned_amount)
    select platform_id, grain, date_trunc(grain, created_at, 'UTC'), type, currency, rail, count(*),
      ${sums.join(', ')}
    from (${countedRows}) c, (values ('hour'), ('day')) g(grain) group by 1, 2, 3, 4, 5, 6`);
  // Marks all payments as counted, so that the sweep does not count them again.
  await client.query(`insert into payment_metric_marks
      (platform_id, stage, position, event_id, backfill_at, backfill_id)
    select id, 'follow', pg_snapshot_xmin(pg_current_snapshot())::text::bigint, '', 'epoch', ''
    from platforms
    on conflict (platform_id) do update set stage = 'follow', event_id = '',
      position = excluded.position`);
  await client.query('vacuum analyze payment_counts, payment_metrics');
}

export interface Templates {
  /** IDs of executed payments. */
  payments: readonly string[];
  /**
   * ID of the platform with three quarters of the rows. The others have equal shares of the remaining
   * rows.
   */
  mainPlatform: string;
  otherPlatforms: readonly string[];
}

const idsOf = async (client: pg.Client, text: string, values: unknown[] = []) =>
  (await client.query<{ id: string }>(text, values)).rows.map(({ id }) => id);

interface Fill {
  client: pg.Client;
  count: number;
  /** Number of customers, and of external accounts. */
  people: number;
  now: number;
  /** The platform of a row. */
  platformColumn: { platform_id: string };
}

/** Milliseconds since 1970 of a row: the rows are spread evenly over the time before now. */
const evenTimeSql = (now: number, length: number, rowCount: number, n = 'n') =>
  `${now - length} + ${n} * ${length}::bigint / ${rowCount + 1}`;

const timeSql = (time: string) => `to_timestamp((${time}) / 1000.0)`;

async function fillTransactions(
  { client, count, people, now, platformColumn }: Fill,
  payments: readonly string[],
): Promise<void> {
  const paidMs = evenTimeSql(now, YEAR_MS, count);
  const customer = resourceOfPaymentSql('Customer', people);
  const quotes = await idsOf(
    client,
    'select quote_id as id from transactions where id = any($1) order by id',
    [payments],
  );
  const isFailed = `n % ${PER_FAILED} = 1`;
  const amount = `${FIRST_AMOUNT} + n % ${AMOUNTS}`;
  await copy(client, {
    ...{ table: 'transactions', templates: payments, count },
    columns: {
      ...platformColumn,
      id: idSql('Transaction', paidMs, 'n'),
      quote_id: idSql('Quote', paidMs, 'n'),
      customer_id: customer,
      source_account: resourceOfPaymentSql('InternalAccount', people),
      destination_account: numberedIdSql('InternalAccount', `2 + (n * 7) % ${people}`),
      ...{ sent_amount: amount, received_amount: amount },
      status: `case when ${isFailed} then 'FAILED' else t.status end`,
      funds: `case when ${isFailed} then 'RETURNED' else t.funds end`,
      settled_at: `case when not ${isFailed} then ${timeSql(paidMs)} end`,
      ...{ created_at: timeSql(paidMs), updated_at: timeSql(paidMs) },
    },
  });
  const n = `(n * ${PER_QUOTE})`;
  const quotedMs = evenTimeSql(now, YEAR_MS, count, n);
  await copy(client, {
    ...{ table: 'quotes', templates: quotes, count: Math.floor(count / PER_QUOTE) },
    columns: {
      ...platformColumn,
      id: idSql('Quote', quotedMs, n),
      transaction_id: idSql('Transaction', quotedMs, n),
      customer_id: customer,
      created_at: timeSql(quotedMs),
      // A sweep would process expired quotes.
      expires_at: `now() + interval '10 years'`,
    },
  });
}

/** The postings of all payments. A posting has the time of its payment. */
async function fillTransfers({ client, count, now }: Fill, payments: readonly string[]) {
  const paidMs = evenTimeSql(now, YEAR_MS, count);
  const table = 'ledger_transfers';
  await withoutLog(client, table);
  await withoutIndexes(client, table, () =>
    client.query(
      `insert into ${table}
          (transaction_id, step, phase, debit, credit, currency, amount, created_at)
        select ${idSql('Transaction', paidMs, 'n')}, t.step, t.phase, t.debit, t.credit, t.currency,
          t.amount, ${timeSql(paidMs)}
        from generate_series(1, ${count}) n
        join (select turn - 1 as turn, copied.* from unnest($1::text[]) with ordinality u(id, turn)
          join ${table} copied on copied.transaction_id = u.id) t on t.turn = n % ${payments.length}`,
      [payments],
    ),
  );
  await client.query(`vacuum analyze ${table}`);
}

async function fillPeople({ client, people, now, platformColumn }: Fill): Promise<void> {
  const joinedAt = timeSql(evenTimeSql(now, YEAR_MS, people));
  await copy(client, {
    table: 'customers',
    templates: await idsOf(client, 'select id from customers order by id'),
    count: people,
    columns: {
      ...platformColumn,
      id: numberedIdSql('Customer', 'n'),
      platform_customer_id: `'person ' || n`,
      uma_address: `'$p' || n || '@example.com'`,
      // The copies have other IDs, under which this value cannot be decrypted.
      ...{ data_key: 'null', personal: 'null' },
      email_digest: `md5('e-mail ' || n)`,
      phone_digest: `md5('phone ' || n)`,
      identifier_digest: `md5('identifier ' || n)`,
      name_digests: `array[md5('name ' || n), md5('word ' || n % 1000), md5('word ' || -n)]`,
      created_at: joinedAt,
    },
  });
  await copy(client, {
    table: 'external_accounts',
    templates: await idsOf(client, 'select id from external_accounts order by id'),
    count: people,
    columns: {
      ...platformColumn,
      id: numberedIdSql('ExternalAccount', 'n'),
      customer_id: numberedIdSql('Customer', 'n'),
      duplicate_key: `'key ' || n`,
      info: `jsonb_set(jsonb_set(t.info::jsonb, '{beneficiary,fullName}', to_jsonb('Person ' || n)),
        '{accountNumber}', to_jsonb(lpad(n::text, 12, '0')))`,
      created_at: joinedAt,
    },
  });
}

async function fillEvents({ client, count, now, platformColumn }: Fill): Promise<void> {
  const events = Math.ceil(count / PER_EVENT);
  const emittedMs = evenTimeSql(now, EVENTS_MS, events);
  await createPartitions(onClient(client), now - EVENTS_MS);
  await copy(client, {
    ...{ table: 'events', isPartitioned: true },
    templates: await idsOf(client, 'select id from events order by id limit 100'),
    count: events,
    columns: {
      ...platformColumn,
      id: idSql('Webhook', emittedMs, 'n'),
      created_at: timeSql(emittedMs),
      // Increases with the time, and is below the positions of transactions in progress.
      position: `n * pg_snapshot_xmin(pg_current_snapshot())::text::bigint / ${events + 1}`,
    },
  });
}

/** Inserts this number of payments, evenly over the last year. */
export async function fillPayments(
  url: string,
  { payments, mainPlatform, otherPlatforms }: Templates,
  count: number,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const platformList = otherPlatforms.join("', '");
  const otherPlatformSql = `(array['${platformList}'])[1 + (n / 4) % ${otherPlatforms.length}]`;
  const fill: Fill = {
    ...{ client, count, now: Date.now() },
    people: Math.max(PER_PERSON, Math.ceil(count / PER_PERSON)),
    platformColumn: {
      platform_id: `case when n % 4 = 0 then ${otherPlatformSql} else '${mainPlatform}' end`,
    },
  };
  try {
    await client.query("set maintenance_work_mem = '512MB'");
    await fillTransactions(fill, payments);
    await timeStep('postings', () => fillTransfers(fill, payments));
    await fillPeople(fill);
    await fillEvents(fill);
    await timeStep('outcomes and sums', () => countPayments(client));
    const { rows } = await client.query<{ size: string }>(
      'select pg_size_pretty(pg_database_size(current_database())) as size',
    );
    printProgress(`${count} payments: ${rows[0]?.size} on disk`);
  } finally {
    await client.end();
  }
}
