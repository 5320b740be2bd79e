// The people and accounts of the examples. Names and addresses are fictitious.
import { ok } from '../app/fixtures.ts';
import type { TestApp } from '../app/harness.ts';
import { sparkWallet } from '../wallets/chain-wallets.ts';
import type { ExampleRecorder } from './examples.ts';

export const AMARA = {
  customerType: 'INDIVIDUAL',
  fullName: 'Amara Okafor',
  birthDate: '1991-04-23',
  nationality: 'US',
  email: 'amara.okafor@example.com',
  address: {
    line1: '48 Willow Street',
    city: 'Portland',
    state: 'OR',
    postalCode: '97205',
    country: 'US',
  },
};

/** A person in Germany, to whom strong customer authentication applies. */
export const EMIL = {
  fullName: 'Emil Brandt',
  email: 'emil.brandt@example.com',
  phoneNumber: '+4915112345678',
  region: 'DE',
  nationality: 'DE',
  address: { line1: 'Heidestr. 17', city: 'Berlin', postalCode: '10557', country: 'DE' },
};

/** Number of the last created person, by server. */
const lastNumbers = new WeakMap<TestApp, number>();

/** An approved individual in the United States. */
export async function createPerson({ app }: ExampleRecorder, overrides: object = {}) {
  const number = (lastNumbers.get(app) ?? 1000) + 1;
  lastNumbers.set(app, number);
  const body = { platformCustomerId: `customer-${number}`, ...AMARA, ...overrides };
  return ok(await app.call('POST', '/customers', body), 201);
}

/** The internal account of a customer in a currency, except wallets. */
export async function balanceOf({ app }: ExampleRecorder, customerId: string, currency: string) {
  const path = `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`;
  const { data } = ok(await app.call('GET', path), 200);
  return data.find((account: { type: string }) => account.type !== 'EMBEDDED_WALLET');
}

const registerAccount = async ({ app }: ExampleRecorder, customerId: string, account: object) =>
  ok(await app.call('POST', '/customers/external-accounts', { customerId, ...account }), 201);

/** A payee's bank account in Germany. */
export const createGermanAccount = (recorder: ExampleRecorder, customerId: string) =>
  registerAccount(recorder, customerId, {
    currency: 'EUR',
    accountInfo: {
      accountType: 'EUR_ACCOUNT',
      iban: 'DE89370400440532013000',
      beneficiary: {
        beneficiaryType: 'INDIVIDUAL',
        fullName: 'Lukas Weber',
        countryOfResidence: 'DE',
      },
    },
  });

/** The customer's own bank account in the United States. */
export const createUsAccount = (recorder: ExampleRecorder, customerId: string) =>
  registerAccount(recorder, customerId, {
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber: '000123456789',
      routingNumber: '021000021',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Amara Okafor' },
    },
  });

/** A Spark wallet of a customer. */
export const createSparkWallet = (recorder: ExampleRecorder, customerId: string) =>
  registerAccount(recorder, customerId, {
    currency: 'USDB',
    accountInfo: { accountType: 'SPARK_WALLET', address: sparkWallet(4_711n).address },
  });
