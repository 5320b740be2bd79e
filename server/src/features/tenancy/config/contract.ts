// Platform configuration as the API shows and takes it.
import { type TProperties, Type } from '@sinclair/typebox';
import {
  COUNTERPARTY_FIELDS,
  CounterpartyFieldDefinition,
} from '../../../catalog/accounts/field-names.ts';
import { defineEvent } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { Amount, described, named, oneOf, Timestamp } from '../../../kernel/schema.ts';

const TAG = 'Platform Configuration';

const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });

const maybe = Type.Optional;
const maybeText = (description: string, more: Record<string, unknown> = {}) =>
  maybe(text(description, more));

const object = <P extends TProperties>(name: string, description: string, properties: P) =>
  named(name, Type.Object(properties, { description }));

const EMAIL = { format: 'email', maxLength: 255 };

const fieldNames = (description: string) =>
  maybe(Type.Array(oneOf(COUNTERPARTY_FIELDS), { description, readOnly: true }));

const PlatformCurrencyConfig = object(
  'PlatformCurrencyConfig',
  'A currency that customers of the platform may hold, send and receive.',
  {
    currencyCode: text('ISO 4217 code, or the ticker of a digital asset.'),
    minAmount: described(Amount, 'Smallest payment, in the smallest unit of the currency.'),
    maxAmount: described(Amount, 'Largest payment, in the smallest unit of the currency.'),
    requiredCounterpartyFields: Type.Array(CounterpartyFieldDefinition, {
      description: 'What the platform wants to know about the other side of a payment.',
    }),
    enabledTransactionTypes: Type.Array(oneOf(['INCOMING', 'OUTGOING']), {
      description: 'Directions in which customers may move this currency.',
    }),
    providerRequiredCustomerFields: fieldNames(
      'What the provider of this currency must know about customers of the platform itself.',
    ),
    providerRequiredCounterpartyCustomerFields: fieldNames(
      'What the provider of this currency must know about the other side of a payment.',
    ),
  },
);

export const EmbeddedWalletConfig = object(
  'EmbeddedWalletConfig',
  'How one-time codes for embedded wallets are made, and the look of the mails that carry them.',
  {
    appName: maybeText('Name of the app in the mail.', { maxLength: 255 }),
    otpLength: maybe(
      Type.Integer({
        minimum: 4,
        maximum: 12,
        description: 'Characters of a code; 6 unless set.',
      }),
    ),
    alphanumeric: maybe(
      Type.Boolean({ description: 'Letters beside digits in a code; off unless set.' }),
    ),
    expirationSeconds: maybe(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description: 'How long a code is good for; 300 unless set.',
      }),
    ),
    sendFromEmailAddress: maybeText('Address the mail comes from.', EMAIL),
    sendFromEmailSenderName: maybeText('Name the mail comes from; `Notifications` unless set.', {
      maxLength: 255,
    }),
    replyToEmailAddress: maybeText('Address that answers go to.', EMAIL),
    logoUrl: maybeText(
      'Address of the logo, a PNG of 340 by 124 pixels. Hosted pages show it if it is an https address.',
      {
        format: 'uri',
        maxLength: 512,
      },
    ),
  },
);

export const CardTokenization2FAConfig = object(
  'CardTokenization2FAConfig',
  'The look of the messages with the code that a cardholder types to put a card into a phone.',
  {
    displayName: maybeText('Name of the card programme.', { maxLength: 255 }),
    logoUrl: maybeText(
      'Https address of the logo. The page with card details shows it in place of the logo of the wallet.',
      {
        format: 'uri',
        pattern: '^https://',
        maxLength: 512,
      },
    ),
    email: maybe(
      object('CardTokenization2FAEmailConfig', 'Codes by mail. Plain text around the code.', {
        fromAddress: maybeText('Address the mail comes from.', EMAIL),
        fromName: maybeText('Name the mail comes from.', { maxLength: 255 }),
        replyToAddress: maybeText('Address that answers go to.', EMAIL),
        subject: maybeText('Subject of the mail.', { maxLength: 255 }),
        bodyText: maybeText('Text the code is put into.', { maxLength: 2000 }),
      }),
    ),
    sms: maybe(
      object('CardTokenization2FASmsConfig', 'Codes by text message.', {
        templateSid: maybeText('Template at the provider of text messages.', { maxLength: 64 }),
        bodyText: maybeText('Text the code is put into.', { maxLength: 480 }),
      }),
    ),
  },
);

export const FixedFee = object(
  'FixedFee',
  'The part of a fee that does not depend on the amount.',
  {
    amount: Amount,
    currency: text('Must be the currency that the fee is taken in.'),
  },
);

const FeeConfig = object(
  'FeeConfig',
  'A standing fee of the platform, found by its type and source currency.',
  {
    feeType: named(
      'FeeType',
      oneOf(['CROSS_CURRENCY_TRANSACTION'], { description: 'Which payments a fee is taken from.' }),
    ),
    sourceCurrency: text('Currency that payments start in.'),
    variableFeeBps: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'Part of the amount, in hundredths of a percent.',
    }),
    fixedFee: FixedFee,
  },
);

const feeConfigs = (description: string) => maybe(Type.Array(FeeConfig, { description }));

export const PlatformConfig = object('PlatformConfig', 'How a platform is set up.', {
  id: text('Id of the platform.', { readOnly: true }),
  umaDomain: text('Domain of the UMA addresses of its customers.'),
  proxyUmaSubdomain: text(
    'Given by the server: where the well-known UMA paths of the domain are to be proxied.',
  ),
  webhookEndpoint: maybeText('Where webhooks are sent.'),
  supportedCurrencies: Type.Array(PlatformCurrencyConfig, {
    description: 'Currencies that are switched on.',
  }),
  isRegulatedFinancialInstitution: Type.Boolean({
    description: 'Whether the platform does its own compliance. Set by the operator.',
  }),
  embeddedWalletConfig: maybe(EmbeddedWalletConfig),
  cardTokenization2faConfig: maybe(CardTokenization2FAConfig),
  feeConfigs: feeConfigs('Fees in force.'),
  createdAt: described({ ...Timestamp, readOnly: true }, 'When the platform was created.'),
  updatedAt: described({ ...Timestamp, readOnly: true }, 'When it was last changed.'),
});

export const PlatformConfigUpdateRequest = object(
  'PlatformConfigUpdateRequest',
  'What is to change; everything left out stays as it is.',
  {
    umaDomain: maybeText('Domain of the UMA addresses of customers created from now on.', {
      minLength: 1,
      maxLength: 253,
    }),
    webhookEndpoint: maybeText(
      'Where webhooks are to be sent. A test webhook goes there at once. Sandbox platforms may name ' +
        'a plain http address on the machine of the server.',
      { minLength: 1, maxLength: 2048, format: 'uri' },
    ),
    supportedCurrencies: maybe(
      Type.Array(PlatformCurrencyConfig, {
        maxItems: 200,
        description: 'The whole list, in place of the one there is.',
      }),
    ),
    embeddedWalletConfig: maybe(EmbeddedWalletConfig),
    cardTokenization2faConfig: maybe(CardTokenization2FAConfig),
    feeConfigs: feeConfigs(
      'Fees to set. One with both parts zero is switched off; fees not named stay.',
    ),
  },
);

export const getPlatformConfig = operation({
  operationId: 'getPlatformConfig',
  method: 'GET',
  path: '/config',
  tag: TAG,
  summary: 'Show the configuration',
  description: 'The configuration of the platform that the credentials belong to.',
  permission: 'VIEW',
  replies: { 200: PlatformConfig },
  errors: [],
});

export const updatePlatformConfig = operation({
  operationId: 'updatePlatformConfig',
  method: 'PATCH',
  path: '/config',
  tag: TAG,
  summary: 'Change the configuration',
  description:
    'Changes what the body names, at once. Settings of wallets and cards are merged field by field; ' +
    'the list of currencies is replaced; fees are set one by one.',
  permission: 'MANAGE',
  body: PlatformConfigUpdateRequest,
  maxBody: { bytes: 262_144, reason: 'the list of up to 200 currencies is sent as a whole' },
  replies: { 200: PlatformConfig },
  errors: ['NOT_IMPLEMENTED'],
});

/** Sent to an endpoint when it is set or changed, and on request. */
export const testEvent = defineEvent('TEST', Type.Object({}, { description: 'Always empty.' }));
