// Errors of the operator API. Codes without an example here use that of the platform API.
import { describe } from 'vitest';
import { createCustomer, ok } from '../../kit/app/fixtures.ts';
import { AMARA } from '../../kit/http/example-people.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';

const id = (type: string) => `${type}:019b8d60-2a80-7000-8000-0000000000ff`;

/** Requests about resources that do not exist. */
async function recordMissingResources({ recordError }: OperatorRecorder) {
  await recordError('PLATFORM_NOT_FOUND', 'listEventsOfPlatforms', {
    query: { platformId: id('PlatformConfig') },
  });
  await recordError('TRANSACTION_NOT_FOUND', 'getPayment', {
    params: { transactionId: id('Transaction') },
  });
  await recordError('CUSTOMER_NOT_FOUND', 'getCustomerAuthentication', {
    params: { customerId: id('Customer') },
  });
  await recordError('ACCOUNT_NOT_FOUND', 'listAccountHistory', {
    params: { accountId: id('InternalAccount') },
  });
  await recordError('STABLECOIN_NOT_FOUND', 'getStablecoinSupply', {
    params: { stablecoinId: id('Stablecoin') },
  });
  await recordError('STABLECOIN_OPERATION_NOT_FOUND', 'listStablecoinOperationHistory', {
    params: { stablecoinOperationId: id('StablecoinOperation') },
  });
  await recordError('TOKEN_NOT_FOUND', 'revokePlatformToken', {
    params: { tokenId: id('Token') },
  });
  await recordError('NOT_FOUND', 'getApproval', { params: { approvalId: id('Approval') } });
}

async function recordInvalidRequests({ client, recordError }: OperatorRecorder) {
  await recordError('INVALID_INPUT', 'createOperatorToken', {
    body: { name: '', roles: ['cashier'] },
  });
  await recordError('UNAUTHORIZED', 'listOperatorTokens', { secret: 'rho_unknown' });
  const secret = await client.secretOf({ name: 'Reports', roles: ['viewer'] });
  await recordError('FORBIDDEN', 'createOperatorToken', {
    secret,
    body: { name: 'Accounting export', roles: ['treasury'] },
  });
  await recordError('LINK_ENDED', 'showEnrollment', { body: { secret: 'rhe_unknown' } });
}

async function recordDeposits({ service, recordError }: OperatorRecorder) {
  const deposit = { bankReference: 'STMT-2026-01-05-0007', amount: 1_250_00, rail: 'WIRE' };
  await recordError('REFERENCE_NOT_FOUND', 'recordDeposit', {
    body: { ...deposit, paymentReference: 'RH0000000000', currency: 'USD' },
  });
  const { account } = await service.createPayer();
  await recordError('INVALID_CURRENCY', 'recordDeposit', {
    body: { ...deposit, accountId: account, currency: 'EUR' },
  });
}

/** Changes that the state of the resource does not permit. */
async function recordConflicts({ service, client, recordError }: OperatorRecorder) {
  const user = { name: 'Nina Weber', email: 'nina.weber@example.com', roles: ['support'] };
  ok(await client.call('POST', '/operator-users', { body: user }), 201);
  await recordError('CONFLICT', 'createOperatorUser', { body: user });
  const { app, callOptions } = service;
  const { id: customerId } = await createCustomer(app, callOptions, AMARA);
  ok(await app.call('DELETE', `/customers/${customerId}`, undefined, callOptions), 200);
  await recordError('CUSTOMER_DELETED', 'unlockCustomer', {
    params: { customerId },
    body: { reason: 'Identified in a video call' },
  });
  await recordError('NOT_IMPLEMENTED', 'getOperatorOidcOptions', {});
}

describe('examples of errors', () => {
  operatorExamples('errors', {
    recordMissingResources,
    recordInvalidRequests,
    recordDeposits,
    recordConflicts,
  });
});
