// The ledger: verification, and the postings of a transaction.
import { Type } from '@sinclair/typebox';
import { listPostings, verifyLedger } from '../../features/accounting/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { Amount, named, nullable, text, withDescription } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { CurrencyCode, PlatformId, Posting, transactionParams } from './schemas.ts';

const TAG = 'Ledger';

const total = (description: string) =>
  Type.Integer({ format: 'int64', description: `${description}, in minor units.` });

const Total = named(
  'LedgerTotal',
  Type.Object(
    {
      currency: text('Currency code, or `velocity.` with a currency code for velocity limits.'),
      accounts: Type.Integer({ description: 'Number of accounts.' }),
      holds: Type.Integer({ description: 'Number of open holds.' }),
      owned: total('Sum of the balances of internal accounts and velocity limits'),
      system: total('Sum of the balances of system accounts'),
      held: total('Sum of the amounts held'),
      sum: Type.Integer({
        format: 'int64',
        description: 'Sum of all balances, in minor units. 0 if the books balance.',
      }),
      transfers: Type.Integer({ description: 'Number of postings.' }),
    },
    { description: 'Totals of a currency.' },
  ),
);

const verify = operation({
  operationId: 'verifyLedger',
  method: 'GET',
  path: '/ledger/verification',
  tag: TAG,
  summary: 'Verify the ledger',
  description:
    'Recomputes every balance from the postings, in one snapshot. The request reads the whole ledger, ' +
    'and fails after the statement timeout of the server.',
  auth: 'operator',
  operatorPermission: 'ledger.read',
  wholeInstallation: true,
  commands: ['ledger verify'],
  replies: {
    200: Type.Object({
      balanced: Type.Boolean({
        description: 'Whether `problems` is empty.',
      }),
      currencies: Type.Array(Total, { description: 'Totals by currency.' }),
      problems: Type.Array(Type.String(), {
        description: 'Discrepancies, the first hundred of each kind.',
      }),
    }),
  },
  errors: [],
});

export const PostingOfTransaction = named(
  'Posting',
  Type.Object(
    {
      ...Posting,
      currency: CurrencyCode,
      amount: Amount,
      readable: text('Amount in major units, with its currency.'),
    },
    { description: 'A transfer between two accounts of the ledger.' },
  ),
);

const postings = operation({
  operationId: 'listPostings',
  method: 'GET',
  path: '/transactions/{transactionId}/postings',
  tag: TAG,
  summary: 'List the postings of a transaction',
  description: 'Returns the postings of a transaction in chronological order.',
  auth: 'operator',
  operatorPermission: 'ledger.read',
  commands: ['ledger postings'],
  params: transactionParams,
  replies: {
    200: Type.Object({
      transactionId: transactionParams.properties.transactionId,
      platformId: nullable(withDescription(PlatformId, 'ID of the platform, or null if none.')),
      postings: Type.Array(PostingOfTransaction, {
        description: 'All postings of the transaction, oldest first.',
      }),
    }),
  },
  errors: ['NOT_FOUND'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

export const ledgerOperations = [
  operatorHandle(verify, async ({ installation }) => ({
    status: 200,
    body: (await verifyLedger(installation.runtime)).json,
  })),
  operatorHandle(postings, async ({ installation, operator }, { params: { transactionId } }) => {
    const body = await listPostings(installation.runtime, transactionId);
    // Postings without a transaction belong to no single platform.
    if (operator.platformIds !== null && body.platformId === null) {
      throw new Fault('TRANSACTION_NOT_FOUND', 'Transaction not found.');
    }
    return { status: 200, body };
  }),
];
