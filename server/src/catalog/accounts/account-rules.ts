// Rules of account types that involve several fields: the form of a PIX key by its type, the owners
// of Chinese bank accounts, exactly one Lightning destination. Rows name their rules. With
// `production`, check digits and directories are validated; in the sandbox they are not, because
// magic suffixes break check digits and any bank name is accepted.
import type { FieldError } from '../../kernel/fault.ts';
import {
  type AddressKind,
  isAddress,
  isBolt12,
  isLightningAddress,
  looksLikeAddress,
  looksLikeBolt11,
} from '../crypto/addresses.ts';
import { readBolt11 } from '../crypto/bolt11.ts';
import { isCountry, scaRegion } from '../identity/countries.ts';
import { isVasp } from '../rails/vasps.ts';
import { institutions } from './banks.ts';
import { isPixKey, isPixShape } from './checks.ts';

type Details = Readonly<Record<string, unknown>>;
export type Rule = (info: Details, production: boolean) => FieldError[];

const wrong = (field: string, message: string, constraint?: FieldError['constraint']) => [
  { field, message, ...(constraint ? { constraint } : {}) },
];

const textOf = (info: Details, name: string): string | undefined => {
  const value = info[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** A PIX key has the form of its type; in production also valid check digits. */
export const pixRule: Rule = (info, production) => {
  const [key, type] = [textOf(info, 'pixKey'), textOf(info, 'pixKeyType')];
  if (!key || !type) return [];
  if (!isPixShape(key, type)) return wrong('pixKey', `must be a PIX key of type ${type}`);
  if (production && !isPixKey(key, type)) return wrong('pixKey', 'has invalid check digits');
  return [];
};

const CHINESE_WALLETS = ['AliPay', 'WechatPay'];

/** In China a bank account belongs to a business, and a telephone number to one of two wallets. */
export const chineseRule: Rule = (info) => {
  const wallet = CHINESE_WALLETS.includes(textOf(info, 'bankName') ?? '');
  if (textOf(info, 'phoneNumber') && !textOf(info, 'accountNumber') && !wallet) {
    const message = `must be ${CHINESE_WALLETS.join(' or ')} for a phone number`;
    return wrong('bankName', message, { enum: CHINESE_WALLETS });
  }
  const owner = info.beneficiary as Details | undefined;
  if (textOf(info, 'accountNumber') && owner && owner.beneficiaryType !== 'BUSINESS') {
    const message = 'must be BUSINESS for a bank account';
    return wrong('beneficiary.beneficiaryType', message, { enum: ['BUSINESS'] });
  }
  return [];
};

const LIGHTNING = ['invoice', 'bolt12', 'lightningAddress'] as const;

/** Exactly one destination, in its valid form. */
export const lightningRule: Rule = (info, production) => {
  const given = LIGHTNING.filter((name) => info[name] !== undefined);
  if (given.length !== 1) {
    const message = `exactly one of ${LIGHTNING.join(', ')} is required`;
    return (given.length ? given : LIGHTNING).flatMap((name) => wrong(name, message));
  }
  const name = given[0] as (typeof LIGHTNING)[number];
  const value = textOf(info, name) ?? '';
  const good = { invoice: looksLikeBolt11, bolt12: isBolt12, lightningAddress: isLightningAddress };
  if (!good[name](value)) return wrong(name, 'has an invalid format');
  if (!production || name !== 'invoice') return [];
  const invoice = readBolt11(value);
  if (!invoice) return wrong(name, 'must be a complete invoice with a valid checksum');
  return invoice.network === 'lnbc' ? [] : wrong(name, 'must be an invoice of the main network');
};

/** An address of the wallet's chain; in production with its checksum. */
export const addressRule =
  (kind: AddressKind): Rule =>
  (info, production) => {
    const address = textOf(info, 'address');
    if (!address) return [];
    if (!looksLikeAddress(kind, address))
      return wrong('address', 'must be an address on this network');
    if (production && !isAddress(kind, address)) {
      return wrong('address', 'has an invalid checksum');
    }
    return [];
  };

/** In production the custodian must be in the directory. */
export const custodianRule: Rule = (info, production) => {
  const name = textOf(info, 'vaspName');
  if (!production || !name || isVasp(name)) return [];
  return wrong('vaspName', 'must be one of the names that listVasps returns');
};

// Banks in these countries accept IBANs only.
const IBAN_ONLY = new Set([...scaRegion, 'BR', 'CH', 'GB']);

/** The country of the bank is known, and an IBAN is present where banks require one. */
export const swiftRule: Rule = (info, production) => {
  const country = textOf(info, 'country');
  if (!country) return [];
  if (!isCountry(country)) return wrong('country', 'must be an ISO 3166-1 alpha-2 country code');
  if (production && IBAN_ONLY.has(country) && !textOf(info, 'iban')) {
    return wrong('iban', `is required for banks in ${country}`);
  }
  return [];
};

const SHOWN_NAMES = 20;

/** In production the bank must be in the directory of its country, in the same spelling. */
export const bankNameRule =
  (country: string, currency: string): Rule =>
  (info, production) => {
    const name = textOf(info, 'bankName');
    const known = institutions({ country, currency }).map((each) => each.bankName);
    if (!production || !name || known.length === 0 || known.includes(name)) return [];
    const message = 'must be a bankName that getDiscoveries returns for this country';
    return wrong('bankName', message, { enum: known.slice(0, SHOWN_NAMES) });
  };
