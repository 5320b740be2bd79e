// Examples of the operator API: platforms, their limits and tokens, signing keys, and sandbox
// platforms.
import { describe } from 'vitest';
import { createCustomer } from '../../kit/app/fixtures.ts';
import { AMARA } from '../../kit/http/example-people.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';

const PASSKEY_SITE = { rpId: 'northwind.example', origins: ['https://pay.northwind.example'] };

async function recordPlatforms({ service, record }: OperatorRecorder) {
  await record('createPlatform', 'sandbox', {
    summary: 'A sandbox platform',
    body: { name: 'Northwind test', currencies: ['USD', 'EUR'], reason: 'Contract 12' },
  });
  await record('createPlatform', 'production', {
    summary: 'A production platform with strong customer authentication',
    body: {
      name: 'Northwind',
      environment: 'production',
      regulated: false,
      sca: true,
      passkeySite: PASSKEY_SITE,
      terms: true,
      standardWebhooks: true,
      currencies: ['USD', 'EUR'],
      reason: 'Contract 12',
    },
  });
  const params = { platformId: service.platform.id };
  await record('listPlatforms', 'first-page', {
    summary: 'The first platforms',
    query: { limit: '2' },
  });
  await record('updatePlatform', 'settings', {
    summary: 'Change some settings',
    params,
    body: {
      name: 'Southgate',
      brandColor: '#4338ca',
      passkeySite: { rpId: 'southgate.example', origins: ['https://pay.southgate.example'] },
      hourlyPayments: 500,
      reason: 'Request of the platform',
    },
  });
  await record('updatePlatform', 'remove-limit', {
    summary: 'Remove the limit of payments per hour',
    params,
    body: { hourlyPayments: null },
  });
  await record('getPlatform', 'production', { summary: 'A production platform', params });
  await record('setRequestBodyRetention', 'until', {
    summary: 'Store the bodies of requests for some days',
    params,
    body: { until: '2026-01-12T09:00:00.000Z', reason: 'Analysis of rejected quotes' },
  });
  await record('setRequestBodyRetention', 'end', {
    summary: 'Store no further bodies',
    params,
    body: { until: null, reason: 'The analysis is complete' },
  });
}

async function recordLimits({ service, record }: OperatorRecorder) {
  const params = { platformId: service.platform.id };
  await record('setPaymentLimit', 'corridor', {
    summary: 'Limits of payments from US dollars to euros',
    params,
    body: {
      currency: 'USD',
      to: 'EUR',
      perPayment: 10_000_00,
      perDay: 50_000_00,
      reason: 'Risk review',
    },
  });
  await record('setPaymentLimit', 'currency', {
    summary: 'A limit of all payments in euros',
    params,
    body: { currency: 'EUR', perPayment: 25_000_00 },
  });
  await record('listPaymentLimits', 'all', { summary: 'The limits of a platform', params });
  await record('removePaymentLimit', 'corridor', {
    summary: 'Remove the limits of a currency pair',
    params,
    query: { currency: 'USD', to: 'EUR', reason: 'Risk review' },
  });
  await record('getCardProgram', 'default', { summary: 'The card settings of a platform', params });
  await record('updateCardProgram', 'limits', {
    summary: 'Maximum numbers of cards and the sites that show card numbers',
    params,
    body: {
      maxLive: 50_000,
      maxLivePerHolder: 5,
      frameOrigins: ['https://app.southgate.example'],
      reason: 'Contract 12',
    },
  });
}

async function recordTokens({ service, record }: OperatorRecorder) {
  const { id: platformId } = service.platform;
  const { tokenId } = await record('createPlatformToken', 'reporting', {
    summary: 'A token that can only read',
    params: { platformId },
    body: { name: 'Reporting', permissions: ['VIEW'], reason: 'Request of the platform' },
  });
  await record('createPlatformToken', 'payments', {
    summary: 'A token that reads and creates payments',
    params: { platformId },
    body: { name: 'Payment service', permissions: ['VIEW', 'TRANSACT'] },
  });
  await record('listPlatformTokens', 'of-platform', {
    summary: 'The tokens of a platform',
    query: { platformId, limit: '2' },
  });
  await record('revokePlatformToken', 'replaced', {
    summary: 'Revoke a token',
    params: { tokenId },
    query: { reason: 'Replaced by another token' },
  });
}

async function recordSigningKeys({ record }: OperatorRecorder) {
  await record('listSigningKeys', 'all', { summary: 'The keys of both environments' });
  const { keys } = await record('rotateSigningKeys', 'sandbox', {
    summary: 'Announce the next keys of the sandbox',
    body: { environment: 'sandbox', overlapHours: 48, reason: 'Yearly rotation' },
  });
  const announcedKey = keys.find(({ status }: { status: string }) => status === 'announced');
  await record('retireSigningKey', 'announced', {
    summary: 'Retire an announced key, which never signs',
    params: { keyId: announcedKey.keyId },
    body: { reason: 'Rotated by mistake' },
  });
}

const FIXTURE_STEPS = [
  {
    name: 'amara',
    operationId: 'createCustomer',
    body: { platformCustomerId: 'customer-4001', ...AMARA },
  },
  {
    name: 'accounts',
    operationId: 'listCustomerInternalAccounts',
    query: { customerId: '$amara.id' },
  },
];

async function recordSandbox({ service: { app }, record }: OperatorRecorder) {
  const params = { platformId: app.platform.id };
  await record('listSandboxWorlds', 'all', { summary: 'The built-in worlds' });
  await record('createPlatformFixtures', 'world', {
    summary: 'Create the fixtures of a built-in world',
    params,
    body: { world: 'starter', reason: 'Training' },
  });
  await record('createPlatformFixtures', 'steps', {
    summary: 'Create fixtures by a list of calls',
    params,
    body: { steps: FIXTURE_STEPS },
  });
  await record('getPlatformClock', 'running', { summary: 'A clock that was not changed', params });
  await record('changePlatformClock', 'advance', {
    summary: 'Advance the clock by two days and stop it',
    params,
    body: { advance: 'P2D', freeze: true, reason: 'Test of the expiry of quotes' },
  });
  await record('changePlatformClock', 'to', {
    summary: 'Advance the clock to a time and let it run',
    params,
    body: { to: '2026-02-01T00:00:00.000Z', freeze: false },
  });
  await createCustomer(app, {}, AMARA);
  await record('resetPlatform', 'resources', {
    summary: 'Remove all resources and keep the configuration',
    params,
    body: { reason: 'The training is complete' },
  });
  await record('resetPlatform', 'configuration', {
    summary: 'Reset the configuration as well',
    params,
    body: { isConfigurationReset: true, reason: 'A new training' },
  });
}

describe('examples of the operator API: platforms', () => {
  operatorExamples('platforms', {
    recordPlatforms,
    recordLimits,
    recordTokens,
    recordSigningKeys,
    recordSandbox,
  });
});
