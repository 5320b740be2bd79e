// The row of an account type, and builders of the common forms: a bank account, a mobile wallet,
// either of both, a wallet on a chain. Builders contain no data of their own.
import type { TSchema } from '@sinclair/typebox';
import type { AddressKind } from '../crypto/addresses.ts';
import type { PaymentRail } from '../rails/rails.ts';
import { addressRule, custodianRule, lightningRule, type Rule } from './account-rules.ts';
import { address, type Field, lightning, opt, phone, provider } from './fields.ts';

/** A payment path: fields that together suffice to pay an account. */
export interface Path {
  /** The identifier for display; its suffix selects the sandbox outcome. */
  readonly primary: string;
  /** Required fields; the identifying ones distinguish accounts. */
  readonly needs: readonly string[];
  /** Rails of this path. */
  readonly rails: readonly PaymentRail[];
  /** The field that names the only rail of this path. */
  readonly railField?: string;
}

export interface AccountTypeRow {
  readonly kind: 'bank' | 'mobile' | 'wallet' | 'lightning';
  /** Supported currencies; empty means any fiat currency. */
  readonly currencies: readonly string[];
  /** The country of all such accounts, if there is only one. */
  readonly country?: string;
  readonly rails: readonly PaymentRail[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly paths: readonly Path[];
  /** Additional fields of an individual as beneficiary. */
  readonly individual?: {
    readonly required?: readonly string[];
    readonly extra?: Readonly<Record<string, TSchema>>;
  };
  /** The rail that can debit it. */
  readonly pull?: PaymentRail;
  /** The chain of a wallet, as named in transactions. */
  readonly network?: string;
  /** The address format of a wallet. */
  readonly addressKind?: AddressKind;
  /** Rules that involve several fields. */
  readonly rules?: readonly Rule[];
}

export type Fields = Record<string, Field>;
export type Extras = Pick<AccountTypeRow, 'individual' | 'pull' | 'rules'>;

/** A path with this primary field and the others that it needs. */
export const by = (primary: string, ...others: string[]): Omit<Path, 'rails'> => ({
  primary,
  needs: [primary, ...others],
});

/** A bank account with one payment path. */
export function bank(
  currency: string,
  where: string | undefined,
  rails: readonly PaymentRail[],
  fields: Fields,
  path: Omit<Path, 'rails'>,
  extras: Extras = {},
): AccountTypeRow {
  const currencies = currency === '*' ? [] : [currency];
  const place = where ? { country: where } : {};
  return {
    kind: 'bank',
    currencies,
    ...place,
    rails,
    fields,
    paths: [{ ...path, rails }],
    ...extras,
  };
}

/** A bank account or a mobile wallet: bank paths first, then the one by telephone number. */
export function bankOrMobile(
  currency: string,
  where: string,
  fields: Fields,
  paths: readonly Omit<Path, 'rails'>[],
  extras: Extras = {},
): AccountTypeRow {
  const last = paths.length - 1;
  return {
    kind: 'bank',
    currencies: [currency],
    country: where,
    rails: ['BANK_TRANSFER', 'MOBILE_MONEY'],
    fields: { ...fields, phoneNumber: opt(phone()) },
    paths: paths.map((path, at) => ({
      ...path,
      rails: at === last ? ['MOBILE_MONEY'] : ['BANK_TRANSFER'],
    })),
    ...extras,
  };
}

/** A mobile wallet: a telephone number, usually with the operator's name. */
export function mobile(
  currency: string,
  where: string | undefined,
  number = phone(),
  more: Fields = { provider },
): AccountTypeRow {
  const path = by('phoneNumber', ...Object.keys(more));
  const rails = ['MOBILE_MONEY'] as const;
  const row = bank(currency, where, rails, { phoneNumber: number, ...more }, path);
  return { ...row, kind: 'mobile' };
}

const exactly = (text: string) => text.trim();
const anyCase = (text: string) => text.trim().toLowerCase();

/** Address formats that ignore case; for Bitcoin this depends on the form of the address. */
const ONE_SPELLING: Record<AddressKind, (text: string) => string> = {
  evm: anyCase,
  spark: anyCase,
  solana: exactly,
  tron: exactly,
  bitcoin: (text) => (/^\s*(?:bc|tb|bcrt)1/i.test(text) ? anyCase(text) : exactly(text)),
};

export function wallet(
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
    fields: { address: address(`Wallet address on ${chain}.`, ONE_SPELLING[kind]) },
    paths: [{ ...by('address'), rails: [] }],
    rules: [addressRule(kind), custodianRule],
    ...(network ? { network } : {}),
  };
}

export const lightningRow: AccountTypeRow = {
  kind: 'lightning',
  currencies: ['BTC'],
  rails: [],
  fields: {
    invoice: lightning('BOLT 11 invoice. It can be paid once.', 4096),
    bolt12: lightning('BOLT 12 offer. It can be paid repeatedly.', 4096),
    lightningAddress: lightning('Lightning address, `user@domain`.', 320),
  },
  paths: ['invoice', 'bolt12', 'lightningAddress'].map((name) => ({ ...by(name), rails: [] })),
  rules: [lightningRule],
};
