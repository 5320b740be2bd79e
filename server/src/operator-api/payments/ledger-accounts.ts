// The chart of accounts, the trial balance, and the postings of one account.
import { Type } from '@sinclair/typebox';
import {
  LEDGER_ACCOUNT_TYPES,
  listLedgerAccountPostings,
  listLedgerAccounts,
  trialBalance,
} from '../../features/accounting/index.ts';
import { platformById } from '../../features/tenancy/platform/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { MODES } from '../../kernel/mode.ts';
import {
  Amount,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { CustomerFilter, ModeFilter, SHORT_PAGES } from '../overview/schemas.ts';
import { listInput, PlatformFilter, SummedPlatform } from '../schemas.ts';
import { summedPlatforms } from '../several-platforms.ts';
import { CurrencyCode, Posting } from './schemas.ts';

const TAG = 'Ledger';
const optional = Type.Optional;
const amountField = (description: string) =>
  Type.Integer({ format: 'int64', description: `${description}, in minor units.` });

const LedgerAccountType = named(
  'LedgerAccountType',
  oneOf(LEDGER_ACCOUNT_TYPES, {
    description:
      'CUSTOMER and PLATFORM are internal accounts. The others are system accounts, one for each ' +
      'environment and currency.',
  }),
);
const Mode = oneOf(MODES, { description: 'Environment: sandbox or production.' });
const accountId = text('ID of the ledger account. An internal account has the same ID.');
const platformId = text('Platform of an internal account. Absent for a system account.');

const LedgerAccount = named(
  'LedgerAccount',
  Type.Object(
    {
      id: accountId,
      type: LedgerAccountType,
      name: text('Name of the account type, such as `Customer`.'),
      mode: Mode,
      platformId: optional(platformId),
      customerId: optional(
        text('Customer of an internal account. Absent for accounts of platforms and the system.'),
      ),
      currency: CurrencyCode,
      status: optional(
        text('Status of an internal account, such as `ACTIVE`. Absent for a system account.'),
      ),
      balance: amountField('Balance: credits less debits'),
      held: withDescription(Amount, 'Amount held for payments, in minor units.'),
      createdAt: time('Time of creation.'),
    },
    { description: 'An account of the ledger with its balance.' },
  ),
);

const list = operation({
  operationId: 'listLedgerAccounts',
  method: 'GET',
  path: '/ledger/accounts',
  tag: TAG,
  summary: 'List ledger accounts',
  description:
    'Returns the chart of accounts: system accounts by ID, then internal accounts, newest first. ' +
    `With \`platformId\` or \`customerId\`, only internal accounts are returned. ${SHORT_PAGES}`,
  auth: 'operator',
  operatorPermission: 'ledger.read',
  commands: [],
  query: Type.Object({
    ...PlatformFilter,
    ...ModeFilter,
    ...CustomerFilter,
    type: optional(withDescription(LedgerAccountType, 'Return only accounts of this type.')),
    currency: optional(text('Return only accounts in this currency.')),
    hasBalance: optional(
      Type.Boolean({
        description: 'If true, return only accounts with a nonzero balance or a hold.',
      }),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'LedgerAccountPage',
      page(LedgerAccount, {
        description:
          'A page of the chart of accounts: system accounts by ID, then internal accounts, newest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const debit = withDescription(Amount, 'Sum of the debit balances, in minor units.');
const credit = withDescription(Amount, 'Sum of the credit balances, in minor units.');

const getTrialBalance = operation({
  operationId: 'getTrialBalance',
  method: 'GET',
  path: '/ledger/trial-balance',
  tag: TAG,
  summary: 'Get the trial balance',
  description:
    'Returns the balances of all accounts in one snapshot, by environment, currency and ' +
    'type of account. Debits and credits of an environment and currency are equal. More than ' +
    '50,000 internal accounts are combined into one line for each environment and currency, calculated ' +
    'from the system accounts. With ' +
    '`platformId`, and for an operator who is restricted to some platforms, the reply has only ' +
    'the accounts of the selected platforms. Their debits and credits differ. Every sum and difference is ' +
    'calculated exactly, and rounded in the reply if it is above 2^53.',
  auth: 'operator',
  operatorPermission: 'ledger.read',
  sumsPlatforms: true,
  commands: [],
  query: Type.Object({ ...SummedPlatform, ...ModeFilter }),
  replies: {
    200: Type.Object({
      at: time('Time of the snapshot.'),
      isCounted: Type.Boolean({
        description:
          'Whether all accounts were counted. If not, internal accounts are lines of the type ' +
          'CUSTOMER. For selected platforms, the sums then do not contain all accounts.',
      }),
      data: Type.Array(
        named(
          'TrialBalanceLine',
          Type.Object(
            {
              mode: Mode,
              currency: CurrencyCode,
              type: LedgerAccountType,
              accounts: nullable(
                Type.Integer({
                  description: 'Number of accounts, or null if they were not counted.',
                }),
              ),
              debit,
              credit,
              net: amountField('Credits less debits'),
              held: nullable(
                withDescription(
                  Amount,
                  'Amount held, in minor units, or null if it was not counted.',
                ),
              ),
            },
            { description: 'Balances of one type of account.' },
          ),
        ),
        { description: 'Nonzero lines, by environment and currency.' },
      ),
      totals: Type.Array(
        named(
          'TrialBalanceTotal',
          Type.Object(
            {
              mode: Mode,
              currency: CurrencyCode,
              debit,
              credit,
              difference: Type.Integer({
                format: 'int64',
                description: 'Credits less debits, in minor units. 0 if the books balance.',
              }),
            },
            { description: 'Sums of an environment and currency.' },
          ),
        ),
        { description: 'Sums by environment and currency.' },
      ),
    }),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const params = Type.Object({ ledgerAccountId: accountId });
const { step, phase, createdAt } = Posting;

const AccountPosting = named(
  'AccountPosting',
  Type.Object(
    {
      transactionId: text('ID of the transaction.'),
      step,
      phase,
      direction: oneOf(['DEBIT', 'CREDIT'], { description: 'Side of this account.' }),
      amount: Amount,
      counterAccountId: text('Account on the other side of the posting.'),
      balanceAfter: amountField('Balance after the posting'),
      heldAfter: amountField('Amount held after the posting'),
      createdAt,
    },
    { description: 'A posting of one account with the balance after it.' },
  ),
);

const postings = operation({
  operationId: 'listLedgerAccountPostings',
  method: 'GET',
  path: '/ledger/accounts/{ledgerAccountId}/postings',
  tag: TAG,
  summary: 'List the postings of a ledger account',
  description:
    'Returns the postings of an account, newest first, with balance and hold after each. A page may ' +
    'be shorter than `limit`, or empty, although `hasMore` is true, because it ends after 150 ms.',
  auth: 'operator',
  operatorPermission: 'ledger.read',
  commands: [],
  params,
  query: Type.Object(PageQuery),
  replies: {
    200: Type.Object({
      accountId,
      platformId: optional(platformId),
      currency: CurrencyCode,
      balance: amountField('Current balance'),
      held: withDescription(Amount, 'Amount held now, in minor units.'),
      ...page(AccountPosting).properties,
    }),
  },
  errors: ['NOT_FOUND'],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const ledgerAccountOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await listLedgerAccounts(installation.runtime, listInput(query)),
  })),
  operatorHandle(getTrialBalance, async ({ installation: { runtime }, operator }, { query }) => {
    const { platformId, mode } = query;
    if (platformId !== undefined) await platformById(runtime, platformId);
    const platformIds = summedPlatforms(operator, query);
    return { status: 200, body: await trialBalance(runtime, { platformIds, mode }) };
  }),
  operatorHandle(postings, async ({ installation, operator }, { params, query }) => {
    const input = { ...listInput(query), accountId: params.ledgerAccountId };
    const body = await listLedgerAccountPostings(installation.runtime, input);
    // System accounts belong to no platform.
    if (operator.platformIds !== null && body.platformId === undefined) {
      throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
    }
    return { status: 200, body };
  }),
];
