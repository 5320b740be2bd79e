// Examples of the operator API: deposits, transfers over manual rails, suspense items and internal
// accounts.
import { describe } from 'vitest';
import {
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../kit/app/fixtures.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';

const depositId = ({ transactionId }: { transactionId: string }) => ({ transactionId });

async function recordDeposits({ service, client, record }: OperatorRecorder) {
  const { account } = await service.createPayer();
  await record('recordDeposit', 'wire', {
    summary: 'A wire from the bank statement, credited to an account',
    body: {
      bankReference: 'STMT-2026-01-05-0007',
      accountId: account,
      amount: 1_250_00,
      currency: 'USD',
      rail: 'WIRE',
      senderName: 'Amara Okafor',
      senderAccount: '000123456789',
      senderBank: 'First Bank',
      remittanceInformation: 'Invoice 2026-014',
      reason: 'Statement of January 5',
    },
  });
  const { app, callOptions } = service;
  const { person } = await service.createPayer();
  const payerAccount = await findInternalAccount(app, person.id, 'USD', callOptions);
  const { reference } = payerAccount.fundingPaymentInstructions[0].accountOrWalletInfo;
  await record('recordDeposit', 'payment-reference', {
    summary: 'A deposit that is assigned by its payment reference',
    body: {
      bankReference: 'STMT-2026-01-05-0008',
      paymentReference: reference,
      amount: 20_000_00,
      currency: 'USD',
      rail: 'ACH',
    },
  });
  const heldDeposit = (number: number) => ({
    bankReference: `STMT-2026-01-05-00${number}`,
    accountId: account,
    amount: 75_00,
    currency: 'USD',
    rail: 'WIRE',
    senderName: 'Harbor Trading Ltd',
    hold: 'COMPLIANCE_REVIEW',
  });
  const firstHeldDeposit = await record('recordDeposit', 'held', {
    summary: 'A deposit that is held until a decision',
    body: heldDeposit(10),
  });
  const heldDeposits: string[] = [firstHeldDeposit.transactionId];
  for (const number of [11, 12]) {
    await app.advance(60_000);
    const reply = await client.call('POST', '/deposits', { body: heldDeposit(number) });
    heldDeposits.push(ok(reply, 201).transactionId);
  }
  const [released = '', rejected = '', returned = ''] = heldDeposits;
  await record('listHeldDeposits', 'of-platform', {
    summary: 'Held deposits of a platform',
    query: { platformId: service.platform.id, limit: '2' },
  });
  await record('releaseDeposit', 'reviewed', {
    summary: 'Credit a held deposit after a review',
    params: depositId({ transactionId: released }),
    body: { reason: 'The documents of the sender are complete' },
  });
  await record('rejectDeposit', 'compliance', {
    summary: 'Reject a held deposit, which is then returned to its sender',
    params: depositId({ transactionId: rejected }),
    body: { failureReason: 'COMPLIANCE_REJECTED', reason: 'The sender is not known' },
  });
  await record('recordDepositReturn', 'reversed', {
    summary: 'The bank has reversed the deposit',
    params: depositId({ transactionId: returned }),
    body: { failureReason: 'COLLECTION_FAILED', reason: 'Recalled by the bank of the sender' },
  });
}

/** A direct debit that is in progress. Returns its ID. */
async function createDebit({ service }: OperatorRecorder): Promise<string> {
  const { app, callOptions } = service;
  const { person, account } = await service.createPayer();
  const { id } = await createExternalAccount(app, person.id, 'USD', '000', callOptions);
  const body = { source: { accountId: id }, destination: { accountId: account }, amount: 40_00 };
  const debit = ok(await app.call('POST', '/transfer-in', body, callOptions), 201);
  await app.advance(60_000);
  ok(await app.call('POST', `/transactions/${debit.id}/cancel`, undefined, callOptions), 200);
  await app.settle();
  return debit.id;
}

async function recordTransfers(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const createPayment = async () => ({ transactionId: (await service.createPayment()).id });
  const [settled, failed] = [await createPayment(), await createPayment()];
  await record('listAwaitedTransfers', 'of-platform', {
    summary: 'Transfers of a platform that wait for their execution at the bank',
    query: { platformId: service.platform.id, limit: '2' },
  });
  await record('settleTransfer', 'payout', {
    summary: 'The bank has executed a payout',
    params: settled,
    body: { reference: 'SEPA-20260105-000417', reason: 'Statement of January 5' },
  });
  await record('returnTransfer', 'payout', {
    summary: 'The bank of the recipient has returned a payout',
    params: settled,
    body: { failureReason: 'PAYOUT_RETURNED', kind: 'payout', reason: 'The account is closed' },
  });
  await record('failTransfer', 'refundable', {
    summary: 'The bank has rejected a payout, which is refunded',
    params: failed,
    body: { failureReason: 'ACCOUNT_INVALID', reason: 'The IBAN does not exist' },
  });
  await record('failTransfer', 'not-refundable', {
    summary: 'A rejected payout without a refund. The funds are in suspense',
    params: await createPayment(),
    body: {
      failureReason: 'COMPLIANCE_REJECTED',
      isRefundable: false,
      reason: 'The bank has frozen the funds',
    },
  });
  const [canceled, rejected] = [await createDebit(recorder), await createDebit(recorder)];
  await record('cancelTransfer', 'not-sent', {
    summary: 'The transfer was not sent to the bank',
    params: { transactionId: canceled },
    body: { reason: 'Requested by the platform' },
  });
  await record('rejectTransferCancel', 'sent', {
    summary: 'The transfer can no longer be canceled',
    params: { transactionId: rejected },
    body: { reason: 'The bank has executed the direct debit' },
  });
}

/** A payment whose debit of 50.00 USD was returned. No account can cover the amount. */
async function createShortfall({ service }: OperatorRecorder): Promise<string> {
  const { app, callOptions } = service;
  const { person, account } = await service.createPayer();
  const payee = await service.createPayee(person.id);
  const ownAccount = await findInternalAccount(app, null, 'USD', callOptions);
  for (const id of [account, ownAccount.id]) await service.runJson('accounts', 'close', id);
  const { id: source } = await createExternalAccount(app, person.id, 'USD', '000', callOptions);
  const body = quoteBody(source, payee, 50_00, { immediatelyExecute: true });
  const { transactionId } = ok(await app.call('POST', '/quotes', body, callOptions), 201);
  await app.settle();
  await service.runJson('payouts', 'settle', transactionId);
  await app.settle();
  const flags = ['--of', 'debit', '--reason', 'PAYOUT_RETURNED'];
  await service.runJson('payouts', 'return', transactionId, ...flags);
  return transactionId;
}

async function recordSuspense(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const { id: transactionId } = await service.createPayment();
  const flags = ['--reason', 'COMPLIANCE_REJECTED', '--not-refundable'];
  await service.runJson('payouts', 'fail', transactionId, ...flags);
  await service.app.settle();
  await record('listSuspenseItems', 'production', {
    summary: 'Funds in suspense in production',
    query: { environment: 'production', limit: '2' },
  });
  await record('returnSuspenseItem', 'to-source', {
    summary: 'Return the funds to the account that paid',
    params: { transactionId },
    body: { reason: 'The bank has released the funds' },
  });
  const shortfall = await createShortfall(recorder);
  await record('settleShortfall', 'covered', {
    summary: 'The customer has covered the shortfall',
    params: { transactionId: shortfall },
    body: { reference: 'COVER-2026-003', reason: 'Paid by the customer' },
  });
}

describe('examples of the operator API: payments', () => {
  operatorExamples('payments', { recordDeposits, recordSuspense, recordTransfers });
});
