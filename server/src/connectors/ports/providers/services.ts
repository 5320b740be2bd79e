// Services of providers in the provider protocol: account checks, exchange rates, identity
// verification, account details for deposits, e-mails and text messages. The routes of an
// environment select one provider for each service.

import { type Static, Type } from '@sinclair/typebox';
import { FINDING_TYPES } from '../../../catalog/identity/verification-errors.ts';
import { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import {
  named,
  nullable,
  oneOf,
  PositiveAmount,
  text,
  time,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import { CurrencyText, type ProviderCall } from './fields.ts';

/** Services. Each is also the kind of the routes that select its provider. */
export const SERVICES = [
  ...(['account_check', 'rates', 'identity', 'funding', 'email', 'sms'] as const),
  ...(['firm_quotes', 'stablecoins', 'custody'] as const),
] as const;
export type Service = (typeof SERVICES)[number];

const optional = Type.Optional;
const id = (description: string) => text(description, { minLength: 1, maxLength: 255 });
const checkAfterSeconds = Type.Integer({
  minimum: 1,
  maximum: 604_800,
  description: 'Seconds until Railhead repeats the request.',
});
const fields = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const Owner = oneOf(['customer', 'platform'], {
  description: 'Owner of the account: a customer, or the platform itself.',
});

const AccountCheck = named(
  'AccountCheck',
  Type.Object(
    {
      account: fields('The account, with `accountType` and the fields of that type as in the API.'),
      elapsedSeconds: Type.Integer({
        minimum: 0,
        description: 'Seconds since the first request for this account.',
      }),
    },
    { description: 'Checks whether an account exists and belongs to the beneficiary.' },
  ),
);

const registeredName = { fullName: text('Name that is registered for the account.') };
export const AccountCheckResult = named(
  'AccountCheckResult',
  variant(
    'result',
    {
      matched: Type.Object(registeredName, {
        description: 'The name matches the registered name.',
      }),
      partly_matched: Type.Object(registeredName, {
        description: 'The name is similar to the registered name.',
      }),
      not_matched: Type.Object({}, { description: 'The name does not match the registered name.' }),
      unsupported: Type.Object({}, { description: 'The institution does not compare names.' }),
      checked_at_execution: Type.Object(
        {},
        { description: 'The receiving institution checks the name when it receives the payment.' },
      ),
      pending: Type.Object(
        { checkAfterSeconds },
        { description: 'The check is in progress. Railhead requests the result again.' },
      ),
      invalid_account: Type.Object({}, { description: 'The account does not exist.' }),
    },
    { description: 'Result of an account check.' },
  ),
);

export const ReportedRates = named(
  'RateTable',
  Type.Object(
    {
      base: withDescription(CurrencyText, 'Code of the base currency of the rates, such as `EUR`.'),
      at: time('Time of the rates.'),
      validForSeconds: optional(
        Type.Integer({
          minimum: 1,
          maximum: 604_800,
          default: 3_600,
          description: 'Seconds after `at` for which the rates are used. Default: 3600.',
        }),
      ),
      rates: Type.Record(
        Type.String(),
        text('Units of the currency for one unit of `base`, such as `0.9154`.'),
        { description: 'Mid rates by currency code, as decimal numbers in strings.' },
      ),
    },
    { description: 'Mid-market rates for one base currency.' },
  ),
);
export type ReportedRates = Static<typeof ReportedRates>;

const IdentityOwner = Type.Object({
  id: id('ID of the owner at Railhead.'),
  roles: Type.Array(Type.String(), {
    description: 'Roles of the owner in the business, as in the API.',
  }),
  ownershipPercentage: Type.Number({ description: 'Share of the business, in percent.' }),
  personalInfo: fields('Name, birth date, address and identity number, as in the API.'),
});

const IdentityDocument = Type.Object({
  id: id('ID of the document at Railhead.'),
  holder: id('ID of the customer or owner to whom the document belongs.'),
  documentType: text('Type of document, as in the API.'),
  side: optional(text('Side of the document, as in the API. Absent for documents with one side.')),
  country: text('Country of issue, ISO 3166-1 alpha-2.'),
  documentNumber: optional(text('Number of the document. Absent: none.')),
  issuingAuthority: optional(text('Authority that issued the document. Absent: none.')),
});

const IdentityCaseInput = named(
  'IdentityCase',
  Type.Object(
    {
      caseId: id('ID of the verification, identical in every attempt.'),
      customerId: id('ID of the customer at Railhead.'),
      platformId: id('ID at Railhead of the platform of the customer.'),
      type: oneOf(['INDIVIDUAL', 'BUSINESS'], { description: 'Type of the customer.' }),
      email: nullable(text('E-mail address, or null if there is none.')),
      phoneNumber: nullable(text('Telephone number, or null if there is none.')),
      details: fields('Fields of the customer, as in the API.'),
      identifier: nullable(text('Identity number of an individual, or null if there is none.')),
      owners: Type.Array(IdentityOwner, { description: 'Owners of a business.' }),
      documents: Type.Array(IdentityDocument, { description: 'Documents, without their files.' }),
    },
    {
      description:
        'A customer to verify. The submission and the requests of the state have the same body.',
    },
  ),
);

const Finding = Type.Object({
  type: oneOf(FINDING_TYPES, { description: 'Type of the finding.' }),
  resourceId: optional(
    id('ID of the customer, owner or document. Absent: the finding is about the customer.'),
  ),
  field: optional(text('Name of the field to correct, as in the API.')),
  reason: optional(text('Explanation for the customer.')),
});
const findings = Type.Array(Finding, {
  description: 'Missing or incorrect data.',
  minItems: 1,
});
const owners = Type.Record(Type.String(), oneOf(['APPROVED', 'REJECTED', 'PENDING']), {
  description:
    'Results by ID of the owner. Owners that are not listed have the result of the customer.',
});

const decisionVariants = {
  approved: Type.Object({ owners: optional(owners) }, { description: 'The customer is verified.' }),
  rejected: Type.Object(
    { owners: optional(owners), findings: optional(findings) },
    { description: 'Final: the customer is rejected.' },
  ),
  unresolved: Type.Object({ findings }, { description: 'The customer must correct the findings.' }),
};

/** A decision that a message reports. */
export const IdentityDecision = named(
  'IdentityDecision',
  variant('state', decisionVariants, { description: 'Decision about a customer.' }),
);
export type IdentityDecision = Static<typeof IdentityDecision>;

export const IdentityState = named(
  'IdentityState',
  variant(
    'state',
    {
      ...decisionVariants,
      review: Type.Object(
        { checkAfterSeconds: optional(checkAfterSeconds) },
        {
          description:
            'The verification is in review. Without `checkAfterSeconds`, the provider must report the ' +
            'decision by a message.',
        },
      ),
    },
    { description: 'State of the verification of a customer.' },
  ),
);

const AccountFunding = named(
  'AccountFunding',
  Type.Object(
    {
      accountId: id('ID of the internal account at Railhead.'),
      currency: CurrencyText,
      owner: Owner,
    },
    { description: 'Requests account details for deposits, which are unique to the account.' },
  ),
);

const PaymentFundingInput = named(
  'PaymentFunding',
  Type.Object(
    {
      transactionId: id('ID of the payment at Railhead.'),
      reference: id('Payment reference that the payer must enter.'),
      amount: PositiveAmount,
      currency: CurrencyText,
      network: optional(
        text('Requested blockchain of a digital asset. Absent for a fiat currency.'),
      ),
      owner: Owner,
      expiresAt: time('Time until which the payment can be funded.'),
    },
    { description: 'Requests instructions for the funding of one payment.' },
  ),
);

export const Instructions = named(
  'FundingInstructions',
  Type.Object(
    {
      instructions: Type.Array(PaymentInstructions, {
        maxItems: 20,
        description: 'Alternative instructions. Empty if the currency is not supported.',
      }),
    },
    { description: 'Account details for a deposit, as in the API.' },
  ),
);

const PersonMessage = named(
  'PersonMessage',
  Type.Object(
    {
      messageId: id('ID of the message, identical in every attempt.'),
      channel: oneOf(['email', 'sms'], { description: 'Channel over which the message is sent.' }),
      to: text('E-mail address, or telephone number in E.164 format.'),
      subject: optional(text('Subject of an e-mail. Absent for a text message.')),
      text: Type.String({ description: 'Plain text of the message.' }),
      senderName: optional(text('Name of the sender of an e-mail. Absent: none.')),
      replyTo: optional(text('Address for replies to an e-mail. Absent: none.')),
    },
    { description: 'A message to a person.' },
  ),
);

export const PersonMessageResult = named(
  'PersonMessageResult',
  Type.Object(
    {
      result: oneOf(['sent', 'rejected'], {
        description:
          'sent: the provider accepted the message. rejected: final. The message is not repeated.',
      }),
    },
    { description: 'Result of sending a message.' },
  ),
);

export const SERVICE_CALLS: Readonly<Record<string, ProviderCall>> = {
  '/accounts/check': {
    operationId: 'checkAccount',
    summary: 'Check an account and the name of its owner',
    input: AccountCheck,
    output: AccountCheckResult,
  },
  '/rates': {
    operationId: 'getRates',
    summary: 'Return the current mid rates',
    input: Type.Object({}, { description: 'The call has no input. The body is an empty object.' }),
    output: ReportedRates,
  },
  '/identity/submit': {
    operationId: 'submitIdentityCase',
    summary: 'Submit a customer for verification. Repeated calls start only one verification',
    input: IdentityCaseInput,
    output: IdentityState,
  },
  '/identity/state': {
    operationId: 'getIdentityState',
    summary: 'Return the state of a verification, or 404 if it is unknown',
    input: IdentityCaseInput,
    output: IdentityState,
  },
  '/funding/account': {
    operationId: 'getAccountFunding',
    summary: 'Return account details for deposits. Repeated calls return the same details',
    input: AccountFunding,
    output: Instructions,
  },
  '/funding/payment': {
    operationId: 'getPaymentFunding',
    summary:
      'Return funding instructions of a payment. Repeated calls return the same instructions',
    input: PaymentFundingInput,
    output: Instructions,
  },
  '/messages/send': {
    operationId: 'sendMessage',
    summary: 'Send a message to a person. Repeated calls send it only once',
    input: PersonMessage,
    output: PersonMessageResult,
  },
};
