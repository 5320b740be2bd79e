// What every operation that a wallet signs may answer.
import { type TSchema, Type } from '@sinclair/typebox';
import { named, oneOf } from '../../../kernel/schema.ts';

export const WalletOperationProcessing = named(
  'WalletOperationProcessing',
  Type.Object(
    {
      status: oneOf(['PROCESSING'], { description: 'The wallet has not finished.' }),
      message: Type.Optional(Type.String({ description: 'The same, for a person.' })),
    },
    { description: 'Not done yet: send the very same request again after a while.' },
  ),
);

/** The reply of what ends in the same status either way: its body says whether it is done. */
export const orProcessing = <T extends TSchema>(schema: T) =>
  Type.Union([schema, WalletOperationProcessing]);
