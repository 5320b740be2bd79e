// Examples of the operator API: stablecoins, their mints and burns.
import { describe } from 'vitest';
import { ok } from '../../kit/app/fixtures.ts';
import type { TestApp } from '../../kit/app/harness.ts';
import { createPerson, createSparkWallet } from '../../kit/http/example-people.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });

/** A registered stablecoin with this symbol. */
async function createCoin(app: TestApp, symbol: string) {
  const link = {
    provider: 'BRALE',
    apiClientId: `${symbol}-production`,
    apiClientSecret: `the-secret-of-${symbol}`,
  };
  const path = '/stablecoin-provider-accounts';
  const account = ok(await app.call('POST', path, link, withKey(`link-${symbol}`)), 201);
  const body = {
    stablecoinProviderAccountId: account.id,
    providerTokenIdentifier: `coin${symbol}-example`,
    networkTokenIdentifier: `btkn1${symbol.toLowerCase()}example`,
    network: 'SPARK',
  };
  const coin = await app.call('POST', '/stablecoins', body, withKey(`register-${symbol}`));
  return ok(coin, 201).id as string;
}

async function recordDecisions({ service: { app }, record }: OperatorRecorder) {
  const stablecoinId = await createCoin(app, 'NWUSD');
  const params = { stablecoinId };
  const path = `/stablecoins/${stablecoinId}/request-service-enablement`;
  ok(await app.call('POST', path), 200);
  await record('searchStablecoins', 'pending', {
    summary: 'Stablecoins that wait for a decision',
    query: { platformId: app.platform.id, status: 'PENDING_APPROVAL' },
  });
  for (const [operationId, name, summary, reason] of [
    ['rejectStablecoin', 'documents', 'Reject a stablecoin', 'The audit report is missing'],
    [
      'approveStablecoin',
      'audited',
      'Permit accounts and payments in a stablecoin',
      'The audit report is complete',
    ],
    ['disableStablecoin', 'ended', 'End the use of a stablecoin', 'The contract has ended'],
  ] as const) {
    await record(operationId, name, { summary, params, body: { reason } });
    await app.advance(60_000);
  }
  await record('listStablecoinHistory', 'decisions', {
    summary: 'The decisions about a stablecoin',
    params,
  });
}

async function recordOrders({ service: { app }, record }: OperatorRecorder) {
  const stablecoinId = await createCoin(app, 'NORTH');
  const customer = await createPerson({ app });
  const wallet = await createSparkWallet({ app }, customer.id);
  const createMint = async (amount: string) => {
    const body = { amount, fundingSource: { type: 'WIRE' }, destination: { accountId: wallet.id } };
    const path = `/stablecoins/${stablecoinId}/mints`;
    const { id } = ok(await app.call('POST', path, body, withKey(`mint-${amount}`)), 201);
    return { stablecoinOperationId: id as string };
  };
  await createMint('100000000');
  await app.advance(5_000);
  await record('getStablecoinSupply', 'circulating', {
    summary: 'A stablecoin whose supply agrees with the ledger',
    params: { stablecoinId },
  });
  const [completed, failed] = [await createMint('20000000'), await createMint('30000000')];
  // The orders are submitted to the provider.
  await app.settle();
  await record('searchStablecoinOperations', 'of-coin', {
    summary: 'The latest mints and burns of a stablecoin',
    query: { stablecoinId, limit: '2' },
  });
  await record('endStablecoinOperation', 'failed', {
    summary: 'The issuer has rejected a mint',
    params: failed,
    body: { outcome: 'failed', reason: 'Rejected by the issuer' },
  });
  await record('endStablecoinOperation', 'completed', {
    summary: 'The issuer has transferred the tokens',
    params: completed,
    body: { outcome: 'completed', reason: 'Confirmed by the issuer' },
  });
  await record('listStablecoinOperationHistory', 'failed', {
    summary: 'The decision about a mint',
    params: failed,
  });
  await app.settle();
}

describe('examples of the operator API: stablecoins', () => {
  operatorExamples('stablecoins', { recordDecisions, recordOrders });
});
