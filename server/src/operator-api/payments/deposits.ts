// Deposits that are held for a decision, and deposits recorded from a bank statement.
import { Type } from '@sinclair/typebox';
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { PaymentRail } from '../../catalog/rails/rails.ts';
import {
  listHeldFunds,
  MANUAL_CHOICES,
  recordDeposit,
  recordDepositReturn,
  rejectHeldDeposit,
  releaseHeldDeposit,
} from '../../features/payments/manual/index.ts';
import { PENDING_REASONS } from '../../features/payments/pay-ins/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import type { FieldError } from '../../kernel/fault.ts';
import {
  Amount,
  named,
  nullable,
  oneOf,
  PageQuery,
  PositiveAmount,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter, Reason } from '../schemas.ts';
import {
  CurrencyCode,
  CustomerId,
  MajorUnitAmount,
  PlatformId,
  TransactionId,
  TransactionStatus,
  TransactionType,
  transactionParams,
} from './schemas.ts';

const TAG = 'Deposits';

const PendingReason = oneOf(PENDING_REASONS, {
  description:
    'Reason for the hold. COUNTERPARTY_DECLARATION_REQUIRED: the customer must declare who controls ' +
    'the sending wallet. WALLET_VERIFICATION_REQUIRED: the customer must prove the ownership of the ' +
    'sending wallet. COUNTERPARTY_INFORMATION_REQUIRED: information about the sender is missing. ' +
    'COMPLIANCE_REVIEW: a compliance review is in progress.',
});

const HeldDeposit = named(
  'HeldDeposit',
  Type.Object(
    {
      transactionId: TransactionId,
      platformId: PlatformId,
      customerId: CustomerId,
      accountId: nullable(text('ID of the credited account, or null if there is none.')),
      since: time('Time at which the hold began.'),
      reason: nullable(withDescription(PendingReason, 'Reason for the hold, or null if none.')),
      amount: withDescription(Amount, 'Amount received, in minor units.'),
      currency: CurrencyCode,
      readable: MajorUnitAmount,
      source: text(
        'ACCOUNT: a direct debit. UMA_ADDRESS: a UMA payment. REALTIME_FUNDING: a deposit.',
      ),
    },
    { description: 'Funds that are held for a decision.' },
  ),
);

const Deposit = named(
  'Deposit',
  Type.Object(
    {
      transactionId: TransactionId,
      platformId: PlatformId,
      type: TransactionType,
      status: TransactionStatus,
      pendingReason: nullable(
        withDescription(PendingReason, 'Reason for the hold, or null if no funds are held.'),
      ),
      recorded: Type.Optional(
        oneOf(['now', 'before'], {
          description:
            '`now`: this request recorded the deposit. `before`: the bank reference was already ' +
            'recorded, and the request has no effect. Present only for `recordDeposit`.',
        }),
      ),
    },
    { description: 'A deposit after the operation.' },
  ),
);

const FAILURE = {
  failureReason: Type.Optional(
    oneOf(MANUAL_CHOICES.depositFailures, {
      description: `Failure reason of the deposit. Defaults to ${MANUAL_CHOICES.depositFailures[0]}.`,
    }),
  ),
};

const listDeposits = operation({
  operationId: 'listHeldDeposits',
  method: 'GET',
  path: '/deposits',
  tag: TAG,
  summary: 'List held deposits',
  description:
    'Returns funds that are held for a decision, oldest first: deposits, direct debits and UMA ' +
    'payments. Funds that are held for 30 days are returned, unless the account is FROZEN.',
  auth: 'operator',
  operatorPermission: 'payments.read',
  oldestFirst: true,
  commands: ['deposits list'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'HeldDepositPage',
      page(HeldDeposit, {
        description: 'A page of funds that are held for a decision, oldest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND'],
});

interface Entry {
  accountId?: unknown;
  paymentReference?: unknown;
  currency?: unknown;
  transactionHash?: unknown;
  network?: unknown;
  hold?: unknown;
}

/** Returns the errors of fields that exclude or require each other, and of an unknown currency. */
function entryErrors(body: unknown): FieldError[] {
  const { accountId, paymentReference, currency, transactionHash, network, hold } = (body ??
    {}) as Entry;
  const errors: FieldError[] = [];
  if ((accountId === undefined) === (paymentReference === undefined)) {
    errors.push({
      field: 'accountId',
      message: 'is required without paymentReference, and must be absent with it',
    });
  }
  if ((transactionHash === undefined) !== (network === undefined)) {
    errors.push({
      field: 'network',
      message: 'is required with transactionHash, and must be absent without it',
    });
  }
  if (hold !== undefined && accountId === undefined) {
    errors.push({ field: 'hold', message: 'requires accountId' });
  }
  if (typeof currency === 'string' && !findCurrency(currency)) {
    errors.push({ field: 'currency', message: 'is not a supported currency' });
  }
  return errors;
}

const record = operation({
  operationId: 'recordDeposit',
  postsMoney: true,
  method: 'POST',
  path: '/deposits',
  tag: TAG,
  summary: 'Record a deposit',
  description:
    'Records a deposit that arrived at the bank, for an account or a payment. A bank reference is ' +
    'recorded once for each environment and currency.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['deposits record'],
  body: Type.Object({
    bankReference: text('Unique reference that the bank assigned.', {
      minLength: 1,
      maxLength: 255,
    }),
    amount: withDescription(PositiveAmount, 'Amount received, in minor units.'),
    currency: CurrencyCode,
    accountId: Type.Optional(
      text('ID of the credited internal account. Required without `paymentReference`.'),
    ),
    paymentReference: Type.Optional(
      text('Payment reference that the payer entered. It identifies an account or a payment.', {
        minLength: 1,
        maxLength: 255,
      }),
    ),
    rail: Type.Optional(PaymentRail),
    senderName: Type.Optional(text('Name of the sender.', { minLength: 1, maxLength: 255 })),
    senderAccount: Type.Optional(text('Account of the sender.', { minLength: 1, maxLength: 255 })),
    senderBank: Type.Optional(text('Bank of the sender.', { minLength: 1, maxLength: 255 })),
    remittanceInformation: Type.Optional(
      text('Remittance information that the sender entered.', { minLength: 1, maxLength: 1_000 }),
    ),
    transactionHash: Type.Optional(
      text('Hash of the transaction on its network.', { minLength: 1, maxLength: 255 }),
    ),
    network: Type.Optional(
      oneOf(MANUAL_CHOICES.networks, {
        description: 'Network of the transaction hash. Required with `transactionHash`.',
      }),
    ),
    hold: Type.Optional(
      withDescription(
        PendingReason,
        'Holds a deposit to an account for this reason. Requires `accountId`.',
      ),
    ),
    ...OptionalReason,
  }),
  bodyRules: entryErrors,
  replies: { 201: Deposit },
  errors: ['ACCOUNT_NOT_FOUND', 'REFERENCE_NOT_FOUND', 'INVALID_CURRENCY', 'NOT_FOUND'],
});

const release = operation({
  operationId: 'releaseDeposit',
  postsMoney: true,
  method: 'POST',
  path: '/deposits/{transactionId}/release',
  tag: TAG,
  summary: 'Release a held deposit',
  description: 'Makes the held funds available on the account.',
  auth: 'operator',
  operatorPermission: 'payments.decide',
  commands: ['deposits release'],
  params: transactionParams,
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: Deposit },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const reject = operation({
  operationId: 'rejectDeposit',
  postsMoney: true,
  method: 'POST',
  path: '/deposits/{transactionId}/reject',
  tag: TAG,
  summary: 'Reject a held deposit',
  description: 'Returns the held funds to their sender.',
  auth: 'operator',
  operatorPermission: 'payments.decide',
  commands: ['deposits reject'],
  params: transactionParams,
  body: Type.Object({ ...FAILURE, reason: Reason }),
  replies: { 200: Deposit },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const recordReturn = operation({
  operationId: 'recordDepositReturn',
  postsMoney: true,
  method: 'POST',
  path: '/deposits/{transactionId}/return',
  tag: TAG,
  summary: 'Record the return of a deposit',
  description:
    'Records that the bank reversed a deposit. An amount above the balance is owed by the account. If ' +
    'the deposit funded a payment and no account can be debited, the amount becomes a shortfall in ' +
    'suspense.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['deposits return'],
  params: transactionParams,
  body: Type.Object({ ...FAILURE, ...OptionalReason }),
  bodyOptional: true,
  replies: { 200: Deposit },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

export const depositOperations = [
  operatorHandle(listDeposits, async ({ installation }, { query }) => ({
    status: 200,
    body: await listHeldFunds(installation.runtime, { ...query, limit: query.limit ?? 20 }),
  })),
  operatorHandle(record, async ({ installation }, { body }) => ({
    status: 201,
    body: await recordDeposit(installation.runtime, body),
  })),
  operatorHandle(release, async ({ installation }, { params }) => ({
    status: 200,
    body: await releaseHeldDeposit(installation.runtime, params),
  })),
  operatorHandle(reject, async ({ installation }, { params, body }) => ({
    status: 200,
    body: await rejectHeldDeposit(installation.runtime, { ...params, reason: body.failureReason }),
  })),
  operatorHandle(recordReturn, async ({ installation }, { params, body }) => ({
    status: 200,
    body: await recordDepositReturn(installation.runtime, {
      ...params,
      reason: body.failureReason,
    }),
  })),
];
