// With the sample customer, the examples of the API reference work as shown.
import { describe, expect, it } from 'vitest';
import { createSample } from '../../src/sample.ts';
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

const isAgents = ({ path }: { path: string }) => path.startsWith('/agents/me');

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
      if (!isRead || EXCLUDED_READS.has(id) || isAgents(operation)) continue;
      const { status, body } = await app.call('GET', urlOf(operation));
      if (status !== 200) differences.push(`${id}: ${JSON.stringify(body)}`);
    }
    expect(differences).toEqual([]);
  });

  it('has a quote that can be executed, and another after its execution or expiry', async () => {
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
});
