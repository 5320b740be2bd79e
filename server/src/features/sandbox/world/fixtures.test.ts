// Fixtures: built-in worlds, references, seeds, and errors of steps.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { SCENARIOS } from '../scenarios.ts';
import { WORLDS } from './worlds.ts';

const app = testApp();

const build = (body: object, options: CallOptions = {}) =>
  app.call('POST', '/sandbox/fixtures', body, options);
const reset = async () => ok(await app.call('POST', '/sandbox/reset'), 200);

const CUSTOMER = {
  name: 'ada',
  operationId: 'createCustomer',
  body: { customerType: 'INDIVIDUAL', platformCustomerId: 'ada', fullName: 'Ada Lovelace' },
};

const fieldsOf = ({ body }: { body: { details: { errors: { field: string }[] } } }) =>
  body.details.errors.map(({ field }) => field).sort();

describe('createSandboxFixtures', () => {
  it.each(Object.keys(WORLDS))('builds the world %s', async (world) => {
    await reset();
    const { steps, resources } = ok(await build({ world }), 201);
    expect(steps).toBeGreaterThanOrEqual(Object.keys(resources).length);
    await app.settle();
    expect(Object.keys(resources).length).toBeGreaterThan(3);
  });

  it('builds every scenario with its outcome, and two scenarios again', async () => {
    await reset();
    const builtWorlds = [];
    for (const world of [...Object.keys(SCENARIOS), 'card.authorized', 'payout.returned']) {
      builtWorlds.push({ world, ...ok(await build({ world }), 201).resources });
    }
    await app.advance(60_000);
    await app.settle();
    const statuses: Record<string, string> = {};
    for (const { world, customer, payment } of builtWorlds) {
      const transactionList = await app.call(
        'GET',
        `/transactions?customerId=${customer.id}&limit=1`,
      );
      statuses[world] = payment
        ? (await app.call('GET', `/transactions/${payment.id}`)).body.status
        : [customer.kycStatus, transactionList.body.data[0]?.status].join(' ');
    }
    expect(statuses).toEqual({
      'card.authorized': 'APPROVED AUTHORIZED',
      // The latest payment is the deposit, because no card payment exists.
      'card.declined': 'APPROVED COMPLETED',
      'deposit.held': 'APPROVED PENDING',
      'deposit.received': 'APPROVED COMPLETED',
      'kyc.approved': 'APPROVED ',
      'kyc.pending': 'PENDING ',
      'kyc.rejected': 'REJECTED ',
      'payout.completed': 'COMPLETED',
      'payout.failed': 'FAILED',
      'payout.processing': 'PROCESSING',
      'payout.refunded': 'FAILED',
      'payout.returned': 'COMPLETED',
      'payout.suspended': 'FAILED',
    });
    const { payment } = builtWorlds.at(-1) as { payment: { id: string } };
    await app.advance(2 * 24 * 60 * 60_000);
    await app.settle();
    const { body } = await app.call('GET', `/transactions/${payment.id}`);
    expect([body.status, body.refund?.status]).toEqual(['FAILED', 'COMPLETED']);
  });

  it('builds customers in each state of their verification', async () => {
    await reset();
    const { resources } = ok(await build({ world: 'customers' }), 201);
    for (const name of ['approved', 'pending', 'rejected', 'unverified', 'hold']) {
      const { body } = await app.call('GET', `/customers/${resources[name].id}`);
      expect([name, body.kycStatus]).toEqual([name, name.toUpperCase()]);
    }
  });

  it('builds accounts in each state', async () => {
    await reset();
    const { resources } = ok(await build({ world: 'accounts' }), 201);
    const statuses = {
      active: 'ACTIVE',
      frozen: 'FROZEN',
      closed: 'CLOSED',
      externalActive: 'ACTIVE',
      externalPending: 'PENDING',
      externalUnderReview: 'UNDER_REVIEW',
      externalInactive: 'INACTIVE',
      externalUnverified: 'UNVERIFIED',
      externalToProve: 'PENDING_OWNERSHIP_VERIFICATION',
    };
    for (const [name, status] of Object.entries(statuses)) {
      expect([name, resources[name].status]).toEqual([name, status]);
    }
    expect(resources.frozen.balance.amount).toBe(1_000_00);
  });

  it('builds incoming payments in each state', async () => {
    await reset();
    const { resources } = ok(await build({ world: 'deposits' }), 201);
    const statuses = {
      completed: 'COMPLETED',
      held: 'PENDING',
      released: 'COMPLETED',
      rejected: 'FAILED',
      processing: 'PROCESSING',
    };
    for (const [name, status] of Object.entries(statuses)) {
      expect([name, resources[name].status]).toEqual([name, status]);
    }
  });

  it('builds actions of agents in each state', async () => {
    await reset();
    const { resources } = ok(await build({ world: 'agents' }), 201);
    const actionNames = ['approved', 'pendingApproval', 'rejected', 'failed'];
    const statuses = actionNames.map((name) => resources[name].status);
    expect(statuses).toEqual(['APPROVED', 'PENDING_APPROVAL', 'REJECTED', 'FAILED']);
    expect(resources.paused.isPaused).toBe(true);
  });

  it('builds stablecoins in each state', async () => {
    await reset();
    const { resources } = ok(await build({ world: 'stablecoins' }), 201);
    const issuanceNames = ['provisioned', 'provisioning', 'rejected', 'failed', 'pendingReview'];
    expect(issuanceNames.map((name) => resources[name].issuanceStatus)).toEqual([
      ...['PROVISIONED', 'PROVISIONING', 'REJECTED', 'FAILED', 'PENDING_REVIEW'],
    ]);
    const serviceNames = ['provisioned', 'pendingApproval', 'provisioning', 'enabled', 'disabled'];
    expect(serviceNames.map((name) => resources[name].serviceOperationsStatus)).toEqual([
      ...['NOT_ENABLED', 'PENDING_APPROVAL', 'ENABLING', 'ENABLED', 'DISABLED'],
    ]);
    const linkNames = ['linked', 'invalid', 'revoked'];
    expect(linkNames.map((name) => resources[name].status)).toEqual([
      'ACTIVE',
      'INVALID',
      'REVOKED',
    ]);
  });

  it('builds payments whose outcomes differ', async () => {
    await reset();
    const { resources } = ok(await build({ world: 'payments' }), 201);
    const statusOf = (name: string) => resources[name].status;
    expect(statusOf('completed')).toBe('COMPLETED');
    expect(statusOf('failed')).toBe('FAILED');
    expect(statusOf('processing')).toBe('PROCESSING');
    expect(statusOf('pending')).toBe('PENDING');
    expect(statusOf('pendingAuthorization')).toBe('PENDING_AUTHORIZATION');
    expect(statusOf('expired')).toBe('EXPIRED');
    expect(resources.refunded).toMatchObject({ status: 'FAILED', refund: { status: 'COMPLETED' } });
    expect(resources.returned).toMatchObject({ failureReason: 'PAYOUT_RETURNED' });
    expect(resources.cancelled).toMatchObject({ refund: { reason: 'USER_CANCELLATION' } });
    expect(resources.suspended).toMatchObject({ status: 'FAILED', refund: { status: 'FAILED' } });
  });

  it('builds cards in each state', async () => {
    await reset();
    const { resources } = ok(await build({ world: 'cards' }), 201);
    for (const name of ['active', 'frozen', 'processing', 'closed']) {
      expect(resources[name].state).toBe(name.toUpperCase());
    }
    const paymentNames = ['authorized', 'partiallySettled', 'settled', 'refunded', 'exception'];
    expect(paymentNames.map((name) => resources[`${name}Payment`].status)).toEqual([
      ...['AUTHORIZED', 'PARTIALLY_SETTLED', 'SETTLED', 'REFUNDED', 'EXCEPTION'],
    ]);
  });

  it('omits secrets that are shown once from a replayed reply', async () => {
    await reset();
    const steps = [
      {
        name: 'token',
        operationId: 'createToken',
        body: { name: 'Once', permissions: ['VIEW'] },
      },
      {
        name: 'endpoint',
        operationId: 'createWebhookEndpoint',
        body: { url: 'https://hooks.example.com' },
      },
      CUSTOMER,
    ];
    const headers = { 'idempotency-key': 'once' };
    const firstResult = ok(await build({ steps }, { headers }), 201);
    const repeatedReply = await build({ steps }, { headers });
    expect(repeatedReply.headers['idempotency-replayed']).toBe('true');
    const { token, endpoint, ada } = firstResult.resources;
    const { clientSecret, ...tokenWithoutSecret } = token;
    const { secret, ...endpointWithoutSecret } = endpoint;
    expect([typeof clientSecret, typeof secret]).toEqual(['string', 'string']);
    expect(repeatedReply.body.resources).toEqual({
      token: tokenWithoutSecret,
      endpoint: endpointWithoutSecret,
      ada,
    });
  });

  it('replaces references to fields of earlier responses', async () => {
    await reset();
    const account = {
      name: 'usd',
      operationId: 'listCustomerInternalAccounts',
      query: { customerId: '$ada.id', currency: 'USD' },
    };
    const funding = {
      name: 'funded',
      operationId: 'sandboxFundInternalAccount',
      params: { accountId: '$usd.data.0.id' },
      body: { amount: 123_45 },
    };
    const { resources } = ok(await build({ steps: [CUSTOMER, account, funding] }), 201);
    expect(resources.funded.balance.amount).toBe(123_45);
    expect(resources.funded.customerId).toBe(resources.ada.id);
  });

  it('returns the same IDs for the same seed, and other IDs on another platform', async () => {
    const idsOf = async (seed: string, options: CallOptions = {}) => {
      const { resources } = ok(await build({ world: 'starter', seed }, options), 201);
      return ['amara', 'amaraCard', 'payoutToLukasQuote'].map((name) => resources[name].id);
    };
    await reset();
    const firstIds = await idsOf('one');
    await reset();
    expect(await idsOf('one')).toEqual(firstIds);
    await reset();
    const otherIds = await idsOf('two');
    const otherPlatformIds = await idsOf('one', { platform: app.other });
    expect(new Set([...firstIds, ...otherIds, ...otherPlatformIds]).size).toBe(9);
  });

  it('rejects a seeded world that exists', async () => {
    await reset();
    const { platformCustomerId: _, ...bodyWithoutId } = CUSTOMER.body;
    const steps = [{ ...CUSTOMER, body: bodyWithoutId }];
    ok(await build({ steps, seed: 'again' }), 201);
    const secondResponse = await build({ steps, seed: 'again' });
    expect(secondResponse).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('reports every error of the steps before the first call', async () => {
    await reset();
    const rejectedResponse = await build({
      steps: [
        CUSTOMER,
        { name: 'ada', operationId: 'createEverything' },
        { operationId: 'getCustomerById', params: { id: 'x' } },
        { operationId: 'resetSandbox' },
      ],
    });
    expect(rejectedResponse.status).toBe(400);
    expect(fieldsOf(rejectedResponse)).toEqual([
      'steps.1.name',
      'steps.1.operationId',
      'steps.2.params.customerId',
      'steps.2.params.id',
      'steps.3.operationId',
    ]);
    expect(ok(await app.call('GET', '/customers'), 200).data).toEqual([]);
  });

  it('returns the error of a step with its number', async () => {
    await reset();
    const rejectedResponse = await build({
      steps: [CUSTOMER, { operationId: 'getCustomerById', params: { customerId: 'unknown' } }],
    });
    const error = { code: 'CUSTOMER_NOT_FOUND' };
    expect(rejectedResponse).toMatchObject({ status: 400, body: { details: { step: 1, error } } });
    expect(rejectedResponse.body.reason).toContain('Step 1, getCustomerById');
    expect(ok(await app.call('GET', '/customers'), 200).data).toHaveLength(1);
  });

  it('continues after a rejection of a step with `mayBeRejected`', async () => {
    await reset();
    const unknownStep = {
      name: 'unknown',
      operationId: 'getCustomerById',
      params: { customerId: 'unknown' },
    };
    const { resources } = ok(
      await build({ steps: [{ ...unknownStep, mayBeRejected: true }, CUSTOMER] }),
      201,
    );
    expect(resources.unknown).toMatchObject({ code: 'CUSTOMER_NOT_FOUND' });
    expect(resources.ada.kycStatus).toBe('APPROVED');
  });

  it('calls operations of agents as an agent of the platform only', async () => {
    await reset();
    const agentStep = { operationId: 'agentListActions' };
    const rejectedResponse = await build({
      steps: [agentStep, { operationId: 'listCustomers', agentId: 'Agent:1' }],
    });
    expect(fieldsOf(rejectedResponse)).toEqual(['steps.0.agentId', 'steps.1.agentId']);
    const otherPlatformWorld = ok(await build({ world: 'agents' }, { platform: app.other }), 201);
    const agentId = otherPlatformWorld.resources.payer.agent.id;
    const response = await build({ steps: [{ ...agentStep, agentId }] });
    expect(response.body.details.error.code).toBe('NOT_FOUND');
  });

  it('reports a reference to a field that no earlier step returns', async () => {
    await reset();
    const steps = [
      CUSTOMER,
      { operationId: 'getCustomerById', params: { customerId: '$grace.id' } },
    ];
    const rejectedResponse = await build({ steps });
    expect(rejectedResponse.status).toBe(400);
    expect(fieldsOf(rejectedResponse)).toEqual(['steps.1.params.customerId']);
  });

  it('reports invalid fields and references of all steps before the first call', async () => {
    await reset();
    const quote = { source: { accountId: '$later.id' }, destination: 5 };
    const steps = [
      { operationId: 'createCustomer', body: { customerType: 'ROBOT' } },
      { operationId: 'sandboxFundInternalAccount', params: { accountId: '$ada.id' } },
      { operationId: 'listCustomers', query: { limit: 'many' } },
      CUSTOMER,
      { name: 'later', operationId: 'createQuote', body: quote },
    ];
    const rejectedResponse = await build({ steps });
    expect(rejectedResponse.status).toBe(400);
    expect(fieldsOf(rejectedResponse)).toEqual(
      expect.arrayContaining([
        'steps.0.body.customerType',
        'steps.1.params.accountId',
        'steps.1.body',
        'steps.2.query.limit',
        'steps.4.body.source.accountId',
        'steps.4.body.destination',
      ]),
    );
    expect(ok(await app.call('GET', '/customers'), 200).data).toEqual([]);
  });

  it('rejects an empty request, and unknown worlds and fields', async () => {
    expect(fieldsOf(await build({}))).toEqual(['']);
    expect(fieldsOf(await build({ world: 'mars' }))).toEqual(['world']);
    expect(fieldsOf(await build({ world: 'starter', size: 3 }))).toEqual(['size']);
  });

  it('requires a sandbox platform, and calls operations with the permissions of the token', async () => {
    expect(await build({ world: 'starter' }, { platform: app.production })).toMatchObject({
      status: 403,
    });
    const managerToken = await app.tokenWith(['VIEW', 'MANAGE']);
    await reset();
    const rejectedResponse = await build({ world: 'starter' }, { platform: managerToken });
    expect(rejectedResponse).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(ok(await app.call('GET', '/customers'), 200).data).toEqual([]);
  });
});
