// What every operation that a wallet signs may answer.
import { Type } from '@sinclair/typebox';
import { named, oneOf } from '../../kernel/schema.ts';

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
