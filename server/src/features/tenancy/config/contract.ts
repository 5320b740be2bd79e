// Contracts and schemas of the platform configuration.
import { type TProperties, Type } from '@sinclair/typebox';
import {
  COUNTERPARTY_FIELDS,
  CounterpartyFieldDefinition,
} from '../../../catalog/accounts/field-names.ts';
import { defineEvent } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { Amount, named, oneOf, Timestamp, text, withDescription } from '../../../kernel/schema.ts';

const TAG = 'Platform Configuration';

const optional = Type.Optional;
const maybeText = (description: string, overrides: Record<string, unknown> = {}) =>
  optional(text(description, overrides));

const object = <P extends TProperties>(name: string, description: string, properties: P) =>
  named(name, Type.Object(properties, { description }));

const EMAIL = { format: 'email', maxLength: 255 };

const fieldNamesSchema = (description: string) =>
  optional(Type.Array(oneOf(COUNTERPARTY_FIELDS), { description, readOnly: true }));

const PlatformCurrencyConfig = object(
  'PlatformCurrencyConfig',
  'A currency that customers of the platform can hold, send and receive, with its limits ' +
    'and the counterparty data that the platform requires.',
  {
    currencyCode: text(
      'ISO 4217 currency code, or the ticker of a digital asset, such as `USD` or `USDC`.',
    ),
    minAmount: withDescription(
      Amount,
      'Smallest amount of one payment, in minor units of this currency.',
    ),
    maxAmount: withDescription(
      Amount,
      'Largest amount of one payment, in minor units of this currency. Not less than ' +
        '`minAmount`.',
    ),
    requiredCounterpartyFields: Type.Array(CounterpartyFieldDefinition, {
      description:
        'Data about the counterparty that the platform requires for payments in this ' +
        'currency. Each field is listed at most once.',
    }),
    enabledTransactionTypes: Type.Array(oneOf(['INCOMING', 'OUTGOING']), {
      description:
        'Payment directions that are enabled in this currency: INCOMING, OUTGOING, both, ' +
        'or none.',
    }),
    providerRequiredCustomerFields: fieldNamesSchema(
      'Customer fields that the payment provider of this currency requires from ' +
        'customers of the platform. Absent if it requires none. Set by the server.',
    ),
    providerRequiredCounterpartyCustomerFields: fieldNamesSchema(
      'Customer fields that the payment provider of this currency requires about the ' +
        'counterparty. Absent if it requires none. Set by the server.',
    ),
  },
);

export const EmbeddedWalletConfig = object(
  'EmbeddedWalletConfig',
  'Format and lifetime of the one-time codes for embedded wallets, and the branding of the ' +
    'e-mails that contain them.',
  {
    appName: maybeText(
      'Name of the app, shown in the message. Defaults to the name of the platform.',
      { maxLength: 255 },
    ),
    otpLength: optional(
      Type.Integer({
        minimum: 4,
        maximum: 12,
        description: 'Length of a code in characters, 4 to 12. Defaults to 6.',
      }),
    ),
    alphanumeric: optional(
      Type.Boolean({
        description: 'Whether codes contain letters in addition to digits. Defaults to false.',
      }),
    ),
    expirationSeconds: optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description: 'Lifetime of a code in seconds, 1 to 86,400. Defaults to 300.',
      }),
    ),
    sendFromEmailAddress: maybeText(
      'Stored without effect. E-mail is sent from the address of the operator.',
      EMAIL,
    ),
    sendFromEmailSenderName: maybeText(
      'Name shown as the sender of the e-mail. Defaults to `Notifications`.',
      {
        maxLength: 255,
      },
    ),
    replyToEmailAddress: maybeText(
      'Address that receives replies to the e-mail (`Reply-To`). Defaults to the sender address.',
      EMAIL,
    ),
    logoUrl: maybeText(
      'URL of the logo, a PNG of 340 by 124 pixels. Hosted pages show the logo if the URL is ' +
        'https.',
      {
        format: 'uri',
        maxLength: 512,
      },
    ),
  },
);

export const CardTokenization2FAConfig = object(
  'CardTokenization2FAConfig',
  'Branding of the card pages. `email` and `sms` configure the messages with the verification ' +
    'code for adding a card to a mobile wallet. Both are stored without effect.',
  {
    displayName: maybeText(
      'Name of the card program, shown on the page with the card details. Defaults to the name of ' +
        'the platform.',
      { maxLength: 255 },
    ),
    logoUrl: maybeText(
      'URL of the logo, https only. The page with the card details shows this logo instead of ' +
        'the logo of the embedded wallets.',
      {
        format: 'uri',
        pattern: '^https://',
        maxLength: 512,
      },
    ),
    email: optional(
      object(
        'CardTokenization2FAEmailConfig',
        'E-mails that contain the verification code. All texts are plain text.',
        {
          fromAddress: maybeText('Address from which the e-mail is sent.', EMAIL),
          fromName: maybeText('Sender name of the e-mail.', { maxLength: 255 }),
          replyToAddress: maybeText(
            'Address that receives replies to the e-mail (`Reply-To`).',
            EMAIL,
          ),
          subject: maybeText('Subject of the e-mail.', { maxLength: 255 }),
          bodyText: maybeText('Body of the e-mail, into which the code is inserted.', {
            maxLength: 2000,
          }),
        },
      ),
    ),
    sms: optional(
      object(
        'CardTokenization2FASmsConfig',
        'Text messages (SMS) that contain the verification code.',
        {
          templateSid: maybeText('ID of the template at the SMS provider.', {
            maxLength: 64,
          }),
          bodyText: maybeText('Body of the text message, into which the code is inserted.', {
            maxLength: 480,
          }),
        },
      ),
    ),
  },
);

export const FixedFee = object(
  'FixedFee',
  'The part of a fee that does not depend on the amount of the payment.',
  {
    amount: withDescription(Amount, 'Amount of the fee, in minor units of `currency`.'),
    currency: text(
      'Currency of the fee. Must equal the `sourceCurrency` of the fee configuration.',
    ),
  },
);

const FeeConfig = object(
  'FeeConfig',
  'A fee that the platform charges on payments, identified by `feeType` and `sourceCurrency`.',
  {
    feeType: named(
      'FeeType',
      oneOf(['CROSS_CURRENCY_TRANSACTION'], {
        description:
          'Payments that the fee applies to. CROSS_CURRENCY_TRANSACTION: payments whose ' +
          'source and destination currencies differ.',
      }),
    ),
    sourceCurrency: text(
      'Source currency of the payments that the fee applies to. Only USD is supported.',
    ),
    variableFeeBps: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description:
        'Variable part of the fee in basis points of the amount after fixed fees, 0 to 10,000. ' +
        '100 is 1 percent.',
    }),
    fixedFee: FixedFee,
  },
);

const feeConfigs = (description: string) => optional(Type.Array(FeeConfig, { description }));

export const PlatformConfig = object('PlatformConfig', 'Configuration of a platform.', {
  id: text('ID of the platform.', { readOnly: true }),
  umaDomain: text(
    'Domain of the UMA addresses of the customers, such as `example.com` in ' +
      '`$anna@example.com`.',
  ),
  proxyUmaSubdomain: text(
    'Subdomain to which the well-known UMA paths of `umaDomain` are to be proxied. ' +
      'Assigned by the server.',
  ),
  webhookEndpoint: maybeText(
    'URL to which webhooks are sent. Absent if none is configured. Events are then delivered ' +
      'only to the endpoints of `createWebhookEndpoint`.',
  ),
  supportedCurrencies: Type.Array(PlatformCurrencyConfig, {
    description: 'Currencies that are enabled for the platform.',
  }),
  isRegulatedFinancialInstitution: Type.Boolean({
    description:
      'Whether the platform is a regulated financial institution that performs its own ' +
      'customer verification. Set by the operator.',
  }),
  embeddedWalletConfig: optional(
    withDescription(
      EmbeddedWalletConfig,
      'Settings of the embedded wallets. Absent if no setting was changed.',
    ),
  ),
  cardTokenization2faConfig: optional(
    withDescription(
      CardTokenization2FAConfig,
      'Settings of the card pages. Absent if no setting was changed.',
    ),
  ),
  feeConfigs: feeConfigs('Fees that are in force.'),
  createdAt: withDescription(
    { ...Timestamp, readOnly: true },
    'Time at which the platform was created.',
  ),
  updatedAt: withDescription(
    { ...Timestamp, readOnly: true },
    'Time of the last change of the configuration.',
  ),
});

export const PlatformConfigUpdateRequest = object(
  'PlatformConfigUpdateRequest',
  'Fields to change. Fields that are absent keep their values.',
  {
    umaDomain: maybeText(
      'New domain of UMA addresses. The domain applies to customers that are created after the ' +
        'change. Existing addresses are unchanged.',
      {
        minLength: 1,
        maxLength: 253,
      },
    ),
    webhookEndpoint: maybeText(
      'URL that webhooks are sent to: https on a public host. A test webhook is sent to ' +
        'it immediately. Sandbox platforms can use plain http on the machine of the server, if ' +
        'the operator allows it.',
      { minLength: 1, maxLength: 2048, format: 'uri' },
    ),
    supportedCurrencies: optional(
      Type.Array(PlatformCurrencyConfig, {
        maxItems: 200,
        description:
          'Complete list of enabled currencies, which replaces the current list. At most 200.',
      }),
    ),
    embeddedWalletConfig: optional(EmbeddedWalletConfig),
    cardTokenization2faConfig: optional(CardTokenization2FAConfig),
    feeConfigs: feeConfigs(
      'Fees to set. A fee whose variable and fixed parts are both 0 is removed. Fees ' +
        'that are not listed are unchanged.',
    ),
  },
);

export const getPlatformConfig = operation({
  operationId: 'getPlatformConfig',
  method: 'GET',
  path: '/config',
  tag: TAG,
  summary: 'Get the platform configuration',
  description:
    'Returns the configuration of the platform: enabled currencies with their limits, the ' +
    'webhook endpoint, fees, and settings of embedded wallets and cards. Use ' +
    '`updatePlatformConfig` to change it.',
  permission: 'VIEW',
  replies: { 200: PlatformConfig },
  errors: [],
});

export const updatePlatformConfig = operation({
  operationId: 'updatePlatformConfig',
  method: 'PATCH',
  path: '/config',
  tag: TAG,
  summary: 'Update the platform configuration',
  description:
    'Changes the fields that the request contains. Changes take effect immediately. Settings ' +
    'of wallets and cards are merged field by field. `supportedCurrencies` is replaced ' +
    'completely. Fees that the request does not list are unchanged. Adding a currency opens ' +
    'accounts in it for the platform immediately and for existing customers in the background. ' +
    'Setting `webhookEndpoint` sends a test webhook to it. Repeat the test with ' +
    '`sendTestEvent`.',
  permission: 'MANAGE',
  body: PlatformConfigUpdateRequest,
  maxBody: { bytes: 262_144, reason: 'the complete list of up to 200 currencies is sent' },
  replies: { 200: PlatformConfig },
  errors: ['NOT_IMPLEMENTED'],
});

/** Sent to an endpoint when it is set or changed, and on request. */
export const testEvent = defineEvent(
  'TEST',
  Type.Object({}, { description: 'Data of a test event. Always empty.' }),
);
