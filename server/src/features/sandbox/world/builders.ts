// Steps that several built-in worlds share.
import type { Step } from './step.ts';

const ADDRESS = {
  line1: '48 Willow Street',
  city: 'Portland',
  state: 'OR',
  postalCode: '97205',
  country: 'US',
};

/** An individual. Without `reference` it has no `platformCustomerId`, so several can be created. */
export const individual = (name: string, fullName: string, reference = {}): Step => ({
  name,
  operationId: 'createCustomer',
  body: {
    customerType: 'INDIVIDUAL',
    fullName,
    birthDate: '1991-04-23',
    nationality: 'US',
    address: ADDRESS,
    ...reference,
  },
});

export const person = (name: string, fullName: string): Step =>
  individual(name, fullName, { platformCustomerId: name });

/** Lists the internal account of a customer in a currency. References use `$NAME.data.0`. */
export const accountOf = (name: string, customer: string, currency: string): Step => ({
  name,
  operationId: 'listCustomerInternalAccounts',
  query: { customerId: `$${customer}.id`, currency },
});

export const fund = (account: string, amount: number): Step => ({
  operationId: 'sandboxFundInternalAccount',
  params: { accountId: `$${account}.data.0.id` },
  body: { amount },
});

export const usAccount = (name: string, customer: string, accountNumber: string): Step => ({
  name,
  operationId: 'createCustomerExternalAccount',
  body: {
    customerId: `$${customer}.id`,
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber,
      routingNumber: '021000021',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
    },
  },
});

export const germanAccount = (name: string, customer: string, accountNumber: string): Step => ({
  name,
  operationId: 'createCustomerExternalAccount',
  body: {
    customerId: `$${customer}.id`,
    currency: 'EUR',
    accountInfo: {
      accountType: 'EUR_ACCOUNT',
      iban: `DE89370400440${accountNumber}`,
      beneficiary: {
        beneficiaryType: 'INDIVIDUAL',
        fullName: 'Lukas Weber',
        countryOfResidence: 'DE',
      },
    },
  },
});

/** A quote. References use `$NAMEQuote`. */
export const quote = (name: string, account: string, to: string, amount: number): Step => ({
  name: `${name}Quote`,
  operationId: 'createQuote',
  body: {
    source: { sourceType: 'ACCOUNT', accountId: `$${account}.data.0.id` },
    destination: { destinationType: 'ACCOUNT', accountId: `$${to}.id` },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: amount,
  },
});

/** A quote and its execution. */
export const payout = (name: string, account: string, to: string, amount: number): Step[] => [
  quote(name, account, to, amount),
  { operationId: 'executeQuote', params: { quoteId: `$${name}Quote.id` } },
];

/** Reads the current payment of a quote. References use `$NAME`. */
export const paymentOf = (name: string): Step => ({
  name,
  operationId: 'getTransactionById',
  params: { transactionId: `$${name}Quote.transactionId` },
});

/** A new card. Its issuer responds later. */
export const card = (name: string, customer: string, account: string, suffix: string): Step => ({
  name,
  operationId: 'createCard',
  body: {
    cardholderId: `$${customer}.id`,
    platformCardId: `${name}-${suffix}`,
    form: 'VIRTUAL',
    fundingSources: [`$${account}.data.0.id`],
  },
});

export const advance = (duration: string): Step => ({
  operationId: 'updateSandboxClock',
  body: { advance: duration },
});

/** Sets a status that the operator decides. */
export const setStatus = (resourceId: string, status: string): Step => ({
  operationId: 'setSandboxStatus',
  body: { resourceId, status },
});
