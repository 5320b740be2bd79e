// Operations on agents: lists, pause and resumption, audit, and access by platform.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { type AgentPayer, openAgentPayer } from '../../../test/kit/agents/agent-payments.ts';
import { agentFixture } from '../../../test/kit/agents/agents.ts';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});
let firstAgent: AgentPayer;
let secondAgent: AgentPayer;
beforeAll(async () => {
  const fixture = agentFixture(app);
  firstAgent = await openAgentPayer(app, fixture);
  app.effects.set(app.effects.now() + 1_000);
  secondAgent = await openAgentPayer(app, fixture);
  ok(await firstAgent.transfer('out', 30_00), 201);
});

const get = async (path: string) => ok(await client.call('GET', path), 200);

it('the API lists and shows agents', async () => {
  const listPath = `/agents?platformId=${app.platform.id}&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({
    data: [{ agentId: secondAgent.id, state: 'active' }],
    hasMore: true,
  });
  expect((await get(`${listPath}&cursor=${firstPage.nextCursor}`)).data).toMatchObject([
    { agentId: firstAgent.id, customerId: firstAgent.customer.id },
  ]);
  expect(await get(`/agents/${firstAgent.id}`)).toMatchObject({
    ...{ id: firstAgent.id, platformId: app.platform.id, state: 'active' },
    usage: { dailyTransactionCount: 1, dailySpend: 30_00 },
  });
});

it('the API pauses and resumes an agent, with entries in its audit log and audit records', async () => {
  const change = (action: string, secret?: string) =>
    client.call('POST', `/agents/${firstAgent.id}/${action}`, {
      body: { reason: 'Unusual payments' },
      ...(secret ? { secret } : {}),
    });
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await change('pause', secret)).status).toBe(404);
  expect(ok(await change('pause'), 200)).toMatchObject({ isPaused: true, state: 'paused' });
  const { data } = await get(`/audit-records?subject=${firstAgent.id}`);
  const auditRecord = { operationId: 'pauseAgent', reason: 'Unusual payments' };
  expect(data).toMatchObject([
    { ...auditRecord, outcome: 'SUCCEEDED', hasChanges: true, platformId: app.platform.id },
    { ...auditRecord, outcome: 'NOT_FOUND', hasChanges: false },
  ]);
  expect(data[1]).not.toHaveProperty('platformId');
  const auditEntries = await get(`/agent-audit-entries?agentId=${firstAgent.id}&limit=1`);
  expect(auditEntries).toMatchObject({
    data: [{ what: 'CHANGED', details: { paused: true }, platformId: app.platform.id }],
    hasMore: true,
  });
  const secondPagePath = `/agent-audit-entries?agentId=${firstAgent.id}&cursor=${auditEntries.nextCursor}`;
  expect((await get(secondPagePath)).data.length).toBeGreaterThan(0);
  const laterTime = new Date(app.effects.now() + 1_000).toISOString();
  const emptyPath = `/agent-audit-entries?agentId=${firstAgent.id}&createdAfter=${laterTime}`;
  expect((await get(emptyPath)).data).toEqual([]);
  expect(ok(await change('resume'), 200)).toMatchObject({ isPaused: false });
  expect((await client.call('GET', '/agent-audit-entries')).body.code).toBe('INVALID_INPUT');
});

it('the API hides agents of other platforms', async () => {
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('GET', `/agents/${firstAgent.id}`, { secret })).status).toBe(404);
  expect(ok(await client.call('GET', '/agents', { secret }), 200).data).toEqual([]);
  const auditPath = `/agent-audit-entries?agentId=${firstAgent.id}`;
  expect(ok(await client.call('GET', auditPath, { secret }), 200).data).toEqual([]);
});
