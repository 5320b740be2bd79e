// Schemas that the operations of payments share.
import { Type } from '@sinclair/typebox';
import { RECALL_CAUSES, RECALL_REJECTIONS } from '../../connectors/ports/rail.ts';
import { CARD_STATUSES } from '../../features/payments/card-payments/index.ts';
import { RECALL_STATES } from '../../features/payments/recalls/index.ts';
import { FAILURE_REASONS, transactionFeature } from '../../features/payments/transactions/index.ts';
import { named, nullable, oneOf, page, text, time } from '../../kernel/schema.ts';
import { CARD_PAYMENT_STATUS_DESCRIPTION } from '../schemas.ts';

/** The states of a lifecycle. */
export const namesOf = <K extends string>(table: Readonly<Record<K, unknown>>) =>
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
    {
      description:
        'PENDING: created, or held for approval or review. PENDING_AUTHORIZATION: awaits strong ' +
        'customer authentication. PROCESSING: funds are in transfer. COMPLETED: delivered, or canceled ' +
        'and refunded. FAILED: not delivered, or returned by a bank. EXPIRED: the quote was not ' +
        `executed or funded in time. Card payments have other statuses. ${CARD_PAYMENT_STATUS_DESCRIPTION}`,
    },
  ),
);

export const TransactionType = oneOf(['INCOMING', 'OUTGOING', 'CARD'], {
  description:
    'INCOMING: the customer or the platform receives funds. OUTGOING: the customer or the platform ' +
    'sends funds. CARD: a card payment.',
});

/** Meaning of each state of the funds. */
export const FUNDS_DESCRIPTION =
  'State of the funds. NONE: not debited, or not received. AWAITED: awaited from a direct debit or from ' +
  "the sender's provider. FUNDED: received for an outgoing payment. HELD: held on the source account, " +
  'or received but not yet available. SUBMITTED: sent over the rail. SETTLED: transferred. RETURNED: ' +
  'returned to the sender. SUSPENSE: in suspense until a decision.';

export const TransactionFailureReason = nullable(
  oneOf([...new Set([...FAILURE_REASONS.OUTGOING, ...FAILURE_REASONS.INCOMING])], {
    description: 'Reason for the failure, or null if the transaction did not fail.',
  }),
);

export const RefundStatus = nullable(
  oneOf(['PENDING', 'COMPLETED', 'FAILED'], {
    description: 'Status of the refund, or null if there is none.',
  }),
);

export const TransactionId = text('ID of the transaction.');
export const PlatformId = text('ID of the platform.');
export const CustomerId = nullable(
  text('ID of the customer, or null for a resource of the platform.'),
);
export const CurrencyCode = text('Currency code.');
export const MajorUnitAmount = text('Amount in major units.');

/** Fields of a request for the return of a payout. */
export const RecallFields = {
  providerId: text('Provider that sent the payout.'),
  cause: oneOf(RECALL_CAUSES, { description: 'Reason for the request.' }),
  state: oneOf(RECALL_STATES, {
    description:
      'REQUESTED: no decision was received yet. ACCEPTED: the beneficiary returns the funds. ' +
      'REJECTED: the beneficiary keeps the funds.',
  }),
  rejectionReason: nullable(
    oneOf(RECALL_REJECTIONS, {
      description: 'Reason for the rejection, or null if the request was not rejected.',
    }),
  ),
  requestedAt: time('Time of the request.'),
  decidedAt: nullable(time('Time at which the decision was received, or null before it.')),
};

export const transactionParams = Type.Object({ transactionId: TransactionId });

const Action = named(
  'AccountAction',
  Type.Object(
    {
      actor: text('`operator`, or `service` for an automatic action.'),
      action: text('Name of the transition or decision, such as `freeze`.'),
      reason: nullable(text('Reason, or null if there is none.')),
      createdAt: time('Time of the action.'),
    },
    { description: 'An action with its reason.' },
  ),
);

/** A page of actions on one resource. */
export const Actions = named(
  'AccountActionPage',
  Type.Object(
    { platformId: PlatformId, ...page(Action).properties },
    {
      description:
        'A page of decisions and automatic actions on a resource, with their reasons, oldest first.',
    },
  ),
);

/** Fields of a transfer between two ledger accounts. */
export const Posting = {
  step: text('Step of the transaction, such as `deposit`.'),
  phase: oneOf(['posted', 'pending', 'post', 'void'], {
    description:
      'posted: changes both balances. pending: holds an amount. post: posts a held amount. void: ' +
      'releases a hold without a posting.',
  }),
  debit: text('Debited account.'),
  credit: text('Credited account.'),
  createdAt: time('Time of the posting.'),
};
