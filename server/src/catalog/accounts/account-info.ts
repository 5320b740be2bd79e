// Validation of account details beyond their schema, and the values derived from them: rails,
// primary identifier, masked form and duplicate key. Everything is derived from the row of the
// account type, so this file names no account type and no currency.
import type { FieldError } from '../../kernel/fault.ts';
import { isFiat } from '../currencies/currencies.ts';
import { isCountry } from '../identity/countries.ts';
import type { PaymentRail } from '../rails/rails.ts';
import { bankNameRule } from './account-rules.ts';
import type { AccountTypeRow, PaymentPath } from './account-type-row.ts';
import { ACCOUNT_TYPE_ROWS, canonicalType, isAccountType } from './account-types.ts';
import { bankNameOfBic } from './banks.ts';
import { missingRecommendedFields } from './beneficiaries.ts';

interface ValidateOptions {
  /** Whether the rules of production are validated, such as check digits and directories. */
  production: boolean;
  /** Whether the recommended fields of a beneficiary are required. Wallets are exempt. */
  strictBeneficiary?: boolean;
  /** Path of the details in the request. Defaults to `accountInfo`. */
  prefix?: string;
}

interface ValidationResult {
  /** Errors of fields, each with its path in the request. */
  errors: FieldError[];
  /** Whether the account type does not support the currency. This error has a separate code. */
  currencyMismatch: boolean;
}

/** Account details of a validated request or a stored row. */
export interface Account {
  readonly accountType: string;
  readonly [field: string]: unknown;
}

/** Row of the account type. Throws for an unknown type. */
export function rowOf(info: Account): AccountTypeRow {
  if (!isAccountType(info.accountType))
    throw new RangeError(`unknown account type ${info.accountType}`);
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

/** Validates details that conform to their schema. */
export function validateAccountInfo(
  info: Account,
  currency: string,
  options: ValidateOptions,
): ValidationResult {
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

const completePaths = (info: Account, row: AccountTypeRow): readonly PaymentPath[] =>
  row.paths.filter((path) => path.requiredFields.every((name) => has(info, name)));

/**
 * Missing fields, if no payment path is complete: the fields of the paths whose primary field is
 * present, or else of the first path.
 */
function pathErrors(info: Account, row: AccountTypeRow): FieldError[] {
  // `lightningRule` validates Lightning destinations.
  if (row.kind === 'lightning' || completePaths(info, row).length) return [];
  const pathsWithPrimaryField = row.paths.filter((path) => has(info, path.primaryField));
  const paths = pathsWithPrimaryField.length
    ? pathsWithPrimaryField
    : [row.paths[0] as PaymentPath];
  const otherPrimaryFields = row.paths
    .filter((path) => !paths.includes(path))
    .map((path) => path.primaryField);
  const alternatives = otherPrimaryFields.length
    ? ` unless ${otherPrimaryFields.join(' or ')} is present`
    : '';
  return paths.flatMap((path) =>
    path.requiredFields
      .filter((name) => !has(info, name))
      .map((name) => ({ field: name, message: `is required${alternatives}` })),
  );
}

function checkErrors(info: Account, row: AccountTypeRow): FieldError[] {
  return Object.entries(row.fields).flatMap(([name, { check }]) =>
    check && has(info, name) && !check.isValid(textOf(info, name))
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
  const beneficiary = info.beneficiary as Record<string, unknown> | undefined;
  if (!beneficiary) return [];
  const unknownCountryFields = ['countryOfResidence', 'nationality'].filter((name) => {
    const value = beneficiary[name];
    return typeof value === 'string' && !isCountry(value);
  });
  const missingFields =
    options.strictBeneficiary && rowOf(info).kind !== 'wallet'
      ? missingRecommendedFields(beneficiary, currency)
      : [];
  return [
    ...unknownCountryFields.map((name) => ({
      field: `beneficiary.${name}`,
      message: 'must be an ISO 3166-1 alpha-2 country code',
    })),
    ...missingFields.map((name) => ({ field: `beneficiary.${name}`, message: 'is required' })),
  ];
}

/** First complete payment path, or else the first whose primary field is present. */
const pathOf = (info: Account): PaymentPath | undefined => {
  const row = rowOf(info);
  return completePaths(info, row)[0] ?? row.paths.find((path) => has(info, path.primaryField));
};

/** Rails that can pay to these details, in the order of the row. Empty for wallets. */
export function railsOf(info: Account): PaymentRail[] {
  const row = rowOf(info);
  const rails = new Set(
    completePaths(info, row).flatMap((path) => {
      const requestedRail = path.railField ? textOf(info, path.railField) : '';
      const selectedRails = path.rails.filter((rail) => rail === requestedRail);
      return selectedRails.length ? selectedRails : [...path.rails];
    }),
  );
  return row.rails.filter((rail) => rails.has(rail));
}

/**
 * Main identifier of the account, such as an IBAN, phone number or address. Empty if it is absent.
 */
export function primaryIdentifierOf(info: Account): string {
  const path = pathOf(info);
  return path ? textOf(info, path.primaryField) : '';
}

/**
 * Suffix that selects a sandbox scenario: the last three letters or digits of the primary
 * identifier. A domain part after `@` is ignored.
 */
export function sandboxSuffixOf(info: Account): string {
  const identifier = primaryIdentifierOf(info);
  const separatorIndex = identifier.lastIndexOf('@');
  const user = separatorIndex > 0 ? identifier.slice(0, separatorIndex) : identifier;
  return user.replace(/[^0-9A-Za-z]/g, '').slice(-3);
}

/**
 * Key for duplicate detection. Two sets of details have the same key if they identify the same
 * account by the same fields in the same currency. Spelling variants and the beneficiary are
 * ignored.
 */
export function duplicateKeyOf(info: Account, currency: string): string {
  const row = rowOf(info);
  const names = (pathOf(info)?.requiredFields ?? []).filter((name) => row.fields[name]?.identifies);
  const valueTexts = names.map((name) => {
    const value = textOf(info, name);
    return `${name}=${row.fields[name]?.normalize(value) ?? value}`;
  });
  return [currency, canonicalType(info.accountType), ...valueTexts.sort()].join('|');
}

/** Short form of the identifier for lists and messages: `****6789`, `0x5aAe…eAed`, `a***@upi`. */
export function displayIdentifier(info: Account): string {
  const identifier = primaryIdentifierOf(info);
  const { kind } = rowOf(info);
  const separatorIndex = identifier.lastIndexOf('@');
  if (separatorIndex > 0) return `${identifier.slice(0, 1)}***${identifier.slice(separatorIndex)}`;
  if (kind === 'wallet' || kind === 'lightning') {
    return identifier.length > 12
      ? `${identifier.slice(0, 6)}…${identifier.slice(-4)}`
      : identifier;
  }
  return `****${identifier.slice(-4)}`;
}

/**
 * Prefix and suffix of a long identifier, for a message in which the customer confirms the account.
 * Blockchain addresses have more characters, because similar addresses can be generated.
 */
export function shortenedIdentifier(info: Account): string {
  const text = primaryIdentifierOf(info);
  const length = isWalletInfo(info) ? 10 : 4;
  return text.length > 3 * length ? `${text.slice(0, length)}…${text.slice(-length)}` : text;
}

/**
 * Details for a token without permission to pay. Sensitive fields show only their last four
 * characters.
 */
export function maskAccountInfo<T extends Account>(info: T): T {
  const maskedInfo: Record<string, unknown> = { ...info };
  for (const [name, { sensitive }] of Object.entries(rowOf(info).fields)) {
    const value = info[name];
    if (sensitive && typeof value === 'string') {
      maskedInfo[name] = value.slice(-4).padStart(value.length, '*');
    }
  }
  return maskedInfo as T;
}

/** Adds an absent optional `bankName`, if the bank of the BIC is listed. */
export function completeAccountInfo<T extends Account>(info: T): T {
  const field = rowOf(info).fields.bankName;
  if (!field?.optional || has(info, 'bankName') || !has(info, 'swiftCode')) return info;
  const bankName = bankNameOfBic(textOf(info, 'swiftCode'));
  return bankName ? { ...info, bankName } : info;
}

/** Name of the beneficiary, for comparison with the account holder at the institution. */
export function beneficiaryNameOf(info: Account): string | undefined {
  const beneficiary = info.beneficiary as { fullName?: string; legalName?: string } | undefined;
  return beneficiary?.fullName ?? beneficiary?.legalName;
}

export const isWalletInfo = (info: Account): boolean =>
  ['wallet', 'lightning'].includes(rowOf(info).kind);

/** Whether the account is a wallet without a custodian. False for Lightning destinations. */
export const isSelfCustody = (info: Account): boolean =>
  rowOf(info).kind === 'wallet' && !has(info, 'vaspName');

/** Rail that can debit the account. Undefined if none can. */
export const debitRailOf = (info: Account): PaymentRail | undefined => rowOf(info).debitRail;

/** Network of a wallet. Undefined for other accounts and if the row contains no network. */
export const networkOf = (info: Account): string | undefined => rowOf(info).network;

/** Network of a withdrawal to the account, for its network fee. Includes Lightning. */
export const withdrawalNetworkOf = (info: Account): string | undefined =>
  rowOf(info).kind === 'lightning' ? 'LIGHTNING' : networkOf(info);
