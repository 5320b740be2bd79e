// What only a sandbox can do: put money into an account from nowhere. Who sent it, and why it must not be
// spent yet, are said by two optional fields rather than by the last characters of an address, because most
// chains leave no room for such codes in theirs.

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
    'The money is there at once, as if it had just arrived. With `pendingReason` it is held: in the ' +
    'total of the account, not in its balance.',
  permission: 'TRANSACT',
  sandboxOnly: true,
  params: Type.Object({ accountId: Type.String() }),
  body: named(
    'SandboxFundRequest',
    Type.Object({
      amount: Type.Integer({
        format: 'int64',
        exclusiveMinimum: 0,
        maximum: 100_000_000_000,
        description: 'Smallest units of the currency of the account.',
      }),
      payerAccountIdentifier: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: 'Account number or wallet address that the money comes from.',
        }),
      ),
      pendingReason: Type.Optional(
        oneOf(PENDING_REASONS, { description: 'Why it must not be spent yet; it is held then.' }),
      ),
    }),
  ),
  replies: { 200: InternalAccount },
  errors: ['USER_NOT_READY', 'CUSTOMER_DELETED'],
  notFound: 'ACCOUNT_NOT_FOUND',
  money: true,
});
