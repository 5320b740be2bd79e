// The resource of a request record, for the recorded replies of all operations.
import { expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { readExamples } from '../examples.ts';
import { resourceOf } from './request-records.ts';

const app = testApp();

/** Writes whose replies contain no ID of a resource. */
const WITHOUT_ID = [
  ...['cancelInvitation', 'claimInvitation', 'createInvitation', 'createSandboxFixtures'],
  ...['estimateCryptoWithdrawalFee', 'previewWebhookReplay', 'resetSandbox'],
  ...['sendTestEvent', 'sendTestWebhook', 'updateSandboxClock'],
];

it('a request record contains the resource of each write with an ID in its path or reply', () => {
  const operationIds = new Set<string>();
  for (const { operationId, status, reply, parameters = {} } of readExamples().exchanges) {
    const operation = app.operations.find((each) => each.contract.operationId === operationId);
    if (!operation || operation.contract.method === 'GET' || status >= 400 || !reply) continue;
    if (resourceOf(operation.contract, { status, body: reply }, parameters) === undefined) {
      operationIds.add(operationId);
    }
  }
  expect([...operationIds].sort()).toEqual(WITHOUT_ID);
});

it('a request record contains the created resource even if the reply names other resources', () => {
  const contractOf = (operationId: string) => {
    const operation = app.operations.find((each) => each.contract.operationId === operationId);
    if (!operation) throw new Error(`the operation ${operationId} was not found`);
    return operation.contract;
  };
  const id = 'Agent:0193d0e4-7c1f-7000-8000-000000000000';
  const otherId = 'Customer:0193d0e4-7c1f-7000-8000-000000000001';
  const body = { deviceCode: { code: 'a', agentId: otherId }, agent: { id, customerId: otherId } };
  expect(resourceOf(contractOf('createAgent'), { status: 201, body }, {})).toBe(id);
  const job = { status: 'PENDING', jobId: id };
  expect(resourceOf(contractOf('uploadCustomersCsv'), { status: 202, body: job }, {})).toBe(id);
});
