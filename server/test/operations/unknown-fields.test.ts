// Operations outside the public contract reject unknown query parameters and body fields by their
// names. A mistyped filter would return all rows, and a mistyped field would be ignored.
import { expect, it } from 'vitest';
import type { Contract } from '../../src/kernel/contract/operation.ts';
import { testApp } from '../kit/app/test-app.ts';

const TAGS = [
  'Events',
  'Requests',
  'Sandbox Clock',
  'Sandbox Fixtures',
  'Webhook Deliveries',
  'Webhook Endpoints',
];

const app = testApp();
const isExtension = ({ tag }: { tag: string }) => TAGS.includes(tag);

const fieldsOf = (response: { body: { details?: { errors: { field: string }[] } } }) =>
  response.body.details?.errors.map(({ field }) => field) ?? [];

/** The fields with an error in a rejection. */
async function rejectedFields(contract: Contract, query: string, body?: object): Promise<string[]> {
  const path = contract.path.replace(/\{\w+\}/g, 'x') + query;
  const response = await app.call(contract.method, path, body);
  expect([contract.operationId, response.status, response.body.code]).toEqual([
    contract.operationId,
    400,
    'INVALID_INPUT',
  ]);
  return fieldsOf(response);
}

it('an operation rejects an unknown query parameter by its name', async () => {
  const contracts = app.operations.map(({ contract }) => contract).filter(isExtension);
  expect(contracts.length).toBeGreaterThan(20);
  for (const contract of contracts) {
    const body = contract.body ? {} : undefined;
    expect(await rejectedFields(contract, '?color=red', body)).toContain('color');
  }
  expect([...new Set(contracts.map(({ tag }) => tag))].sort()).toEqual(TAGS);
});

it('an operation rejects an unknown body field by its name', async () => {
  const contracts = app.operations.map(({ contract }) => contract).filter(isExtension);
  for (const contract of contracts.filter(({ body }) => body !== undefined)) {
    expect(await rejectedFields(contract, '', { color: 'red' })).toContain('color');
  }
});
