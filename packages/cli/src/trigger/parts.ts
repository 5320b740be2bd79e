// Steps that several scenarios share.
import type { Advance, Call, Step } from './step.ts';

const ADDRESS = {
  line1: '48 Willow Street',
  city: 'Portland',
  state: 'OR',
  postalCode: '97205',
  country: 'US',
};

/** Executes due work without advancing the clock. */
export const EXECUTE_DUE: Advance = { advance: 'PT0S' };
export const advance = (duration: string): Advance => ({ advance: duration });

export const customer = (fullName = 'Amara Okafor'): Call => ({
  name: 'customer',
  operationId: 'createCustomer',
  input: {
    customerType: 'INDIVIDUAL',
    fullName,
    birthDate: '1991-04-23',
    nationality: 'US',
    address: ADDRESS,
  },
});

/** Later steps refer to the ID of the account as `$accounts.data.0.id`. */
export const account = (currency = 'USD'): Call => ({
  name: 'accounts',
  operationId: 'listCustomerInternalAccounts',
  input: { customerId: '$customer.id', currency },
});

export const fund = (amount = 1_000_00): Call => ({
  name: 'funding',
  operationId: 'sandboxFundInternalAccount',
  input: { accountId: '$accounts.data.0.id', amount },
});

/** A customer with a balance. */
export const fundedAccountSteps = (): Step[] => [customer(), account(), fund()];

/** The suffix of the account number selects the outcome of a payout. */
const payee = (suffix: string): Call => ({
  name: 'payee',
  operationId: 'createCustomerExternalAccount',
  input: {
    customerId: '$customer.id',
    currency: 'EUR',
    accountInfo: {
      accountType: 'EUR_ACCOUNT',
      iban: `DE89370400440532013${suffix}`,
      beneficiary: {
        beneficiaryType: 'INDIVIDUAL',
        fullName: 'Lukas Weber',
        countryOfResidence: 'DE',
      },
    },
  },
});

const quote = (amount = 100_00): Call => ({
  name: 'quote',
  operationId: 'createQuote',
  input: {
    source: { sourceType: 'ACCOUNT', accountId: '$accounts.data.0.id' },
    destination: { destinationType: 'ACCOUNT', accountId: '$payee.id' },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: amount,
  },
});

const execution: Call = {
  name: 'execution',
  operationId: 'executeQuote',
  input: { quoteId: '$quote.id' },
};

export const payment = (transactionId = '$quote.transactionId'): Call => ({
  name: 'payment',
  operationId: 'getTransactionById',
  input: { transactionId },
});

/** A payout of a funded customer. The payment is read after the delay. */
export const payout = (suffix: string, delay: Advance): Step[] => [
  ...fundedAccountSteps(),
  payee(suffix),
  quote(),
  execution,
  delay,
  payment(),
];
