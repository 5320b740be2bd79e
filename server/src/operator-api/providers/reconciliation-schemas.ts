// Schemas of the reconciliation with providers.
import { Type } from '@sinclair/typebox';
import { PROVIDER_SCHEMAS } from '../../features/providers/index.ts';
import {
  DECISIONS,
  DIFFERENCE_KINDS,
  DIFFERENCE_STATUSES,
} from '../../features/reconciliation/index.ts';
import {
  DateOnly,
  named,
  nullable,
  oneOf,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';

/** Common properties of operations that read or change the reconciliation. */
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

const minorAmount = (description: string) => Type.Integer({ format: 'int64', description });

const COMMON_FIELDS = {
  providerId: text('Name of the provider.'),
  environment: PROVIDER_SCHEMAS.Environment,
  currency: text('Currency code, such as `EUR`.'),
};

export const ProviderDate = withDescription(
  DateOnly,
  'Day in the time zone of the provider, `YYYY-MM-DD`.',
);

export const Currency = text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 });

const DAY = {
  ...COMMON_FIELDS,
  day: ProviderDate,
  status: oneOf(['OPEN', 'CLOSED'], { description: 'CLOSED: the day can no longer change.' }),
  statementId: nullable(
    text(
      "The provider's ID of the applied statement, or null if the day only has corrections of earlier days.",
    ),
  ),
  statementVersion: Type.Integer({
    description:
      'Number of statements that were applied to the day: more than 1 after a correction.',
  }),
  openingBalance: nullable(
    minorAmount('Opening balance of the statement, in minor units, or null without a statement.'),
  ),
  closingBalance: nullable(
    minorAmount('Closing balance of the statement, in minor units, or null without a statement.'),
  ),
  bookedBalance: minorAmount(
    'Balance at the provider at the end of the day according to the ledger, in minor units.',
  ),
  openDifferences: Type.Integer({ description: 'Number of differences of the day that are OPEN.' }),
  ties: Type.Boolean({
    description:
      'Whether the day is balanced: it was reconciled, its statement is consistent, the ledger has ' +
      'the closing balance, and no difference is open.',
  }),
  reconciledAt: nullable(time('Time of the last reconciliation, or null before the first.')),
  closedAt: nullable(time('Time at which the day was closed, or null if it is open.')),
  closedBy: nullable(text('ID of the operator who closed the day, or null if it is open.')),
};

export const ProviderDay = named(
  'ProviderDay',
  Type.Object(DAY, { description: 'A day of a provider in one currency, with its balances.' }),
);

export const StatementRequest = named(
  'StatementRequest',
  Type.Object(
    {
      providerId: text('Name of the provider.'),
      currency: text('Currency code, such as `EUR`.'),
      day: ProviderDate,
      requested: Type.Boolean({
        description:
          'Whether the job requests the statement. If not, it uses the statements already received.',
      }),
    },
    { description: 'The job that reconciles a day.' },
  ),
);

export const StatementSource = named(
  'StatementSource',
  Type.Object(
    {
      providerId: text('Name of the provider.'),
      timeZone: text(
        'IANA time zone in which the days of the provider end, such as `Europe/Berlin`.',
      ),
      feesExpected: Type.Boolean({
        description:
          'Whether fees of the provider are posted as expenses. If not, each fee is a difference.',
      }),
      requestedDay: nullable(
        text(
          'Last day whose statement was requested, `YYYY-MM-DD` in the time zone of the provider. ' +
            'Null before the first request.',
        ),
      ),
    },
    { description: 'Statement settings of a provider.' },
  ),
);

export const DifferenceStatus = oneOf(DIFFERENCE_STATUSES, {
  description:
    'OPEN: a decision is required. CARRIED: the item is in transit. The difference is reopened if the ' +
    'next statement does not have it. IN_SUSPENSE: the funds remain in suspense until a later ' +
    'decision. DECIDED: settled by a decision. RESOLVED: its cause no longer exists.',
});

export const DifferenceKind = oneOf(DIFFERENCE_KINDS, {
  description:
    'MISSING_AT_PROVIDER: settled in the ledger, and on no statement. MISSING_WITH_US: the line matches ' +
    'no transfer or deposit of the ledger. AMOUNT_DIFFERS, CURRENCY_DIFFERS: the line and its transfer ' +
    'differ. STATE_DIFFERS: the transfer is not settled in the ledger, or its return is unknown. ' +
    'DUPLICATED: another line is matched with the same transfer. FEE_UNEXPECTED: the line has a fee. ' +
    'BALANCE_DIFFERS: the closing balance is not the sum of the previous one and the lines of the day. ' +
    'LATE_CORRECTION: a later statement changed a closed day.',
});

export const ReconciliationDecision = oneOf(DECISIONS, {
  description:
    'MATCH: the line belongs to the payment `transactionId`. RECORD_DEPOSIT: credits the line to ' +
    '`accountId` or `paymentReference`. RECORD_FEE: posts an expense. OWN_FUNDS: posts funds that the ' +
    'operator sent to the provider or withdrew from it. WRITE_OFF: posts a loss. SUSPENSE: the funds ' +
    'remain in suspense until a later decision. SETTLE, RETURN: settles or returns the transfer. CARRY: ' +
    'the transfer is in transit. IGNORE: the transfer is on no statement. Nothing is posted.',
});

export const Difference = named(
  'ReconciliationDifference',
  Type.Object(
    {
      differenceId: text('ID of the difference.'),
      ...COMMON_FIELDS,
      day: ProviderDate,
      kind: DifferenceKind,
      status: DifferenceStatus,
      amount: minorAmount(
        'Difference in minor units: positive if the provider has more than the ledger, negative if it ' +
          'has less. For MISSING_AT_PROVIDER: the amount in the ledger, negative if it is outgoing.',
      ),
      readable: text('Amount in major units, without its currency.'),
      detail: text('Description of the difference.'),
      lineId: nullable(
        text(
          "The provider's ID of the line and the statement version, such as `E1@1`. Null without a line.",
        ),
      ),
      transactionId: nullable(text('ID of the payment, or null if no payment is known.')),
      since: time('Time at which the difference was found.'),
      ageHours: nullable(
        Type.Integer({ description: 'Age in hours, or null after the difference is settled.' }),
      ),
      ownerId: nullable(text('ID of the responsible operator, or null if none is assigned.')),
      note: nullable(text('Note of an operator, or null if there is none.')),
      decisions: Type.Array(ReconciliationDecision, {
        description:
          'Decisions that the kind of difference allows. Empty after the difference is settled.',
      }),
      decision: nullable(
        withDescription(
          ReconciliationDecision,
          'Decision, as in `decisions`, or null before a decision.',
        ),
      ),
      reason: nullable(text('Reason for the decision, or null before a decision.')),
      decidedBy: nullable(text('ID of the operator who decided, or null before a decision.')),
      decidedAt: nullable(time('Time of the decision, or null before a decision.')),
    },
    { description: 'A difference between a statement of a provider and the ledger.' },
  ),
);

export const ProviderBalance = named(
  'ProviderBalance',
  Type.Object(
    {
      ...COMMON_FIELDS,
      day: ProviderDate,
      reportedBalance: minorAmount('Closing balance that the provider reported, in minor units.'),
      availableBalance: nullable(
        minorAmount(
          'Prefunded balance that is available for transfers, in minor units: the latest reported ' +
            'balance less the transfers since. Null if no prefunded balance is stored.',
        ),
      ),
      bookedBalance: minorAmount(
        'Current balance at the provider according to the ledger, in minor units.',
      ),
      railInTransit: minorAmount(
        'Balance of the system account rail in transit, for all providers, in minor units.',
      ),
      externalSettlement: minorAmount(
        'Balance of the system account external settlement, for all providers, in minor units.',
      ),
      suspense: minorAmount(
        'Balance of the system account suspense, for all providers, in minor units.',
      ),
      reportedAt: time(
        'Time of the last change to the record of this day, such as a new statement, a correction or ' +
          'the closing.',
      ),
    },
    { description: 'The balance that a provider reported last, and the balances of the ledger.' },
  ),
);
