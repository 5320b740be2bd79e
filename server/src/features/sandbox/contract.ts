// What only a sandbox can do: put money into an account from nowhere.
import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/operation.ts';
import { named } from '../../kernel/schema.ts';
import { InternalAccount } from '../internal-accounts/index.ts';

export const sandboxFundInternalAccount = operation({
  operationId: 'sandboxFundInternalAccount',
  method: 'POST',
  path: '/sandbox/internal-accounts/{accountId}/fund',
  tag: 'Sandbox',
  summary: 'Fund an internal account',
  description: 'The money is there at once, as if a bank transfer had just arrived.',
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
    }),
  ),
  replies: { 200: InternalAccount },
  errors: [400, 403, 404, 409, 410],
  notFound: 'ACCOUNT_NOT_FOUND',
  money: true,
});
