// A configured service name prefix changes headers, codes and fields of requests and replies.
import { expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../test/kit/app/fixtures.ts';
import { testApp } from '../../test/kit/app/test-app.ts';

const app = testApp({ serviceNamePrefix: 'Acme' });

it('fields, codes and headers have the configured prefix', async () => {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'EUR');
  const quote = ok(await app.call('POST', '/quotes', quoteBody(account.id, target.id, 5_000)), 201);
  expect(Object.keys(quote.rateDetails)).toContain('acmeApiMultiplier');
  expect(JSON.stringify(quote)).not.toContain('serviceApi');
  const document = JSON.stringify(await app.openApi());
  expect(document).toContain('ACME_SWITCH_ERROR');
  expect(document).toContain('X-Acme-Signature');
  expect(document).not.toContain('SERVICE_SWITCH_ERROR');
});

it('the document has no dangling reference', async () => {
  const document = (await app.openApi()) as { components: { schemas: object } };
  const references = JSON.stringify(document).match(/(?<="#\/components\/schemas\/)\w+/g) ?? [];
  const names = new Set(references);
  expect(names).toContain('StablecoinAcmeOperationsStatus');
  expect([...names].filter((name) => !(name in document.components.schemas))).toEqual([]);
});

it('errors of a request have the configured prefix', async () => {
  const body = { amount: '10000', fundingSource: { type: 'X' }, destination: { accountId: 'x' } };
  const headers = { 'idempotency-key': 'naming-1' };
  const response = await app.call('POST', '/stablecoins/x/mints', body, { headers });
  const [error] = response.body.details.errors;
  expect(error.constraint.enum).toContain('ACME_INTERNAL_ACCOUNT');
  expect(error.message).toContain('ACME_INTERNAL_ACCOUNT');
  expect(JSON.stringify(response.body)).not.toContain('SERVICE_');
});
