// Internal accounts: list, manual transitions with their history, and funding details.
import { Type } from '@sinclair/typebox';
import {
  accountsByOperator,
  internalAccountFeature,
  refreshAccountFunding,
  transitionAccount,
} from '../../features/balances/internal-accounts/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  Amount,
  named,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter, Reason } from '../schemas.ts';
import { Actions, CurrencyCode, CustomerId, namesOf, PlatformId } from './schemas.ts';

const TAG = 'Accounts';

const AccountStatus = named(
  'AccountStatus',
  oneOf(namesOf(internalAccountFeature.states.internalAccount.transitions), {
    description:
      'PENDING: being provisioned. ACTIVE: can send and receive funds. FROZEN: new payments are ' +
      'rejected and deposits are held. FAILED: provisioning failed and can be retried. CLOSED: ' +
      'permanently closed.',
  }),
);

const ACCOUNT = {
  accountId: text('ID of the account.'),
  platformId: PlatformId,
  customerId: CustomerId,
  currency: CurrencyCode,
  status: AccountStatus,
  balance: Type.Integer({
    format: 'int64',
    description: 'Available balance, in minor units of the currency.',
  }),
  held: withDescription(Amount, 'Amount held for payments, in minor units.'),
  owed: withDescription(Amount, 'Amount that the account owes, in minor units.'),
  updatedAt: time('Time of the last change.'),
};
const Account = named(
  'InternalAccountSummary',
  Type.Object(ACCOUNT, { description: 'An internal account with its balance.' }),
);

const params = Type.Object({ accountId: text('ID of the account.') });

const list = operation({
  operationId: 'listAccounts',
  method: 'GET',
  path: '/accounts',
  tag: TAG,
  summary: 'List internal accounts',
  description: 'Returns internal accounts with their balances and amounts owed, oldest first.',
  auth: 'operator',
  operatorPermission: 'accounts.read',
  oldestFirst: true,
  commands: ['accounts list'],
  query: Type.Object({
    accountId: Type.Optional(text('Return only this account.')),
    ...PlatformFilter,
    status: Type.Optional(withDescription(AccountStatus, 'Return only accounts with this status.')),
    owing: Type.Optional(
      Type.Boolean({ description: 'If true, return only accounts with an amount owed.' }),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'InternalAccountSummaryPage',
      page(Account, {
        description: 'A page of internal accounts with their balances, oldest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const history = operation({
  operationId: 'listAccountHistory',
  method: 'GET',
  path: '/accounts/{accountId}/history',
  tag: TAG,
  summary: 'List transitions of an account',
  description: 'Returns the manual transitions of an account with their reasons, oldest first.',
  auth: 'operator',
  operatorPermission: 'accounts.read',
  commands: ['accounts history'],
  params,
  query: Type.Object(PageQuery),
  replies: { 200: Actions },
  errors: ['NOT_FOUND'],
  notFound: 'ACCOUNT_NOT_FOUND',
});

const TRANSITION = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'accounts.manage',
  params,
  replies: { 200: Account },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'ACCOUNT_NOT_FOUND',
} as const;

/** A transition that is rejected if the customer of the account was deleted. */
const ACTIVATION = { ...TRANSITION, errors: [...TRANSITION.errors, 'CUSTOMER_DELETED'] } as const;

const freeze = operation({
  ...TRANSITION,
  operationId: 'freezeAccount',
  path: '/accounts/{accountId}/freeze',
  summary: 'Freeze an account',
  description:
    'Rejects new payments from and to the account until it is unfrozen. Deposits are held, and ' +
    'refunds are credited.',
  commands: ['accounts freeze'],
  body: Type.Object({ reason: Reason }),
});

const unfreeze = operation({
  ...ACTIVATION,
  operationId: 'unfreezeAccount',
  path: '/accounts/{accountId}/unfreeze',
  summary: 'Unfreeze an account',
  description: 'Accepts payments from and to a frozen account again.',
  commands: ['accounts unfreeze'],
  body: Type.Object(OptionalReason),
  bodyOptional: true,
});

const close = operation({
  ...TRANSITION,
  operationId: 'closeAccount',
  path: '/accounts/{accountId}/close',
  summary: 'Close an account',
  description:
    'Closes an account permanently. The account must be empty, owe no amount, and have no payments in ' +
    'progress.',
  commands: ['accounts close'],
  body: Type.Object(OptionalReason),
  bodyOptional: true,
});

const fail = operation({
  ...TRANSITION,
  operationId: 'failAccount',
  path: '/accounts/{accountId}/fail',
  summary: 'Record a failed opening',
  description: 'Records that a pending account could not be opened at its provider.',
  commands: ['accounts fail'],
  body: Type.Object(OptionalReason),
  bodyOptional: true,
});

const retry = operation({
  ...ACTIVATION,
  operationId: 'retryAccount',
  path: '/accounts/{accountId}/retry',
  summary: 'Retry the opening of an account',
  description: 'Retries the opening of a failed account.',
  commands: ['accounts retry'],
  body: Type.Object(OptionalReason),
  bodyOptional: true,
});

const FundingRefresh = named(
  'RefreshedFunding',
  Type.Object(
    {
      platformId: PlatformId,
      accounts: Type.Integer({ description: 'Number of accounts that were checked.' }),
      changed: Type.Integer({
        description:
          'Number of accounts whose details have changed. Details that a provider returns later ' +
          'are not counted.',
      }),
    },
    { description: 'Result of a refresh of funding details.' },
  ),
);

const refresh = operation({
  operationId: 'refreshAccountFunding',
  method: 'POST',
  path: '/accounts/{accountId}/refresh-funding',
  tag: TAG,
  summary: 'Refresh the funding details of an account',
  description: 'Replaces the funding details with those of the current collection accounts.',
  auth: 'operator',
  operatorPermission: 'accounts.manage',
  commands: ['accounts refresh-funding'],
  params,
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: FundingRefresh },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'ACCOUNT_NOT_FOUND',
});

const refreshAll = operation({
  operationId: 'refreshPlatformFunding',
  method: 'POST',
  path: '/platforms/{platformId}/refresh-funding',
  tag: TAG,
  summary: 'Refresh the funding details of a platform',
  description:
    'Replaces the funding details of all accounts of a platform, in batches. If the request ' +
    'fails, send it again to continue.',
  auth: 'operator',
  operatorPermission: 'accounts.manage',
  commands: ['accounts refresh-funding'],
  params: Type.Object({ platformId: PlatformId }),
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: FundingRefresh },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'PLATFORM_NOT_FOUND',
});

type Event = Parameters<typeof transitionAccount>[1]['event'];

async function transition(
  { installation: { runtime }, provisioning: { accountPorts } }: OperatorCall,
  accountId: string,
  event: Event,
  reason: string | undefined,
) {
  const input = { accountId, event, reason: reason ?? null };
  return {
    status: 200,
    body: await transitionAccount({ runtime, ...accountPorts }, input),
  } as const;
}

async function refreshOf(
  installation: OperatorCall['installation'],
  input: Parameters<typeof refreshAccountFunding>[1],
) {
  const { changed, ...rest } = await refreshAccountFunding(installation, input);
  return { status: 200, body: { ...rest, changed: changed.length } } as const;
}

export const accountOperations = [
  operatorHandle(list, async ({ installation }, { query: { owing, ...query } }) => ({
    status: 200,
    body: await accountsByOperator.list(installation.runtime, {
      ...query,
      isOwing: owing,
      limit: query.limit ?? 20,
    }),
  })),
  operatorHandle(history, async ({ installation }, { params: { accountId }, query }) => ({
    status: 200,
    body: await accountsByOperator.history(installation.runtime, accountId, {
      limit: 20,
      ...query,
    }),
  })),
  operatorHandle(freeze, (call, { params, body }) =>
    transition(call, params.accountId, 'freeze', body.reason),
  ),
  operatorHandle(unfreeze, (call, { params, body }) =>
    transition(call, params.accountId, 'unfreeze', body.reason),
  ),
  operatorHandle(close, (call, { params, body }) =>
    transition(call, params.accountId, 'close', body.reason),
  ),
  operatorHandle(fail, (call, { params, body }) =>
    transition(call, params.accountId, 'fail', body.reason),
  ),
  operatorHandle(retry, (call, { params, body }) =>
    transition(call, params.accountId, 'retry', body.reason),
  ),
  operatorHandle(refresh, ({ installation }, { params }) => refreshOf(installation, params)),
  operatorHandle(refreshAll, ({ installation }, { params }) => refreshOf(installation, params)),
];
