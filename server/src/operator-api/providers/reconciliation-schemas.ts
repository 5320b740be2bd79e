// Schemas of the reconciliation with providers.
import { Type } from '@sinclair/typebox';
import { PROVIDER_SCHEMAS } from '../../features/providers/index.ts';
import {
  DECISIONS,
  DIFFERENCE_KINDS,
  DIFFERENCE_STATUSES,
} from '../../features/reconciliation/index.ts';
import { DateOnly, named, nullable, oneOf, text, time } from '../../kernel/schema.ts';

/** What all operations that read the reconciliation share, and those that change it. */
export const READS_RECONCILIATION = {
  tag: 'Reconciliation',
  auth: 'operator',
  operatorPermission: 'reconciliation.read',
  wholeInstallation: true,
} as const;
export const CHANGES_RECONCILIATION = {
  ...READS_RECONCILIATION,
  operatorPermission: 'reconciliation.manage',
} as const;

const minor = (description: string) => Type.Integer({ format: 'int64', description });

const PLACE = {
  providerId: text('Name of the provider.'),
  environment: PROVIDER_SCHEMAS.Environment,
  currency: text('Currency code, such as `EUR`.'),
};

export const Currency = text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 });

const DAY = {
  ...PLACE,
  day: DateOnly,
  status: oneOf(['OPEN', 'CLOSED'], { description: 'CLOSED: it can no longer change.' }),
  statementId: nullable(
    text('The statement, as the provider named it; null for a day with corrections only.'),
  ),
  statementVersion: Type.Integer({ description: 'Statements that were applied to the day.' }),
  openingBalance: nullable(minor('Opening balance of the statement, in minor units.')),
  closingBalance: nullable(minor('Closing balance of the statement, in minor units.')),
  bookedBalance: minor('What the provider holds at the end of the day by the ledger.'),
  openDifferences: Type.Integer({ description: 'Differences of the day that are OPEN.' }),
  ties: Type.Boolean({
    description:
      'Whether the ledger has the closing balance and no difference is open: the day can be closed.',
  }),
  reconciledAt: nullable(time('Time of the last comparison; null if there was none.')),
  closedAt: nullable(time('Time at which it was closed; null if it is open.')),
  closedBy: nullable(text('The operator who closed it; null if it is open.')),
};

export const ProviderDay = named(
  'ProviderDay',
  Type.Object(DAY, { description: 'A day of the account at a provider.' }),
);

export const StatementRequest = named(
  'StatementRequest',
  Type.Object(
    {
      providerId: text('Name of the provider.'),
      currency: text('Currency code, such as `EUR`.'),
      day: DateOnly,
      requested: Type.Boolean({
        description: 'Whether the provider is asked; otherwise what was received is compared.',
      }),
    },
    { description: 'A job that requests or compares the statement of a day.' },
  ),
);

export const StatementSource = named(
  'StatementSource',
  Type.Object(
    {
      providerId: text('Name of the provider.'),
      timeZone: text('Time zone in which its days end, such as `Europe/Berlin`.'),
      feesExpected: Type.Boolean({
        description: 'Whether its fees are posted as expenses without a difference.',
      }),
      requestedDay: nullable(text('The last day that was requested; null if there was none.')),
    },
    { description: 'How the days of a provider are read.' },
  ),
);

export const DifferenceStatus = oneOf(DIFFERENCE_STATUSES, {
  description:
    'CARRIED: in transit, and listed again if the next statement does not have it. IN_SUSPENSE: the ' +
    'funds wait in suspense for a later decision. RESOLVED: its cause is gone.',
});

export const DifferenceKind = oneOf(DIFFERENCE_KINDS, { description: 'Kind of difference.' });

export const ReconciliationDecision = oneOf(DECISIONS, {
  description:
    'MATCH: the line is `transactionId`. RECORD_DEPOSIT: it is a deposit for `accountId` or ' +
    '`paymentReference`. RECORD_FEE: an expense. OWN_FUNDS: funds that we sent or took. WRITE_OFF: a ' +
    'loss. SUSPENSE: the funds remain in suspense. SETTLE, RETURN: the transfer has this result. ' +
    'CARRY: it is in transit. IGNORE: no statement will have it.',
});

export const Difference = named(
  'ReconciliationDifference',
  Type.Object(
    {
      differenceId: text('ID of the difference.'),
      ...PLACE,
      day: DateOnly,
      kind: DifferenceKind,
      status: DifferenceStatus,
      amount: minor(
        'Amount that differs, in minor units: positive if the provider has more, negative if it has ' +
          'less. Of MISSING_AT_PROVIDER the amount with us.',
      ),
      readable: text('The amount for people.'),
      detail: text('What differs.'),
      lineId: nullable(text('The line of the statement with its version; null if there is none.')),
      transactionId: nullable(text('The payment; null if there is none.')),
      since: time('Time at which it was found.'),
      ageHours: nullable(Type.Integer({ description: 'Age in hours; null if it is settled.' })),
      ownerId: nullable(text('The operator who works on it; null if there is none.')),
      note: nullable(text('Note of an operator.')),
      decisions: Type.Array(ReconciliationDecision, { description: 'Decisions that are allowed.' }),
      decision: nullable(ReconciliationDecision),
      reason: nullable(text('Reason for the decision.')),
      decidedBy: nullable(text('The operator who decided.')),
      decidedAt: nullable(time('Time of the decision.')),
    },
    { description: 'A difference between a statement of a provider and our books.' },
  ),
);

export const ProviderBalance = named(
  'ProviderBalance',
  Type.Object(
    {
      ...PLACE,
      day: DateOnly,
      reportedBalance: minor('Closing balance that the provider reported, in minor units.'),
      bookedBalance: minor('What the provider holds by the ledger now.'),
      railInTransit: minor('Balance of rail in transit, of all providers.'),
      externalSettlement: minor('Balance of external settlement, of all providers.'),
      suspense: minor('Balance of suspense, of all providers.'),
      reportedAt: time('Time at which the day last changed.'),
    },
    { description: 'The balance at a provider, beside the accounts of the ledger.' },
  ),
);
