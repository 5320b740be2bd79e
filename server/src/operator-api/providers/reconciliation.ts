// Statements of providers, their differences from the ledger, decisions on differences, and the
// closing of days.
import { Type } from '@sinclair/typebox';
import { MANUAL_CHOICES } from '../../features/payments/manual/index.ts';
import {
  assignDifference,
  balancesOfProviders,
  changeSource,
  closeDay,
  decideDifference,
  differenceBy,
  pageOfDays,
  pageOfDifferences,
  readSource,
  stageReconciliation,
} from '../../features/reconciliation/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  withDescription,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, Reason } from '../schemas.ts';
import { isOperatorOf } from './owners.ts';
import {
  CHANGES_RECONCILIATION,
  Currency,
  Difference,
  DifferenceKind,
  DifferenceStatus,
  ProviderBalance,
  ProviderDate,
  ProviderDay,
  READS_RECONCILIATION,
  ReconciliationDecision,
  StatementRequest,
  StatementSource,
} from './reconciliation-schemas.ts';
import { providerParams } from './schemas.ts';

const optional = Type.Optional;
const differenceParams = Type.Object({ differenceId: text('ID of the difference.') });

const days = operation({
  ...READS_RECONCILIATION,
  operationId: 'listProviderDays',
  method: 'GET',
  path: '/provider-days',
  summary: 'List days of providers',
  description:
    'Returns the days of providers with a statement or a correction, most recently created first.',
  commands: ['providers statements'],
  query: Type.Object({
    providerId: optional(text('Return only days of this provider.')),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'ProviderDayPage',
      page(ProviderDay, {
        description:
          'A page of days of providers with a statement or a correction, most recently created first.',
      }),
    ),
  },
  errors: [],
});

const source = operation({
  ...READS_RECONCILIATION,
  operationId: 'getStatementSource',
  method: 'GET',
  path: '/providers/{providerId}/statement-source',
  summary: 'Get the statement settings of a provider',
  description:
    'Returns the time zone of the days of a provider, and whether its fees are expected.',
  commands: [],
  params: providerParams,
  replies: { 200: StatementSource },
  errors: ['NOT_FOUND'],
});

const setSource = operation({
  ...CHANGES_RECONCILIATION,
  operationId: 'changeStatementSource',
  method: 'POST',
  path: '/providers/{providerId}/statement-source',
  summary: 'Change the statement settings of a provider',
  description:
    'Changes the time zone of the days of a provider, or whether its fees are expected. Existing days ' +
    'keep their lines.',
  commands: ['providers set-statements'],
  params: providerParams,
  body: Type.Object({
    timeZone: optional(text('IANA time zone, such as `Europe/Berlin`.', { maxLength: 64 })),
    feesExpected: optional(
      Type.Boolean({
        description: 'Whether fees are posted as expenses. If not, each fee is a difference.',
      }),
    ),
    ...OptionalReason,
  }),
  replies: { 200: StatementSource },
  errors: ['NOT_FOUND'],
});

const reconcile = operation({
  ...CHANGES_RECONCILIATION,
  operationId: 'reconcileProviderDay',
  method: 'POST',
  path: '/providers/{providerId}/reconcile',
  summary: 'Reconcile a day with a provider',
  description:
    'Starts a job that requests the statement of a day from the provider, posts its lines, and lists ' +
    'the differences. With `request: false` the job uses only the statements already received.',
  commands: ['providers reconcile'],
  params: providerParams,
  body: Type.Object({
    currency: Currency,
    day: ProviderDate,
    request: optional(
      Type.Boolean({ default: true, description: 'Whether the statement is requested.' }),
    ),
    ...OptionalReason,
  }),
  replies: { 200: StatementRequest },
  errors: ['NOT_FOUND'],
});

const close = operation({
  ...CHANGES_RECONCILIATION,
  operationId: 'closeProviderDay',
  method: 'POST',
  path: '/providers/{providerId}/close-day',
  summary: 'Close a day of a provider',
  description:
    'Closes a balanced day. A closed day can no longer change. All earlier days must be closed. A later ' +
    'correction by the provider becomes a difference of the next open day.',
  commands: ['providers close-day'],
  params: providerParams,
  body: Type.Object({ currency: Currency, day: ProviderDate, ...OptionalReason }),
  replies: { 200: ProviderDay },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

const listDifferences = operation({
  ...READS_RECONCILIATION,
  operationId: 'listDifferences',
  method: 'GET',
  path: '/differences',
  summary: 'List differences',
  description:
    'Returns differences between the statements of providers and the ledger, oldest first.',
  commands: ['providers differences'],
  query: Type.Object({
    providerId: optional(text('Return only differences of this provider.')),
    status: optional(
      withDescription(
        DifferenceStatus,
        'Return only differences with this status. Defaults to OPEN.',
      ),
    ),
    kind: optional(withDescription(DifferenceKind, 'Return only differences of this kind.')),
    ownerId: optional(text('Return only differences that are assigned to this operator.')),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'DifferencePage',
      page(Difference, {
        description:
          'A page of differences between statements of providers and the ledger, oldest first.',
      }),
    ),
  },
  errors: [],
});

const getDifference = operation({
  ...READS_RECONCILIATION,
  operationId: 'getDifference',
  method: 'GET',
  path: '/differences/{differenceId}',
  summary: 'Get a difference',
  description: 'Returns a difference with the decisions that it allows.',
  commands: [],
  params: differenceParams,
  replies: { 200: Difference },
  errors: ['NOT_FOUND'],
});

const assign = operation({
  ...CHANGES_RECONCILIATION,
  operationId: 'assignDifference',
  method: 'POST',
  path: '/differences/{differenceId}/assign',
  summary: 'Assign a difference',
  description: 'Sets the responsible operator of a difference, and a note.',
  commands: ['providers assign'],
  params: differenceParams,
  body: Type.Object({
    ownerId: optional(
      nullable(text('ID of the responsible operator. Null removes the assignment.')),
    ),
    note: optional(
      nullable(text('Note without personal data. Null removes the note.', { maxLength: 1_000 })),
    ),
    ...OptionalReason,
  }),
  replies: { 200: Difference },
  errors: ['NOT_FOUND'],
});

const decide = operation({
  ...CHANGES_RECONCILIATION,
  operationId: 'decideDifference',
  postsMoney: true,
  method: 'POST',
  path: '/differences/{differenceId}/decide',
  summary: 'Decide a difference',
  description: 'Settles a difference and posts its amount as the decision requires.',
  commands: ['providers decide'],
  params: differenceParams,
  body: Type.Object({
    decision: ReconciliationDecision,
    transactionId: optional(text('ID of the payment of the line. Required for MATCH.')),
    accountId: optional(
      text(
        'ID of the internal account to credit. Required for RECORD_DEPOSIT without `paymentReference`.',
      ),
    ),
    paymentReference: optional(
      text('Reference of the account or payment to credit, for RECORD_DEPOSIT.', {
        minLength: 1,
        maxLength: 255,
      }),
    ),
    failureReason: optional(
      oneOf(MANUAL_CHOICES.transferFailures, {
        description:
          'Failure reason of the payment, for RETURN. Defaults to PAYOUT_RETURNED for a transfer, and to ' +
          'COLLECTION_FAILED for a deposit.',
      }),
    ),
    reason: Reason,
  }),
  replies: { 200: Difference },
  errors: ['NOT_FOUND', 'CONFLICT', 'ACCOUNT_NOT_FOUND', 'REFERENCE_NOT_FOUND', 'INVALID_CURRENCY'],
});

const balances = operation({
  ...READS_RECONCILIATION,
  operationId: 'listProviderBalances',
  method: 'GET',
  path: '/provider-balances',
  summary: 'List balances at providers',
  description:
    'Returns the balance that each provider reported last, and the balances of the ledger.',
  commands: ['providers balances'],
  query: Type.Object({ providerId: optional(text('Return only this provider.')) }),
  replies: {
    200: named(
      'ProviderBalances',
      Type.Object(
        {
          data: Type.Array(ProviderBalance, {
            description: 'One balance per provider and currency.',
          }),
        },
        {
          description: 'Balances that the providers reported last, and the balances of the ledger.',
        },
      ),
    ),
  },
  errors: [],
});

export const reconciliationOperations = [
  operatorHandle(days, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfDays(installation.runtime, { ...query, limit: query.limit ?? 20 }),
  })),
  operatorHandle(source, async ({ installation }, { params }) => ({
    status: 200,
    body: await readSource(installation.runtime, params.providerId),
  })),
  operatorHandle(setSource, async ({ installation }, { params, body }) => ({
    status: 200,
    body: await changeSource(installation.runtime, { ...params, ...body }),
  })),
  operatorHandle(reconcile, async ({ installation }, { params, body }) => {
    const { currency, day, request: isRequested = true } = body;
    const key = { ...params, currency, day };
    await stageReconciliation(installation.runtime, { ...key, isRequested });
    return { status: 200, body: { ...key, requested: isRequested } };
  }),
  operatorHandle(close, async ({ installation, operator }, { params, body }) => ({
    status: 200,
    body: await closeDay(
      installation.runtime,
      { ...params, currency: body.currency, day: body.day },
      operator.id,
    ),
  })),
  operatorHandle(listDifferences, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfDifferences(installation.runtime, { ...query, limit: query.limit ?? 20 }),
  })),
  operatorHandle(getDifference, async ({ installation }, { params }) => ({
    status: 200,
    body: await differenceBy(installation.runtime, params.differenceId),
  })),
  operatorHandle(assign, async ({ installation }, { params, body }) => ({
    status: 200,
    body: await assignDifference(
      installation.runtime,
      { ...body, ...params },
      isOperatorOf(installation.runtime),
    ),
  })),
  operatorHandle(decide, async ({ installation: { runtime }, operator }, { params, body }) => {
    await decideDifference(runtime, { ...body, ...params, decidedBy: operator.id });
    return { status: 200, body: await differenceBy(runtime, params.differenceId) };
  }),
  operatorHandle(balances, async ({ installation }, { query }) => ({
    status: 200,
    body: { data: await balancesOfProviders(installation.runtime, query.providerId) },
  })),
];
