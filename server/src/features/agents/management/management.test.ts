// Creation, lists, updates and deletion of agents, and the validation of their policies.
import { describe, expect, it } from 'vitest';
import { agentFixture, policyBody } from '../../../../test/kit/agents/agents.ts';
import { createCustomer, createExternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { agentActions, agentAudit } from '../store.ts';

type Json = Record<string, unknown>;

const app = testApp();
const fixture = agentFixture(app);

const create = (customerId: string, overrides: Json = {}, policyFields: Json = {}) =>
  fixture.callAsPlatform('POST', '/agents', {
    name: 'Buyer',
    customerId,
    policy: policyBody(policyFields),
    ...overrides,
  });

const fieldsOf = (body: { details: { errors: { field: string }[] } }) =>
  body.details.errors.map((each) => each.field).sort();

const readAuditEvents = async (agentId: string) => {
  const rows = await app.runtime.db.find(agentAudit, { agent_id: agentId }, { orderBy: 'id' });
  return rows.map(({ what, actor }) => [what, actor.split(':')[0]]);
};

describe('createAgent', () => {
  it('returns the agent and its device code', async () => {
    const { customer: person, usd } = await fixture.createFundedCustomer();
    const policy = {
      permissions: ['CREATE_QUOTES', 'CREATE_QUOTES'],
      defaultExecutionMode: 'APPROVAL_REQUIRED',
      spendingLimits: {
        currency: 'EUR',
        perTransactionLimit: 0,
        dailyLimit: null,
        dailyTransactionLimit: 3,
        monthlyLimit: 7,
      },
      accountRestrictions: {
        allowedAccountIds: [usd],
        accountRules: [{ accountId: usd, executionMode: 'AUTO', perTransactionLimit: null }],
      },
      approvalThresholds: { currency: 'USD', amount: 5 },
    };
    app.effects.set(Date.UTC(2026, 11, 31, 23, 59));
    const { agent, deviceCode } = ok(await create(person.id, {}, policy), 201);
    expect(agent).toEqual({
      id: expect.stringMatching(/^Agent:[0-9a-f-]{36}$/),
      name: 'Buyer',
      customerId: person.id,
      isPaused: false,
      isConnected: false,
      policy: { ...policy, permissions: ['CREATE_QUOTES'] },
      usage: {
        dailyTransactionCount: 0,
        dailySpend: 0,
        dailyResetDate: '2027-01-01',
        monthlySpend: 0,
        monthlyResetMonth: '2027-01',
      },
      createdAt: '2026-12-31T23:59:00.000Z',
      updatedAt: '2026-12-31T23:59:00.000Z',
    });
    expect(deviceCode).toEqual({
      code: expect.stringMatching(/^SERVICE-AGENT(-[2-9A-HJKMNP-Z]{4}){3}$/),
      agentId: agent.id,
      expiresAt: '2027-01-01T23:59:00.000Z',
      redeemed: false,
    });
    expect(ok(await fixture.callAsPlatform('GET', `/agents/${agent.id}`), 200)).toEqual(agent);
    expect(await readAuditEvents(agent.id)).toEqual([
      ['CREATED', 'Token'],
      ['CODE_ISSUED', 'Token'],
    ]);
  });

  it('requires an existing customer of the platform', async () => {
    const foreignCustomer = await createCustomer(app, { platform: app.other });
    for (const id of ['x', 'Customer:018f0000-0000-7000-8000-000000000000', foreignCustomer.id]) {
      const { status, body } = await create(id);
      expect([status, body.code]).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    const deletedCustomer = await createCustomer(app);
    ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
    const { status, body } = await create(deletedCustomer.id);
    expect([status, body.code]).toEqual([410, 'CUSTOMER_DELETED']);
  });

  it('reports all invalid fields of a policy', async () => {
    const { customer: person, usd } = await fixture.createFundedCustomer();
    const otherHolder = await fixture.createFundedCustomer();
    const invalidPolicy = {
      permissions: ['CREATE_QUOTES', 'EVERYTHING'],
      spendingLimits: { currency: 'XXX', perTransactionLimit: -1, dailyLimit: 0.5 },
      accountRestrictions: {
        allowedAccountIds: [usd, otherHolder.usd],
        accountRules: [{ accountId: usd }, { accountId: 'x' }, { accountId: usd }],
      },
      approvalThresholds: { amount: 5 },
    };
    const { status, body } = await create(person.id, { name: '' }, invalidPolicy);
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    const rulesPath = 'policy.accountRestrictions.accountRules';
    expect(fieldsOf(body)).toEqual([
      'name',
      `${rulesPath}.1.accountId`,
      `${rulesPath}.2.accountId`,
      'policy.accountRestrictions.allowedAccountIds.1',
      'policy.approvalThresholds.currency',
      'policy.permissions.1',
      'policy.spendingLimits.currency',
      'policy.spendingLimits.dailyLimit',
      'policy.spendingLimits.perTransactionLimit',
    ]);
    expect(fieldsOf((await create(person.id, { policy: undefined })).body)).toEqual(['policy']);
  });

  it('returns the same code to a replay, and stores the reply encrypted', async () => {
    const person = await createCustomer(app);
    const request = { name: 'Keyed', customerId: person.id, policy: policyBody() };
    const send = () =>
      fixture.callAsPlatform('POST', '/agents', request, { 'idempotency-key': 'an agent' });
    const firstBody = ok(await send(), 201);
    const secondResponse = await send();
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    expect(secondResponse.body).toEqual(firstBody);
    const storedReplies = await app.runtime.db.query('select reply from idempotency');
    expect(JSON.stringify(storedReplies)).not.toContain(firstBody.deviceCode.code);
  });
});

describe('listAgents', () => {
  const listAgentIds = async (query: Json, platform = app.platform) => {
    const queryString = new URLSearchParams(query as Record<string, string>).toString();
    const { data } = ok(
      await app.call('GET', `/agents?${queryString}`, undefined, { platform }),
      200,
    );
    return data.map((each: { id: string }) => each.id);
  };

  it('filters by every parameter, including bounds', async () => {
    const platform = await app.newPlatform('Lists agents');
    const separateFixture = agentFixture(app, { platform });
    const [ada, bob] = [
      await createCustomer(app, { platform }),
      await createCustomer(app, { platform }),
    ];
    const times = ['2027-02-01T00:00:00Z', '2027-02-02T00:00:00Z', '2027-02-03T00:00:00Z'];
    const setClockTo = (index: number) => app.effects.set(Date.parse(times[index] as string));
    setClockTo(0);
    const firstId = (await separateFixture.createUnconnectedAgent(ada.id)).agent.id;
    setClockTo(1);
    const secondAgentId = (await separateFixture.connectAgent(ada.id)).id;
    setClockTo(2);
    const thirdId = (await separateFixture.createUnconnectedAgent(bob.id)).agent.id;
    ok(
      await separateFixture.callAsPlatform('PATCH', `/agents/${firstId}`, { isPaused: true }),
      200,
    );
    const deletedId = (await separateFixture.createUnconnectedAgent(bob.id)).agent.id;
    ok(await separateFixture.callAsPlatform('DELETE', `/agents/${deletedId}`), 204);
    expect(await listAgentIds({}, platform)).toEqual([thirdId, secondAgentId, firstId]);
    expect(await listAgentIds({ customerId: ada.id }, platform)).toEqual([secondAgentId, firstId]);
    expect(await listAgentIds({ customerId: 'x' }, platform)).toEqual([]);
    expect(await listAgentIds({ isPaused: true }, platform)).toEqual([firstId]);
    expect(await listAgentIds({ isPaused: false }, platform)).toEqual([thirdId, secondAgentId]);
    expect(await listAgentIds({ isConnected: true }, platform)).toEqual([secondAgentId]);
    expect(await listAgentIds({ isConnected: false }, platform)).toEqual([thirdId, firstId]);
    expect(await listAgentIds({ createdAfter: times[1] }, platform)).toEqual([
      thirdId,
      secondAgentId,
    ]);
    expect(await listAgentIds({ createdBefore: times[1] }, platform)).toEqual([
      secondAgentId,
      firstId,
    ]);
    expect(await listAgentIds({ updatedAfter: times[2] }, platform)).toEqual([thirdId, firstId]);
    expect(await listAgentIds({ updatedBefore: times[1] }, platform)).toEqual([secondAgentId]);
    const page = ok(await separateFixture.callAsPlatform('GET', '/agents?limit=2'), 200);
    expect(page).toMatchObject({ hasMore: true, totalCount: 3 });
    expect(await listAgentIds({ limit: 2, cursor: page.nextCursor }, platform)).toEqual([firstId]);
    expect(await listAgentIds({ customerId: ada.id }, app.other)).toEqual([]);
  });

  it.each(['limit=0', 'isPaused=maybe', 'createdAfter=yesterday', 'cursor=x'])(
    'rejects %s',
    async (query) => {
      const { status, body } = await fixture.callAsPlatform('GET', `/agents?${query}`);
      expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    },
  );
});

describe('updateAgent', () => {
  it('renames, pauses and resumes independently', async () => {
    const { agent } = await fixture.createUnconnectedAgent((await createCustomer(app)).id);
    const change = async (body: Json) =>
      ok(await fixture.callAsPlatform('PATCH', `/agents/${agent.id}`, body), 200);
    app.effects.set(app.effects.now() + 1_000);
    const renamedAgent = await change({ name: 'Other' });
    expect(renamedAgent).toMatchObject({ name: 'Other', isPaused: false });
    expect(renamedAgent.updatedAt > renamedAgent.createdAt).toBe(true);
    expect(await change({ isPaused: true })).toMatchObject({ name: 'Other', isPaused: true });
    expect(await change({ isPaused: false })).toMatchObject({ name: 'Other', isPaused: false });
    expect((await readAuditEvents(agent.id)).slice(2)).toEqual(Array(3).fill(['CHANGED', 'Token']));
  });

  it.each([
    [{}, ['']],
    [{ policy: {} }, ['']],
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(256), isPaused: 'yes' }, ['isPaused', 'name']],
  ])('rejects %j', async (body, fields) => {
    const { agent } = await fixture.createUnconnectedAgent((await createCustomer(app)).id);
    const response = await fixture.callAsPlatform('PATCH', `/agents/${agent.id}`, body);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(response.body)).toEqual(fields);
  });
});

describe('deleteAgent', () => {
  it('permanently revokes access and code, and rejects pending actions', async () => {
    const {
      usd,
      customer: person,
      ...agent
    } = await fixture.createAgent({
      defaultExecutionMode: 'APPROVAL_REQUIRED',
    });
    const payee = await createExternalAccount(app, person.id, 'USD');
    const transfer = {
      source: { accountId: usd },
      destination: { accountId: payee.id },
      amount: 1_00,
    };
    const requestedTransfer = ok(
      await agent.call('POST', '/agents/me/transfer-out', transfer),
      201,
    );
    expect(requestedTransfer.status).toBe('PENDING_APPROVAL');
    ok(await agent.call('GET', '/agents/me'), 200);
    ok(await fixture.callAsPlatform('DELETE', `/agents/${agent.id}`), 204);
    const { status, body } = await agent.call('GET', '/agents/me');
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
    for (const [method, path, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['PATCH', '', { isPaused: true }],
      ['PATCH', '/policy', {}],
      ['POST', '/device-codes'],
    ] as const) {
      const response = await fixture.callAsPlatform(method, `/agents/${agent.id}${path}`, body);
      expect([response.status, response.body.code]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await fixture.redeemCode(agent.code)).status).toBe(404);
    expect(
      (await fixture.callAsPlatform('GET', `/agents/device-codes/${agent.code}/status`)).status,
    ).toBe(404);
    const [action] = await app.runtime.db.find(agentActions, { agent_id: agent.id });
    expect(action).toMatchObject({
      id: requestedTransfer.id,
      status: 'REJECTED',
      rejection_reason: 'The agent was deleted.',
    });
    const payment = await fixture.callAsPlatform('GET', `/transactions/${action?.transaction_id}`);
    expect(ok(payment, 200)).toMatchObject({ status: 'FAILED', agentId: agent.id });
    expect(ok(await fixture.callAsPlatform('GET', '/agents/approvals'), 200).data).toEqual([]);
    expect(await readAuditEvents(agent.id)).toContainEqual(['DELETED', 'Token']);
  });

  it('invalidates an unredeemed code', async () => {
    const { agent, deviceCode } = await fixture.createUnconnectedAgent(
      (await createCustomer(app)).id,
    );
    ok(await fixture.callAsPlatform('DELETE', `/agents/${agent.id}`), 204);
    const { status, body } = await fixture.redeemCode(deviceCode.code);
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('getAgentById', () => {
  it('returns the agent, and fixed paths take precedence over its ID', async () => {
    const agent = await fixture.connectAgent((await createCustomer(app)).id);
    const agentView = ok(await agent.call('GET', '/agents/me'), 200);
    expect(agentView).toEqual(ok(await fixture.callAsPlatform('GET', `/agents/${agent.id}`), 200));
    expect(ok(await fixture.callAsPlatform('GET', '/agents/approvals'), 200).data).toEqual([]);
    const codeResponse = await fixture.callAsPlatform(
      'GET',
      `/agents/device-codes/${agent.code}/status`,
    );
    expect(ok(codeResponse, 200).redeemed).toBe(true);
    const unsupportedMethodResponse = await fixture.callAsPlatform('PATCH', '/agents/approvals', {
      isPaused: true,
    });
    expect([unsupportedMethodResponse.status, unsupportedMethodResponse.headers.allow]).toEqual([
      405,
      'GET',
    ]);
  });
});
