// Examples of the operator API: internal accounts, the ledger and accounting exports.
import { describe } from 'vitest';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';

const PERIOD = { from: '2026-01-05', to: '2026-01-05' };

async function recordTransitions({ service, record }: OperatorRecorder) {
  const { account: accountId } = await service.createPayer('20.00');
  const params = { accountId };
  await record('listAccounts', 'of-platform', {
    summary: 'Accounts of a platform',
    query: { platformId: service.platform.id, limit: '2' },
  });
  await record('freezeAccount', 'review', {
    summary: 'Freeze an account during a review',
    params,
    body: { reason: 'Review of unusual deposits' },
  });
  await service.app.advance(60_000);
  await record('unfreezeAccount', 'reviewed', {
    summary: 'Unfreeze an account after the review',
    params,
    body: { reason: 'The deposits are salaries' },
  });
  await record('listAccountHistory', 'frozen', {
    summary: 'An account that was frozen and unfrozen',
    params,
  });
  const { account: emptyAccount } = await service.createPayer();
  await record('closeAccount', 'empty', {
    summary: 'Close an account without a balance',
    params: { accountId: emptyAccount },
    body: { reason: 'Requested by the customer' },
  });
}

async function recordOpening({ service, record }: OperatorRecorder) {
  const { db } = service.app.runtime;
  const { account: accountId } = await service.createPayer();
  const params = { accountId };
  await db.query("update internal_accounts set status = 'PENDING' where id = $1", [accountId]);
  await record('failAccount', 'rejected', {
    summary: 'The bank has rejected the opening of the account',
    params,
    body: { reason: 'Rejected by the bank' },
  });
  await record('retryAccount', 'again', {
    summary: 'Open the account again',
    params,
    body: { reason: 'The bank has corrected its settings' },
  });
}

async function recordFunding({ service, record }: OperatorRecorder) {
  const { account: accountId } = await service.createPayer();
  const removeDetails = () =>
    service.app.runtime.db.query("update internal_accounts set funding = '[]' where id = $1", [
      accountId,
    ]);
  await removeDetails();
  await record('refreshAccountFunding', 'new-bank', {
    summary: 'Replace the funding details of an account',
    params: { accountId },
    body: { reason: 'New collection account' },
  });
  await removeDetails();
  await record('refreshPlatformFunding', 'new-bank', {
    summary: 'Replace the funding details of all accounts of a platform',
    params: { platformId: service.platform.id },
    body: { reason: 'New collection account' },
  });
}

async function recordLedger({ service, record }: OperatorRecorder) {
  const { id: transactionId, account } = await service.createPayment();
  const platformId = service.platform.id;
  await record('verifyLedger', 'correct', { summary: 'A ledger without problems' });
  await record('listPostings', 'payment', {
    summary: 'Postings of a payment',
    params: { transactionId },
  });
  await record('listLedgerAccounts', 'suspense', {
    summary: 'Suspense accounts in US dollars',
    query: { type: 'SUSPENSE', currency: 'USD' },
  });
  await record('getTrialBalance', 'installation', {
    summary: 'The trial balance of the installation',
  });
  await record('listLedgerAccountPostings', 'customer', {
    summary: 'The latest postings of the account of a customer',
    params: { ledgerAccountId: account },
    query: { limit: '2' },
  });
  for (const [operationId, content] of [
    ['exportTransactions', 'Transactions'],
    ['exportPostings', 'Postings'],
    ['exportBalances', 'Balances'],
  ] as const)
    await record(operationId, 'day', {
      summary: `${content} of a day`,
      query: { ...PERIOD, limit: '2', platformId },
    });
}

describe('examples of the operator API: accounts', () => {
  operatorExamples('accounts', { recordTransitions, recordOpening, recordFunding, recordLedger });
});
