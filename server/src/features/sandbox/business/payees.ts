// Bank accounts and wallets of payees in the world `business`. The last characters of a number select
// the outcome in the sandbox, so numbers of regular accounts end with digits that select none.
import type { Chance } from './chance.ts';
import { payeeName } from './people.ts';

/** Destinations of payouts by currency. */
const COUNTRY_OF: Readonly<Record<string, string>> = {
  USD: 'US',
  EUR: 'DE',
  MXN: 'MX',
  INR: 'IN',
  BRL: 'BR',
  GBP: 'GB',
  NGN: 'NG',
  PHP: 'PH',
  KES: 'KE',
  USDC: 'US',
};

/** Currencies of payouts, more frequent ones several times. */
export const PAYOUT_CURRENCIES = [
  ...['USD', 'USD', 'USD', 'USD', 'EUR', 'EUR', 'EUR', 'MXN', 'MXN', 'MXN', 'INR', 'INR'],
  ...['BRL', 'BRL', 'GBP', 'GBP', 'NGN', 'PHP', 'KES', 'USDC'],
] as const;

export type PayoutCurrency = (typeof PAYOUT_CURRENCIES)[number];

const REGULAR = /^[2-9]\d\d$/;

const mailName = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z ]/g, '')
    .toLowerCase()
    .replaceAll(' ', '.');

type Details = (chance: Chance, suffix: string, name: string) => Record<string, unknown>;

const DETAILS: Readonly<Record<PayoutCurrency, Details>> = {
  USD: (chance, suffix) => ({
    accountType: 'USD_ACCOUNT',
    accountNumber: `4${chance.digits(6)}${suffix}`,
    routingNumber: '021000021',
    bankAccountType: 'CHECKING',
  }),
  EUR: (chance, suffix) => ({
    accountType: 'EUR_ACCOUNT',
    iban: `DE89370400440${chance.digits(6)}${suffix}`,
  }),
  MXN: (chance, suffix) => ({
    accountType: 'MXN_ACCOUNT',
    clabeNumber: `03218000${chance.digits(7)}${suffix}`,
  }),
  INR: (_, suffix, name) => ({
    accountType: 'INR_ACCOUNT',
    vpa: `${mailName(name)}${REGULAR.test(suffix) ? '' : `.${suffix}`}@okbank`,
  }),
  BRL: (_, suffix, name) => ({
    accountType: 'BRL_ACCOUNT',
    pixKey: `${mailName(name)}${REGULAR.test(suffix) ? '' : suffix}@example.com`,
    pixKeyType: 'EMAIL',
    taxId: '52998224725',
  }),
  GBP: (chance, suffix) => ({
    accountType: 'GBP_ACCOUNT',
    sortCode: '200000',
    accountNumber: `${chance.digits(5)}${suffix}`,
  }),
  NGN: (chance, suffix) => ({
    accountType: 'NGN_ACCOUNT',
    bankName: 'Guaranty Trust Bank',
    accountNumber: `0${chance.digits(6)}${suffix}`,
  }),
  PHP: (chance, suffix) => ({
    accountType: 'PHP_ACCOUNT',
    bankName: 'BDO Unibank',
    accountNumber: `00${chance.digits(7)}${suffix}`,
  }),
  KES: (chance, suffix) => ({
    accountType: 'KES_ACCOUNT',
    phoneNumber: `+254712${chance.digits(3)}${suffix}`,
    provider: 'M-PESA',
  }),
  USDC: (chance) => ({
    accountType: 'BASE_WALLET',
    address: `0x${Array.from({ length: 40 }, () => chance.between(0, 15).toString(16)).join('')}`,
  }),
};

/** A suffix without a special outcome. */
const regularSuffix = (chance: Chance): string => String(chance.between(200, 999));

/** Body of `createCustomerExternalAccount`, without the customer. */
export function payeeIn(currency: PayoutCurrency, chance: Chance, suffix = regularSuffix(chance)) {
  const country = COUNTRY_OF[currency] as string;
  const name = payeeName(country, chance);
  const beneficiary = {
    beneficiaryType: 'INDIVIDUAL',
    fullName: name,
    countryOfResidence: country,
  };
  const details = DETAILS[currency](chance, suffix, name);
  return {
    currency,
    accountInfo: currency === 'USDC' ? details : { ...details, beneficiary },
  };
}

/** Rails among which the payer selects; otherwise the server does. */
export const RAILS: Readonly<Partial<Record<PayoutCurrency, readonly string[]>>> = {
  USD: ['ACH', 'ACH', 'ACH', 'WIRE', 'RTP', 'FEDNOW'],
  EUR: ['SEPA', 'SEPA_INSTANT'],
};
