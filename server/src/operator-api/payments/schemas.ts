// Schemas that the operations of payments share.
import { Type } from '@sinclair/typebox';
import { CARD_STATUSES } from '../../features/payments/card-payments/index.ts';
import { FAILURE_REASONS, transactionFeature } from '../../features/payments/transactions/index.ts';
import { named, nullable, oneOf, text } from '../../kernel/schema.ts';

const namesOf = <K extends string>(table: Readonly<Record<K, unknown>>) =>
  Object.keys(table) as K[];

const { outgoing, incoming } = transactionFeature.states;

export const TransactionStatus = named(
  'AnyTransactionStatus',
  oneOf(
    [
      ...new Set([
        ...namesOf(outgoing.transitions),
        ...namesOf(incoming.transitions),
        ...CARD_STATUSES,
      ]),
    ],
    { description: 'Status of the transaction.' },
  ),
);

export const TransactionType = oneOf(['INCOMING', 'OUTGOING', 'CARD'], {
  description: 'Type of the transaction.',
});

export const TransactionFailureReason = nullable(
  oneOf([...new Set([...FAILURE_REASONS.OUTGOING, ...FAILURE_REASONS.INCOMING])], {
    description: 'Why the transaction failed; null if it did not.',
  }),
);

export const RefundStatus = nullable(
  oneOf(['PENDING', 'COMPLETED', 'FAILED'], {
    description: 'Status of the refund; null without one.',
  }),
);

export const TransactionId = text('Identifier of the transaction.');
export const PlatformId = text('Identifier of the platform.');
export const CustomerId = nullable(
  text('Identifier of the customer; null for a resource of the platform.'),
);
export const CurrencyOf = text('Currency code.');
export const Readable = text('Amount in major units.');

export const transactionParams = Type.Object({ transactionId: TransactionId });
