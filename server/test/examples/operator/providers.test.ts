// Examples of the operator API: providers, their keys, terms and routes, transfers over them, and
// their messages.
import { describe } from 'vitest';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';
import { type Adapter, startAdapter } from '../../kit/providers/adapter.ts';

const PROVIDER = { providerId: 'acme-bank' };
const PRODUCTION = { environment: 'production' };

const CAPABILITIES = {
  protocol: '1',
  transfers: [
    { kinds: ['payout', 'refund'], rails: ['SEPA', 'SEPA_INSTANT'], currencies: ['EUR'] },
  ],
  cancel: true,
  recall: true,
  statements: true,
  services: ['email'],
};

const TERMS = {
  limits: [{ currency: 'EUR', perTransfer: 50_000_00, perDay: 1_000_000_00 }],
  cutOffs: [{ rail: 'SEPA', time: '15:30', timeZone: 'Europe/Berlin' }],
  prefunding: [{ currency: 'EUR', alertBelow: 100_000_00 }],
  autoPause: { windowMinutes: 5, minimum: 20, errorPercent: 50, resumeAfterProbe: true },
};

async function recordCreation({ record }: OperatorRecorder, adapter: Adapter) {
  await record('createProvider', 'internet', {
    summary: 'A provider on the internet',
    body: {
      providerId: 'nordic-bank',
      ...PRODUCTION,
      url: 'https://railhead.nordic-bank.example',
      publicKeyPem: adapter.newKey().publicKeyPem,
      reason: 'Contract of January 5',
    },
  });
  const { ownKeys } = await record('createProvider', 'private-network', {
    summary: 'An adapter in the private network',
    body: {
      ...PROVIDER,
      ...PRODUCTION,
      url: adapter.url,
      publicKeyPem: adapter.publicKeyPem,
      privateAddressAllowed: true,
    },
  });
  adapter.accept(ownKeys);
  await record('checkProvider', 'capabilities', {
    summary: 'Store the capabilities of a provider',
    params: PROVIDER,
    body: { reason: 'First connection' },
  });
  const providerFile = {
    providers: [
      {
        providerId: 'baltic-bank',
        ...PRODUCTION,
        url: 'https://railhead.baltic-bank.example',
        publicKeys: [adapter.newKey().publicKeyPem],
        terms: { limits: [{ currency: 'EUR', perTransfer: 10_000_00 }] },
      },
    ],
    routes: [{ ...PRODUCTION, providerId: null, priority: 90 }],
  };
  await record('importProviders', 'dry-run', {
    summary: 'Dry run: the changes of the file are returned and not applied',
    body: { ...providerFile, dryRun: true },
    withoutApproval: true,
  });
  await record('importProviders', 'applied', {
    summary: 'Apply the file',
    body: { ...providerFile, reason: 'Configuration 14' },
  });
}

async function recordSettings({ record }: OperatorRecorder, adapter: Adapter) {
  const params = PROVIDER;
  await record('setProviderTerms', 'all', {
    summary: 'Limits, cut-off times, prefunding and automatic pause',
    params,
    body: { terms: TERMS, reason: 'Contract of January 5' },
  });
  await record('setProviderTerms', 'limits', {
    summary: 'Limits only. Other terms are removed',
    params: { providerId: 'nordic-bank' },
    body: { terms: { limits: TERMS.limits } },
  });
  await record('setProviderBalance', 'prefunded', {
    summary: 'The prefunded balance at the provider',
    params,
    body: { currency: 'EUR', amount: 250_000_00, reason: 'Transfer of January 5' },
  });
  await record('pauseProvider', 'maintenance', {
    summary: 'Pause a provider during maintenance',
    params,
    body: { reason: 'Maintenance of the bank' },
  });
  await record('resumeProvider', 'maintenance', {
    summary: 'Resume a provider after maintenance',
    params,
    body: { reason: 'The maintenance is complete' },
  });
  await record('addProviderKey', 'rotation', {
    summary: 'Add the next key of the provider',
    params: { providerId: 'nordic-bank' },
    body: {
      publicKeyPem: adapter.newKey().publicKeyPem,
      overlapHours: 48,
      reason: 'Yearly rotation',
    },
  });
  await record('rotateProviderKey', 'yearly', {
    summary: 'Generate the next key of the installation',
    params: { providerId: 'nordic-bank' },
    body: { overlapHours: 48, reason: 'Yearly rotation' },
  });
  await record('getProvider', 'active', { summary: 'A provider with terms and balances', params });
  await record('listProviders', 'all', { summary: 'Providers and built-in connectors' });
  await record('exportProviders', 'all', { summary: 'The configuration of the installation' });
}

async function recordRoutes({ service, record }: OperatorRecorder) {
  const createRoute = (name: string, summary: string, fields: object) =>
    record('createProviderRoute', name, { summary, body: { ...PRODUCTION, ...fields } });
  await createRoute('currency', 'Payouts in euros', {
    ...PROVIDER,
    priority: 10,
    kind: 'payout',
    currency: 'EUR',
    costFixed: 20,
    costBasisPoints: 5,
    reason: 'Contract of January 5',
  });
  const { routeId } = await createRoute('platform', 'Small instant payments of one platform', {
    providerId: 'nordic-bank',
    priority: 5,
    platformId: service.platform.id,
    kind: 'payout',
    rail: 'SEPA_INSTANT',
    currency: 'EUR',
    maxAmount: 500_00,
  });
  await createRoute('service', 'A provider that sends e-mails', {
    ...PROVIDER,
    priority: 10,
    kind: 'email',
  });
  await createRoute('built-in', 'The built-in connector, if no provider is available', {
    providerId: null,
    priority: 50,
    kind: 'payout',
    currency: 'EUR',
  });
  await record('listProviderRoutes', 'all', { summary: 'All routes' });
  await record('explainProviderRoute', 'payout', {
    summary: 'The selection of a provider for a payout',
    query: {
      ...PRODUCTION,
      platformId: service.platform.id,
      kind: 'payout',
      rail: 'SEPA',
      currency: 'EUR',
      amount: '10000',
    },
  });
  await record('deleteProviderRoute', 'replaced', {
    summary: 'Delete a route',
    params: { routeId },
    query: { reason: 'The contract has ended' },
  });
}

async function recordTransfers({ service, record }: OperatorRecorder, adapter: Adapter) {
  const { id: transactionId } = await service.createPayment();
  const params = { transactionId };
  const { providerId } = PROVIDER;
  const transfer = { state: 'settled', reference: 'SEPA-20260105-000417' };
  const message = { type: 'transfer.updated', transferId: transactionId, transfer };
  await adapter.send(providerId, message);
  await service.app.advance(60_000);
  const deposit = { amount: 25_00, currency: 'EUR', paymentReference: 'RF18 5390 0754 7034' };
  await adapter.send(providerId, { type: 'deposit.received', bankReference: 'D-1', ...deposit });
  await record('explainProviderOfTransaction', 'payout', {
    summary: 'The selection of the provider of a payout',
    params,
  });
  await record('recallTransfer', 'duplicate', {
    summary: 'Request the return of a duplicate payout',
    params,
    body: { cause: 'DUPLICATE', reason: 'The customer has paid the invoice twice' },
  });
  await service.app.settle();
  await record('listProviderMessages', 'latest', {
    summary: 'The latest messages of a provider',
    query: { providerId, limit: '2' },
  });
  await record('getProviderHealth', 'one', {
    summary: 'The health of a provider',
    query: { providerId },
  });
}

async function recordProviders(recorder: OperatorRecorder) {
  const adapter = await startAdapter(recorder.service.app);
  adapter.replies['/capabilities'] = () => ({ body: CAPABILITIES });
  adapter.replies['/transfers/recall'] = () => ({
    body: { state: 'requested', checkAfterSeconds: 86_400 },
  });
  try {
    await recordCreation(recorder, adapter);
    await recordSettings(recorder, adapter);
    await recordRoutes(recorder);
    await recordTransfers(recorder, adapter);
  } finally {
    await adapter.close();
  }
}

describe('examples of the operator API: providers', () => {
  operatorExamples(
    'providers',
    { recordProviders },
    { replacements: [[/http:\/\/127\.0\.0\.1:\d+/g, 'https://acme-bank.internal.example']] },
  );
});
