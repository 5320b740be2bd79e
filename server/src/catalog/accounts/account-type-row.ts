// Type of a row of the account-type table, and builders for the common kinds of row. The kinds are
// bank account, bank account or mobile wallet, mobile wallet, and blockchain wallet. The builders
// contain no data about countries or currencies.
import type { TSchema } from '@sinclair/typebox';
import type { AddressKind } from '../crypto/addresses.ts';
import type { PaymentRail } from '../rails/rails.ts';
import { addressRule, custodianRule, lightningRule, type Rule } from './account-rules.ts';
import { address, type Field, lightningDestination, optional, phone, provider } from './fields.ts';

/** A set of fields that is sufficient to pay into an account. */
export interface PaymentPath {
  /** Field with the main identifier of the account. The sandbox reads its suffix. */
  readonly primaryField: string;
  /** Fields that the path requires. Those that identify the account form its duplicate key. */
  readonly requiredFields: readonly string[];
  /** Rails that can pay by this path. */
  readonly rails: readonly PaymentRail[];
  /** Field whose value selects one of the rails. */
  readonly railField?: string;
}

export interface AccountTypeRow {
  readonly kind: 'bank' | 'mobile' | 'wallet' | 'lightning';
  /** Currencies of the account. An empty list allows every fiat currency. */
  readonly currencies: readonly string[];
  /** Country of the accounts, if all are in one country. */
  readonly country?: string;
  readonly rails: readonly PaymentRail[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly paths: readonly PaymentPath[];
  /** Required fields and additional fields of an individual beneficiary. */
  readonly individual?: {
    readonly required?: readonly string[];
    readonly extra?: Readonly<Record<string, TSchema>>;
  };
  /** Rail that can debit the account. */
  readonly debitRail?: PaymentRail;
  /** Network of a wallet, as in `network` of a transaction. */
  readonly network?: string;
  /** Address format of a wallet. */
  readonly addressKind?: AddressKind;
  /** Validation of several fields, address formats and directories. */
  readonly rules?: readonly Rule[];
}

export type Fields = Record<string, Field>;
export type RowOptions = Pick<AccountTypeRow, 'individual' | 'debitRail' | 'rules'>;

/** A payment path with its primary field and its other required fields. */
export const pathBy = (
  primaryField: string,
  ...otherFields: string[]
): Omit<PaymentPath, 'rails'> => ({
  primaryField,
  requiredFields: [primaryField, ...otherFields],
});

/** A bank account with one payment path. */
export function bankRow(
  currency: string,
  country: string | undefined,
  rails: readonly PaymentRail[],
  fields: Fields,
  path: Omit<PaymentPath, 'rails'>,
  options: RowOptions = {},
): AccountTypeRow {
  const currencies = currency === '*' ? [] : [currency];
  return {
    kind: 'bank',
    currencies,
    ...(country ? { country } : {}),
    rails,
    fields,
    paths: [{ ...path, rails }],
    ...options,
  };
}

/** A bank account or a mobile wallet. The last path is the mobile wallet. */
export function bankOrMobileRow(
  currency: string,
  country: string,
  fields: Fields,
  paths: readonly Omit<PaymentPath, 'rails'>[],
  options: RowOptions = {},
): AccountTypeRow {
  const lastIndex = paths.length - 1;
  return {
    kind: 'bank',
    currencies: [currency],
    country,
    rails: ['BANK_TRANSFER', 'MOBILE_MONEY'],
    fields: { ...fields, phoneNumber: optional(phone()) },
    paths: paths.map((path, index) => ({
      ...path,
      rails: index === lastIndex ? ['MOBILE_MONEY'] : ['BANK_TRANSFER'],
    })),
    ...options,
  };
}

/** A mobile wallet: a phone number and, for most currencies, the mobile money operator. */
export function mobileRow(
  currency: string,
  country: string | undefined,
  phoneNumber = phone(),
  otherFields: Fields = { provider },
): AccountTypeRow {
  const path = pathBy('phoneNumber', ...Object.keys(otherFields));
  const rails = ['MOBILE_MONEY'] as const;
  const row = bankRow(currency, country, rails, { phoneNumber, ...otherFields }, path);
  return { ...row, kind: 'mobile' };
}

const trim = (text: string) => text.trim();
const lowerCase = (text: string) => text.trim().toLowerCase();

/** Normalization of an address. Of Bitcoin addresses, only SegWit ones are case-insensitive. */
const NORMALIZE: Record<AddressKind, (text: string) => string> = {
  evm: lowerCase,
  spark: lowerCase,
  solana: trim,
  tron: trim,
  bitcoin: (text) => (/^\s*(?:bc|tb|bcrt)1/i.test(text) ? lowerCase(text) : trim(text)),
};

export function walletRow(
  kind: AddressKind,
  chain: string,
  currencies: readonly string[],
  network?: string,
): AccountTypeRow {
  return {
    kind: 'wallet',
    addressKind: kind,
    currencies,
    rails: [],
    fields: { address: address(`Wallet address on ${chain}.`, NORMALIZE[kind]) },
    paths: [{ ...pathBy('address'), rails: [] }],
    rules: [addressRule(kind), custodianRule],
    ...(network ? { network } : {}),
  };
}

export const lightningRow: AccountTypeRow = {
  kind: 'lightning',
  currencies: ['BTC'],
  rails: [],
  fields: {
    invoice: lightningDestination('BOLT 11 invoice. It can be paid once.', 4096),
    bolt12: lightningDestination('BOLT 12 offer. It can be paid repeatedly.', 4096),
    lightningAddress: lightningDestination('Lightning address, `user@domain`.', 320),
  },
  paths: ['invoice', 'bolt12', 'lightningAddress'].map((name) => ({ ...pathBy(name), rails: [] })),
  rules: [lightningRule],
};
