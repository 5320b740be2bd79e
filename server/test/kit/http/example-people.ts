// The people, businesses and accounts of the examples. Names and addresses are fictitious.
import { SAMPLE_PERSON } from '../../../src/sample/customer.ts';
import { ok } from '../app/fixtures.ts';
import type { TestApp } from '../app/harness.ts';
import { sparkWallet } from '../wallets/chain-wallets.ts';
import type { ExampleRecorder } from './examples.ts';

type WithApp = Pick<ExampleRecorder, 'app'>;

export const AMARA = SAMPLE_PERSON;

export const NORTHWIND = {
  customerType: 'BUSINESS',
  platformCustomerId: 'business-2001',
  address: {
    line1: '210 Harbour Road',
    city: 'Seattle',
    state: 'WA',
    postalCode: '98101',
    country: 'US',
  },
  businessInfo: {
    legalName: 'Northwind Coffee Roasters LLC',
    country: 'US',
    taxId: '12-3456789',
    incorporatedOn: '2019-06-03',
    registrationNumber: 'WA-604112358',
    entityType: 'LLC',
    businessType: 'MANUFACTURING',
    countriesOfOperation: ['US'],
    purposeOfAccount: 'SUPPLIER_PAYMENTS',
    sourceOfFunds: 'Sales of coffee',
  },
};

/** A person who owns 40 % and controls the business. */
export const OWNER_OF_NORTHWIND = {
  roles: ['UBO', 'CONTROL_PERSON'],
  ownershipPercentage: 40,
  personalInfo: {
    firstName: 'Ingrid',
    lastName: 'Solberg',
    birthDate: '1978-11-02',
    nationality: 'US',
    idType: 'SSN',
    identifier: '123-45-6789',
    address: NORTHWIND.address,
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
export async function createPerson({ app }: WithApp, overrides: object = {}) {
  const number = (lastNumbers.get(app) ?? 1000) + 1;
  lastNumbers.set(app, number);
  const body = { platformCustomerId: `customer-${number}`, ...AMARA, ...overrides };
  return ok(await app.call('POST', '/customers', body), 201);
}

/** The internal account of a customer in a currency, except wallets. */
export async function balanceOf({ app }: WithApp, customerId: string, currency: string) {
  const path = `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`;
  const { data } = ok(await app.call('GET', path), 200);
  return data.find((account: { type: string }) => account.type !== 'EMBEDDED_WALLET');
}

const registerAccount = async ({ app }: WithApp, customerId: string, account: object) =>
  ok(await app.call('POST', '/customers/external-accounts', { customerId, ...account }), 201);

/** A payee's bank account in Germany. */
export const createGermanAccount = (recorder: WithApp, customerId: string) =>
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
export const createUsAccount = (
  recorder: WithApp,
  customerId: string,
  accountNumber = '000123456789',
) =>
  registerAccount(recorder, customerId, {
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber,
      routingNumber: '021000021',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Amara Okafor' },
    },
  });

/** A Spark wallet of a customer. */
export const createSparkWallet = (recorder: WithApp, customerId: string) =>
  registerAccount(recorder, customerId, {
    currency: 'USDB',
    accountInfo: { accountType: 'SPARK_WALLET', address: sparkWallet(4_711n).address },
  });
