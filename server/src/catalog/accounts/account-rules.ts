// Validation rules of account types for several fields, address formats and directories. A row of
// the account-type table lists its rules. Check digits are validated in production only, because
// test suffixes invalidate them. Directories and required IBANs apply in production only as well.
import type { FieldError } from '../../kernel/fault.ts';
import {
  type AddressKind,
  hasAddressFormat,
  hasBolt11Format,
  isAddress,
  isBolt12,
  isLightningAddress,
} from '../crypto/addresses.ts';
import { parseBolt11 } from '../crypto/bolt11.ts';
import { isCountry, scaRegion } from '../identity/countries.ts';
import { isVasp } from '../rails/vasps.ts';
import { institutions } from './banks.ts';
import { hasPixKeyFormat, isPixKey } from './checks.ts';

type Details = Readonly<Record<string, unknown>>;
export type Rule = (info: Details, production: boolean) => FieldError[];

const fieldError = (field: string, message: string, constraint?: FieldError['constraint']) => [
  { field, message, ...(constraint ? { constraint } : {}) },
];

const textOf = (info: Details, name: string): string | undefined => {
  const value = info[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The PIX key has the format of its type and, in production, valid check digits. */
export const pixRule: Rule = (info, production) => {
  const [key, type] = [textOf(info, 'pixKey'), textOf(info, 'pixKeyType')];
  if (!key || !type) return [];
  if (!hasPixKeyFormat(key, type)) return fieldError('pixKey', `must be a PIX key of type ${type}`);
  if (production && !isPixKey(key, type)) return fieldError('pixKey', 'has invalid check digits');
  return [];
};

const CNY_WALLETS = ['AliPay', 'WechatPay'];

/**
 * A bank account requires a business. A phone number without an account number requires one of two
 * wallets.
 */
export const cnyRule: Rule = (info) => {
  const isWallet = CNY_WALLETS.includes(textOf(info, 'bankName') ?? '');
  if (textOf(info, 'phoneNumber') && !textOf(info, 'accountNumber') && !isWallet) {
    const message = `must be ${CNY_WALLETS.join(' or ')} for a phone number`;
    return fieldError('bankName', message, { enum: CNY_WALLETS });
  }
  const beneficiary = info.beneficiary as Details | undefined;
  if (textOf(info, 'accountNumber') && beneficiary && beneficiary.beneficiaryType !== 'BUSINESS') {
    const message = 'must be BUSINESS for a bank account';
    return fieldError('beneficiary.beneficiaryType', message, { enum: ['BUSINESS'] });
  }
  return [];
};

const LIGHTNING_FIELDS = ['invoice', 'bolt12', 'lightningAddress'] as const;
const LIGHTNING_FORMATS = {
  invoice: { hasFormat: hasBolt11Format, message: 'must be a BOLT 11 invoice' },
  bolt12: { hasFormat: isBolt12, message: 'must be a BOLT 12 offer' },
  lightningAddress: {
    hasFormat: isLightningAddress,
    message: 'must be a Lightning address, such as user@example.com',
  },
};

/**
 * Exactly one destination, in its format. In production, an invoice has a valid checksum and is for
 * the main network.
 */
export const lightningRule: Rule = (info, production) => {
  const presentFields = LIGHTNING_FIELDS.filter((name) => info[name] !== undefined);
  if (presentFields.length !== 1) {
    const message = `exactly one of ${LIGHTNING_FIELDS.join(', ')} is required`;
    return (presentFields.length ? presentFields : LIGHTNING_FIELDS).flatMap((name) =>
      fieldError(name, message),
    );
  }
  const name = presentFields[0] as (typeof LIGHTNING_FIELDS)[number];
  const value = textOf(info, name) ?? '';
  const { hasFormat, message } = LIGHTNING_FORMATS[name];
  if (!hasFormat(value)) return fieldError(name, message);
  if (!production || name !== 'invoice') return [];
  const invoice = parseBolt11(value);
  if (!invoice) return fieldError(name, 'must be a complete invoice with a valid checksum');
  return invoice.network === 'lnbc'
    ? []
    : fieldError(name, 'must be an invoice of the main network');
};

/** The address has the format of its network and, in production, a valid checksum. */
export const addressRule =
  (kind: AddressKind): Rule =>
  (info, production) => {
    const address = textOf(info, 'address');
    if (!address) return [];
    if (!hasAddressFormat(kind, address))
      return fieldError('address', 'must be an address on this network');
    if (production && !isAddress(kind, address)) {
      return fieldError('address', 'has an invalid checksum');
    }
    return [];
  };

/** The custodian is in the directory. Validated in production only. */
export const custodianRule: Rule = (info, production) => {
  const name = textOf(info, 'vaspName');
  if (!production || !name || isVasp(name)) return [];
  return fieldError('vaspName', 'must be one of the names that listVasps returns');
};

/** Countries whose banks accept only an IBAN. */
const IBAN_ONLY_COUNTRIES = new Set([...scaRegion, 'BR', 'CH', 'GB']);

/** The country exists. In production, an IBAN is present if its banks require one. */
export const swiftRule: Rule = (info, production) => {
  const country = textOf(info, 'country');
  if (!country) return [];
  if (!isCountry(country))
    return fieldError('country', 'must be an ISO 3166-1 alpha-2 country code');
  if (production && IBAN_ONLY_COUNTRIES.has(country) && !textOf(info, 'iban')) {
    return fieldError('iban', `is required for banks in ${country}`);
  }
  return [];
};

const MAX_SUGGESTED_NAMES = 20;

/**
 * The bank name is in the directory of the country and currency, if it lists any. Validated in
 * production only.
 */
export const bankNameRule =
  (country: string, currency: string): Rule =>
  (info, production) => {
    const name = textOf(info, 'bankName');
    const names = institutions({ country, currency }).map((each) => each.bankName);
    if (!production || !name || names.length === 0 || names.includes(name)) return [];
    const message = 'must be a bankName that getDiscoveries returns for this country';
    return fieldError('bankName', message, { enum: names.slice(0, MAX_SUGGESTED_NAMES) });
  };
