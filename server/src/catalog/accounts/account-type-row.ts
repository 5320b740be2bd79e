// What a row of the account-type table is, and the few shapes nearly all rows have: a bank account,
// a bank account or a mobile wallet, a mobile wallet, a wallet on a chain. The builders keep the
// table readable; they hold no facts of their own.
import type { TSchema } from '@sinclair/typebox';
import type { AddressKind } from '../crypto/addresses.ts';
import type { PaymentRail } from '../rails/rails.ts';
import { addressRule, custodianRule, lightningRule, type Rule } from './account-rules.ts';
import { address, type Field, lightning, opt, phone, provider } from './fields.ts';

/** One way to pay into an account. */
export interface Path {
  /** The field people know the account by; the sandbox reads its ending. */
  readonly primary: string;
  /** Required fields; the identifying ones distinguish accounts. */
  readonly needs: readonly string[];
  /** Rails this way opens. */
  readonly rails: readonly PaymentRail[];
  /** A field whose value names the one rail of this way. */
  readonly railField?: string;
}

export interface AccountTypeRow {
  readonly kind: 'bank' | 'mobile' | 'wallet' | 'lightning';
  /** Currencies it can be opened in; empty means any state's money. */
  readonly currencies: readonly string[];
  /** Where such accounts are, when that is one country. */
  readonly country?: string;
  readonly rails: readonly PaymentRail[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly paths: readonly Path[];
  /** What a person as beneficiary must or may have beyond the usual. */
  readonly individual?: {
    readonly required?: readonly string[];
    readonly extra?: Readonly<Record<string, TSchema>>;
  };
  /** The rail that can pull money from it. */
  readonly pull?: PaymentRail;
  /** The chain of a wallet, as transactions on it are labelled. */
  readonly network?: string;
  /** The kind of address of a wallet. */
  readonly addressKind?: AddressKind;
  /** What must hold beyond the fields. */
  readonly rules?: readonly Rule[];
}

export type Fields = Record<string, Field>;
export type Extras = Pick<AccountTypeRow, 'individual' | 'pull' | 'rules'>;

/** A way by `primary` and what else it needs. */
export const by = (primary: string, ...others: string[]): Omit<Path, 'rails'> => ({
  primary,
  needs: [primary, ...others],
});

/** A bank account with one way to pay. */
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

/** A bank account or a mobile wallet: the first paths are bank ones, the last is by telephone. */
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

/** A mobile wallet: a telephone number, usually with the operator. */
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

/** Where capitals mean nothing; in Bitcoin that depends on the form of the address. */
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
