// Fields of a transaction by status, for the payer and the receiver, and counterparty information.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();
let options: { platform: TestPlatform };
beforeAll(async () => {
  options = { platform: await app.newPlatform('Shapes') };
});

const get = async (path: string) => ok(await app.call('GET', path, undefined, options), 200);

async function requireCounterpartyFields(currency: string, names: string[]) {
  const { supportedCurrencies } = await get('/config');
  const updatedCurrencies = supportedCurrencies.map(
    (currencySettings: { currencyCode: string }) => {
      const { providerRequiredCustomerFields: _, ...rest } = currencySettings as Record<
        string,
        unknown
      >;
      const fields = names.map((name) => ({ name, mandatory: false }));
      return currencySettings.currencyCode === currency
        ? { ...rest, requiredCounterpartyFields: fields }
        : rest;
    },
  );
  ok(await app.call('PATCH', '/config', { supportedCurrencies: updatedCurrencies }, options), 200);
}

async function createQuote(from: string, to: string, overrides: object = {}) {
  return ok(
    await app.call('POST', '/quotes', quoteBody(from, to, 100_00, overrides), options),
    201,
  );
}

const USD = { code: 'USD', name: 'United States Dollar', symbol: '$', decimals: 2 };
const EUR = { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 };

describe('getTransactionById', () => {
  describe('an outgoing transaction', () => {
    it('includes its fields from the creation of the quote to completion', async () => {
      const { person, account } = await createFundedCustomer(app, 1_000_00, options);
      const target = await createExternalAccount(app, person.id, 'EUR', '000', options);
      const quote = await createQuote(account.id, target.id, {
        description: 'March rent',
        remittanceInformation: 'INV 42',
        destination: {
          destinationType: 'ACCOUNT',
          accountId: target.id,
          paymentRail: 'SEPA',
          note: { any: 'thing' },
        },
      });
      expect(quote.destination).toEqual({
        destinationType: 'ACCOUNT',
        accountId: target.id,
        paymentRail: 'SEPA',
      });
      expect(quote.description).toBe('March rent');
      const { createdAt } = quote;
      const settlementDate = new Date(Date.parse(createdAt) + 86_400_000).toISOString();
      const expectedTransaction = {
        id: quote.transactionId,
        type: 'OUTGOING',
        direction: 'DEBIT',
        status: 'PENDING',
        customerId: person.id,
        platformCustomerId: person.platformCustomerId,
        source: { sourceType: 'ACCOUNT', accountId: account.id, currency: 'USD' },
        destination: { destinationType: 'ACCOUNT', accountId: target.id, currency: 'EUR' },
        sentAmount: { amount: 100_00, currency: USD },
        receivedAmount: { amount: 91_54, currency: EUR },
        fees: 50,
        platformFees: 0,
        exchangeRate: 1.08695652,
        quoteId: quote.id,
        description: 'March rent',
        rateDetails: quote.rateDetails,
        reconciliationInstructions: { reference: expect.stringMatching(/^RH[0-9A-F]{32}$/) },
        paymentRail: 'SEPA',
        railSelectionMode: 'MANUAL',
        expectedSettlementAt: settlementDate,
        settlementTimelineSeconds: 86_400,
        createdAt,
        updatedAt: createdAt,
      };
      expect(await get(`/transactions/${quote.transactionId}`)).toEqual(expectedTransaction);
      app.effects.set(app.effects.now() + 5_000);
      ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, options), 200);
      const updatedAt = new Date(app.effects.now()).toISOString();
      const processingTransaction = { ...expectedTransaction, status: 'PROCESSING', updatedAt };
      expect(await get(`/transactions/${quote.transactionId}`)).toEqual(processingTransaction);
      await app.settle();
      expect(await get(`/transactions/${quote.transactionId}`)).toEqual({
        ...processingTransaction,
        status: 'COMPLETED',
        settledAt: updatedAt,
      });
      expect((await get(`/quotes/${quote.id}`)).status).toBe('COMPLETED');
    });

    it('includes its refund and failure reason', async () => {
      const { person, account } = await createFundedCustomer(app, 1_000_00, options);
      const target = await createExternalAccount(app, person.id, 'EUR', '005', options);
      const quote = await createQuote(account.id, target.id);
      ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, options), 200);
      const settledAt = new Date(app.effects.now()).toISOString();
      await app.advance(60_000);
      const transaction = await get(`/transactions/${quote.transactionId}`);
      const refundedAt = new Date(Date.parse(settledAt) + 10_000).toISOString();
      expect(transaction).toMatchObject({
        status: 'FAILED',
        failureReason: 'PAYOUT_RETURNED',
        settledAt,
        updatedAt: refundedAt,
        refund: {
          reference: transaction.reconciliationInstructions.reference.replace('RH', 'RF'),
          status: 'COMPLETED',
          reason: 'TRANSACTION_FAILED',
          initiatedAt: refundedAt,
          settledAt: refundedAt,
        },
      });
    });

    it('has the platform as owner, or the customer on whose behalf it pays', async () => {
      const platformAccount = await findInternalAccount(app, null, 'USD', options);
      await fundAccount(app, platformAccount.id, 500_00, options);
      const person = await createCustomer(app, options);
      const target = await createExternalAccount(app, null, 'EUR', '000', options);
      const platformQuote = await createQuote(platformAccount.id, target.id);
      const { id } = options.platform;
      expect(await get(`/transactions/${platformQuote.transactionId}`)).toMatchObject({
        customerId: id,
        platformCustomerId: id,
      });
      const source = {
        sourceType: 'ACCOUNT',
        accountId: platformAccount.id,
        customerId: person.id,
      };
      const customerQuote = await createQuote(platformAccount.id, target.id, { source });
      expect(customerQuote.source).toEqual(source);
      expect(await get(`/transactions/${customerQuote.transactionId}`)).toMatchObject({
        customerId: person.id,
        platformCustomerId: person.platformCustomerId,
      });
      const { account } = await createFundedCustomer(app, 1_000_00, options);
      const otherSourceOverrides = { source: { ...source, accountId: account.id } };
      const response = await app.call(
        'POST',
        '/quotes',
        quoteBody(account.id, target.id, 100_00, otherSourceOverrides),
        options,
      );
      expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
      expect(response.body.details.errors[0].field).toBe('source.customerId');
    });

    it('has no rail to a wallet or between internal accounts', async () => {
      const person = await createCustomer(app, options);
      const usdc = await findInternalAccount(app, person.id, 'USDC', options);
      const wallet = ok(
        await app.call(
          'POST',
          '/customers/external-accounts',
          {
            customerId: person.id,
            currency: 'USDC',
            accountInfo: {
              accountType: 'BASE_WALLET',
              address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
            },
          },
          options,
        ),
        201,
      );
      const usd = await findInternalAccount(app, person.id, 'USD', options);
      for (const target of [wallet.id, usd.id]) {
        const body = quoteBody(usdc.id, target, 5_000_000);
        const quote = ok(await app.call('POST', '/quotes', body, options), 201);
        expect(await get(`/transactions/${quote.transactionId}`)).toMatchObject({
          paymentRail: null,
          railSelectionMode: null,
          expectedSettlementAt: null,
          settlementTimelineSeconds: null,
        });
      }
    });
  });

  describe('an incoming transaction between internal accounts', () => {
    it('shows the same payment for the receiver', async () => {
      const { account } = await createFundedCustomer(app, 1_000_00, options);
      const payee = await createCustomer(app, options);
      const target = await findInternalAccount(app, payee.id, 'EUR', options);
      const quote = await createQuote(account.id, target.id, {
        immediatelyExecute: true,
        description: 'a present',
      });
      const { data } = await get(`/transactions?customerId=${payee.id}`);
      const now = new Date(app.effects.now()).toISOString();
      expect(data).toEqual([
        {
          id: expect.stringMatching(/^Transaction:/),
          type: 'INCOMING',
          direction: 'CREDIT',
          status: 'COMPLETED',
          customerId: payee.id,
          platformCustomerId: payee.platformCustomerId,
          source: { sourceType: 'ACCOUNT', accountId: account.id, currency: 'USD' },
          destination: { destinationType: 'ACCOUNT', accountId: target.id, currency: 'EUR' },
          sentAmount: { amount: 100_00, currency: USD },
          receivedAmount: { amount: quote.totalReceivingAmount, currency: EUR },
          exchangeRate: quote.exchangeRate,
          quoteId: quote.id,
          description: 'a present',
          reconciliationInstructions: { reference: expect.stringMatching(/^RH/) },
          settledAt: now,
          createdAt: now,
          updatedAt: now,
        },
      ]);
      expect(data[0].id).not.toBe(quote.transactionId);
    });
  });

  describe('counterpartyInformation', () => {
    it('contains the known fields that the platform requires in the received currency', async () => {
      await requireCounterpartyFields('EUR', [
        'FULL_NAME',
        'BIRTH_DATE',
        'COUNTRY_OF_RESIDENCE',
        'USER_TYPE',
      ]);
      const { person, account } = await createFundedCustomer(app, 1_000_00, options);
      const externalAccount = await createExternalAccount(app, person.id, 'EUR', '000', options);
      const payoutQuote = await createQuote(account.id, externalAccount.id);
      const beneficiary = {
        FULL_NAME: 'Grace Hopper',
        COUNTRY_OF_RESIDENCE: 'DE',
        USER_TYPE: 'INDIVIDUAL',
      };
      expect(payoutQuote.counterpartyInformation).toEqual(beneficiary);
      const payment = await get(`/transactions/${payoutQuote.transactionId}`);
      expect(payment.counterpartyInformation).toEqual(beneficiary);

      const payee = await createCustomer(app, options, { fullName: 'Emmy Noether' });
      const receivingAccount = await findInternalAccount(app, payee.id, 'EUR', options);
      const immediateQuote = await createQuote(account.id, receivingAccount.id, {
        immediatelyExecute: true,
      });
      const customerFields = {
        BIRTH_DATE: '1990-01-15',
        COUNTRY_OF_RESIDENCE: 'US',
        USER_TYPE: 'INDIVIDUAL',
      };
      expect(immediateQuote.counterpartyInformation).toEqual({
        FULL_NAME: 'Emmy Noether',
        ...customerFields,
      });
      const [incomingTransaction] = (await get(`/transactions?customerId=${payee.id}`)).data;
      expect(incomingTransaction.counterpartyInformation).toEqual({
        FULL_NAME: 'Ada Lovelace',
        ...customerFields,
      });

      const ownInternalAccount = await findInternalAccount(app, person.id, 'EUR', options);
      expect(await createQuote(account.id, ownInternalAccount.id)).not.toHaveProperty(
        'counterpartyInformation',
      );
      const mxnAccount = await createExternalAccount(app, person.id, 'MXN', '000', options);
      expect(await createQuote(account.id, mxnAccount.id)).not.toHaveProperty(
        'counterpartyInformation',
      );
    });

    it('contains the platform if it pays for itself', async () => {
      await requireCounterpartyFields('EUR', ['FULL_NAME', 'USER_TYPE']);
      const platformAccount = await findInternalAccount(app, null, 'USD', options);
      await fundAccount(app, platformAccount.id, 500_00, options);
      const person = await createCustomer(app, options);
      const target = await findInternalAccount(app, person.id, 'EUR', options);
      await createQuote(platformAccount.id, target.id, { immediatelyExecute: true });
      const [incomingTransaction] = (await get(`/transactions?customerId=${person.id}`)).data;
      expect(incomingTransaction.counterpartyInformation).toEqual({
        FULL_NAME: 'Shapes',
        USER_TYPE: 'BUSINESS',
      });
    });
  });
});
