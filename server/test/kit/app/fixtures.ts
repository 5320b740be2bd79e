// Fixtures that most tests need, such as a customer with funds and an external account.
import { expect } from 'vitest';
import type { ApiResponse, CallOptions, TestApp } from './harness.ts';

let counter = 0;
const nextNumber = () => String(++counter).padStart(6, '0');

/** Returns the body. Fails with the body in the message if the status differs. */
export function ok(response: ApiResponse, status: number): ApiResponse['body'] {
  expect(response.status, JSON.stringify(response.body)).toBe(status);
  return response.body;
}

/** An approved individual. */
export async function createCustomer(
  app: TestApp,
  options: CallOptions = {},
  overrides: object = {},
) {
  const body = {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `person-${nextNumber()}`,
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-15',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
    ...overrides,
  };
  return ok(await app.call('POST', '/customers', body, options), 201);
}

/**
 * An internal account in a currency, except wallets. `customerId` null selects the account of the
 * platform.
 */
export async function findInternalAccount(
  app: TestApp,
  customerId: string | null,
  currency: string,
  options: CallOptions = {},
) {
  const path = customerId
    ? `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`
    : `/platform/internal-accounts?currency=${currency}`;
  const { data } = ok(await app.call('GET', path, undefined, options), 200);
  const moneyAccounts = data.filter(
    (account: { type: string }) => account.type !== 'EMBEDDED_WALLET',
  );
  expect(moneyAccounts).toHaveLength(1);
  return moneyAccounts[0];
}

/** Available and total amount of an account, in minor units. */
export async function readBalances(app: TestApp, accountId: string, options: CallOptions = {}) {
  const body = ok(
    await app.call('GET', `/internal-accounts/${accountId}`, undefined, options),
    200,
  );
  return { balance: body.balance.amount as number, total: body.totalBalance.amount as number };
}

export async function fundAccount(app: TestApp, accountId: string, amount: number, options = {}) {
  const path = `/sandbox/internal-accounts/${accountId}/fund`;
  return ok(await app.call('POST', path, { amount }, options), 200);
}

const BENEFICIARY = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };

/** accountInfo of a payable account whose primary identifier ends with `suffix`. */
export const accountInfos: Record<string, (suffix: string) => object> = {
  USD: (suffix) => ({
    accountType: 'USD_ACCOUNT',
    accountNumber: `${nextNumber()}${suffix}`,
    routingNumber: '021000021',
    beneficiary: BENEFICIARY,
  }),
  EUR: (suffix) => ({
    accountType: 'EUR_ACCOUNT',
    iban: `DE89370400440${nextNumber()}${suffix}`,
    beneficiary: { ...BENEFICIARY, countryOfResidence: 'DE' },
  }),
  MXN: (suffix) => ({
    accountType: 'MXN_ACCOUNT',
    clabeNumber: `032180000${nextNumber()}${suffix}`,
    beneficiary: BENEFICIARY,
  }),
  GBP: (suffix) => ({
    accountType: 'GBP_ACCOUNT',
    sortCode: '200000',
    accountNumber: `${nextNumber().slice(1)}${suffix}`,
    beneficiary: BENEFICIARY,
  }),
};

/** An external account to pay to. Payments to the suffix `000` succeed. */
export async function createExternalAccount(
  app: TestApp,
  customerId: string | null,
  currency: string,
  suffix = '000',
  options: CallOptions = {},
) {
  const info = accountInfos[currency]?.(suffix);
  const path = customerId ? '/customers/external-accounts' : '/platform/external-accounts';
  const body = { currency, accountInfo: info, ...(customerId ? { customerId } : {}) };
  return ok(await app.call('POST', path, body, options), 201);
}

/** A customer whose USD account holds `amount`. */
export async function createFundedCustomer(
  app: TestApp,
  amount = 1_000_00,
  options: CallOptions = {},
) {
  const person = await createCustomer(app, options);
  const account = await findInternalAccount(app, person.id, 'USD', options);
  await fundAccount(app, account.id, amount, options);
  return { person, account };
}

export const quoteBody = (from: string, to: string, amount: number, overrides: object = {}) => ({
  source: { sourceType: 'ACCOUNT', accountId: from },
  destination: { destinationType: 'ACCOUNT', accountId: to },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: amount,
  ...overrides,
});

/** Event types of one resource, in order. */
export async function eventTypes(app: TestApp, subject: string): Promise<string[]> {
  const allEvents = await app.events();
  return allEvents.filter((event) => event.subject === subject).map((event) => event.type);
}
