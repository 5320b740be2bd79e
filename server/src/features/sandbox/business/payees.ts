// Bank accounts and wallets of payees in the world `business`. The last characters of a number
// select the outcome in the sandbox, so numbers of regular accounts end with digits that select
// none. Addresses of wallets are random.

import { payeeName } from './people.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Country of a payee by currency. */
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

const REGULAR_SUFFIX = /^[2-9]\d\d$/;

const mailName = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z ]/g, '')
    .toLowerCase()
    .replaceAll(' ', '.');

type Details = (random: SeededRandom, suffix: string, name: string) => Record<string, unknown>;

const DETAILS: Readonly<Record<PayoutCurrency, Details>> = {
  USD: (random, suffix) => ({
    accountType: 'USD_ACCOUNT',
    accountNumber: `4${random.digits(6)}${suffix}`,
    routingNumber: '021000021',
    bankAccountType: 'CHECKING',
  }),
  EUR: (random, suffix) => ({
    accountType: 'EUR_ACCOUNT',
    iban: `DE89370400440${random.digits(6)}${suffix}`,
  }),
  MXN: (random, suffix) => ({
    accountType: 'MXN_ACCOUNT',
    clabeNumber: `03218000${random.digits(7)}${suffix}`,
  }),
  INR: (_, suffix, name) => ({
    accountType: 'INR_ACCOUNT',
    vpa: `${mailName(name)}${REGULAR_SUFFIX.test(suffix) ? '' : `.${suffix}`}@okbank`,
  }),
  BRL: (_, suffix, name) => ({
    accountType: 'BRL_ACCOUNT',
    pixKey: `${mailName(name)}${REGULAR_SUFFIX.test(suffix) ? '' : suffix}@example.com`,
    pixKeyType: 'EMAIL',
    taxId: '52998224725',
  }),
  GBP: (random, suffix) => ({
    accountType: 'GBP_ACCOUNT',
    sortCode: '200000',
    accountNumber: `${random.digits(5)}${suffix}`,
  }),
  NGN: (random, suffix) => ({
    accountType: 'NGN_ACCOUNT',
    bankName: 'Guaranty Trust Bank',
    accountNumber: `0${random.digits(6)}${suffix}`,
  }),
  PHP: (random, suffix) => ({
    accountType: 'PHP_ACCOUNT',
    bankName: 'BDO Unibank',
    accountNumber: `00${random.digits(7)}${suffix}`,
  }),
  KES: (random, suffix) => ({
    accountType: 'KES_ACCOUNT',
    phoneNumber: `+254712${random.digits(3)}${suffix}`,
    provider: 'M-PESA',
  }),
  USDC: (random) => ({
    accountType: 'BASE_WALLET',
    address: `0x${Array.from({ length: 40 }, () => random.integer(0, 15).toString(16)).join('')}`,
  }),
};

/** A suffix without a special outcome. */
const regularSuffix = (random: SeededRandom): string => String(random.integer(200, 999));

/** Body of `createCustomerExternalAccount`, without the customer. */
export function payeeIn(
  currency: PayoutCurrency,
  random: SeededRandom,
  suffix = regularSuffix(random),
) {
  const country = COUNTRY_OF[currency] as string;
  const name = payeeName(country, random);
  const beneficiary = {
    beneficiaryType: 'INDIVIDUAL',
    fullName: name,
    countryOfResidence: country,
  };
  const details = DETAILS[currency](random, suffix, name);
  return {
    currency,
    accountInfo: currency === 'USDC' ? details : { ...details, beneficiary },
  };
}

/** Rails that a payout can request, by currency. Without a request the server selects the rail. */
export const RAILS: Readonly<Partial<Record<PayoutCurrency, readonly string[]>>> = {
  USD: ['ACH', 'ACH', 'ACH', 'WIRE', 'RTP', 'FEDNOW'],
  EUR: ['SEPA', 'SEPA_INSTANT'],
};
