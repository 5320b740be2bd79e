// Payment instructions for funding an account or a quote, such as bank details, a wallet address,
// an invoice or a QR code. Most pay-in types are derived from the row of an external account type.
// Those for fiat currencies also have rails and, except for INR, a reference. The other pay-in
// types are defined in this file.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { named, oneOf, text, variant } from '../../kernel/schema.ts';
import { payInDescription, toPascalCase, typeTitle } from '../accounts/account-descriptions.ts';
import { fieldProperties, railsProperty } from '../accounts/account-schemas.ts';
import { ACCOUNT_TYPE_ROWS, type AccountType } from '../accounts/account-types.ts';

const optional = Type.Optional;
type Properties = Record<string, TSchema>;

const reference = text('Payment reference. The payer must include it unchanged.');
const accountHolderName = text('Name of the account holder.', { minLength: 1, maxLength: 255 });
const bankName = text('Name of the bank.', { minLength: 1, maxLength: 255 });
const bankAddress = (maxLength: number) =>
  optional(text('Address of the bank in one line.', { minLength: 1, maxLength }));

/** Properties in addition to the fields of the account type. Default: a required reference. */
const ADDED_PROPERTIES: Readonly<Partial<Record<AccountType, Properties>>> = {
  USD_ACCOUNT: {
    reference,
    accountHolderName: optional(accountHolderName),
    bankAddress: bankAddress(255),
  },
  EUR_ACCOUNT: {
    reference,
    accountHolderName: optional(accountHolderName),
    bankName: optional(bankName),
  },
  GBP_ACCOUNT: { reference, accountHolderName: optional(accountHolderName) },
  MXN_ACCOUNT: { reference, accountHolderName: optional(accountHolderName) },
  INR_ACCOUNT: {},
  SWIFT_ACCOUNT: {
    accountHolderName,
    bankAddress: bankAddress(1024),
    reference: optional(reference),
  },
};

const address = text('Address to which the funds are sent.');

interface CustomType {
  title: string;
  description: string;
  properties: Properties;
}

/** Pay-in types that are not derived from an account type. */
const CUSTOM_TYPES: Readonly<Record<string, CustomType>> = {
  BRL_ACCOUNT: {
    title: 'PIX code',
    description: 'PIX payload with which the payer pays in Brazilian Real.',
    properties: {
      qrCode: text('PIX payload, for a QR code or as copyable text.', { minLength: 1 }),
    },
  },
  COP_ACCOUNT: {
    title: 'Payment page, Colombia',
    description: 'Web page on which the payer pays in Colombian Peso.',
    properties: {
      paymentUrl: text('Page on which the payer completes the payment.', { format: 'uri' }),
    },
  },
  ARS_ACCOUNT: {
    title: 'CVU, Argentina',
    description: 'CVU (virtual account number) to which the payer sends Argentine Peso.',
    properties: {
      accountNumber: text('CVU, 22 digits.', {
        minLength: 22,
        maxLength: 22,
        pattern: '^\\d{22}$',
      }),
    },
  },
  SPARK_WALLET: {
    title: 'Spark wallet',
    description: 'Address on Spark to which the payer sends BTC or a token.',
    properties: {
      address,
      assetType: text('Asset to send: BTC or a token code.'),
      invoice: optional(text('Spark invoice for the exact amount.')),
    },
  },
  LIGHTNING: {
    title: 'Lightning invoice',
    description: 'Invoice with which the payer sends BTC over the Lightning network.',
    properties: { invoice: text('BOLT 11 invoice. It can be paid once.') },
  },
  BITCOIN_L1: {
    title: 'Bitcoin address',
    description: 'Address to which the payer sends BTC in a transaction on the Bitcoin blockchain.',
    properties: {
      address,
      network: optional(oneOf(['BITCOIN'], { description: 'Network of the address.' })),
    },
  },
  EMBEDDED_WALLET: {
    title: 'Embedded wallet',
    description: 'Payload that the holder of an embedded wallet signs to pay from the wallet.',
    properties: {
      payloadToSign: text('Payload to sign with the session key of the wallet, byte for byte.'),
    },
  },
};

/** Account types without a pay-in type of the same name. */
const NO_PAY_IN: ReadonlySet<string> = new Set([
  'ILS_ACCOUNT',
  'TRY_ACCOUNT',
  'ARBITRUM_WALLET',
  'LIGHTNING_ACCOUNT',
]);

const derivedTypes = (Object.keys(ACCOUNT_TYPE_ROWS) as AccountType[]).filter(
  (type) => !NO_PAY_IN.has(type) && !Object.hasOwn(CUSTOM_TYPES, type),
);

export const PAY_IN_TYPES: readonly string[] = [...derivedTypes, ...Object.keys(CUSTOM_TYPES)];

function derivedSchema(type: AccountType) {
  const row = ACCOUNT_TYPE_ROWS[type];
  const fields = fieldProperties(row);
  const properties: Properties =
    row.kind === 'wallet'
      ? { ...fields, assetType: optional(oneOf(row.currencies, { description: 'Asset to send.' })) }
      : {
          ...fields,
          paymentRails: railsProperty(row),
          ...(ADDED_PROPERTIES[type] ?? { reference }),
        };
  return Type.Object(properties, {
    title: typeTitle(type, row),
    description: payInDescription(type, row, properties.reference === reference),
  });
}

const PaymentAccountType = named(
  'PaymentAccountType',
  oneOf(PAY_IN_TYPES, { description: 'Type of the account or address. It determines the fields.' }),
);

/** Account or address for a payment, as returned by the API. */
export interface PaymentAccountInfo {
  accountType: string;
  [field: string]: unknown;
}

const branches = Object.fromEntries([
  ...derivedTypes.map((type) => [type, named(`${toPascalCase(type)}PayIn`, derivedSchema(type))]),
  ...Object.entries(CUSTOM_TYPES).map(([type, { properties, ...texts }]) => [
    type,
    named(`${toPascalCase(type)}PayIn`, Type.Object(properties, texts)),
  ]),
]) as Record<string, TSchema>;

/** Whether a pay-in type has a payment reference. */
export const hasReference = (payInType: string): boolean =>
  'reference' in (branches[payInType]?.properties ?? {});

export const PaymentInstructions = named(
  'PaymentInstructions',
  Type.Object(
    {
      instructionsNotes: optional(text('Notes for the payer. Absent if there are none.')),
      isPlatformAccount: optional(
        Type.Boolean({ description: 'Whether the account belongs to the platform.' }),
      ),
      accountOrWalletInfo: Type.Unsafe<PaymentAccountInfo>(
        named(
          'PaymentAccountInfo',
          variant('accountType', branches, {
            tagType: PaymentAccountType,
            description: 'Account or address for the payment. `accountType` determines the fields.',
          }),
        ),
      ),
    },
    {
      title: 'Payment instructions',
      description: 'Account details for funding an account or a quote.',
    },
  ),
);
export type PaymentInstructions = Static<typeof PaymentInstructions>;

/** Pay-in types per currency, preferred first. `REALTIME_FIAT` has further fiat currencies. */
const PAY_IN_TYPES_BY_CURRENCY: Readonly<Record<string, readonly string[]>> = {
  USD: ['USD_ACCOUNT'],
  EUR: ['EUR_ACCOUNT'],
  GBP: ['GBP_ACCOUNT'],
  MXN: ['MXN_ACCOUNT'],
  BRL: ['BRL_ACCOUNT'],
  BTC: ['SPARK_WALLET', 'LIGHTNING', 'BITCOIN_L1'],
  USDC: ['SOLANA_WALLET', 'BASE_WALLET', 'POLYGON_WALLET', 'ETHEREUM_WALLET'],
  USDT: ['TRON_WALLET', 'ETHEREUM_WALLET', 'SOLANA_WALLET', 'PLASMA_WALLET'],
  USDB: ['SPARK_WALLET'],
};

export const payInTypesOf = (currency: string): readonly string[] =>
  PAY_IN_TYPES_BY_CURRENCY[currency] ?? [];
