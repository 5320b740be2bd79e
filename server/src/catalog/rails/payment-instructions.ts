// Where money can be sent so that it arrives on one of our accounts: bank coordinates, a wallet
// address, an invoice, a code to scan. Most forms are the fields of the external account of that
// currency with rails and a reference added, so they are derived from the same rows; the few that
// are not are written out.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { named, oneOf, variant } from '../../kernel/schema.ts';
import { fieldProperties, pascal, railsProperty, typeTitle } from '../accounts/account-schemas.ts';
import { ACCOUNT_TYPE_ROWS, type AccountType } from '../accounts/account-types.ts';

const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });
const optional = Type.Optional;
type Properties = Record<string, TSchema>;

const reference = text('Payers put this on the payment, exactly as it is.');
const accountHolderName = text('Name the account is in.', { minLength: 1, maxLength: 255 });
const bankName = text('Bank that holds the account.', { minLength: 1, maxLength: 255 });
const bankAddress = (maxLength: number) =>
  optional(text('Address of the bank, on one line.', { minLength: 1, maxLength }));

/** What a currency's form has instead of the usual required reference. */
const BESIDE: Readonly<Partial<Record<AccountType, Properties>>> = {
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

const address = text('Address to send to.');

/** Forms with fields of their own. */
const OWN: Readonly<Record<string, { title: string; properties: Properties }>> = {
  BRL_ACCOUNT: {
    title: 'PIX code',
    properties: { qrCode: text('PIX payload, to show as a code or to paste.', { minLength: 1 }) },
  },
  COP_ACCOUNT: {
    title: 'Payment page, Colombia',
    properties: { paymentUrl: text('Page on which the payer pays.', { format: 'uri' }) },
  },
  ARS_ACCOUNT: {
    title: 'CVU, Argentina',
    properties: {
      accountNumber: text('CVU: twenty-two digits.', {
        minLength: 22,
        maxLength: 22,
        pattern: '^\\d{22}$',
      }),
    },
  },
  SPARK_WALLET: {
    title: 'Spark wallet',
    properties: {
      address,
      assetType: text('BTC, or the code of a token.'),
      invoice: optional(text('Spark invoice over the exact amount.')),
    },
  },
  LIGHTNING: {
    title: 'Lightning invoice',
    properties: { invoice: text('BOLT 11 invoice, good for one payment.') },
  },
  BITCOIN_L1: {
    title: 'Bitcoin address',
    properties: { address, network: optional(oneOf(['BITCOIN'])) },
  },
  EMBEDDED_WALLET: {
    title: 'Embedded wallet',
    properties: { payloadToSign: text('Text to stamp with the wallet session, byte for byte.') },
  },
};

/** Bank accounts without a way to pay in, and a chain money is not collected on. */
const NO_PAY_IN: ReadonlySet<string> = new Set([
  'ILS_ACCOUNT',
  'TRY_ACCOUNT',
  'ARBITRUM_WALLET',
  'LIGHTNING_ACCOUNT',
]);

const derivedTypes = (Object.keys(ACCOUNT_TYPE_ROWS) as AccountType[]).filter(
  (type) => !NO_PAY_IN.has(type) && !Object.hasOwn(OWN, type),
);

export const PAY_IN_TYPES: readonly string[] = [...derivedTypes, ...Object.keys(OWN)];

function derived(type: AccountType) {
  const row = ACCOUNT_TYPE_ROWS[type];
  const fields = fieldProperties(row);
  const properties =
    row.kind === 'wallet'
      ? { ...fields, assetType: optional(oneOf(row.currencies)) }
      : { ...fields, paymentRails: railsProperty(row), ...(BESIDE[type] ?? { reference }) };
  return Type.Object(properties, { title: typeTitle(type, row) });
}

const PaymentAccountType = named(
  'PaymentAccountType',
  oneOf(PAY_IN_TYPES, { description: 'Form of a place money can be sent to.' }),
);

/** Where to pay, as the API shows it. */
export interface PaymentAccountInfo {
  accountType: string;
  [field: string]: unknown;
}

const branches = Object.fromEntries([
  ...derivedTypes.map((type) => [type, named(`${pascal(type)}PayIn`, derived(type))]),
  ...Object.entries(OWN).map(([type, { title, properties }]) => [
    type,
    named(`${pascal(type)}PayIn`, Type.Object(properties, { title })),
  ]),
]) as Record<string, TSchema>;

/** Whether payers put a reference on money that they send to a form. */
export const takesReference = (form: string): boolean =>
  'reference' in (branches[form]?.properties ?? {});

export const PaymentInstructions = named(
  'PaymentInstructions',
  Type.Object(
    {
      instructionsNotes: optional(text('What a payer should know, in a sentence or two.')),
      isPlatformAccount: optional(
        Type.Boolean({ description: 'Whether the account belongs to the platform.' }),
      ),
      accountOrWalletInfo: Type.Unsafe<PaymentAccountInfo>(
        named(
          'PaymentAccountInfo',
          variant('accountType', branches, {
            tagType: PaymentAccountType,
            description: 'Where to pay. `accountType` decides which fields apply.',
          }),
        ),
      ),
    },
    { title: 'Payment instructions', description: 'One way to send money to an account or quote.' },
  ),
);
export type PaymentInstructions = Static<typeof PaymentInstructions>;

/** Which forms collect a currency, best first; a currency that is not here cannot be paid in. */
const PAY_IN: Readonly<Record<string, readonly string[]>> = {
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

export const payInForms = (currency: string): readonly string[] => PAY_IN[currency] ?? [];
