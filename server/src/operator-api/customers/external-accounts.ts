// External accounts: list, history, and the transitions that operators can make.
import { type Static, Type } from '@sinclair/typebox';
import {
  externalAccountFeature,
  externalAccountReviews,
  listExternalAccounts,
  transitionExternalAccountByOperator,
} from '../../features/payees/external-accounts/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import { listInput, OptionalReason, PlatformFilter, RejectionBody } from '../schemas.ts';

const TAG = 'External Accounts';

const STATUSES = Object.keys(externalAccountFeature.states.externalAccount.transitions);
const Status = oneOf(STATUSES, {
  description:
    'PENDING: the bank account is being checked. UNDER_REVIEW: a manual review is in progress. ' +
    'INACTIVE: disabled. Accounts with one of these statuses cannot be used. UNVERIFIED, ' +
    'PENDING_OWNERSHIP_VERIFICATION: a self-custody wallet receives payments of at most 1,000 EUR.',
});
const Account = named(
  'OperatorExternalAccount',
  Type.Object(
    {
      accountId: text('ID of the external account.'),
      platformId: text('Platform of the account.'),
      customerId: nullable(text('Customer, or null for an account of the platform.')),
      currency: text('Currency code.'),
      status: Status,
      accountType: text('Type of the account, such as `EUR_ACCOUNT`.'),
      account: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Details of the account. Account numbers are masked.',
      }),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'An account at a bank, at another provider, or on a blockchain.' },
  ),
);
const params = Type.Object({ accountId: text('ID of the external account.') });

const list = operation({
  operationId: 'listExternalAccounts',
  method: 'GET',
  path: '/external-accounts',
  tag: TAG,
  summary: 'List external accounts',
  description: 'Returns external accounts, oldest first, without their holders.',
  auth: 'operator',
  operatorPermission: 'accounts.read',
  oldestFirst: true,
  commands: ['external-accounts list'],
  query: Type.Object({
    accountId: Type.Optional(text('Return only this account.')),
    status: Type.Optional({ ...Status, description: 'Return only accounts with this status.' }),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'OperatorExternalAccountPage',
      page(Account, {
        description: 'A page of external accounts without their holders, oldest first.',
      }),
    ),
  },
  errors: [],
});

const history = operation({
  operationId: 'listExternalAccountActions',
  method: 'GET',
  path: '/external-accounts/{accountId}/actions',
  tag: TAG,
  summary: 'List the actions of operators on an external account',
  description: 'Returns the transitions that operators made, oldest first, with their reasons.',
  auth: 'operator',
  operatorPermission: 'accounts.read',
  commands: ['external-accounts history'],
  params,
  query: Type.Object(PageQuery),
  replies: {
    200: Type.Object({
      accountId: text('ID of the external account.'),
      platformId: text('Platform of the account.'),
      ...page(
        Type.Object({
          actor: text('Always `operator`. The audit log names the operator.'),
          action: text('Name of the transition.'),
          reason: nullable(text('Reason for the transition, or null if none was stated.')),
          createdAt: time('Time of the transition.'),
        }),
      ).properties,
    }),
  },
  errors: [],
  notFound: 'ACCOUNT_NOT_FOUND',
});

const Body = Type.Object(OptionalReason);
const TRANSITION = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'external-accounts.decide',
  params,
  body: Body,
  bodyOptional: true,
  replies: { 200: Account },
  // The status of the account does not allow the transition.
  errors: ['CONFLICT'],
  notFound: 'ACCOUNT_NOT_FOUND',
} as const;

const check = operation({
  ...TRANSITION,
  operationId: 'checkExternalAccount',
  path: '/external-accounts/{accountId}/check',
  summary: 'Start a check of a bank account',
  description:
    'Sets the status PENDING. Payouts to the account are rejected until the check passes.',
  commands: ['external-accounts check'],
});

const review = operation({
  ...TRANSITION,
  operationId: 'reviewExternalAccount',
  path: '/external-accounts/{accountId}/review',
  summary: 'Put an external account under review',
  description: 'Sets the status UNDER_REVIEW. The account cannot be used until the review passes.',
  commands: ['external-accounts review'],
});

const clear = operation({
  ...TRANSITION,
  operationId: 'clearExternalAccount',
  path: '/external-accounts/{accountId}/clear',
  summary: 'Record that a check or review passed',
  description: 'Sets the status ACTIVE.',
  commands: ['external-accounts clear'],
});

const reject = operation({
  ...TRANSITION,
  operationId: 'rejectExternalAccount',
  path: '/external-accounts/{accountId}/reject',
  summary: 'Record that a check or review failed',
  description: 'Sets the status INACTIVE.',
  commands: ['external-accounts reject'],
  body: RejectionBody,
  bodyOptional: false,
});

const disable = operation({
  ...TRANSITION,
  operationId: 'disableExternalAccount',
  path: '/external-accounts/{accountId}/disable',
  summary: 'Disable an external account',
  description: 'Sets the status INACTIVE. Payments that a bank has accepted continue.',
  commands: ['external-accounts disable'],
});

const reactivate = operation({
  ...TRANSITION,
  operationId: 'reactivateExternalAccount',
  path: '/external-accounts/{accountId}/reactivate',
  summary: 'Reactivate an external account',
  description: 'Sets the status ACTIVE.',
  commands: ['external-accounts reactivate'],
});

type Event = Parameters<typeof transitionExternalAccountByOperator>[1]['event'];

interface TransitionInput {
  params: Static<typeof params>;
  body: Static<typeof Body>;
}

const transition =
  (event: Event) =>
  async ({ installation }: OperatorCall, { params: { accountId }, body }: TransitionInput) => {
    const input = { accountId, event, reason: body.reason ?? null };
    const account = await transitionExternalAccountByOperator(installation.runtime, input);
    return { status: 200 as const, body: account };
  };

export const externalAccountOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await listExternalAccounts(installation.runtime, listInput(query)),
  })),
  operatorHandle(history, async ({ installation }, { params: { accountId }, query }) => ({
    status: 200,
    body: await externalAccountReviews.history(installation.runtime, accountId, listInput(query)),
  })),
  operatorHandle(check, transition('check')),
  operatorHandle(review, transition('review')),
  operatorHandle(clear, transition('pass')),
  operatorHandle(reject, transition('reject')),
  operatorHandle(disable, transition('disable')),
  operatorHandle(reactivate, transition('reactivate')),
];
