// Schemas of the provider protocol. The OpenAPI document of the protocol, the validation of
// responses and received messages, and the types derive from them. Amounts are in minor units, as
// integers or, for stablecoins, as strings. Unknown properties are ignored, so that both sides can
// add optional properties within a version.

import { type Static, Type } from '@sinclair/typebox';
import { PAYMENT_RAILS } from '../../../catalog/rails/rails.ts';
import {
  Amount,
  DateOnly,
  named,
  oneOf,
  PositiveAmount,
  text,
  time,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import { CARD_MESSAGES, CardAnswer } from './cards.ts';
import { CurrencyText, seconds, shortText } from './fields.ts';
import { RECALL_MESSAGES } from './recalls.ts';
import { IdentityDecision, ReportedRates, SERVICES } from './services.ts';
import { STABLECOIN_MESSAGES } from './stablecoins.ts';

export const PROTOCOL_VERSION = '1';

const codeList = (description: string) =>
  Type.Array(shortText('Code of a currency or country.'), {
    description,
    minItems: 1,
    maxItems: 200,
  });
export const TRANSFER_KINDS = ['payout', 'debit', 'refund'] as const;

/** Transfers that a provider supports. */
const TransferCapability = named(
  'TransferCapability',
  Type.Object(
    {
      kinds: Type.Array(oneOf(TRANSFER_KINDS), {
        description: 'Supported kinds of transfers.',
        minItems: 1,
        maxItems: TRANSFER_KINDS.length,
      }),
      rails: Type.Array(oneOf(PAYMENT_RAILS), {
        description: 'Supported rails.',
        minItems: 1,
        maxItems: PAYMENT_RAILS.length,
      }),
      currencies: codeList('Supported currencies.'),
      countries: Type.Optional(
        codeList('Countries of the receiving accounts, ISO 3166-1 alpha-2. Absent: all.'),
      ),
      minAmount: Type.Optional(
        withDescription(
          PositiveAmount,
          'Smallest amount of a transfer, in minor units of its currency. Absent: no minimum.',
        ),
      ),
      maxAmount: Type.Optional(
        withDescription(
          PositiveAmount,
          'Largest amount of a transfer, in minor units of its currency. Absent: no maximum.',
        ),
      ),
    },
    {
      description:
        'Transfers that the provider supports. The amount limits apply in each of the currencies.',
    },
  ),
);

export const Capabilities = named(
  'Capabilities',
  Type.Object(
    {
      protocol: oneOf([PROTOCOL_VERSION], { description: 'Version of the protocol.' }),
      transfers: Type.Optional(
        Type.Array(TransferCapability, {
          description: 'Supported transfers. Absent: none.',
          maxItems: 100,
        }),
      ),
      balances: Type.Optional(
        Type.Boolean({
          description: 'Whether the provider implements `/balances`. Absent: false.',
        }),
      ),
      cancel: Type.Optional(
        Type.Boolean({ description: 'Whether transfers can be canceled. Absent: false.' }),
      ),
      recall: Type.Optional(
        Type.Boolean({
          description: 'Whether the return of settled payouts can be requested. Absent: false.',
        }),
      ),
      services: Type.Optional(
        Type.Array(oneOf(SERVICES), {
          description: 'Services that the provider offers. Absent: none.',
          maxItems: SERVICES.length,
        }),
      ),
      fundingCurrencies: Type.Optional(
        codeList('Currencies of the service `funding`. Absent: none.'),
      ),
      statements: Type.Optional(
        Type.Boolean({
          description: 'Whether statements of past days can be requested. Absent: false.',
        }),
      ),
      cards: Type.Optional(
        Type.Boolean({
          description:
            'Whether the provider issues cards and implements the calls for cards. Absent: false.',
        }),
      ),
    },
    { description: 'Capabilities of the provider.' },
  ),
);
export type Capabilities = Static<typeof Capabilities>;

export const Transfer = named(
  'Transfer',
  Type.Object(
    {
      transferId: shortText(
        'Unique ID of the transfer, identical in every attempt. A repeated transfer must be executed ' +
          'only once.',
      ),
      kind: oneOf(TRANSFER_KINDS, {
        description:
          'payout: credit to an account. debit: debit of an account. refund: refund to the payer.',
      }),
      rail: Type.Optional(
        oneOf(PAYMENT_RAILS, { description: 'Rail. Absent: the provider chooses.' }),
      ),
      amount: PositiveAmount,
      currency: CurrencyText,
      account: Type.Record(Type.String(), Type.Unknown(), {
        description:
          'The external account, with `accountType` and the fields of that type as in the API.',
      }),
      beneficiaryName: Type.Optional(text('Name of the account holder. Absent: unknown.')),
      remittanceInformation: Type.Optional(
        text('Remittance information for the beneficiary. Absent: none.'),
      ),
      purposeOfPayment: Type.Optional(text('Purpose of the payment. Absent: none.')),
      reference: shortText('Reference for the bank statement, at most 35 characters.'),
      firstSentAt: time('Time of the first attempt.'),
    },
    { description: 'A transfer over a rail.' },
  ),
);

/** Failure reasons that a provider can report. */
const TRANSFER_FAILURES = [
  'ACCOUNT_INVALID',
  'ACCOUNT_CANNOT_RECEIVE',
  'LIMIT_EXCEEDED',
  'COMPLIANCE_REJECTED',
  'PROVIDER_REJECTED',
] as const;

const Reference = shortText('Reference that the provider assigned, as shown on its statement.');
const CheckAfter = seconds('Seconds until Railhead requests the state again. Default: 900.');
const Reason = oneOf(TRANSFER_FAILURES, { description: 'Reason for the failure or the return.' });

export const TransferState = named(
  'TransferState',
  variant(
    'state',
    {
      accepted: Type.Object(
        { reference: Type.Optional(Reference), checkAfterSeconds: Type.Optional(CheckAfter) },
        { description: 'The provider accepted the transfer. The result follows.' },
      ),
      unknown: Type.Object(
        { checkAfterSeconds: Type.Optional(CheckAfter) },
        { description: 'The provider cannot determine yet whether the transfer was executed.' },
      ),
      settled: Type.Object(
        { reference: Reference },
        { description: 'The funds have arrived. A later return is possible.' },
      ),
      failed: Type.Object(
        { reason: Reason },
        { description: 'Final: the transfer was not executed. The payer is refunded.' },
      ),
      returned: Type.Object(
        { reason: Reason },
        { description: 'The bank returned the funds of a settled transfer.' },
      ),
      canceled: Type.Object({}, { description: 'The transfer was canceled before execution.' }),
    },
    { description: 'State of a transfer. `unknown` is never treated as a failure.' },
  ),
);
export type TransferState = Static<typeof TransferState>;

export const Balances = named(
  'Balances',
  Type.Object(
    {
      balances: Type.Array(
        Type.Object(
          {
            currency: CurrencyText,
            amount: Type.Integer({
              minimum: -9_000_000_000_000_000,
              maximum: 9_000_000_000_000_000,
              description: 'Amount that is available for transfers, in minor units.',
            }),
            asOf: time(
              'Time of the amount. The amount must include all transfers that were sent before this time.',
            ),
          },
          { description: 'The prefunded balance in one currency.' },
        ),
        { maxItems: 200, description: 'Balances, at most one per currency.' },
      ),
    },
    { description: 'Prefunded balances of this installation at the provider.' },
  ),
);
export type Balances = Static<typeof Balances>;

export const NoInput = Type.Object(
  {},
  { description: 'The call has no input. The body is an empty object.' },
);

export const TransferId = Type.Object({
  transferId: shortText('ID of the transfer, as in the call that sent it.'),
});

export const CancelResult = named(
  'CancelResult',
  Type.Object(
    {
      result: oneOf(['canceled', 'accepted', 'rejected'], {
        description:
          'canceled: final. accepted: the provider reports the result later as the state of the ' +
          'transfer. rejected: the transfer continues.',
      }),
    },
    { description: 'Result of a cancellation request.' },
  ),
);

/** Maximum number of lines on one page of a statement. */
const MAX_STATEMENT_LINES = 500;
const LINE_KINDS = [
  'transfer',
  'return',
  'deposit',
  'fee',
  'funding',
  'adjustment',
  'other',
] as const;

const Balance = (description: string) =>
  Type.Integer({
    format: 'int64',
    minimum: -9_000_000_000_000_000,
    maximum: 9_000_000_000_000_000,
    description,
  });

const StatementLine = named(
  'StatementLine',
  Type.Object(
    {
      id: shortText('ID of the line, unique within the day and identical in corrected statements.'),
      direction: oneOf(['in', 'out'], {
        description: 'in: the entry increased the balance. out: the entry decreased the balance.',
      }),
      amount: PositiveAmount,
      fee: Type.Optional({
        ...Amount,
        description:
          'Fee in minor units, by which the balance decreased in addition to `amount`. Absent: no fee.',
      }),
      kind: oneOf(LINE_KINDS, {
        description:
          'Kind of entry. return: return of an earlier transfer or deposit. funding: own funds of the ' +
          'operator, sent or withdrawn.',
      }),
      at: time('Time of the entry.'),
      transferId: Type.Optional(shortText('ID of the transfer, if it was sent by Railhead.')),
      reference: Type.Optional(shortText('`reference` of the transfer, as Railhead sent it.')),
      bankReference: Type.Optional(shortText('Reference of the provider or its bank.')),
    },
    { description: 'An entry of the account at the provider.' },
  ),
);

export const StatementPage = named(
  'StatementPage',
  Type.Object(
    {
      statementId: shortText(
        'ID of the statement, identical on all its pages. A corrected statement of the same day must ' +
          'have another ID.',
      ),
      day: DateOnly,
      currency: CurrencyText,
      openingBalance: Balance('Balance at the start of the day, in minor units.'),
      closingBalance: Balance('Balance at the end of the day, in minor units.'),
      lineCount: Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Number of lines on all pages.',
      }),
      page: Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'Number of this page, from 1.',
      }),
      pageCount: Type.Integer({ minimum: 1, maximum: 10_000, description: 'Number of pages.' }),
      lines: Type.Array(StatementLine, {
        maxItems: MAX_STATEMENT_LINES,
        description: 'Lines on this page.',
      }),
    },
    { description: 'A page of the statement of one day and currency.' },
  ),
);
export type StatementPage = Static<typeof StatementPage>;

export const StatementDay = Type.Object({
  day: DateOnly,
  currency: CurrencyText,
  page: Type.Integer({ minimum: 1, maximum: 10_000, description: 'Number of the page, from 1.' }),
});

const EXPECTED_AMOUNT = {
  amount: Type.Optional(PositiveAmount),
  currency: Type.Optional(CurrencyText),
};

const DepositMessage = Type.Object(
  {
    bankReference: shortText('Reference of the statement entry. Each entry is posted only once.'),
    accountId: Type.Optional(shortText('ID of the internal account to credit.')),
    paymentReference: Type.Optional(shortText('Payment reference that the payer entered.')),
    amount: PositiveAmount,
    currency: CurrencyText,
    rail: Type.Optional(
      oneOf(PAYMENT_RAILS, { description: 'Rail over which the funds arrived.' }),
    ),
    senderName: Type.Optional(shortText('Name of the payer.')),
    senderAccount: Type.Optional(shortText('Account number of the payer.')),
    senderBank: Type.Optional(shortText('Bank of the payer.')),
    remittanceInformation: Type.Optional(
      shortText('Remittance information that the payer entered.'),
    ),
  },
  {
    description:
      'Funds were received. Exactly one of `accountId` and `paymentReference` is required.',
  },
);

export const Message = named(
  'Message',
  Type.Intersect(
    [
      Type.Object({
        id: shortText('Unique ID of the message, identical in every attempt.'),
        occurredAt: time('Time at which the event occurred at the provider.'),
      }),
      variant('type', {
        'transfer.updated': Type.Object(
          {
            transferId: shortText('ID of the transfer, as in the call that sent it.'),
            transfer: TransferState,
            ...EXPECTED_AMOUNT,
          },
          {
            description:
              'State of a transfer. `amount` and `currency`, if present, must match the transfer.',
          },
        ),
        'deposit.received': DepositMessage,
        'deposit.returned': Type.Object(
          {
            bankReference: shortText('`bankReference` of the deposit.'),
            reason: Type.Optional(Reason),
            amount: PositiveAmount,
            currency: CurrencyText,
          },
          { description: 'The bank reversed a deposit.' },
        ),
        'identity.decided': Type.Object(
          {
            caseId: shortText('ID of the verification, as Railhead sent it.'),
            decision: IdentityDecision,
          },
          { description: 'The result of a verification that was in review.' },
        ),
        'rates.updated': Type.Object(
          { rates: ReportedRates },
          { description: 'New rates. Railhead uses them immediately.' },
        ),
        'statement.day': Type.Object(
          { statement: StatementPage },
          { description: 'A page of the statement of a past day.' },
        ),
        ...RECALL_MESSAGES,
        ...STABLECOIN_MESSAGES,
        ...CARD_MESSAGES,
      }),
    ],
    { description: 'A message that a provider sends to Railhead.' },
  ),
);
export type Message = Static<typeof Message>;

export const MESSAGE_RESULTS = ['APPLIED', 'DUPLICATE', 'IGNORED'] as const;
export const MessageResult = named(
  'MessageResult',
  Type.Object(
    {
      result: oneOf(MESSAGE_RESULTS, {
        description:
          'APPLIED: the message was applied. DUPLICATE: the message was received before. IGNORED: the ' +
          'message has no effect.',
      }),
      authorization: Type.Optional(CardAnswer),
    },
    { description: 'The message was processed. Do not send it again.' },
  ),
);
