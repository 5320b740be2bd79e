// Contract for funding an account in the sandbox. Payer and hold reason are optional fields, because the
// addresses of most blockchains cannot contain suffixes that select an outcome.

import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { named, oneOf } from '../../kernel/schema.ts';
import { InternalAccount } from '../balances/internal-accounts/index.ts';
import { PENDING_REASONS } from '../payments/pay-ins/index.ts';

export const sandboxFundInternalAccount = operation({
  operationId: 'sandboxFundInternalAccount',
  method: 'POST',
  path: '/sandbox/internal-accounts/{accountId}/fund',
  tag: 'Sandbox',
  summary: 'Fund an internal account',
  description:
    'Simulates an incoming payment to an internal account. The funds, less an amount that the ' +
    'account owes, are available immediately. An INCOMING transaction is created. With ' +
    '`pendingReason` the funds are held. Held funds are part of the total balance of the ' +
    'account and not of its available balance.',
  permission: 'TRANSACT',
  sandboxOnly: true,
  params: Type.Object({
    accountId: Type.String({ description: 'ID of the internal account.' }),
  }),
  body: named(
    'SandboxFundRequest',
    Type.Object(
      {
        amount: Type.Integer({
          format: 'int64',
          exclusiveMinimum: 0,
          maximum: 100_000_000_000,
          description: 'Amount in minor units of the currency of the account.',
        }),
        payerAccountIdentifier: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 255,
            description:
              'Account number or wallet address of the payer, shown in the `source` of the ' +
              'transaction. Default: none.',
          }),
        ),
        pendingReason: Type.Optional(
          oneOf(PENDING_REASONS, {
            description: 'Reason why the funds are held. Absent if they are available immediately.',
          }),
        ),
      },
      { description: 'The simulated incoming payment.' },
    ),
  ),
  replies: { 200: InternalAccount },
  errors: ['USER_NOT_READY', 'CUSTOMER_DELETED'],
  notFound: 'ACCOUNT_NOT_FOUND',
  money: true,
});
