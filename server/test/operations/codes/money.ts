// Error codes of accounts, quotes, transfers, transactions, tokens and webhooks.
import { bolt11 } from '../../../src/connectors/sandbox/payments/bolt11.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../kit/app/fixtures.ts';
import { type CodeFixture, type Provocation, provocation, unknownId } from './kit.ts';

const transfer = (from: string, to: string, amount: number) => ({
  source: { accountId: from },
  destination: { accountId: to },
  amount,
});

/** A customer with funds, and an external account. */
async function createPayerAndPayee({ app }: CodeFixture) {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'USD');
  return { person, account, target };
}

const setLimit = async ({ runCommand }: CodeFixture, platform: string, ...flags: string[]) => {
  const result = await runCommand([
    'platform',
    'set-limit',
    platform,
    '--currency',
    'USD',
    ...flags,
  ]);
  if (result.code !== 0) throw new Error(result.err);
};

async function approveQuotedPayment({ post, agents }: CodeFixture) {
  const agent = await agents.createAgent();
  const quote = ok(
    await agents.callAsPlatform('POST', '/quotes', quoteBody(agent.usd, agent.eur, 1_00)),
    201,
  );
  return post(`/transactions/${quote.transactionId}/approve`);
}

/** A platform that requires the counterparty's name. */
async function createTravelRulePlatform({ app, call }: CodeFixture) {
  const platform = await app.newPlatform('Travel rule');
  const config = await call('GET', '/config', undefined, { platform });
  const requiredCounterpartyFields = [{ name: 'FULL_NAME', mandatory: true }];
  const supportedCurrencies = config.body.supportedCurrencies.map((supportedCurrency: object) => ({
    ...supportedCurrency,
    requiredCounterpartyFields,
  }));
  await call('PATCH', '/config', { supportedCurrencies }, { platform });
  return platform;
}

const ACCOUNTS: readonly Provocation[] = [
  provocation('ACCOUNT_NOT_FOUND', 'Get an unknown account', ({ call }) =>
    call('GET', `/internal-accounts/${unknownId('InternalAccount')}`),
  ),
  provocation(
    'INVALID_BANK_ACCOUNT',
    'Register a bank account whose number ends in 105. Alternatively, pay to or debit a US bank ' +
      'account whose validation has failed',
    async (fixture) => {
      const { id } = await createCustomer(fixture.app);
      return fixture.post('/customers/external-accounts', {
        customerId: id,
        currency: 'USD',
        accountInfo: {
          accountType: 'USD_ACCOUNT',
          accountNumber: '000123456105',
          routingNumber: '021000021',
          beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
        },
      });
    },
  ),
  provocation(
    'DUPLICATE_EXTERNAL_ACCOUNT',
    'Register a bank account twice',
    async ({ app, post }) => {
      const { id: customerId } = await createCustomer(app);
      const { currency, accountInfo } = await createExternalAccount(app, customerId, 'EUR');
      return post('/customers/external-accounts', { customerId, currency, accountInfo });
    },
  ),
  provocation(
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'Pay to, or debit, a US bank account that is being validated, for example after ' +
      '`railhead-server external-accounts check`. Repeat the request after the validation',
    async (fixture) => {
      const { account, target } = await createPayerAndPayee(fixture);
      const result = await fixture.runCommand([
        'external-accounts',
        'check',
        target.id,
        '--reason',
        'Name',
      ]);
      if (result.code !== 0) throw new Error(result.err);
      return fixture.post('/transfer-out', transfer(account.id, target.id, 1_00));
    },
  ),
  provocation(
    'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
    'Pay more than a thousand euros to a wallet of `ownershipType: FIRST_PARTY` of unproven ' +
      'ownership, if the platform requires counterparty fields',
    async (fixture) => {
      const { app, post } = fixture;
      const platform = await createTravelRulePlatform(fixture);
      const { id: customerId } = await createCustomer(app, { platform });
      const usdcAccount = await findInternalAccount(app, customerId, 'USDC', { platform });
      const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
      const wallet = await post(
        '/customers/external-accounts',
        {
          customerId,
          currency: 'USDC',
          ownershipType: 'FIRST_PARTY',
          accountInfo: { accountType: 'ETHEREUM_WALLET', address },
        },
        { platform },
      );
      const counterpartyInformation = { FULL_NAME: 'Ada Lovelace' };
      const body = quoteBody(usdcAccount.id, wallet.body.id, 1_090_000_000, {
        counterpartyInformation,
      });
      return post('/quotes', body, { platform });
    },
  ),
];

const QUOTES: readonly Provocation[] = [
  provocation(
    'MISSING_MANDATORY_USER_INFO',
    'Pay an Indian account without `purposeOfPayment`',
    async ({ app, post }) => {
      const { person, account } = await createFundedCustomer(app);
      const target = await post('/customers/external-accounts', {
        customerId: person.id,
        currency: 'INR',
        accountInfo: {
          accountType: 'INR_ACCOUNT',
          vpa: 'someone@upi',
          beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Asha Rao' },
        },
      });
      return post('/quotes', quoteBody(account.id, target.body.id, 500_00));
    },
  ),
  provocation('QUOTE_NOT_FOUND', 'Get an unknown quote', ({ call }) =>
    call('GET', `/quotes/${unknownId('Quote')}`),
  ),
  provocation(
    'QUOTE_EXPIRED',
    'Execute a quote after it expires, five minutes after its creation',
    async (fixture) => {
      const { account, target } = await createPayerAndPayee(fixture);
      const quote = ok(
        await fixture.app.call('POST', '/quotes', quoteBody(account.id, target.id, 1_00)),
        201,
      );
      fixture.app.effects.set(fixture.app.effects.now() + 301_000);
      return fixture.post(`/quotes/${quote.id}/execute`);
    },
  ),
  provocation(
    'INSUFFICIENT_FUNDS',
    'Send more than the balance of the account',
    async (fixture) => {
      const { account, target } = await createPayerAndPayee(fixture);
      return fixture.post('/transfer-out', transfer(account.id, target.id, 9_000_00));
    },
  ),
  provocation('INVALID_CURRENCY', 'Transfer between two currencies', async (fixture) => {
    const { person, account } = await createPayerAndPayee(fixture);
    const eurAccount = await createExternalAccount(fixture.app, person.id, 'EUR');
    return fixture.post('/transfer-out', transfer(account.id, eurAccount.id, 1_00));
  }),
  provocation(
    'QUOTE_RATE_UNAVAILABLE',
    'Quote a conversion on a production platform without a rate provider',
    async ({ app, post }) => {
      const platform = app.production;
      const usdAccount = await findInternalAccount(app, null, 'USD', { platform });
      const eurAccount = await findInternalAccount(app, null, 'EUR', { platform });
      return post('/quotes', quoteBody(usdAccount.id, eurAccount.id, 1_00), { platform });
    },
  ),
  provocation(
    'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    'Exceed the limit of `railhead-server platform set-limit --per-payment`',
    async (fixture) => {
      const { app } = fixture;
      const platform = await app.newPlatform('Small');
      const { person, account } = await createFundedCustomer(app, 8_000_00, { platform });
      const target = await createExternalAccount(app, person.id, 'USD', '000', { platform });
      await setLimit(fixture, platform.id, '--per-payment', '5000.00');
      return fixture.post('/quotes', quoteBody(account.id, target.id, 7_500_00), { platform });
    },
  ),
  provocation(
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    'Exceed the limit of `railhead-server platform set-limit --per-day`',
    async (fixture) => {
      const { app } = fixture;
      const platform = await app.newPlatform('Slow');
      const { person, account } = await createFundedCustomer(app, 15_000_00, { platform });
      const target = await createExternalAccount(app, person.id, 'USD', '000', { platform });
      await setLimit(fixture, platform.id, '--per-day', '10000.00');
      return fixture.post('/transfer-out', transfer(account.id, target.id, 12_000_00), {
        platform,
      });
    },
  ),
  provocation(
    'VELOCITY_LIMIT_EXCEEDED',
    'Exceed the number of payments of `railhead-server platform set --hourly-payments`',
    async (fixture) => {
      const { app } = fixture;
      const platform = await app.newPlatform('Calm');
      const { person, account } = await createFundedCustomer(app, 100_00, { platform });
      const target = await createExternalAccount(app, person.id, 'USD', '000', { platform });
      const result = await fixture.runCommand([
        'platform',
        'set',
        platform.id,
        '--hourly-payments',
        '10',
      ]);
      if (result.code !== 0) throw new Error(result.err);
      const pay = () =>
        fixture.post('/transfer-out', transfer(account.id, target.id, 2_00), { platform });
      for (let payment = 0; payment < 10; payment++) await pay();
      return pay();
    },
  ),
  provocation('INVALID_AMOUNT', 'Pay a Lightning invoice with another amount', async (fixture) => {
    const { app, post } = fixture;
    const person = await createCustomer(app);
    const btcAccount = await findInternalAccount(app, person.id, 'BTC');
    const invoice = bolt11({
      prefix: 'lnbcrt',
      amountMsat: 50_000_000n,
      expirySeconds: 7_200,
      timestamp: Math.floor(app.effects.now() / 1_000),
      paymentHash: app.effects.random(32),
      paymentSecret: app.effects.random(32),
      description: 'tea',
      privateKey: new Uint8Array(32).fill(7),
    });
    const target = ok(
      await app.call('POST', '/customers/external-accounts', {
        customerId: person.id,
        currency: 'BTC',
        accountInfo: { accountType: 'LIGHTNING', invoice },
      }),
      201,
    );
    return post('/quotes', {
      ...quoteBody(btcAccount.id, target.id, 49_999),
      lockedCurrencySide: 'RECEIVING',
    });
  }),
  provocation(
    'DUPLICATE_PAY_REQUEST',
    'Send two payments under one Idempotency-Key',
    async (fixture) => {
      const { account, target } = await createPayerAndPayee(fixture);
      const options = { headers: { 'idempotency-key': 'codes-twice' } };
      await fixture.post('/transfer-out', transfer(account.id, target.id, 1_00), options);
      return fixture.post('/transfer-out', transfer(account.id, target.id, 2_00), options);
    },
  ),
  provocation(
    'REFERENCE_NOT_FOUND',
    'Record a deposit with the reference of a payment that expects no deposit: ' +
      '`railhead-server deposits record --payment-reference`',
    async (fixture) => {
      const { account, target } = await createPayerAndPayee(fixture);
      const response = await fixture.app.call(
        'POST',
        '/transfer-out',
        transfer(account.id, target.id, 1_00),
      );
      const { reference } = ok(response, 201).reconciliationInstructions;
      const flags = ['--amount', '1.00', '--currency', 'USD', '--reference', 'codes-1'];
      const result = await fixture.runCommand([
        'deposits',
        'record',
        '--payment-reference',
        reference,
        ...flags,
      ]);
      return {
        status: 404,
        body: { code: /Payment reference not found/.test(result.err) && 'REFERENCE_NOT_FOUND' },
      };
    },
  ),
];

const TRANSACTIONS: readonly Provocation[] = [
  provocation('TRANSACTION_NOT_FOUND', 'Get an unknown transaction', ({ call }) =>
    call('GET', `/transactions/${unknownId('Transaction')}`),
  ),
  provocation(
    'TRANSACTION_NOT_CANCELLABLE',
    'Cancel a payment that has settled',
    async (fixture) => {
      const { account, target } = await createPayerAndPayee(fixture);
      const body = transfer(account.id, target.id, 1_00);
      const { id } = ok(await fixture.app.call('POST', '/transfer-out', body), 201);
      await fixture.app.settle();
      return fixture.post(`/transactions/${id}/cancel`);
    },
  ),
  provocation(
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    'Approve a payment that is not pending approval',
    approveQuotedPayment,
  ),
];

const ACCESS: readonly Provocation[] = [
  provocation('UNAUTHORIZED', 'Send a wrong client secret', ({ app, call }) =>
    call('GET', '/config', undefined, { platform: { ...app.platform, clientSecret: 'wrong' } }),
  ),
  provocation(
    'FORBIDDEN',
    'Change a resource with a token that has only the VIEW permission',
    async ({ app, post }) =>
      post('/customers', {}, { platform: await app.tokenWith(['VIEW'], 'codes') }),
  ),
  provocation('NOT_FOUND', 'Request an unknown path', ({ call }) => call('GET', '/nothing-here')),
  provocation('METHOD_NOT_ALLOWED', 'Use a method that the path does not support', ({ call }) =>
    call('PUT', '/quotes', {}),
  ),
  provocation('TOKEN_NOT_FOUND', 'Get an unknown token', ({ call }) =>
    call('GET', `/tokens/${unknownId('Token')}`),
  ),
  provocation(
    'WEBHOOK_ENDPOINT_NOT_SET',
    'Test a webhook endpoint that is not set',
    async (fixture) =>
      fixture.post('/webhooks/test', undefined, {
        platform: await fixture.app.newPlatform('No webhooks'),
      }),
  ),
  provocation(
    'WEBHOOK_DELIVERY_ERROR',
    'Test a webhook endpoint that does not respond',
    async (fixture) => {
      const platform = await fixture.app.newPlatform('Mute');
      const webhookEndpoint = 'http://127.0.0.1:9/hook';
      await fixture.call('PATCH', '/config', { webhookEndpoint }, { platform });
      return fixture.post('/webhooks/test', undefined, { platform });
    },
  ),
  provocation(
    'NOT_IMPLEMENTED',
    'Request a payee discovery on a production platform, which is not connected to other UMA ' +
      'providers',
    ({ app, call }) =>
      call('GET', '/receiver/uma/$bob@example.com', undefined, { platform: app.production }),
  ),
];

export const MONEY: readonly Provocation[] = [...ACCOUNTS, ...QUOTES, ...TRANSACTIONS, ...ACCESS];
