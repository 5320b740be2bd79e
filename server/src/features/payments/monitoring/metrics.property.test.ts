// Random payments and outcomes in concurrent transactions, while two processes maintain the sums.
// Some transactions are long or rolled back. Afterwards the sums equal a direct count.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runSeed } from '../../../../test/kit/app/effects.ts';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { lengthOf } from '../../../../test/kit/length.ts';
import { clear, type Mark, OUTCOME, PAYMENT_COLUMNS, startMarks } from './metrics-store.ts';
import { metricsSweep, recountPayments } from './metrics-sweep.ts';

const app = testApp({ isRandom: true });
let pool: pg.Pool;
let templateId: string;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: app.databaseUrl, max: 12 });
  const { person, account } = await createFundedCustomer(app);
  const payee = await createExternalAccount(app, person.id, 'USD');
  const quote = ok(await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 100)), 201);
  templateId = quote.transactionId;
});
afterAll(() => pool?.end());

/** The sums, computed from the payments. */
const DIRECT_SUMS_SQL = `select platform_id, grain, date_trunc(grain, created_at, 'UTC') as bucket, type,
    currency, rail, count(*)::int4 as payments,
    (count(*) filter (where outcome = 'COMPLETED'))::int4 as completed,
    (count(*) filter (where outcome = 'FAILED'))::int4 as failed,
    (count(*) filter (where outcome = 'RETURNED'))::int4 as returned,
    sum(amount)::text as amount,
    coalesce(sum(amount) filter (where outcome = 'COMPLETED'), 0)::text as completed_amount,
    coalesce(sum(amount) filter (where outcome = 'RETURNED'), 0)::text as returned_amount
  from (select ${PAYMENT_COLUMNS}, ${OUTCOME} as outcome from transactions t) t,
    (values ('hour'), ('day')) g(grain)
  where outcome <> 'NONE' group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`;

const STORED_SUMS_SQL = `select platform_id, grain, bucket, type, currency, rail, payments::int4,
    completed::int4, failed::int4, returned::int4, amount::text, completed_amount::text,
    returned_amount::text
  from payment_metrics where payments > 0 order by 1, 2, 3, 4, 5, 6`;

const rowsOf = async (text: string) => (await pool.query(text)).rows;

const INSERT_PAYMENT_SQL = `insert into transactions (id, platform_id, platform_customer_id, type, direction,
    status, funds, source, destination, destination_account, sent_amount, sent_currency,
    received_amount, received_currency, fees, platform_fees, exchange_rate, rail, created_at,
    updated_at)
  select $1, $2, platform_customer_id, type, direction, 'PENDING', funds, source, destination,
    destination_account, $3, $4, received_amount, received_currency, fees, platform_fees,
    exchange_rate, $5, $6, $6
  from transactions where id = $7`;

const INSERT_EVENT_SQL = `insert into events (id, platform_id, type, subject, data, created_at)
  values ($1, $2, $3, $4, '{}', $5)`;

const STATUSES = ['PROCESSING', 'COMPLETED', 'FAILED', 'PENDING_AUTHORIZATION', 'EXPIRED'];

let eventCount = 0;
const nextEventId = () =>
  `Webhook:${crypto.randomUUID().slice(0, 24)}${String(eventCount++).padStart(12, '0')}`;

interface Change {
  payment: number;
  status: string;
  isSettled: boolean;
  openMs: number;
  isRolledBack: boolean;
}

const changes = fc.array(
  fc.record({
    payment: fc.nat(30),
    status: fc.constantFrom(...STATUSES),
    isSettled: fc.boolean(),
    openMs: fc.integer({ min: 0, max: 15 }),
    isRolledBack: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  }),
  { minLength: 20, maxLength: 120 },
);

const idOf = (run: number, payment: number) =>
  `Transaction:0198${String(run).padStart(4, '0')}-0000-7000-8000-${String(payment).padStart(12, '0')}`;

/** Changes a payment and stores its event in one transaction. */
async function commit(run: number, change: Change) {
  const { payment, status, isSettled, openMs, isRolledBack } = change;
  const platform = payment % 3 === 0 ? app.other.id : app.platform.id;
  const id = idOf(run, payment);
  const createdAt = new Date(app.effects.now() - payment * 1_700_000);
  const client = await pool.connect();
  try {
    await client.query('begin');
    const [currency, rail] = [payment % 2 ? 'USD' : 'EUR', payment % 5 ? 'ACH' : null];
    const input = [id, platform, 100 + payment, currency, rail, createdAt, templateId];
    await client.query(`${INSERT_PAYMENT_SQL} on conflict do nothing`, input);
    await client.query('update transactions set status = $2, settled_at = $3 where id = $1', [
      ...[id, status, isSettled ? createdAt : null],
    ]);
    await client.query(INSERT_EVENT_SQL, [
      nextEventId(),
      platform,
      `OUTGOING_PAYMENT.${status}`,
      id,
      createdAt,
    ]);
    if (openMs > 5) await sleep(openMs);
    await client.query(isRolledBack ? 'rollback' : 'commit');
  } finally {
    client.release();
  }
}

/** Runs a sweep until it reports no work. */
async function drain(sweep = metricsSweep()) {
  while ((await sweep.run(app.runtime)) > 0) {
    // Each run processes one part.
  }
}

/** Repeats the comparison, because transactions of other databases of the cluster delay the horizon. */
const expectEqual = () =>
  vi.waitFor(
    async () => {
      await pool.query('update payment_metric_marks set claimed_until = null');
      await drain();
      expect(await rowsOf(STORED_SUMS_SQL)).toEqual(await rowsOf(DIRECT_SUMS_SQL));
    },
    { timeout: 20_000, interval: 20 },
  );

it(
  'sums equal a direct count after concurrent changes',
  async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        changes,
        fc.integer({ min: 1, max: 12 }),
        async (changeList, writerCount) => {
          const run = runs++;
          let areChangesWritten = false;
          const maintainSums = async () => {
            while (!areChangesWritten) {
              // Each sweep acts as another process, after the previous claim has expired.
              await pool.query('update payment_metric_marks set claimed_until = null');
              await drain();
            }
          };
          const maintenanceRuns = [maintainSums(), maintainSums()];
          const queue = [...changeList];
          const writeChanges = async () => {
            for (let nextChange = queue.shift(); nextChange; nextChange = queue.shift())
              await commit(run, nextChange);
          };
          await Promise.all(Array.from({ length: writerCount }, writeChanges));
          areChangesWritten = true;
          await Promise.all(maintenanceRuns);
          await expectEqual();
        },
      ),
      { numRuns: lengthOf(12, 100), endOnFailure: true, seed: Number(runSeed()) },
    );
    // A recount results in the same sums.
    await recountPayments(app.runtime, app.platform.id);
    await expectEqual();
  },
  lengthOf(60_000, 600_000),
);

it('sums remain correct after a paused process resumes the removal of earlier sums', async () => {
  for (let payment = 0; payment < 30; payment++) {
    const change = { payment, status: 'COMPLETED', isSettled: true, openMs: 0 };
    await commit(9_000, { ...change, isRolledBack: false });
  }
  await expectEqual();
  await recountPayments(app.runtime, app.platform.id);
  const { db } = app.runtime;
  const [pausedMark] = await startMarks(db, [app.platform.id], 0n);
  expect(pausedMark?.stage).toBe('clear');
  // Another process acquires the claim and recounts all payments.
  await expectEqual();
  const readCounts = () => rowsOf('select * from payment_counts order by platform_id, id');
  const countsBefore = await readCounts();
  expect(countsBefore.length).toBeGreaterThan(0);
  await clear(db, pausedMark as Mark);
  expect(await readCounts()).toEqual(countsBefore);
  await expectEqual();
});
