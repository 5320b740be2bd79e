// With the sample customer, the examples of the API reference work as shown.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ExampleRequest, RequestForm } from '../../src/http/document/request-form.ts';
import { BASE_PATH } from '../../src/http/route.ts';
import { createSample } from '../../src/sample/customer.ts';
import { PRECONDITIONS } from '../../src/sample/preconditions.ts';
import { testApp } from '../kit/app/test-app.ts';

const app = testApp();

interface DescribedOperation {
  operationId: string;
  parameters?: { name: string; in: string; example?: string }[];
  requestBody?: { content: Record<string, { examples: Record<string, { value: object }> }> };
}

async function readReference(): Promise<Map<string, DescribedOperation & { path: string }>> {
  const { body } = await app.app.server.inject('/docs/reference/openapi.json');
  const { paths } = JSON.parse(body) as {
    paths: Record<string, Record<string, DescribedOperation>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).map((method) => [method.operationId, { ...method, path }] as const),
    ),
  );
}

function urlOf({ path, parameters = [] }: DescribedOperation & { path: string }): string {
  const query = new URLSearchParams();
  let url = path;
  for (const { name, in: location, example } of parameters) {
    if (example === undefined) continue;
    if (location === 'path') url = url.replace(`{${name}}`, encodeURIComponent(example));
    if (location === 'query') query.set(name, example);
  }
  return query.size ? `${url}?${query}` : url;
}

/** Reads that need an agent's token, or a resource that the sample does not have. */
const EXCLUDED_READS = new Set([
  'getEventById',
  'getRequestById',
  'getWebhookDeliveryById',
  'getWebhookEndpointById',
  'getWebhookReplayById',
  'getBeneficialOwner',
  'getBulkCustomerImportJob',
  'getDelegatedKeyById',
  'getAgentDeviceCodeStatus',
  'getDocument',
  'getInvitation',
  'getStablecoin',
  'getStablecoinOperation',
  'getStablecoinProviderAccount',
  'getTwoFactorResetStatus',
  'getVerification',
  'listScaFactors',
  'listStablecoinOperations',
  'pullWebhookDeliveries',
]);

/** Operations with an example for each variant, all of which must succeed. */
const ALL_EXAMPLES = new Set(['createQuote', 'createCustomerExternalAccount']);

/** Requests after which other requests cannot use the sample. */
const LAST = ['setSandboxStatus', 'resetSandbox'];

const readForm = async (operationId: string): Promise<RequestForm> =>
  JSON.parse((await app.app.server.inject(`/docs/requests/${operationId}`)).body);

/** Path and headers of a request below the base path. */
function requestOf({ path, parameters }: RequestForm, example: Omit<ExampleRequest, 'summary'>) {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let url = path.slice(BASE_PATH.length);
  for (const { name, in: location, required } of parameters) {
    const isKey = required && name === 'Idempotency-Key';
    const value = isKey ? randomUUID() : example.parameters[name];
    if (value === undefined) continue;
    if (location === 'path') url = url.replace(`{${name}}`, encodeURIComponent(String(value)));
    if (location === 'query') query.set(name, String(value));
    if (location === 'header') headers[name] = String(value);
  }
  return { url: query.size ? `${url}?${query}` : url, headers };
}

const isAgentOperation = ({ path }: { path: string }) => path.startsWith('/agents/me');

describe('the sample customer', () => {
  it('has the resources of the quotes and reads that the reference shows', async () => {
    await createSample(app.app.server, app.platform);
    const operations = await readReference();
    const differences: string[] = [];
    const { examples = {} } =
      operations.get('createQuote')?.requestBody?.content['application/json'] ?? {};
    expect(Object.keys(examples).length).toBeGreaterThan(7);
    for (const [name, { value }] of Object.entries(examples)) {
      const { status, body } = await app.call('POST', '/quotes', value);
      if (status !== 201) differences.push(`createQuote ${name}: ${JSON.stringify(body)}`);
    }
    const paths = JSON.parse((await app.app.server.inject('/openapi.json')).body).paths;
    for (const [id, operation] of operations) {
      const isRead = paths[operation.path].get?.operationId === id;
      if (!isRead || EXCLUDED_READS.has(id) || isAgentOperation(operation)) continue;
      const { status, body } = await app.call('GET', urlOf(operation));
      if (status !== 200) differences.push(`${id}: ${JSON.stringify(body)}`);
    }
    expect(differences).toEqual([]);
  });

  it('has a quote that can be executed, and another quote after its execution or expiry', async () => {
    const readQuoteId = async () => {
      const execute = (await readReference()).get('executeQuote');
      return execute?.parameters?.find(({ name }) => name === 'quoteId')?.example as string;
    };
    const firstQuoteId = await readQuoteId();
    expect(await readQuoteId()).toBe(firstQuoteId);
    const { status } = await app.call('POST', `/quotes/${firstQuoteId}/execute`, {});
    expect(status).toBe(200);
    await app.advance(11_000);
    const secondQuoteId = await readQuoteId();
    expect(secondQuoteId).not.toBe(firstQuoteId);
    await app.advance(10 * 60_000);
    expect(await readQuoteId()).not.toBe(secondQuoteId);
  });

  it('has one new quote after concurrent requests', async () => {
    await app.advance(10 * 60_000);
    const countPayments = async () =>
      (await app.call('GET', '/transactions?limit=100')).body.data.length;
    const countBefore = await countPayments();
    const forms = Array.from({ length: 20 }, () => readForm('getQuoteById'));
    const quoteIds = (await Promise.all(forms)).map(
      ({ examples: [first] }) => first?.parameters.quoteId,
    );
    expect(new Set(quoteIds).size).toBe(1);
    expect(await countPayments()).toBe(countBefore + 1);
  });

  it('has the resources of the requests that the form of the site prefills', async () => {
    await app.advance(60_000);
    const failures: string[] = [];
    const documentedFailures = new Map(
      Object.entries(PRECONDITIONS).flatMap(([reason, ids]) =>
        ids.map((id) => [id, reason] as const),
      ),
    );
    const ids = [...(await readReference()).keys()].filter((id) => !LAST.includes(id));
    for (const operationId of [...ids, ...LAST]) {
      const form = await readForm(operationId);
      if (form.credential !== 'client' || form.contentType === 'multipart/form-data') continue;
      if (form.method === 'DELETE') continue;
      const shownExamples = ALL_EXAMPLES.has(operationId)
        ? form.examples
        : form.examples.slice(0, 1);
      for (const { summary, ...example } of shownExamples) {
        const { url, headers } = requestOf(form, example);
        const names = form.parameters.map(({ name }) => name);
        expect(names, operationId).toEqual(expect.arrayContaining(Object.keys(example.parameters)));
        const { status, body } = await app.call(form.method, url, example.body, { headers });
        // The number of a new card exists after its issuance.
        if (operationId === 'createCard') await app.advance(60_000);
        const hasData = !Array.isArray(body.data) || body.data.length > 0;
        if (status < 300 && hasData) continue;
        if (documentedFailures.delete(operationId)) continue;
        failures.push(`${operationId}: ${summary}: ${body.code ?? 'empty'} ${body.reason}`);
      }
    }
    expect(failures).toEqual([]);
    expect([...documentedFailures]).toEqual([]);
  });
});
