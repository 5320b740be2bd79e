// Debits of funds that were already spent. The available balance is debited and the missing amount
// is owed. The balance of the receivable system account is the negative sum of all amounts owed, in
// any order of events.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import {
  createCustomer,
  createFundedCustomer,
  findInternalAccount,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import { ledgerAccounts } from '../../../runtime/committer/ledger-accounts.ts';
import type { Ctx, TransferInput } from '../../../runtime/operation/context.ts';
import { transitionInternalAccount } from '../internal-accounts/lifecycle.ts';
import { type InternalAccountRow, internalAccounts } from '../internal-accounts/store.ts';
import { checkNoShortfall, debitWithShortfall, repayShortfall } from './shortfall.ts';

const app = testApp();

const RAIL_IN_TRANSIT = systemAccount('sandbox', 'rail_in_transit', 'USD');
const RECEIVABLE = systemAccount('sandbox', 'receivable', 'USD');

async function rowOf(id: string): Promise<InternalAccountRow> {
  const row = await app.runtime.db.read(internalAccounts, id);
  if (!row) throw new Error(`The account ${id} does not exist.`);
  return row;
}

const withAccount = <R>(
  id: string,
  work: (ctx: Ctx, row: InternalAccountRow) => Promise<R>,
): Promise<R> =>
  app.operate(async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (!row) throw new Error(`The account ${id} does not exist.`);
    return work(ctx, row);
  });

const usd = (amount: bigint) => ({ currency: 'USD', amount });

const debitAccount = (id: string, amount: bigint, transactionId = 'T:debit') =>
  withAccount(id, (ctx, row) =>
    debitWithShortfall(ctx, row, {
      ...usd(amount),
      transactionId,
      step: 'return',
      creditTo: RAIL_IN_TRANSIT,
    }),
  );

const transferInput = (transfer: Omit<TransferInput, 'currency'>): TransferInput => ({
  ...transfer,
  currency: 'USD',
});

const creditAccount = (id: string, amount: bigint, transactionId: string) =>
  withAccount(id, async (ctx, row) => {
    ctx.transfer(
      transferInput({ transactionId, step: 'in', debit: RAIL_IN_TRANSIT, credit: id, amount }),
    );
    return repayShortfall(ctx, row, { ...usd(amount), transactionId, step: 'owed' }).repaid;
  });

const stepsOf = async (transactionId: string) =>
  app.runtime.db.query(
    `select step, debit, credit, amount from ledger_transfers where transaction_id = $1
      order by step`,
    [transactionId],
  );

/** Asserts that the receivable equals the sum of all amounts owed, with the opposite sign. */
async function expectReceivableAgrees(): Promise<void> {
  const [row] = await app.runtime.db.query(
    `select coalesce(sum(owed), 0)::text as owed,
      (select (-balance)::text from ledger_accounts where id = $1) as receivable
      from internal_accounts where currency = 'USD'`,
    [RECEIVABLE],
  );
  expect(row?.owed).toBe(row?.receivable);
  await expectBalancedBooks(app);
}

describe('debitWithShortfall', () => {
  it('debits a sufficient balance and records no shortfall', async () => {
    const { account } = await createFundedCustomer(app, 100_00);
    expect(await debitAccount(account.id, 30_00n, 'T:enough')).toMatchObject({ shortfall: 0n });
    expect(await readBalances(app, account.id)).toEqual({ balance: 70_00, total: 70_00 });
    expect(await stepsOf('T:enough')).toMatchObject([
      { step: 'return', debit: account.id, credit: RAIL_IN_TRANSIT, amount: 30_00n },
    ]);
    expect((await rowOf(account.id)).owed).toBe(0n);
    await expectReceivableAgrees();
  });

  it('debits the spendable balance, keeps holds, and records the missing amount as owed', async () => {
    const { account } = await createFundedCustomer(app, 100_00);
    const heldTransfer = transferInput({
      transactionId: 'T:hold',
      step: 'pay',
      debit: account.id,
      credit: RAIL_IN_TRANSIT,
      amount: 60_00n,
    });
    await app.operate(async (ctx) => ctx.hold(heldTransfer));
    expect(await debitAccount(account.id, 100_00n, 'T:part')).toMatchObject({ shortfall: 60_00n });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 60_00 });
    expect(await stepsOf('T:part')).toMatchObject([
      { step: 'return', debit: account.id, amount: 40_00n },
      { step: 'return.owed', debit: RECEIVABLE, credit: RAIL_IN_TRANSIT, amount: 60_00n },
    ]);
    expect((await rowOf(account.id)).owed).toBe(60_00n);
    await expectReceivableAgrees();
    await app.operate(async (ctx) => ctx.void(heldTransfer));
    await expect(
      withAccount(account.id, async (_, row) => {
        checkNoShortfall(row);
      }),
    ).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  });

  it('accepts an empty platform account and a frozen account', async () => {
    const platformAccount = await findInternalAccount(app, null, 'USD');
    expect(await debitAccount(platformAccount.id, 5_00n, 'T:own')).toMatchObject({
      shortfall: 5_00n,
    });
    expect(await stepsOf('T:own')).toMatchObject([{ step: 'return.owed', debit: RECEIVABLE }]);
    const { account } = await createFundedCustomer(app, 3_00);
    await withAccount(account.id, async (ctx, row) =>
      transitionInternalAccount(ctx, row, 'freeze'),
    );
    expect(await debitAccount(account.id, 5_00n, 'T:frozen')).toMatchObject({ shortfall: 2_00n });
    await expectReceivableAgrees();
  });

  it('includes the transfers and the shortfall of its change set', async () => {
    const { account } = await createFundedCustomer(app, 10_00);
    await withAccount(account.id, async (ctx, row) => {
      const debit = { ...usd(8_00n), transactionId: 'T:repeated', creditTo: RAIL_IN_TRANSIT };
      await debitWithShortfall(ctx, row, { ...debit, step: 'one' });
      await debitWithShortfall(ctx, row, { ...debit, step: 'two' });
      await debitWithShortfall(ctx, row, { ...debit, step: 'three' });
    });
    expect((await rowOf(account.id)).owed).toBe(14_00n);
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await expectReceivableAgrees();
  });

  it('is rejected if the balance decreased since it was read', async () => {
    const { account } = await createFundedCustomer(app, 10_00);
    const competingTransfer = transferInput({
      transactionId: 'T:race',
      step: 'out',
      debit: account.id,
      credit: RAIL_IN_TRANSIT,
      amount: 4_00n,
    });
    let hasRaced = false;
    const racedDebit = withAccount(account.id, async (ctx, row) => {
      const posting = { transactionId: 'T:raced', step: 'return' };
      const debit = { ...usd(12_00n), ...posting, creditTo: RAIL_IN_TRANSIT };
      await debitWithShortfall(ctx, row, debit);
      if (!hasRaced) await app.operate(async (otherCtx) => otherCtx.transfer(competingTransfer));
      hasRaced = true;
    });
    await expect(racedDebit).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    expect((await rowOf(account.id)).owed).toBe(0n);
    expect(await stepsOf('T:raced')).toEqual([]);
    expect(await debitAccount(account.id, 12_00n, 'T:raced')).toMatchObject({ shortfall: 6_00n });
    await expectReceivableAgrees();
  });
});

describe('repayShortfall', () => {
  it('repays the amount owed from incoming funds first', async () => {
    const { account } = await createFundedCustomer(app, 10_00);
    await debitAccount(account.id, 25_00n, 'T:debt');
    expect(await creditAccount(account.id, 9_00n, 'T:first')).toBe(9_00n);
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    expect((await rowOf(account.id)).owed).toBe(6_00n);
    expect(await creditAccount(account.id, 9_00n, 'T:second')).toBe(6_00n);
    expect(await readBalances(app, account.id)).toEqual({ balance: 3_00, total: 3_00 });
    expect(await creditAccount(account.id, 9_00n, 'T:third')).toBe(0n);
    expect(checkNoShortfall(await rowOf(account.id))).toBe(undefined);
    await expectReceivableAgrees();
  });

  it('keeps the receivable equal to the negative sum of amounts owed, in any order', async () => {
    const person = await createCustomer(app);
    const { id } = await findInternalAccount(app, person.id, 'USD');
    const steps = fc.array(
      fc.record({ amount: fc.bigInt({ min: 1n, max: 50n }), isReturn: fc.boolean() }),
      { minLength: 5, maxLength: 12 },
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (allSteps) => {
        for (const { amount, isReturn } of allSteps) {
          const transactionId = `T:any:${++count}`;
          if (isReturn) await debitAccount(id, amount, transactionId);
          else await creditAccount(id, amount, transactionId);
          const row = await rowOf(id);
          const ledgerAccount = await app.runtime.db.read(ledgerAccounts, id);
          expect(row.owed === 0n || ledgerAccount?.balance === 0n).toBe(true);
        }
        await expectReceivableAgrees();
      }),
      { numRuns: 10 },
    );
  });
});
