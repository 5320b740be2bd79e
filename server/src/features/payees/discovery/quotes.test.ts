// Compares the exchange rates with the quotes for every pair of the sandbox platform's currencies.
// Each pair is compared over every rail that can pay an account of the destination currency.
import { beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { FIRST_CURRENCIES } from '../../../bootstrap.ts';
import { exampleOf } from '../../../catalog/accounts/account-examples.ts';
import { type Account, withdrawalNetworkOf } from '../../../catalog/accounts/account-info.ts';
import { ACCOUNT_TYPE_ROWS, type AccountType } from '../../../catalog/accounts/account-types.ts';
import { referenceRate } from '../../../catalog/currencies/reference-rates.ts';
import { divide, scale } from '../../../kernel/money.ts';

const DIGITAL_ASSETS = ['USDC', 'USDT', 'USDB', 'BTC'];

const { beneficiary: indianBeneficiary } = exampleOf('INR_ACCOUNT');
const { beneficiary: salvadoranBeneficiary } = exampleOf('SLV_ACCOUNT');
/** Accounts for the rails that the examples of the catalog do not cover. */
const ADDITIONAL_ACCOUNTS: Record<string, Account[]> = {
  INR: ['NEFT', 'RTGS'].map((rail, index) => ({
    accountType: 'INR_ACCOUNT',
    accountNumber: `5010001234567${index}`,
    ifsc: 'HDFC0001234',
    rail,
    beneficiary: indianBeneficiary,
  })),
  USD: [
    { accountType: 'SLV_ACCOUNT', phoneNumber: '+50371234567', beneficiary: salvadoranBeneficiary },
  ],
};

const app = testApp();
/** Internal accounts of one customer by currency. */
let sources: Map<string, string>;
let payees: { id: string; currency: string; rails: string[] }[];
beforeAll(async () => {
  const person = await createCustomer(app, {}, { email: 'pairs@example.com' });
  const path = `/customers/internal-accounts?customerId=${person.id}&limit=100`;
  const { data } = ok(await app.call('GET', path), 200);
  sources = new Map(data.map((each: ApiResponse['body']) => [each.balance.currency.code, each.id]));
  payees = await Promise.all(
    FIRST_CURRENCIES.flatMap((currency) => [
      ...typesOf(currency).map((type) => createPayee(person.id, currency, exampleOf(type))),
      ...(ADDITIONAL_ACCOUNTS[currency] ?? []).map((info) =>
        createPayee(person.id, currency, info),
      ),
    ]),
  );
});

/** Account types that can hold the currency, except Lightning. */
const typesOf = (currency: string): AccountType[] =>
  (Object.keys(ACCOUNT_TYPE_ROWS) as AccountType[]).filter((type) => {
    const { currencies } = ACCOUNT_TYPE_ROWS[type];
    const allowsEveryCurrency = currencies.length === 0 && !DIGITAL_ASSETS.includes(currency);
    return type !== 'LIGHTNING' && (allowsEveryCurrency || currencies.includes(currency));
  });

async function createPayee(customerId: string, currency: string, info: Account) {
  const body = { customerId, currency, accountInfo: info };
  const createdExternalAccount = ok(
    await app.call('POST', '/customers/external-accounts', body),
    201,
  );
  const network = withdrawalNetworkOf(info);
  return {
    id: createdExternalAccount.id as string,
    currency,
    rails: (createdExternalAccount.accountInfo.paymentRails ??
      (network ? [network] : [])) as string[],
  };
}

/** About 300 dollars in minor units. */
function amountOf(currency: string): number {
  const rate = referenceRate('USD', currency);
  if (!rate) throw new Error(`The rate of ${currency} was not found.`);
  return Number(divide(scale(300_00n, rate, 'floor'), 1n, 'floor'));
}

const requestQuote = (from: string, to: string, paymentRail: string | undefined, amount: number) =>
  app.call('POST', '/quotes', {
    source: { sourceType: 'ACCOUNT', accountId: sources.get(from) },
    destination: {
      ...{ destinationType: 'ACCOUNT', accountId: to },
      ...(paymentRail ? { paymentRail } : {}),
    },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: amount,
    purposeOfPayment: 'GIFT',
  });

interface Price {
  sourceCurrency: { code: string };
  destinationCurrency: { code: string };
  destinationPaymentRail: string;
  minSendingAmount: number;
  maxSendingAmount: number;
  receivingAmount: number;
  fees: { total: number };
}

const listRates = async (from: string, amount: number): Promise<Price[]> => {
  const to = FIRST_CURRENCIES.filter((code) => code !== from).join(',');
  const query = `sourceCurrency=${from}&destinationCurrency=${to}&sendingAmount=${amount}`;
  return ok(await app.call('GET', `/exchange-rates?${query}`), 200).data;
};

describe('getExchangeRates compared with createQuote', () => {
  it.each(FIRST_CURRENCIES)(
    'returns the receiving amounts and fees of quotes from %s, per rail',
    async (from) => {
      const amount = amountOf(from);
      const prices = await listRates(from, amount);
      const quotedPrices: object[] = [];
      const listedPrices = prices.map((price) => ({
        to: price.destinationCurrency.code,
        rail: price.destinationPaymentRail,
        receiving: price.receivingAmount,
        fees: price.fees.total,
      }));
      for (const { id, currency, rails } of payees.filter((each) => each.currency !== from)) {
        for (const rail of rails) {
          const response = await requestQuote(
            from,
            id,
            DIGITAL_ASSETS.includes(currency) ? undefined : rail,
            amount,
          );
          if (response.status !== 201) {
            // SWIFT does not support every currency of an account type without a currency list.
            expect([rail, response.body.code]).toEqual(['SWIFT', 'NOT_IMPLEMENTED']);
            continue;
          }
          const { totalReceivingAmount: receivingAmount, feesIncluded: fees } = response.body;
          quotedPrices.push({ to: currency, rail, receiving: receivingAmount, fees });
        }
      }
      const uniqueQuotedPrices = [
        ...new Set(quotedPrices.map((each) => JSON.stringify(each))),
      ].sort();
      expect(listedPrices.map((each) => JSON.stringify(each)).sort()).toEqual(uniqueQuotedPrices);
    },
  );

  it('lists dollars to and from each digital asset, each with a rail', async () => {
    const prices = (
      await Promise.all(['USD', ...DIGITAL_ASSETS].map((from) => listRates(from, 10_000)))
    ).flat();
    const pairs = prices.map(({ sourceCurrency, destinationCurrency, destinationPaymentRail }) => {
      expect(destinationPaymentRail).toMatch(/^[A-Z_]+$/);
      return `${sourceCurrency.code} ${destinationCurrency.code}`;
    });
    for (const coin of DIGITAL_ASSETS) {
      expect(pairs).toContain(`USD ${coin}`);
      expect(pairs).toContain(`${coin} USD`);
    }
    const listRails = (to: string) =>
      prices
        .filter(
          (each) => each.sourceCurrency.code === 'USD' && each.destinationCurrency.code === to,
        )
        .map((each) => each.destinationPaymentRail);
    expect(listRails('USDC')).toEqual(['SOLANA', 'ETHEREUM', 'BASE', 'POLYGON']);
    expect(listRails('USDT')).toEqual(['SOLANA', 'ETHEREUM', 'TRON', 'PLASMA']);
    expect(listRails('USDB')).toEqual(['SPARK']);
    expect(listRails('BTC')).toEqual(['SPARK', 'LIGHTNING', 'BITCOIN']);
  });

  it('returns the maximum that applies to a quote to a digital asset', async () => {
    const [price] = (await listRates('USD', 10_000)).filter(
      (each) => each.destinationCurrency.code === 'USDT',
    );
    const payee = payees.find(({ rails }) => rails.includes(price?.destinationPaymentRail ?? ''));
    const { maxSendingAmount: max } = price as Price;
    ok(await requestQuote('USD', payee?.id ?? '', undefined, max), 201);
    const aboveMaximumResponse = await requestQuote('USD', payee?.id ?? '', undefined, max + 1);
    expect([aboveMaximumResponse.status, aboveMaximumResponse.body.code]).toEqual([
      400,
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    ]);
  });

  it('omits currencies that are disabled for sending', async () => {
    const platform = await app.newPlatform('Receives only');
    const usd = {
      currencyCode: 'USD',
      minAmount: 1,
      maxAmount: 1_000_000,
      requiredCounterpartyFields: [],
      enabledTransactionTypes: ['INCOMING'],
    };
    const supportedCurrencies = [usd];
    ok(await app.call('PATCH', '/config', { supportedCurrencies }, { platform }), 200);
    const path = '/exchange-rates?sourceCurrency=USD&destinationCurrency=USDC';
    expect(ok(await app.call('GET', path, undefined, { platform }), 200).data).toEqual([]);
  });
});
