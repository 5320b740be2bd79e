// Reply of signed operations while the wallet is processing.
import { type TSchema, Type } from '@sinclair/typebox';
import { named, oneOf } from '../../../kernel/schema.ts';

export const WalletOperationProcessing = named(
  'WalletOperationProcessing',
  Type.Object(
    {
      status: oneOf(['PROCESSING'], { description: 'Always PROCESSING.' }),
      message: Type.Optional(Type.String({ description: 'Message for display.' })),
    },
    { description: 'The operation is in progress. Repeat the identical request later.' },
  ),
);

/** Reply schema for a status that is used both while processing and on completion. */
export const withProcessing = <T extends TSchema>(schema: T) =>
  Type.Union([schema, WalletOperationProcessing]);
