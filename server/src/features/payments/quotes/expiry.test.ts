// Expiry of quotes on a real database: the batches of the sweep, and the retry of a failed expiry. A
// failed expiry does not delay other payments.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { jobs } from '../../../runtime/jobs/jobs-table.ts';
import { createLog, type Log } from '../../../runtime/observability/log.ts';
import { expirySweep } from './expiry.ts';

const app = testApp();
let log: Log;
const lines: string[] = [];

beforeAll(async () => {
  log = createLog(app.effects, 'debug', (line) => lines.push(line));
});

interface CreatedQuote {
  id: string;
  transactionId: string;
  expiresAt: string;
}

async function createQuote(from: string, to: string): Promise<CreatedQuote> {
  return ok(await app.call('POST', '/quotes', quoteBody(from, to, 100_00)), 201);
}

async function createParties() {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'EUR');
  return { account, quote: () => createQuote(account.id, target.id) };
}

const statusOf = async (id: string) =>
  ok(await app.call('GET', `/transactions/${id}`), 200).status as string;

const findExpiryJobs = () => app.runtime.db.find(jobs, { kind: 'quotes.expire' });

/** Makes every change to this payment fail until the returned function is called. */
async function breakPayment(id: string): Promise<() => Promise<void>> {
  await app.runtime.db.query(`create or replace function break_payment() returns trigger as $$
    begin raise exception 'this payment cannot change'; end $$ language plpgsql`);
  await app.runtime.db.query(`create trigger break_payment before update on transactions
    for each row when (old.id = '${id}') execute function break_payment()`);
  return async () => {
    await app.runtime.db.query('drop trigger break_payment on transactions');
  };
}

describe('quote expiry sweep', () => {
  it('expires quotes that expired long before the server was started', async () => {
    const { quote } = await createParties();
    const { transactionId } = await quote();
    app.effects.set(app.effects.now() + 40 * 24 * 3_600_000);
    await expirySweep(log).run(app.runtime);
    expect(await statusOf(transactionId)).toBe('EXPIRED');
    expect(await eventTypes(app, transactionId)).toEqual(['OUTGOING_PAYMENT.EXPIRED']);
  });

  it('expires quotes of several batches', async () => {
    const { account, quote } = await createParties();
    const quotes = [];
    for (let round = 0; round < 21; round++) {
      quotes.push(...(await Promise.all(Array.from({ length: 25 }, quote))));
    }
    await fundAccount(app, account.id, 1);
    await app.advance(6 * 60_000);
    const [row] = await app.runtime.db.query(
      "select count(*)::int4 as n from transactions where source_account = $1 and status = 'EXPIRED'",
      [account.id],
    );
    expect(row?.n).toBe(quotes.length);
  });

  it('continues after a failed expiry, and retries it', async () => {
    const { quote } = await createParties();
    const [failingQuote, ...otherQuotes] = [await quote(), await quote(), await quote()];
    const repair = await breakPayment(failingQuote.transactionId);
    const sweep = expirySweep(log);
    app.effects.set(Date.parse(failingQuote.expiresAt) + 60_000);
    try {
      expect(await sweep.run(app.runtime)).toBe(3);
      for (const each of otherQuotes) expect(await statusOf(each.transactionId)).toBe('EXPIRED');
      expect(await statusOf(failingQuote.transactionId)).toBe('PENDING');
      expect(lines.filter((line) => line.includes('quote expiry failed'))).toHaveLength(1);
      const waitingJobs = await findExpiryJobs();
      expect(waitingJobs.map(({ input }) => input)).toEqual([
        { transactionId: failingQuote.transactionId },
      ]);

      // The job is not queued again. A sweep after a restart creates no second job.
      expect(await sweep.run(app.runtime)).toBe(0);
      expect(await expirySweep(log).run(app.runtime)).toBe(1);
      expect(await findExpiryJobs()).toHaveLength(1);
      await app.worker.runDue();
      expect(await findExpiryJobs()).toMatchObject([{ attempts: 1, state: 'queued' }]);
    } finally {
      await repair();
    }
    app.effects.set(app.effects.now() + 10_000);
    await app.settle();
    expect(await statusOf(failingQuote.transactionId)).toBe('EXPIRED');
    expect(await eventTypes(app, failingQuote.transactionId)).toEqual(['OUTGOING_PAYMENT.EXPIRED']);
    expect(await findExpiryJobs()).toEqual([]);
  });
});
