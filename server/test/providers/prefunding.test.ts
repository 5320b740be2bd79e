// The prefunded balance of a provider is the closing balance of its last statement, less the
// transfers that no statement contains.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY } from '../kit/app/production.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';
import { type BankAccount, bankAccount, connectBank } from '../kit/providers/bank-account.ts';

const { service, read, write } = operatorService();
const BANK = 'acme-bank';
const OPENING_BALANCE = 1_000_00;
let adapter: Adapter;
let bank: BankAccount;

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  await connectBank(write, adapter, BANK);
  bank = bankAccount(service.app, adapter, 'EUR', OPENING_BALANCE);
  const prefunding = [{ currency: 'EUR', alertBelow: 800_00 }];
  await write('POST', `/providers/${BANK}/terms`, { terms: { prefunding } });
  await write('POST', `/providers/${BANK}/balances`, { currency: 'EUR', amount: OPENING_BALANCE });
}, 60_000);
afterAll(() => adapter.close());

async function createPayout(): Promise<{ id: string; amount: number }> {
  const { id } = await service.createPayment();
  return { id, amount: adapter.transfers.get(id).amount };
}

async function settle(id: string): Promise<void> {
  const transfer = { state: 'settled', reference: `S-${id.slice(-8)}` };
  await adapter.send(BANK, { type: 'transfer.updated', transferId: id, transfer });
}

/** Advances the clock by a day and reconciles the ended day. Returns the time of its end. */
async function endDay(): Promise<string> {
  const day = bank.today();
  await service.app.advance(DAY);
  await write('POST', `/providers/${BANK}/reconcile`, { currency: 'EUR', day });
  await service.app.settle();
  return new Date(Date.parse(day) + DAY).toISOString();
}

const readBalance = async () => (await read(`/providers/${BANK}`)).balances[0];

it('the prefunded balance is the closing balance less the transfers not yet booked', async () => {
  bank.dayOf(bank.today());
  const bookedPayout = await createPayout();
  bank.pay(bookedPayout.id);
  await settle(bookedPayout.id);
  const payoutInTransit = await createPayout();
  const failedPayout = await createPayout();
  const failedTransfer = { state: 'failed', reason: 'ACCOUNT_INVALID' };
  await adapter.send(BANK, {
    type: 'transfer.updated',
    transferId: failedPayout.id,
    transfer: failedTransfer,
  });
  const endOfDay = await endDay();
  const closingBalance = OPENING_BALANCE - bookedPayout.amount;
  expect(await readBalance()).toEqual({
    ...{
      currency: 'EUR',
      amount: closingBalance,
      sentSince: payoutInTransit.amount,
      source: 'PROVIDER',
    },
    ...{ available: closingBalance - payoutInTransit.amount, isLow: false, asOf: endOfDay },
  });
  const [balance] = (await read('/provider-balances')).data;
  expect(balance).toMatchObject({
    ...{
      reportedBalance: closingBalance,
      availableBalance: closingBalance - payoutInTransit.amount,
    },
  });
  const text = (await service.run('providers', 'balances', BANK)).out;
  expect(text).toContain('AVAILABLE');

  // On the next day the provider books the transfer that was in transit.
  bank.pay(payoutInTransit.id);
  await settle(payoutInTransit.id);
  const thirdPayout = await createPayout();
  bank.pay(thirdPayout.id);
  await settle(thirdPayout.id);
  const fourthPayout = await createPayout();
  expect((await readBalance()).sentSince).toBe(
    payoutInTransit.amount + thirdPayout.amount + fourthPayout.amount,
  );
  await endDay();
  const lowBalance = bank.balance() - fourthPayout.amount;
  expect(await readBalance()).toMatchObject({
    ...{
      amount: bank.balance(),
      sentSince: fourthPayout.amount,
      available: lowBalance,
      isLow: true,
    },
  });
  const metrics = (await service.app.server.inject('/metrics')).body;
  expect(metrics).toContain(`railhead_provider_balances_low{provider="${BANK}"} 1`);
}, 60_000);

it('the prefunded balance is unchanged by a statement of an earlier day', async () => {
  const day = bank.today();
  const body = { currency: 'EUR', amount: 5_000_00 };
  bank.dayOf(day);
  await service.app.advance(DAY);
  await write('POST', `/providers/${BANK}/balances`, body);
  await write('POST', `/providers/${BANK}/reconcile`, { currency: 'EUR', day });
  await service.app.settle();
  expect(await readBalance()).toMatchObject({ amount: 5_000_00, source: 'OPERATOR' });
});

it('the prefunded balance is unchanged while the terms have no prefunding', async () => {
  await write('POST', `/providers/${BANK}/terms`, { terms: {} });
  const balanceBefore = await readBalance();
  bank.dayOf(bank.today());
  await endDay();
  expect(await readBalance()).toEqual(balanceBefore);
});
