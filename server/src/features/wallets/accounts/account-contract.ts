// Contracts of wallet operations on the account: privacy, and export of the recovery phrase. Both
// operations require the signature of a session of the wallet.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, withErrorText } from '../../../kernel/schema.ts';
import { InternalAccount } from '../../balances/internal-accounts/index.ts';
import { SignedRequestChallenge } from '../../customers/registration/index.ts';
import { withProcessing } from './contract.ts';

const TAG = 'Internal Accounts';
const params = Type.Object({ id: Type.String({ description: 'ID of the embedded wallet.' }) });

export const updateInternalAccount = operation({
  operationId: 'updateInternalAccount',
  method: 'PATCH',
  path: '/internal-accounts/{id}',
  tag: TAG,
  summary: 'Change an embedded wallet',
  description:
    'Changes the privacy setting of an embedded wallet, which is stored without effect. Any ' +
    'active session of the wallet signs the request. Accounts of other types have no fields ' +
    'that can be changed.',
  permission: 'TRANSACT',
  signedRetry: true,
  params,
  body: named(
    'InternalAccountUpdateRequest',
    Type.Object(
      {
        privateEnabled: Type.Optional(
          Type.Boolean({
            description:
              'Whether the transactions of the wallet are private. Stored without effect.',
          }),
        ),
      },
      { description: 'Fields of the wallet to change. At least one field is required.' },
    ),
  ),
  bodyRules: (body) =>
    (body as { privateEnabled?: unknown } | null)?.privateEnabled === undefined
      ? [{ field: 'privateEnabled', message: 'is required, because no other field can be changed' }]
      : [],
  replies: { 200: InternalAccount, 202: SignedRequestChallenge },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const exportInternalAccount = operation({
  operationId: 'exportInternalAccount',
  method: 'POST',
  path: '/internal-accounts/{id}/export',
  tag: TAG,
  summary: 'Export the recovery phrase of an embedded wallet',
  description:
    'Returns the recovery phrase of an embedded wallet, encrypted to `clientPublicKey`. No ' +
    'other reply contains it. The phrase gives full control of the wallet without this API. Any ' +
    'active session of the wallet signs the request. A wallet can be exported at most three ' +
    'times per hour.',
  permission: 'TRANSACT',
  signedRetry: true,
  callsExternal: true,
  params,
  body: named(
    'InternalAccountExportRequest',
    Type.Object({
      clientPublicKey: withErrorText(
        Type.String({
          description: 'New P-256 public key, uncompressed, in hex. The same in both requests.',
          pattern: '^04[0-9a-fA-F]{128}$',
        }),
        'must be an uncompressed P-256 public key: 130 hex digits that start with 04',
      ),
    }),
  ),
  replies: {
    200: withProcessing(
      named(
        'InternalAccountExportResponse',
        Type.Object({
          id: Type.String({ description: 'ID of the embedded wallet.' }),
          encryptedWalletCredentials: Type.String({
            description: 'JSON with the recovery phrase, encrypted to the key of the client.',
          }),
        }),
      ),
    ),
    202: SignedRequestChallenge,
  },
  errors: ['WALLET_NOT_PROVISIONED'],
  notFound: 'ACCOUNT_NOT_FOUND',
});
