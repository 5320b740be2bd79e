// The export of a few days with completed, failed, returned and pending payments. Totals are
// computed from the CSV alone. Also the guard of CSV cells, and the memory of a long export.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../test/kit/app/books.ts';
import { execute } from '../../../test/kit/app/database.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { main } from '../../operator.ts';
import { projectRoot } from '../../runtime/config/root.ts';
import { csvLine, guardedText } from '../cli/csv.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 5, 22, 30);
const FORMULA = '=HYPERLINK("http://x","y"),\r\nnext';

const app = testApp({ start: START });

async function run(...argv: string[]) {
  const result = { code: 0, out: '', err: '' };
  result.code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
    out: (chunk) => {
      result.out += chunk;
    },
    err: (chunk) => {
      result.err += chunk;
    },
  });
  return result;
}

/**
 * Rows of an RFC 4180 text, with a minimal parser: quotes, doubled quotes, CRLF inside and after.
 */
function parse(csv: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  const pattern = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy;
  let position = 0;
  for (const match of csv.matchAll(pattern)) {
    position = match.index + match[0].length;
    const cell = match[1] as string;
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (match[2] === '\r\n') rows.push([]);
  }
  expect(position).toBe(csv.length); // The complete text matches the grammar.
  const [head = [], ...lines] = rows.slice(0, -1);
  for (const each of lines) expect(each).toHaveLength(head.length);
  return lines.map((each) => Object.fromEntries(head.map((name, i) => [name, each[i] as string])));
}

async function exportRows(kind: string, from: string, to: string, ...flags: string[]) {
  const { code, out, err } = await run('export', kind, '--from', from, '--to', to, ...flags);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return parse(out);
}

const sum = (rows: Record<string, string>[], column: string) =>
  rows.reduce((total, row) => total + BigInt(row[column] as string), 0n);

async function pay(from: string, to: string, amount: number, overrides: object = {}) {
  const body = quoteBody(from, to, amount, { immediatelyExecute: true, ...overrides });
  return ok(await app.call('POST', '/quotes', body), 201).transactionId as string;
}

beforeAll(async () => {
  const platformAccount = await findInternalAccount(app, null, 'USD');
  await fundAccount(app, platformAccount.id, 77_77);
  const { person, account } = await createFundedCustomer(app, 5_000_00);
  for (const suffix of ['000', '002', '003', '004', '005', '006', '007']) {
    const to = await createExternalAccount(app, person.id, 'EUR', suffix);
    await pay(account.id, to.id, 123_45, { description: FORMULA });
  }
  await app.advance(2 * 3_600_000); // The sixth day of the month begins.
  const mxnAccount = await createExternalAccount(app, person.id, 'MXN', '000');
  await pay(account.id, mxnAccount.id, 50_00);
  const otherCustomer = await createCustomer(app, {}, { platformCustomerId: '@SUM(A1)' });
  const otherInternalAccount = await findInternalAccount(app, otherCustomer.id, 'EUR');
  await pay(account.id, otherInternalAccount.id, 10_01);
  await app.advance(3 * DAY_MS);
  const lateExternalAccount = await createExternalAccount(app, person.id, 'EUR', '003');
  await pay(account.id, lateExternalAccount.id, 9_99);
  await app.settle();
  await expectBalancedBooks(app);
});

const accountDayKey = (row: Record<string, string>, account: string) => `${account} ${row.day}`;

describe('the export', () => {
  it('has closing balances that equal the opening balances with the postings', async () => {
    const balances = await exportRows('balances', '2026-01-05', '2026-01-10', '--idle');
    const postings = await exportRows('postings', '2026-01-05', '2026-01-10');
    const netPostings = new Map<string, bigint>();
    for (const row of postings.filter((each) => each.effect === 'POSTED')) {
      const amount = BigInt(row.minor as string);
      const add = (account: string, amount: bigint) =>
        netPostings.set(
          accountDayKey(row, account),
          (netPostings.get(accountDayKey(row, account)) ?? 0n) + amount,
        );
      add(row.debit_account as string, -amount);
      add(row.credit_account as string, amount);
    }
    expect(netPostings.size).toBeGreaterThan(15);
    const closingBalances = new Map<string, bigint>();
    for (const row of balances) {
      const balanceKey = accountDayKey(row, row.account as string);
      expect(BigInt(row.opening_minor!) + (netPostings.get(balanceKey) ?? 0n)).toBe(
        BigInt(row.closing_minor!),
      );
      expect(BigInt(row.credits_minor!) - BigInt(row.debits_minor!)).toBe(
        netPostings.get(balanceKey) ?? 0n,
      );
      // Each day opens with the closing balance of the day before. The first day opens at zero.
      expect(BigInt(row.opening_minor!)).toBe(closingBalances.get(row.account as string) ?? 0n);
      closingBalances.set(row.account as string, BigInt(row.closing_minor!));
      netPostings.delete(balanceKey);
    }
    expect([...netPostings].filter(([, net]) => net !== 0n)).toEqual([]);
    for (const day of new Set(balances.map((each) => each.day))) {
      for (const currency of new Set(balances.map((each) => each.currency))) {
        const matchingRows = balances.filter(
          (each) => each.day === day && each.currency === currency,
        );
        expect([day, currency, sum(matchingRows, 'closing_minor')]).toEqual([day, currency, 0n]);
        expect(sum(matchingRows, 'debits_minor')).toBe(sum(matchingRows, 'credits_minor'));
      }
    }
    const accounts = await app.runtime.db.query<{ id: string; balance: bigint }>(
      'select id, balance from ledger_accounts where balance <> 0',
    );
    expect(new Map([...closingBalances].filter(([, minor]) => minor !== 0n))).toEqual(
      new Map(accounts.map(({ id, balance }) => [id, balance])),
    );
  });

  it('contains the days with postings, and with --idle all days with a balance', async () => {
    const allRows = await exportRows('balances', '2026-01-05', '2026-01-10', '--idle');
    const activeRows = await exportRows('balances', '2026-01-05', '2026-01-10');
    expect(activeRows.length).toBeGreaterThan(15);
    const hasPostings = (row: Record<string, string>) =>
      row.debits_minor !== '0' || row.credits_minor !== '0';
    expect(activeRows).toEqual(allRows.filter(hasPostings));
    expect(allRows.filter((row) => !hasPostings(row) && row.closing_minor === '0')).toEqual([]);
    const isInternalAccount = (row: Record<string, string>) =>
      row.account?.startsWith('InternalAccount:');
    expect(
      allRows.filter((row) => !hasPostings(row) && isInternalAccount(row)).length,
    ).toBeGreaterThan(5);
    expect(await exportRows('balances', '2026-01-07', '2026-01-07')).toEqual([]);
    const laterRows = await exportRows('balances', '2027-01-01', '2027-01-01', '--idle');
    const lastRows = allRows.filter(
      (each) => each.day === '2026-01-10' && each.closing_minor !== '0',
    );
    const balanceOf = (row: Record<string, string>) => [row.account, row.closing_minor];
    expect(laterRows.map(balanceOf)).toEqual(lastRows.map(balanceOf));
  });

  it.each([[[]], [['--idle']]])(
    'returns the same figures for a day as for a period, with the flags %j',
    async (flags) => {
      const periodRows = await exportRows('balances', '2026-01-05', '2026-01-10', ...flags);
      const dayRows = await exportRows('balances', '2026-01-06', '2026-01-06', ...flags);
      expect(dayRows.length).toBeGreaterThan(0);
      expect(dayRows).toEqual(periodRows.filter((each) => each.day === '2026-01-06'));
      expect(await exportRows('balances', '2025-12-01', '2025-12-31', ...flags)).toEqual([]);
      expect(await exportRows('postings', '2026-01-07', '2026-01-07')).toEqual([]);
    },
  );

  it('has transactions whose amounts equal the amounts of their postings', async () => {
    const lines = await exportRows('transactions', '2026-01-05', '2026-01-10');
    const postings = await exportRows('postings', '2026-01-05', '2026-01-10');
    expect(lines).toHaveLength(13);
    const postingsOf = (id: string | undefined) =>
      postings.filter((each) => each.transaction_id === id && each.effect === 'POSTED');
    // The postings of a payment between two internal accounts belong to the payer's transaction.
    const payerRowOf = (row: Record<string, string>) =>
      lines.find(
        (each) => each.type === 'OUTGOING' && row.quote_id && each.quote_id === row.quote_id,
      );
    for (const row of lines) {
      if (row.status !== 'COMPLETED' || row.refund_status !== '') continue;
      const expectedRows = postingsOf(payerRowOf(row)?.transaction_id ?? row.transaction_id);
      const creditRows = expectedRows.filter(
        (each) => each.credit_account === row.destination_account,
      );
      const settledRows = expectedRows.filter((each) => each.step === 'settle');
      expect(sum(creditRows.length ? creditRows : settledRows, 'minor')).toBe(
        BigInt(row.received_minor as string),
      );
      if (row.type === 'INCOMING') continue;
      const debitRows = expectedRows.filter((each) => each.debit_account === row.source_account);
      expect(sum(debitRows, 'minor')).toBe(BigInt(row.sent_minor as string));
      const fees = expectedRows.filter((each) => each.step?.startsWith('fee.'));
      expect(sum(fees, 'minor')).toBe(BigInt(row.fees_minor as string));
    }
    const refundedRows = lines.filter((each) => each.refund_status === 'COMPLETED');
    expect(refundedRows.length).toBeGreaterThan(2);
    for (const row of refundedRows) {
      const expectedRows = postingsOf(row.transaction_id);
      const debitRows = expectedRows.filter((each) => each.debit_account === row.source_account);
      const returnedRows = expectedRows.filter(
        (each) => each.credit_account === row.source_account,
      );
      expect(sum(returnedRows, 'minor')).toBe(sum(debitRows, 'minor'));
    }
  });

  it('writes exact decimals, and neutralizes formulas', async () => {
    const lines = await exportRows('transactions', '2026-01-05', '2026-01-10');
    for (const row of lines) {
      const currency = row.received_currency as string;
      const decimals = findCurrency(currency)?.decimals as number;
      const [units = '', fraction = ''] = (row.received_amount as string).split('.');
      expect(fraction).toHaveLength(decimals);
      expect(BigInt(units + fraction)).toBe(BigInt(row.received_minor as string));
    }
    expect(lines.filter((each) => each.description === `'${FORMULA}`)).toHaveLength(7);
    const output = (
      await run('export', 'transactions', '--from', '2026-01-05', '--to', '2026-01-10')
    ).out;
    expect(output).toContain(`"'=HYPERLINK(""http://x"",""y""),\r\nnext"`);
    expect(output).not.toMatch(/(^|,|")@SUM/);
    expect(
      (await exportRows('balances', '2026-01-05', '2026-01-10')).some((each) =>
        each.closing_amount?.startsWith('-'),
      ),
    ).toBe(true);
  });

  it('filters by platform or environment', async () => {
    const days = ['2026-01-05', '2026-01-10'] as const;
    const platformFlags = ['--platform', app.platform.id];
    for (const kind of ['transactions', 'postings', 'balances']) {
      const allRows = await exportRows(kind, ...days);
      expect((await exportRows(kind, ...days, '--environment', 'sandbox')).length).toBe(
        allRows.length,
      );
      expect(await exportRows(kind, ...days, '--environment', 'production')).toEqual([]);
      expect(await exportRows(kind, ...days, '--platform', app.other.id)).toEqual([]);
    }
    const postings = await exportRows('postings', ...days, ...platformFlags);
    expect(postings.length).toBe((await exportRows('postings', ...days)).length);
    const balances = await exportRows('balances', ...days, ...platformFlags);
    expect(new Set(balances.map((each) => each.platform_id))).toEqual(new Set([app.platform.id]));
  });

  it.each([
    [['--from', '2026-01-05'], '--to YYYY-MM-DD is required'],
    [['--from', '2026-02-30', '--to', '2026-03-01'], '--from must be a day'],
    [['--from', '2026-01-05', '--to', '5.1.2026'], '--to must be a day'],
    [['--from', '2026-01-05', '--to', '2026-01-04'], '--to must not be before'],
    [['--from', '2024-01-01', '--to', '2026-01-04'], 'The period must not exceed 366 days'],
    [
      ['--from', '2026-01-05', '--to', '2026-01-05', '--json'],
      'This output is not available as JSON',
    ],
  ])('rejects %j', async (argv, expectedError) => {
    const { code, out, err } = await run('export', 'balances', ...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(expectedError);
  });
});

describe('csv', () => {
  it.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx', ' =1', '＝1', '\n=1'])(
    'neutralizes %j',
    (formulaText) => expect(guardedText(formulaText)).toBe(`'${formulaText}`),
  );
  it.each(['', 'plain', '1=1', 'a-b', 'Ünïcödé'])('leaves %j unchanged', (plainText) =>
    expect(guardedText(plainText)).toBe(plainText),
  );
  it('quotes cells with a comma, a quote or a line end', () => {
    expect(csvLine(['a', 'b,c', 'd"e', 'f\ng', ''])).toBe('a,"b,c","d""e","f\ng",\r\n');
  });
});

describe('a long export', () => {
  const ROWS = 200_000;

  it('succeeds with a heap of 48 MB', { timeout: 120_000 }, async () => {
    const [debit, credit] = ['system:sandbox:suspense:GBP', 'system:sandbox:rail_in_transit:GBP'];
    await execute(
      app.databaseUrl,
      `insert into ledger_transfers (transaction_id, step, phase, debit, credit, currency, amount, created_at)
       select 'Transaction:' || md5(i::text), 'bulk', 'posted', '${debit}', '${credit}', 'GBP', i,
         '2026-02-01T00:00:00Z'::timestamptz + i * interval '400 milliseconds'
       from generate_series(1, ${ROWS}) i;
       update ledger_accounts set balance = balance + case id when '${credit}' then 1 else -1 end
         * ${(ROWS * (ROWS + 1)) / 2}::bigint where id in ('${debit}', '${credit}')`,
    );
    const file = path.join(projectRoot(), 'server', 'bin', 'railhead-server.js');
    const range = ['--from', '2026-02-01', '--to', '2026-02-28'];
    const child = spawn(
      process.execPath,
      ['--max-old-space-size=48', file, 'export', 'postings', ...range],
      { env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: app.databaseUrl } },
    );
    let errorOutput = '';
    child.stderr.on('data', (chunk) => {
      errorOutput += chunk;
    });
    const exitCode = new Promise<number | null>((resolve) => child.on('close', resolve));
    let lineCount = 0;
    let totalMinor = 0n;
    for await (const line of createInterface({ input: child.stdout })) {
      if (lineCount++ > 0) totalMinor += BigInt(line.slice(line.lastIndexOf(',') + 1));
    }
    expect(await exitCode, errorOutput).toBe(0);
    expect(lineCount).toBe(ROWS + 1);
    expect(totalMinor).toBe(BigInt((ROWS * (ROWS + 1)) / 2));
    const balances = await exportRows('balances', '2026-02-01', '2026-02-01');
    const [creditBalance] = balances.filter((each) => each.account === credit);
    expect([creditBalance?.opening_minor, creditBalance?.closing_minor]).toEqual([
      '0',
      totalMinor.toString(),
    ]);
    await expectBalancedBooks(app);
  });
});
