// Concurrent registrations of default UMA deposit accounts and concurrent ownership challenges,
// over a separate connection for each request. The requests contend like requests of independent
// clients.
import { beforeAll, describe, expect, it } from 'vitest';
import { accountInfos, createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { BASE_PATH } from '../../../http/server.ts';
import { externalAccounts } from './store.ts';

const CONCURRENT_REQUESTS = 20;

const app = testApp();
let origin: string;
beforeAll(async () => {
  await app.app.server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.app.server.server.address() as { port: number };
  origin = `http://127.0.0.1:${port}`;
});

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const { clientId, clientSecret } = app.platform;
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const reply = await fetch(`${origin}${BASE_PATH}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as { id: string }, headers: {} };
}

const accountBodyOf = (customerId: string, currency = 'EUR') => ({
  customerId,
  currency,
  accountInfo: accountInfos[currency]?.('000'),
  defaultUmaDepositAccount: true,
});

const findStoredAccounts = (customerId: string) =>
  app.runtime.db.find(externalAccounts, { customer_id: customerId, deleted_at: null });

async function findDefaultIds(customerId: string): Promise<string[]> {
  const path = `/customers/external-accounts?customerId=${customerId}&limit=100`;
  const { data } = ok(await app.call('GET', path), 200);
  expect(data).toHaveLength((await findStoredAccounts(customerId)).length);
  return data
    .filter((each: { defaultUmaDepositAccount: boolean }) => each.defaultUmaDepositAccount)
    .map((each: { id: string }) => each.id);
}

describe('concurrent registration of default UMA accounts', () => {
  it.each(['without', 'with'] as const)(
    'succeeds %s a previous default, and results in one default',
    async (previousDefault) => {
      const person = await createCustomer(app);
      if (previousDefault === 'with')
        await post('/customers/external-accounts', accountBodyOf(person.id));
      const responses = await Promise.all(
        Array.from({ length: CONCURRENT_REQUESTS }, (_, index) =>
          post('/customers/external-accounts', accountBodyOf(person.id), {
            'idempotency-key': `default ${person.id} ${index}`,
          }),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(Array(CONCURRENT_REQUESTS).fill(201));
      const defaultIds = await findDefaultIds(person.id);
      expect(defaultIds).toHaveLength(1);
      expect(responses.map(({ body }) => body.id)).toContain(defaultIds[0]);
      const lastResponse = await post('/customers/external-accounts', accountBodyOf(person.id));
      expect(await findDefaultIds(person.id)).toEqual([lastResponse.body.id]);
    },
  );
});

describe('concurrent ownership challenges', () => {
  it('are all accepted', async () => {
    const person = await createCustomer(app);
    const address = '0x52908400098527886E0F7030069857D2E4169EE7';
    const beneficiary = {
      ...{ beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Lovelace', countryOfResidence: 'US' },
    };
    const accountInfo = { accountType: 'ETHEREUM_WALLET', address, beneficiary };
    const ownershipType = 'FIRST_PARTY';
    const body = { customerId: person.id, currency: 'USDC', ownershipType, accountInfo };
    const { id } = (await post('/customers/external-accounts', body)).body;
    const path = `/customers/external-accounts/${id}/challenge`;
    const responses = await Promise.all(
      Array.from({ length: CONCURRENT_REQUESTS }, () => post(path, { method: 'WALLET_SIGNATURE' })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(CONCURRENT_REQUESTS).fill(201));
  });
});
