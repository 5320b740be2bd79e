// Transfers over manual rails: pending payouts, debits and refunds, and their results.
import { Type } from '@sinclair/typebox';
import {
  cancelTransfer,
  failTransfer,
  listAwaitedTransfers,
  MANUAL_CHOICES,
  rejectTransferCancel,
  returnTransfer,
  settleTransfer,
} from '../../features/payments/manual/index.ts';
import { requestRecall } from '../../features/payments/recalls/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  Amount,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter, RejectionBody } from '../schemas.ts';
import {
  CurrencyCode,
  MajorUnitAmount,
  PlatformId,
  RecallFields,
  RefundStatus,
  TransactionFailureReason,
  TransactionId,
  TransactionStatus,
  transactionParams,
} from './schemas.ts';

const TAG = 'Payouts';

const AwaitedTransfer = named(
  'AwaitedTransfer',
  Type.Object(
    {
      transactionId: TransactionId,
      platformId: PlatformId,
      kind: oneOf(['payout', 'debit', 'refund'], {
        description: 'Transfer that the operator instructs at the bank.',
      }),
      since: time('Time since which the result is awaited.'),
      amount: withDescription(Amount, 'Amount of the transfer, in minor units.'),
      currency: CurrencyCode,
      readable: MajorUnitAmount,
      rail: nullable(text('Rail of the transfer, or null if the operator chooses it.')),
      reference: text('Reference that the transfer must contain.'),
      beneficiary: nullable(text('Name of the beneficiary, or null if there is none.')),
      accountType: text('Type of the account, such as `EUR_ACCOUNT`.'),
      account: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Details of the account, by its type.',
      }),
      remittanceInformation: nullable(
        text('Remittance information for the beneficiary, or null if there is none.'),
      ),
      purposeOfPayment: nullable(text('Purpose of the payment, or null if there is none.')),
      cancelRequestedAt: nullable(
        time('Time at which a cancellation was requested, or null if none was requested.'),
      ),
    },
    { description: 'A payout, direct debit or refund whose result is awaited.' },
  ),
);

const Transfer = named(
  'Transfer',
  Type.Object(
    {
      transactionId: TransactionId,
      platformId: PlatformId,
      status: TransactionStatus,
      failureReason: TransactionFailureReason,
      refund: RefundStatus,
    },
    { description: 'The transaction after the result.' },
  ),
);

const FAILURE = {
  failureReason: oneOf(MANUAL_CHOICES.transferFailures, {
    description: 'Failure reason of the transaction.',
  }),
};

const listTransfers = operation({
  operationId: 'listAwaitedTransfers',
  method: 'GET',
  path: '/payouts',
  tag: TAG,
  summary: 'List manual transfers',
  description:
    'Returns pending manual payouts, direct debits and refunds, oldest first. The transfers contain names ' +
    'and account details, so this request is recorded.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  oldestFirst: true,
  reveals: true,
  commands: ['payouts list'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'AwaitedTransferPage',
      page(AwaitedTransfer, {
        description: 'A page of pending manual payouts, direct debits and refunds, oldest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const settle = operation({
  operationId: 'settleTransfer',
  postsMoney: true,
  method: 'POST',
  path: '/payouts/{transactionId}/settle',
  tag: TAG,
  summary: 'Record a settled transfer',
  description: 'Records that the bank has settled a payout, direct debit or refund.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['payouts settle'],
  params: transactionParams,
  body: Type.Object({
    reference: Type.Optional(
      text(
        'Reference that the bank assigned. Defaults to `transactionHash`, or to the reference of the ' +
          'payment if there is no hash.',
        {
          minLength: 1,
          maxLength: 255,
        },
      ),
    ),
    transactionHash: Type.Optional(
      text('Transaction hash of a payout over a blockchain.', { minLength: 1, maxLength: 255 }),
    ),
    ...OptionalReason,
  }),
  bodyOptional: true,
  replies: { 200: Transfer },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const fail = operation({
  operationId: 'failTransfer',
  postsMoney: true,
  method: 'POST',
  path: '/payouts/{transactionId}/fail',
  tag: TAG,
  summary: 'Record a failed transfer',
  description: 'Records that a payout, direct debit or refund failed permanently.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['payouts fail'],
  params: transactionParams,
  body: Type.Object({
    ...FAILURE,
    isRefundable: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether the funds of a failed payout can be refunded. If not, they are transferred to suspense. ' +
          'Defaults to true. Has no effect for direct debits and refunds.',
      }),
    ),
    ...OptionalReason,
  }),
  replies: { 200: Transfer },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const recordReturn = operation({
  operationId: 'returnTransfer',
  postsMoney: true,
  method: 'POST',
  path: '/payouts/{transactionId}/return',
  tag: TAG,
  summary: 'Record a returned transfer',
  description:
    'Records the return of a payout or direct debit. A return can follow days after the settlement.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['payouts return'],
  params: transactionParams,
  body: Type.Object({
    ...FAILURE,
    kind: Type.Optional(
      oneOf(MANUAL_CHOICES.transferKinds, {
        description:
          'Transfer that was returned. Defaults to debit for an incoming payment to an internal ' +
          'account, and otherwise to payout.',
      }),
    ),
    ...OptionalReason,
  }),
  replies: { 200: Transfer },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const cancel = operation({
  operationId: 'cancelTransfer',
  postsMoney: true,
  method: 'POST',
  path: '/payouts/{transactionId}/cancel',
  tag: TAG,
  summary: 'Record a canceled transfer',
  description: 'Records that a requested cancellation succeeded.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['payouts cancel'],
  params: transactionParams,
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: Transfer },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const rejectCancel = operation({
  operationId: 'rejectTransferCancel',
  method: 'POST',
  path: '/payouts/{transactionId}/reject-cancel',
  tag: TAG,
  summary: 'Record a rejected cancellation',
  description: 'Records that a requested cancellation is no longer possible.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['payouts reject-cancel'],
  params: transactionParams,
  body: RejectionBody,
  replies: { 200: Transfer },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const recall = operation({
  operationId: 'recallTransfer',
  method: 'POST',
  path: '/payouts/{transactionId}/recall',
  tag: TAG,
  summary: 'Request the return of a settled payout',
  description:
    'Requests the return from the provider that sent the payout. The decision of the bank is ' +
    'recorded. The payment changes when the provider reports the return of the funds.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['payouts recall'],
  params: transactionParams,
  body: Type.Object({ cause: RecallFields.cause, ...OptionalReason }),
  replies: {
    201: named(
      'RequestedRecall',
      Type.Object(
        { transactionId: TransactionId, platformId: PlatformId, ...RecallFields },
        { description: 'The request for a return.' },
      ),
    ),
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

export const payoutOperations = [
  operatorHandle(listTransfers, async ({ installation }, { query }) => ({
    status: 200,
    body: await listAwaitedTransfers(installation.runtime, { ...query, limit: query.limit ?? 20 }),
  })),
  operatorHandle(settle, async ({ installation }, { params, body }) => {
    const { reference, transactionHash } = body;
    const input = { ...params, reference, transactionHash };
    return { status: 200, body: await settleTransfer(installation.runtime, input) };
  }),
  operatorHandle(fail, async ({ installation }, { params, body }) => {
    const input = {
      ...params,
      reason: body.failureReason,
      refundable: body.isRefundable ?? true,
    };
    return { status: 200, body: await failTransfer(installation.runtime, input) };
  }),
  operatorHandle(recordReturn, async ({ installation }, { params, body }) => {
    const input = { ...params, reason: body.failureReason, kind: body.kind };
    return { status: 200, body: await returnTransfer(installation.runtime, input) };
  }),
  operatorHandle(recall, async ({ installation }, { params, body }) => {
    const input = { ...params, cause: body.cause };
    const directory = await installation.providers();
    return { status: 201, body: await requestRecall(installation.runtime, directory, input) };
  }),
  operatorHandle(cancel, async ({ installation }, { params }) => ({
    status: 200,
    body: await cancelTransfer(installation.runtime, params.transactionId),
  })),
  operatorHandle(rejectCancel, async ({ installation }, { params }) => ({
    status: 200,
    body: await rejectTransferCancel(installation.runtime, params.transactionId),
  })),
];
