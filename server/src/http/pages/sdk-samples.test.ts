// Samples of the SDK, which only the reference of a server contains.
import { expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { withSdkSamples } from './sdk-samples.ts';

const app = testApp();

interface DocumentedOperation {
  operationId: string;
  'x-codeSamples'?: { lang: string; label: string; source: string }[];
}

async function documentedOperations(path: string): Promise<DocumentedOperation[]> {
  const { body } = await app.app.server.inject(path);
  const { paths } = JSON.parse(body) as {
    paths: Record<string, Record<string, DocumentedOperation>>;
  };
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

it('the reference shows a call with the SDK for each operation', async () => {
  const operations = await documentedOperations('/docs/reference/openapi.json');
  expect(operations.length).toBeGreaterThan(168);
  for (const { operationId, 'x-codeSamples': samples = [] } of operations) {
    expect(samples.map(({ label }) => label)).toEqual(['SDK']);
    expect(samples[0]?.source).toContain(`.${operationId}(`);
  }
  const quote = operations.find(({ operationId }) => operationId === 'executeQuote');
  expect(quote?.['x-codeSamples']?.[0]?.source).toMatch(
    /client\.quotes\.executeQuote\(\s*\{ quoteId: 'Quote:[0-9a-f-]{36}' \}/,
  );
});

it('the published document has no samples', async () => {
  const { body } = await app.app.server.inject('/openapi.json');
  expect(body).not.toContain('x-codeSamples');
});

it('samples are added once per document', () => {
  const document = { paths: {} };
  expect(withSdkSamples(document)).toBe(withSdkSamples(document));
});
