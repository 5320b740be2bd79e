// Services of a provider besides transfers: checks of accounts, rates, identity, account details for
// payments in, and messages to people. One provider serves each of them in an environment.

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
} from '../../../kernel/schema.ts';
import type { ProviderCall } from './fields.ts';

/** Kinds of routes that select the provider of a service. */
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
  description: 'Seconds until the next request.',
});
const CurrencyText = text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 });
const fields = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const Owner = oneOf(['customer', 'platform'], { description: 'Owner of the account.' });

const AccountCheck = named(
  'AccountCheck',
  Type.Object(
    {
      account: fields('The account, with `accountType` and the fields of that type as in the API.'),
      elapsedSeconds: Type.Integer({ minimum: 0, description: 'Seconds since the first request.' }),
    },
    { description: 'Requests whether an account exists and belongs to the beneficiary.' },
  ),
);

const registeredName = { fullName: text('Name that is registered for the account.') };
export const AccountCheckResult = named(
  'AccountCheckResult',
  variant(
    'result',
    {
      matched: Type.Object(registeredName, { description: 'The name is that of the owner.' }),
      partly_matched: Type.Object(registeredName, { description: 'The name is similar.' }),
      not_matched: Type.Object({}, { description: 'The name is another one.' }),
      unsupported: Type.Object({}, { description: 'The institution does not compare names.' }),
      checked_at_execution: Type.Object(
        {},
        { description: 'The receiving institution checks the name when it gets the payment.' },
      ),
      pending: Type.Object({ checkAfterSeconds }, { description: 'The result follows.' }),
      invalid_account: Type.Object({}, { description: 'The account does not exist.' }),
    },
    { description: 'Result of a check.' },
  ),
);

export const ReportedRates = named(
  'RateTable',
  Type.Object(
    {
      base: CurrencyText,
      at: time('Time of the rates.'),
      validForSeconds: optional(
        Type.Integer({
          minimum: 1,
          maximum: 604_800,
          default: 3_600,
          description: 'Seconds after `at` for which the rates are used. Default: 3600.',
        }),
      ),
      rates: Type.Record(Type.String(), text('Units for one unit of the base, such as `0.9154`.'), {
        description: 'Mid rates by currency, as decimal texts.',
      }),
    },
    { description: 'Mid rates of one base currency.' },
  ),
);
export type ReportedRates = Static<typeof ReportedRates>;

const IdentityOwner = Type.Object({
  id: id('ID of the owner.'),
  roles: Type.Array(Type.String(), { description: 'Roles of the owner.' }),
  ownershipPercentage: Type.Number({ description: 'Share of the business, in percent.' }),
  personalInfo: fields('Name, birth date, address and identity number, as in the API.'),
});

const IdentityDocument = Type.Object({
  id: id('ID of the document.'),
  holder: id('ID of the customer or owner.'),
  documentType: text('Type, as in the API.'),
  side: optional(text('Side, as in the API.')),
  country: text('Country of issue.'),
  documentNumber: optional(text('Number of the document.')),
  issuingAuthority: optional(text('Authority that issued the document.')),
});

const IdentityCaseInput = named(
  'IdentityCase',
  Type.Object(
    {
      caseId: id('Unique for this submission, and the same at each attempt.'),
      customerId: id('ID of the customer.'),
      platformId: id('ID of the platform of the customer.'),
      type: oneOf(['INDIVIDUAL', 'BUSINESS'], { description: 'Type of the customer.' }),
      email: nullable(text('E-mail address; null if there is none.')),
      phoneNumber: nullable(text('Telephone number; null if there is none.')),
      details: fields('Fields of the customer, as in the API.'),
      identifier: nullable(text('Identity number of an individual; null if there is none.')),
      owners: Type.Array(IdentityOwner, { description: 'Owners of a business.' }),
      documents: Type.Array(IdentityDocument, { description: 'Documents, without their files.' }),
    },
    { description: 'A customer who is to be verified. Submit and state have the same body.' },
  ),
);

const Finding = Type.Object({
  type: oneOf(FINDING_TYPES, { description: 'What is missing or wrong.' }),
  resourceId: optional(id('Customer, owner or document; absent: the customer.')),
  field: optional(text('The field.')),
  reason: optional(text('Why, for the customer.')),
});
const findings = Type.Array(Finding, { description: 'What prevents the decision.', minItems: 1 });
const owners = Type.Record(Type.String(), oneOf(['APPROVED', 'REJECTED', 'PENDING']), {
  description: 'Results by owner; owners that are not listed get the result of the customer.',
});

const decided = {
  approved: Type.Object({ owners: optional(owners) }, { description: 'The customer is verified.' }),
  rejected: Type.Object(
    { owners: optional(owners), findings: optional(findings) },
    { description: 'The customer is rejected. This is final.' },
  ),
  unresolved: Type.Object({ findings }, { description: 'The customer must correct the findings.' }),
};

/** A decision, as a message reports it. */
export const IdentityDecision = named(
  'IdentityDecision',
  variant('state', decided, { description: 'Decision about a customer.' }),
);
export type IdentityDecision = Static<typeof IdentityDecision>;

export const IdentityState = named(
  'IdentityState',
  variant(
    'state',
    {
      ...decided,
      review: Type.Object(
        { checkAfterSeconds: optional(checkAfterSeconds) },
        { description: 'The decision follows. Without a time it is only reported by a message.' },
      ),
    },
    { description: 'State of the verification of a customer.' },
  ),
);

const AccountFunding = named(
  'AccountFunding',
  Type.Object(
    { accountId: id('ID of the internal account.'), currency: CurrencyText, owner: Owner },
    { description: 'Requests account details for deposits, which are unique to the account.' },
  ),
);

const PaymentFundingInput = named(
  'PaymentFunding',
  Type.Object(
    {
      transactionId: id('ID of the payment.'),
      reference: id('Text that the payer repeats.'),
      amount: PositiveAmount,
      currency: CurrencyText,
      network: optional(text('Requested chain of a digital asset.')),
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
        description: 'Alternatives. Empty if the currency is not supported.',
      }),
    },
    { description: 'Account details as in the API.' },
  ),
);

const PersonMessage = named(
  'PersonMessage',
  Type.Object(
    {
      messageId: id('Unique for this message, and the same at each attempt.'),
      channel: oneOf(['email', 'sms'], { description: 'How it is sent.' }),
      to: text('E-mail address, or telephone number in E.164 format.'),
      subject: optional(text('Subject of an e-mail.')),
      text: Type.String({ description: 'Text of the message.' }),
      senderName: optional(text('Name of the sender of an e-mail.')),
      replyTo: optional(text('Address for replies to an e-mail.')),
    },
    { description: 'A message to a person.' },
  ),
);

export const PersonMessageResult = named(
  'PersonMessageResult',
  Type.Object(
    {
      result: oneOf(['sent', 'rejected'], {
        description: 'rejected: this message will never be accepted.',
      }),
    },
    { description: 'Result of a message.' },
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
    input: Type.Object({}, { description: 'Nothing.' }),
    output: ReportedRates,
  },
  '/identity/submit': {
    operationId: 'submitIdentityCase',
    summary: 'Verify a customer once, however often the case is sent',
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
    summary: 'Return account details for deposits, the same for each request',
    input: AccountFunding,
    output: Instructions,
  },
  '/funding/payment': {
    operationId: 'getPaymentFunding',
    summary: 'Return instructions for the funding of a payment, the same for each request',
    input: PaymentFundingInput,
    output: Instructions,
  },
  '/messages/send': {
    operationId: 'sendMessage',
    summary: 'Send a message to a person once, however often it is requested',
    input: PersonMessage,
    output: PersonMessageResult,
  },
};
