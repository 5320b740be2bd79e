// Examples of the operator API: reconciliation of provider statements with the ledger, and every
// kind of decision about a difference.
import { describe } from 'vitest';
import { findInternalAccount } from '../../kit/app/fixtures.ts';
import { DAY } from '../../kit/app/production.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';
import { type Adapter, startAdapter } from '../../kit/providers/adapter.ts';
import { type BankAccount, bankAccount, connectBank } from '../../kit/providers/bank-account.ts';

const BANK = 'acme-bank';
const PARAMS = { providerId: BANK };
/** The day before the first day of the installation. */
const FIRST_DAY = '2026-01-04';
const SECOND_DAY = '2026-01-05';

interface Difference {
  differenceId: string;
  kind: string;
  amount: number;
  transactionId: string | null;
}

const keyOf = (day: string) => ({ currency: 'EUR', day });

async function connect({ service: { app }, client }: OperatorRecorder): Promise<Adapter> {
  const adapter = await startAdapter(app);
  const capabilities = adapter.replies['/capabilities']?.({})?.body as object;
  adapter.replies['/capabilities'] = () => ({ body: { ...capabilities, statements: true } });
  const write = async (method: string, path: string, body?: object) =>
    (await client.call(method, path, { body })).body;
  await connectBank(write, adapter, BANK);
  return adapter;
}

async function recordFirstDay({ service, record }: OperatorRecorder) {
  await record('changeStatementSource', 'fees', {
    summary: 'Fees are differences until an operator decides',
    params: PARAMS,
    body: { timeZone: 'UTC', feesExpected: false, reason: 'Contract of January 5' },
  });
  await record('getStatementSource', 'utc', { summary: 'Days in UTC', params: PARAMS });
  await record('reconcileProviderDay', 'request', {
    summary: 'Request and reconcile the statement of a day',
    params: PARAMS,
    body: { ...keyOf(FIRST_DAY), reason: 'First day' },
  });
  await service.app.settle();
  await record('closeProviderDay', 'balanced', {
    summary: 'Close a balanced day',
    params: PARAMS,
    body: { ...keyOf(FIRST_DAY), reason: 'Checked' },
  });
}

const reportSettled = (adapter: Adapter, transferId: string, number: number) =>
  adapter.send(BANK, {
    ...{ type: 'transfer.updated', transferId },
    transfer: { state: 'settled', reference: `SEPA-20260105-00${number}` },
  });

/** A payout that the provider has reported as settled. */
async function settlePayout({ service }: OperatorRecorder, adapter: Adapter, number: number) {
  const { id } = await service.createPayment();
  await reportSettled(adapter, id, number);
  return id;
}

/** A day whose statement has differences of several kinds. Returns the IDs of two payments. */
async function createDifferences(recorder: OperatorRecorder, adapter: Adapter, bank: BankAccount) {
  const { service } = recorder;
  bank.dayOf(SECOND_DAY);
  const depositFields = { kind: 'deposit', bankReference: 'STMT-2026-01-05-0031' };
  bank.book({ direction: 'in', amount: 12_34, ...depositFields });
  bank.book({ direction: 'in', amount: 500_00, kind: 'funding' });
  bank.book({ direction: 'out', amount: 3_00, kind: 'fee' });
  bank.book({ direction: 'out', amount: 7_00, kind: 'other' });
  const carried = await settlePayout(recorder, adapter, 1);
  const returned = await settlePayout(recorder, adapter, 2);
  const ignored = await settlePayout(recorder, adapter, 3);
  const { id: matched } = await service.createPayment('1000.00', 150_00);
  bank.pay(matched, { transferId: undefined, reference: 'INVOICE 2026-014' });
  const { id: settled } = await service.createPayment();
  bank.pay(settled);
  await service.app.advance(DAY);
  return { carried, returned, ignored, matched, settled };
}

async function recordDifferences(recorder: OperatorRecorder, adapter: Adapter) {
  const { service, client, record } = recorder;
  const { app, callOptions } = service;
  const bank = bankAccount(app, adapter, 'EUR', 50_000_00);
  await recordFirstDay(recorder);
  const { person } = await service.createPayer();
  const account = await findInternalAccount(app, person.id, 'EUR', callOptions);
  const payments = await createDifferences(recorder, adapter, bank);
  await record('reconcileProviderDay', 'received', {
    summary: 'Use only the statements that were received',
    params: PARAMS,
    body: { ...keyOf(SECOND_DAY), request: false },
  });
  await app.settle();
  await record('listDifferences', 'open', {
    summary: 'Open differences of a provider',
    query: { ...PARAMS, status: 'OPEN', limit: '3' },
  });
  const { body } = await client.call('GET', `/differences?limit=100`);
  const differences: Difference[] = body.data;
  const pick = (isExpected: (each: Difference) => boolean) => {
    const difference = differences.find(isExpected);
    if (!difference) throw new Error(`not found among ${JSON.stringify(differences)}`);
    return { differenceId: difference.differenceId };
  };
  const amountOf = (amount: number) => pick((each) => each.amount === amount);
  const paymentOf = (id: string) => pick((each) => each.transactionId === id);
  const decide = (
    params: { differenceId: string },
    decision: string,
    summary: string,
    reason: string,
    fields: object = {},
  ) =>
    record('decideDifference', decision.toLowerCase().replaceAll('_', '-'), {
      summary,
      params,
      body: { decision, ...fields, reason },
    });
  await record('assignDifference', 'note', {
    summary: 'Add a note to a difference',
    params: amountOf(12_34),
    body: { note: 'Requested the details from the bank', reason: 'Morning check' },
  });
  await record('getDifference', 'missing-with-us', {
    summary: 'A line of the statement without a payment',
    params: amountOf(12_34),
  });
  const own = { accountId: account.id as string };
  await decide(amountOf(12_34), 'RECORD_DEPOSIT', 'Credit an account', 'Known sender', own);
  await decide(amountOf(500_00), 'OWN_FUNDS', 'Own funds of the operator', 'Own transfer');
  await decide(amountOf(-3_00), 'RECORD_FEE', 'A fee of the provider', 'Price list 2026');
  await decide(amountOf(-7_00), 'SUSPENSE', 'Keep the amount in suspense', 'Asked the bank');
  await decide(amountOf(-7_00), 'WRITE_OFF', 'Write an amount off', 'Unknown to the bank');
  await decide(paymentOf(payments.settled), 'SETTLE', 'Settle the payment', 'The bank has paid');
  await reportSettled(adapter, payments.matched, 4);
  const unknownLine = pick((each) => each.kind === 'MISSING_WITH_US' && each.amount < -100_00);
  const match = { transactionId: payments.matched };
  await decide(unknownLine, 'MATCH', 'The line belongs to a payment', 'Same invoice', match);
  await decide(paymentOf(payments.carried), 'CARRY', 'Expected in a later statement', 'Holiday');
  const failure = { failureReason: 'PAYOUT_RETURNED' };
  const { returned } = payments;
  await decide(paymentOf(returned), 'RETURN', 'Refund the payment', 'Not executed', failure);
  await decide(paymentOf(payments.ignored), 'IGNORE', 'Ignore the difference', 'Paid in cash');
  await app.settle();
  await record('listProviderDays', 'latest', {
    summary: 'The latest days of a provider',
    query: { ...PARAMS, limit: '2' },
  });
  await record('listProviderBalances', 'one', {
    summary: 'The reported balance and the balances of the ledger',
    query: PARAMS,
  });
}

async function recordReconciliation(recorder: OperatorRecorder) {
  const adapter = await connect(recorder);
  try {
    await recordDifferences(recorder, adapter);
  } finally {
    await adapter.close();
  }
}

describe('examples of the operator API: reconciliation', () => {
  operatorExamples('reconciliation', { recordReconciliation });
});
