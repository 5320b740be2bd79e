// The ledger commands on transfers of the real committer. The verifier finds changed balances, holds
// and accounts, and a resolution without a hold. These errors are inserted by direct SQL, because the
// committer rejects them.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/kit/app/database.ts';
import { type Config, readConfig } from '../../config.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { main } from '../../operator.ts';
import { ledgerAccounts } from '../../runtime/committer/ledger-accounts.ts';
import type { Ctx, TransferInput } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { withSystem } from '../cli/system.ts';

let database: TestDatabase;
let config: Config;

async function run(...argv: string[]) {
  const result = { code: 0, out: '', err: '' };
  result.code = await main(argv, {
    env: { DATABASE_URL: database.url },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return result;
}

async function verify() {
  const { code, out } = await run('ledger', 'verify', '--json');
  return { code, ...(JSON.parse(out) as { balanced: boolean; problems: string[] }) };
}

async function runSql(text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}

const stage = (work: (ctx: Ctx) => void): Promise<void> =>
  withSystem(config, ({ runtime }) =>
    operate(runtime, systemCaller('P', 'sandbox'), async (ctx) => work(ctx)),
  );

const transferOf = (transactionId: string, step: string, debit: string, credit: string) =>
  ({ transactionId, step, debit, credit, currency: 'USD' }) satisfies Omit<TransferInput, 'amount'>;

beforeAll(async () => {
  database = await createTestDatabase();
  const result = readConfig({ DATABASE_URL: database.url }, []);
  if (!('config' in result)) throw new Error('the settings are not valid');
  config = result.config;
  await stage((ctx) => {
    const account = { currency: 'USD', balance: 0n, held: 0n, frozen: false, created_at: ctx.now };
    ctx.insert(ledgerAccounts, { ...account, id: 'alice', floor: 0n });
    ctx.insert(ledgerAccounts, { ...account, id: 'bob', floor: 0n });
    ctx.insert(ledgerAccounts, { ...account, id: 'external', floor: null });
    ctx.insert(ledgerAccounts, { ...account, id: 'idle', currency: 'EUR', floor: 0n });
  });
  await stage((ctx) =>
    ctx.transfer({ ...transferOf('T:fund', 'fund', 'external', 'alice'), amount: 1_234_567n }),
  );
  await stage((ctx) => {
    ctx.hold({ ...transferOf('T:pay', 'fee', 'alice', 'external'), amount: 100n });
    ctx.hold({ ...transferOf('T:pay', 'send', 'alice', 'bob'), amount: 5_000n });
    ctx.hold({ ...transferOf('T:open', 'send', 'alice', 'bob'), amount: 700n });
    ctx.hold({ ...transferOf('T:void', 'send', 'alice', 'bob'), amount: 900n });
  });
  await stage((ctx) => {
    ctx.post({ ...transferOf('T:pay', 'fee', 'alice', 'external'), amount: 100n });
    ctx.post({ ...transferOf('T:pay', 'send', 'alice', 'bob'), amount: 5_000n });
    ctx.void({ ...transferOf('T:void', 'send', 'alice', 'bob'), amount: 900n });
  });
});
afterAll(() => database.drop());

describe('ledger verify', () => {
  it('accepts a balanced ledger, and shows the totals of each currency', async () => {
    const { code, out } = await run('ledger', 'verify', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      balanced: true,
      currencies: [
        {
          currency: 'USD',
          accounts: 3,
          transfers: 8,
          holds: 1,
          owned: 1_234_467,
          system: -1_234_467,
          held: 700,
          sum: 0,
        },
      ],
      problems: [],
    });
    const text = (await run('ledger', 'verify')).out;
    expect(text).toMatch(/USD +3 +8 +12,344\.67 +7\.00 +1 +-12,344\.67 +0\.00\n/);
    expect(text).toContain('The books balance.\n');
  });

  it.each([
    [
      'a balance',
      `update ledger_accounts set balance = balance + 1 where id = 'bob'`,
      `update ledger_accounts set balance = balance - 1 where id = 'bob'`,
      [
        'bob has a balance of 50.01 USD, but its transfers sum to 50.00 USD',
        'USD sums to 0.01 instead of zero',
      ],
    ],
    [
      'an amount held',
      `update ledger_accounts set held = held - 1 where id = 'alice'`,
      `update ledger_accounts set held = held + 1 where id = 'alice'`,
      ['alice holds 6.99 USD, but its pending transfers sum to 7.00 USD'],
    ],
    [
      'an account',
      `update ledger_accounts set id = 'carol' where id = 'bob'`,
      `update ledger_accounts set id = 'bob' where id = 'carol'`,
      [
        'bob has transfers in USD but no account in this currency',
        'carol has a balance of 50.00 USD, but its transfers sum to 0.00 USD',
      ],
    ],
  ])('finds a manual change of %s', async (_description, corruption, correction, problems) => {
    await runSql(corruption);
    expect(await verify()).toMatchObject({ code: 1, balanced: false, problems });
    expect((await run('ledger', 'verify')).out).toContain('THE BOOKS DO NOT BALANCE:\n');
    await runSql(correction);
    expect(await verify()).toMatchObject({ code: 0, balanced: true });
  });

  it('finds a resolution without a hold', async () => {
    await runSql(
      `insert into ledger_transfers values
       ('T:stray', 'x!', 'void', 'alice', 'bob', 'USD', 5, '2026-01-01')`,
    );
    expect((await verify()).problems).toEqual(['T:stray x! resolves no pending transfer']);
    await runSql('alter table ledger_transfers disable trigger all');
    await runSql(`delete from ledger_transfers where transaction_id = 'T:stray'`);
    await runSql('alter table ledger_transfers enable trigger all');
    expect((await verify()).balanced).toBe(true);
  });
});

describe('ledger postings', () => {
  it('lists the transfers of a transaction in their order', async () => {
    const { code, out } = await run('ledger', 'postings', 'T:pay', '--json');
    expect(code).toBe(0);
    const { transactionId, postings } = JSON.parse(out);
    expect(transactionId).toBe('T:pay');
    expect(postings).toMatchObject([
      { step: 'fee', phase: 'pending', debit: 'alice', credit: 'external', amount: 100 },
      { step: 'send', phase: 'pending', amount: 5_000, currency: 'USD', readable: '50.00 USD' },
      { step: 'fee!', phase: 'post' },
      { step: 'send!', phase: 'post' },
    ]);
    const text = (await run('ledger', 'postings', 'T:pay')).out;
    expect(text).toMatch(/^TIME +STEP +FROM +TO +AMOUNT +CURRENCY +MEANING\n/);
    expect(text).toMatch(/send! +alice +bob +50\.00 +USD +posted from a hold\n/);
  });

  it('rejects an unknown transaction', async () => {
    const { code, err } = await run('ledger', 'postings', 'T:none');
    expect([code, err]).toEqual([1, 'Transaction not found.\n']);
  });
});
