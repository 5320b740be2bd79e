// Meaning of account details beyond their schema: whether a payment path of the type is complete,
// the rails, the identifier for display, and equality of two sets of details. All of it is derived
// from the row of the account type, so no code here names a type or a currency.
import type { FieldError } from '../../kernel/fault.ts';
import { isFiat } from '../currencies/currencies.ts';
import { isCountry } from '../identity/countries.ts';
import type { PaymentRail } from '../rails/rails.ts';
import { bankNameRule } from './account-rules.ts';
import type { AccountTypeRow, Path } from './account-type-row.ts';
import { ACCOUNT_TYPE_ROWS, canonicalType, isAccountType } from './account-types.ts';
import { bankOfBic } from './banks.ts';
import { missingByGuide } from './beneficiaries.ts';

interface ValidateOptions {
  /** Also validates check digits, checksums and directories. */
  production: boolean;
  /** Also requires beneficiary fields that banks recommend and the schema leaves optional. */
  strictBeneficiary?: boolean;
  /** Path of the details in the request; default `accountInfo`. */
  prefix?: string;
}

interface Verdict {
  /** Every invalid field, by its path in the request. */
  errors: FieldError[];
  /** The type does not support the currency, which has an error code of its own. */
  currencyMismatch: boolean;
}

/** Account details of a validated request or a stored row. */
export interface Account {
  readonly accountType: string;
  readonly [field: string]: unknown;
}

/** The row of the account type. Throws for an unknown type, which is a programming error. */
export function rowOf(info: Account): AccountTypeRow {
  if (!isAccountType(info.accountType)) throw new RangeError(`no type ${info.accountType}`);
  return ACCOUNT_TYPE_ROWS[info.accountType];
}

const has = (info: Account, name: string): boolean =>
  info[name] !== undefined && info[name] !== null && info[name] !== '';

const textOf = (info: Account, name: string): string =>
  typeof info[name] === 'string' ? info[name] : '';

/** Whether the account type supports this currency. */
export function acceptsCurrency(row: AccountTypeRow, currency: string): boolean {
  return row.currencies.length ? row.currencies.includes(currency) : isFiat(currency);
}

/** Validates details that match their schema. */
export function validateAccountInfo(
  info: Account,
  currency: string,
  options: ValidateOptions,
): Verdict {
  const { production, prefix = 'accountInfo' } = options;
  const row = rowOf(info);
  const errors = [
    ...pathErrors(info, row),
    ...(row.rules ?? []).flatMap((rule) => rule(info, production)),
    ...directoryErrors(info, row, production),
    ...(production ? checkErrors(info, row) : []),
    ...beneficiaryErrors(info, currency, options),
  ];
  return {
    errors: errors.map((error) => ({ ...error, field: `${prefix}.${error.field}` })),
    currencyMismatch: !acceptsCurrency(row, currency),
  };
}

const completePaths = (info: Account, row: AccountTypeRow): readonly Path[] =>
  row.paths.filter((path) => path.needs.every((name) => has(info, name)));

/** Errors if no payment path is complete: the missing fields of the one begun, or of every path. */
function pathErrors(info: Account, row: AccountTypeRow): FieldError[] {
  // Lightning has a rule of its own; every other type has at least one path.
  if (row.kind === 'lightning' || completePaths(info, row).length) return [];
  const begun = row.paths.filter((path) => has(info, path.primary));
  const ways = begun.length ? begun : [row.paths[0] as Path];
  const others = row.paths.filter((path) => !ways.includes(path)).map((path) => path.primary);
  const unless = others.length ? ` unless ${others.join(' or ')} is present` : '';
  return ways.flatMap((path) =>
    path.needs
      .filter((name) => !has(info, name))
      .map((name) => ({ field: name, message: `is required${unless}` })),
  );
}

function checkErrors(info: Account, row: AccountTypeRow): FieldError[] {
  return Object.entries(row.fields).flatMap(([name, { check }]) =>
    check && has(info, name) && !check.holds(textOf(info, name))
      ? [{ field: name, message: check.message }]
      : [],
  );
}

function directoryErrors(info: Account, row: AccountTypeRow, production: boolean) {
  const [currency] = row.currencies;
  if (!row.country || !currency || !row.fields.bankName) return [];
  return bankNameRule(row.country, currency)(info, production);
}

function beneficiaryErrors(info: Account, currency: string, options: ValidateOptions) {
  const owner = info.beneficiary as Record<string, unknown> | undefined;
  if (!owner) return [];
  const unknown = ['countryOfResidence', 'nationality'].filter((name) => {
    const value = owner[name];
    return typeof value === 'string' && !isCountry(value);
  });
  const missing =
    options.strictBeneficiary && rowOf(info).kind !== 'wallet'
      ? missingByGuide(owner, currency)
      : [];
  return [
    ...unknown.map((name) => ({
      field: `beneficiary.${name}`,
      message: 'must be an ISO 3166-1 alpha-2 country code',
    })),
    ...missing.map((name) => ({ field: `beneficiary.${name}`, message: 'is required' })),
  ];
}

/** The first payment path that the details complete. */
const pathOf = (info: Account): Path | undefined => {
  const row = rowOf(info);
  return completePaths(info, row)[0] ?? row.paths.find((path) => has(info, path.primary));
};

/** The rails that the details open, in the order of the type's row; none for wallets. */
export function railsOf(info: Account): PaymentRail[] {
  const row = rowOf(info);
  const open = new Set(
    completePaths(info, row).flatMap((path) => {
      const chosen = path.railField ? textOf(info, path.railField) : '';
      const narrowed = path.rails.filter((rail) => rail === chosen);
      return narrowed.length ? narrowed : [...path.rails];
    }),
  );
  return row.rails.filter((rail) => open.has(rail));
}

/** The identifier for display: account number, IBAN, telephone number, address. */
export function primaryIdentifierOf(info: Account): string {
  const path = pathOf(info);
  return path ? textOf(info, path.primary) : '';
}

/**
 * The three characters that select the sandbox outcome: the last three letters or digits of the
 * primary identifier, before the `@` if it has a domain.
 */
export function sandboxSuffixOf(info: Account): string {
  const identifier = primaryIdentifierOf(info);
  const at = identifier.lastIndexOf('@');
  const user = at > 0 ? identifier.slice(0, at) : identifier;
  return user.replace(/[^0-9A-Za-z]/g, '').slice(-3);
}

/**
 * Canonical text of an account: equal for two sets of details of the same account and currency in
 * any spelling. The beneficiary is not part of it.
 */
export function duplicateKeyOf(info: Account, currency: string): string {
  const row = rowOf(info);
  const names = (pathOf(info)?.needs ?? []).filter((name) => row.fields[name]?.identifies);
  const parts = names.map((name) => {
    const value = textOf(info, name);
    return `${name}=${row.fields[name]?.normalise(value) ?? value}`;
  });
  return [currency, canonicalType(info.accountType), ...parts.sort()].join('|');
}

/** Short form for lists and messages: `****6789`, `0x5aAe…eAed`, `a***@upi`. */
export function displayIdentifier(info: Account): string {
  const identifier = primaryIdentifierOf(info);
  const { kind } = rowOf(info);
  const at = identifier.lastIndexOf('@');
  if (at > 0) return `${identifier.slice(0, 1)}***${identifier.slice(at)}`;
  if (kind === 'wallet' || kind === 'lightning') {
    return identifier.length > 12
      ? `${identifier.slice(0, 6)}…${identifier.slice(-4)}`
      : identifier;
  }
  return `****${identifier.slice(-4)}`;
}

/**
 * Start and end of the identifier, for the message in which its owner confirms the account. More of
 * a blockchain address is shown, because similar addresses can be generated.
 */
export function shortenedIdentifier(info: Account): string {
  const text = primaryIdentifierOf(info);
  const shown = isWalletInfo(info) ? 10 : 4;
  return text.length > 3 * shown ? `${text.slice(0, shown)}…${text.slice(-shown)}` : text;
}

/** The details for read-only callers: secret fields show their last four characters only. */
export function maskAccountInfo<T extends Account>(info: T): T {
  const masked: Record<string, unknown> = { ...info };
  for (const [name, { secret }] of Object.entries(rowOf(info).fields)) {
    const value = info[name];
    if (secret && typeof value === 'string') {
      masked[name] = value.slice(-4).padStart(value.length, '*');
    }
  }
  return masked as T;
}

/** Adds derived fields: the bank name from the BIC if it was omitted. */
export function completeAccountInfo<T extends Account>(info: T): T {
  const field = rowOf(info).fields.bankName;
  if (!field?.optional || has(info, 'bankName') || !has(info, 'swiftCode')) return info;
  const bankName = bankOfBic(textOf(info, 'swiftCode'));
  return bankName ? { ...info, bankName } : info;
}

/** The name for comparison with the one on record at the institution. */
export function beneficiaryNameOf(info: Account): string | undefined {
  const owner = info.beneficiary as { fullName?: string; legalName?: string } | undefined;
  return owner?.fullName ?? owner?.legalName;
}

export const isWalletInfo = (info: Account): boolean =>
  ['wallet', 'lightning'].includes(rowOf(info).kind);

/** A self-custodied wallet: no custodian is named. Lightning needs no proof of ownership. */
export const isSelfCustody = (info: Account): boolean =>
  rowOf(info).kind === 'wallet' && !has(info, 'vaspName');

/** The rail that can debit the account, if any. */
export const pullRailOf = (info: Account): PaymentRail | undefined => rowOf(info).pull;

/** The chain of a wallet, if the chain has a name. */
export const networkOf = (info: Account): string | undefined => rowOf(info).network;

/** The network of a payment for fee estimates: named chains and Lightning. */
export const withdrawalNetworkOf = (info: Account): string | undefined =>
  rowOf(info).kind === 'lightning' ? 'LIGHTNING' : networkOf(info);
