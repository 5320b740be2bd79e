// The configuration over the API, and its immediate effect.
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

const feeConfig = (sourceCurrency: string, variableFeeBps: number, amount: number) => ({
  feeType: 'CROSS_CURRENCY_TRANSACTION',
  sourceCurrency,
  variableFeeBps,
  fixedFee: { amount, currency: sourceCurrency },
});

const currencyConfig = (currencyCode: string, overrides: object = {}) => ({
  currencyCode,
  minAmount: 100,
  maxAmount: 1_000_000,
  requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }],
  enabledTransactionTypes: ['OUTGOING', 'INCOMING'],
  ...overrides,
});

const patchConfig = (body: unknown, platform = app.platform) =>
  app.call('PATCH', '/config', body, { platform });

const errorFields = (body: { details: { errors: { field: string }[] } }) =>
  body.details.errors.map((each) => each.field);

describe('getPlatformConfig', () => {
  it('returns the defaults of a new platform', async () => {
    const { status, body } = await app.call('GET', '/config', undefined, { platform: app.other });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: app.other.id,
      isRegulatedFinancialInstitution: true,
      feeConfigs: [],
    });
    expect(body.supportedCurrencies).toHaveLength(12);
    expect(body.supportedCurrencies[0]).toEqual({
      currencyCode: 'USD',
      minAmount: 1,
      maxAmount: 9_000_000_000_000_000,
      requiredCounterpartyFields: [],
      enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
    });
    expect(body).not.toHaveProperty('webhookEndpoint');
    const { body: unregulatedConfig } = await app.call('GET', '/config', undefined, {
      platform: app.unregulated,
    });
    expect(unregulatedConfig.isRegulatedFinancialInstitution).toBe(false);
    expect(unregulatedConfig.umaDomain).not.toBe(body.umaDomain);
  });

  it('requires VIEW', async () => {
    const callerToken = await app.tokenWith(['MANAGE', 'TRANSACT']);
    expect((await app.call('GET', '/config', undefined, { platform: callerToken })).body.code).toBe(
      'FORBIDDEN',
    );
  });
});

describe('updatePlatformConfig', () => {
  it('requires MANAGE', async () => {
    const callerToken = await app.tokenWith(['VIEW', 'TRANSACT']);
    const { status, body } = await app.call(
      'PATCH',
      '/config',
      { umaDomain: 'a.test' },
      { platform: callerToken },
    );
    expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
  });

  it('changes only the settings of the request, immediately', async () => {
    const configBefore = (await app.call('GET', '/config')).body;
    expect((await patchConfig({})).body).toEqual(configBefore);
    app.effects.set(app.effects.now() + 1_000);
    const { status, body } = await patchConfig({
      umaDomain: 'Pay.Example.com',
      id: 'PlatformConfig:other',
      proxyUmaSubdomain: 'mine',
      isRegulatedFinancialInstitution: false,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...configBefore,
      umaDomain: 'pay.example.com',
      updatedAt: new Date(app.effects.now()).toISOString(),
    });
    expect((await app.call('GET', '/config')).body).toEqual(body);
  });

  it('merges settings of wallets and cards', async () => {
    const walletConfig = { appName: 'App', otpLength: 8, alphanumeric: true };
    await patchConfig({ embeddedWalletConfig: walletConfig });
    const { body } = await patchConfig({
      embeddedWalletConfig: { otpLength: 10, replyToEmailAddress: 'help@example.com' },
      cardTokenization2faConfig: { displayName: 'Card', email: { subject: 'Code' } },
    });
    expect(body.embeddedWalletConfig).toEqual({
      appName: 'App',
      otpLength: 10,
      alphanumeric: true,
      expirationSeconds: 300,
      sendFromEmailSenderName: 'Notifications',
      replyToEmailAddress: 'help@example.com',
    });
    const smsConfig = { cardTokenization2faConfig: { sms: { bodyText: 'Code:' } } };
    expect((await patchConfig(smsConfig)).body.cardTokenization2faConfig).toEqual({
      displayName: 'Card',
      email: { subject: 'Code' },
      sms: { bodyText: 'Code:' },
    });
  });

  it('sets, keeps and removes fees', async () => {
    const { body } = await patchConfig({ feeConfigs: [feeConfig('USD', 50, 25)] });
    expect(body.feeConfigs).toEqual([feeConfig('USD', 50, 25)]);
    expect((await patchConfig({ feeConfigs: [] })).body.feeConfigs).toEqual([
      feeConfig('USD', 50, 25),
    ]);
    expect((await patchConfig({ feeConfigs: [feeConfig('USD', 0, 0)] })).body.feeConfigs).toEqual(
      [],
    );
  });

  it.each([
    ['another source currency', feeConfig('EUR', 50, 0)],
    [
      'a fixed fee in another currency',
      { ...feeConfig('USD', 5, 0), fixedFee: { amount: 1, currency: 'EUR' } },
    ],
  ])('rejects fees with %s', async (_description, config) => {
    const { status, body } = await patchConfig({ feeConfigs: [config] });
    expect([status, body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
  });

  it('reports every invalid field of one request', async () => {
    const { status, body } = await patchConfig({
      umaDomain: '',
      webhookEndpoint: 'not a url',
      supportedCurrencies: [
        {
          ...currencyConfig('USD'),
          minAmount: -1,
          requiredCounterpartyFields: [{ name: 'ADDRESS' }],
        },
      ],
      embeddedWalletConfig: {
        otpLength: 3,
        expirationSeconds: 86_401,
        sendFromEmailAddress: 'sender',
        logoUrl: 'x'.repeat(513),
      },
      cardTokenization2faConfig: {
        logoUrl: 'http://example.com/logo.png',
        sms: { bodyText: null },
      },
      feeConfigs: [{ ...feeConfig('USD', 10_001, 0), fixedFee: { amount: 0.5, currency: 'USD' } }],
    });
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(errorFields(body).sort()).toEqual([
      'cardTokenization2faConfig.logoUrl',
      'cardTokenization2faConfig.sms.bodyText',
      'embeddedWalletConfig.expirationSeconds',
      'embeddedWalletConfig.logoUrl',
      'embeddedWalletConfig.otpLength',
      'embeddedWalletConfig.sendFromEmailAddress',
      'feeConfigs.0.fixedFee.amount',
      'feeConfigs.0.variableFeeBps',
      'supportedCurrencies.0.minAmount',
      'supportedCurrencies.0.requiredCounterpartyFields.0.mandatory',
      'supportedCurrencies.0.requiredCounterpartyFields.0.name',
      'umaDomain',
      'webhookEndpoint',
    ]);
  });

  it('rejects null, unknown currencies, duplicates and a minimum above the maximum', async () => {
    expect(errorFields((await patchConfig({ webhookEndpoint: null })).body)).toEqual([
      'webhookEndpoint',
    ]);
    const supportedCurrencies = [
      currencyConfig('USD'),
      currencyConfig('ZZZ'),
      currencyConfig('USD'),
      currencyConfig('EUR', { minAmount: 2, maxAmount: 1 }),
    ];
    expect(errorFields((await patchConfig({ supportedCurrencies })).body)).toEqual([
      'supportedCurrencies.1.currencyCode',
      'supportedCurrencies.2.currencyCode',
      'supportedCurrencies.3.minAmount',
    ]);
  });

  it('requires https endpoints, and public addresses in production', async () => {
    const endpoints = ['http://example.com/hook', 'ftp://example.com', 'example.com', ''];
    for (const webhookEndpoint of endpoints) {
      const { status, body } = await patchConfig({ webhookEndpoint });
      expect([status, errorFields(body)]).toEqual([400, ['webhookEndpoint']]);
    }
    for (const webhookEndpoint of ['http://127.0.0.1:9/hook', 'https://10.0.0.1/hook']) {
      const { status, body } = await patchConfig({ webhookEndpoint }, app.production);
      expect([status, errorFields(body)]).toEqual([400, ['webhookEndpoint']]);
    }
  });
});

describe('a new webhook endpoint', () => {
  it('receives a TEST event after a successful change only', async () => {
    const platform = await app.newPlatform('Webhooks');
    const webhookEndpoint = 'http://127.0.0.1:9/hook';
    await patchConfig({ webhookEndpoint: 'http://example.com' }, platform);
    await patchConfig({ umaDomain: 'hooked.test' }, platform);
    const { body } = await patchConfig({ webhookEndpoint }, platform);
    expect(body.webhookEndpoint).toBe(webhookEndpoint);
    const events = (await app.events()).filter((each) => each.platformId === platform.id);
    expect(events).toMatchObject([{ type: 'TEST', subject: platform.id, data: {} }]);
    await patchConfig({ webhookEndpoint }, platform);
    const eventsAfter = (await app.events()).filter((each) => each.platformId === platform.id);
    expect(eventsAfter).toHaveLength(2);
  });
});

describe('a new currency', () => {
  it('has exactly one account of the platform', async () => {
    const platform = await app.newPlatform('Currencies');
    const listCurrencies = async () => {
      const reply = await app.call('GET', '/platform/internal-accounts?limit=100', undefined, {
        platform,
      });
      return reply.body.data
        .map((each: { balance: { currency: { code: string } } }) => each.balance.currency.code)
        .sort();
    };
    const currenciesBefore = await listCurrencies();
    const { body: config } = await app.call('GET', '/config', undefined, { platform });
    const cadConfig = {
      supportedCurrencies: [...config.supportedCurrencies, currencyConfig('CAD')],
    };
    const { status, body } = await patchConfig(cadConfig, platform);
    expect(status).toBe(200);
    expect(body.supportedCurrencies.at(-1)).toEqual(currencyConfig('CAD'));
    expect(await listCurrencies()).toEqual([...currenciesBefore, 'CAD'].sort());
    await patchConfig({ supportedCurrencies: [currencyConfig('USD')] }, platform);
    await patchConfig(cadConfig, platform);
    await app.settle();
    expect(await listCurrencies()).toEqual([...currenciesBefore, 'CAD'].sort());
  });

  it('has accounts of existing customers', async () => {
    const platform = await app.newPlatform('Existing customers');
    const createResponse = await app.call(
      'POST',
      '/customers',
      { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' },
      { platform },
    );
    const { body: config } = await app.call('GET', '/config', undefined, { platform });
    await patchConfig(
      { supportedCurrencies: [...config.supportedCurrencies, currencyConfig('CAD')] },
      platform,
    );
    await app.settle();
    const { body } = await app.call(
      'GET',
      `/customers/internal-accounts?customerId=${createResponse.body.id}&currency=CAD`,
      undefined,
      { platform },
    );
    expect(body.data).toMatchObject([{ customerId: createResponse.body.id, status: 'ACTIVE' }]);
  });
});
