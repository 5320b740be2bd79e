// Reply of signed operations while the wallet is processing.
import { type TSchema, Type } from '@sinclair/typebox';
import { named, oneOf } from '../../../kernel/schema.ts';

export const WalletOperationProcessing = named(
  'WalletOperationProcessing',
  Type.Object(
    {
      status: oneOf(['PROCESSING'], { description: 'Always PROCESSING.' }),
      message: Type.Optional(
        Type.String({ description: 'Explanation of the status, in English.' }),
      ),
    },
    {
      description:
        'The operation is in progress. Repeat the identical request later, at most one hour ' +
        'after the expiry of the challenge.',
    },
  ),
);

/** Reply schema for a status that is used both while processing and on completion. */
export const withProcessing = <T extends TSchema>(schema: T) =>
  Type.Union([schema, WalletOperationProcessing]);
