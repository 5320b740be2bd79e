// Concurrent decisions on actions of agents, and the list of pending approvals.
import { describe, expect, it } from 'vitest';
import {
  auditEventsOf,
  decideTransaction,
  KINDS,
  limitsOf,
  openAgentPayer,
  pendingActionFactory,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../test/kit/agents/agent-payments.ts';
import { agentFixture } from '../../../test/kit/agents/agents.ts';
import { fundAccount, ok, readBalances } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';

const app = testApp();
const fixture = agentFixture(app);

const AMOUNT = 100_00;
const createAgentPayer = (overrides: object = {}, amount?: number) =>
  openAgentPayer(app, fixture, { ...REQUIRES_APPROVAL, ...overrides }, amount);

const createPendingAction: ReturnType<typeof pendingActionFactory> = (...args) =>
  pendingActionFactory(app, fixture)(...args);

describe('concurrent execution of one quote by platform and agent', () => {
  it('succeeds for only one of the requests', async () => {
    for (let round = 0; round < 8; round++) {
      const agent = await createAgentPayer();
      const quote = await agent.createQuote(AMOUNT);
      const [agentResponse, platformResponse] = await Promise.all([
        agent.execute(quote.id),
        app.call('POST', `/quotes/${quote.id}/execute`),
      ]);
      expect([agentResponse.status, platformResponse.status].sort()).toEqual([200, 409]);
      const pendingActions = ok(
        await fixture.callAsPlatform('GET', `/agents/approvals?agentId=${agent.id}`),
        200,
      );
      expect(pendingActions.data).toHaveLength(agentResponse.status === 200 ? 1 : 0);
    }
    await app.settle();
  });
});

describe('concurrent decisions', () => {
  it('approve the action once, by action and by transaction', async () => {
    for (const kind of KINDS) {
      const { agent, action, transactionId } = await createPendingAction(kind);
      const responses = await Promise.all([
        ...[1, 2, 3].map(() => agent.decide('approve', action.id)),
        ...[1, 2, 3].map(() => decideTransaction(app, 'approve', transactionId)),
      ]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
      await app.settle();
      const sign = kind === 'TRANSFER_IN' ? 1 : -1;
      expect((await readBalances(app, agent.usd)).total).toBe(10_000_00 + sign * AMOUNT);
      expect((await agent.readUsage()).dailyTransactionCount).toBe(1);
    }
  });

  it('result in either approval or rejection', async () => {
    for (let round = 0; round < 6; round++) {
      const { agent, action } = await createPendingAction('TRANSFER_OUT');
      const decisions =
        round % 2 ? (['approve', 'reject'] as const) : (['reject', 'approve'] as const);
      const responses = await Promise.all(
        decisions.map((decision) => agent.decide(decision, action.id)),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
      const acceptedStatus = responses.find(({ status }) => status === 200)?.body.status;
      expect((await agent.readAction(action.id)).status).toBe(acceptedStatus);
      await app.settle();
      const expectedBalance = acceptedStatus === 'APPROVED' ? 10_000_00 - AMOUNT : 10_000_00;
      expect((await readBalances(app, agent.usd)).total).toBe(expectedBalance);
      expect(await auditEventsOf(agent)).toEqual(['ACTION_SUBMITTED', `ACTION_${acceptedStatus}`]);
    }
  });

  it('approve actions up to the balance, and set the others to FAILED', async () => {
    const agent = await createAgentPayer({}, 350_00);
    const actions = await Promise.all(
      Array.from({ length: 20 }, () => agent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL')),
    );
    const responses = await Promise.all(actions.map(({ id }) => agent.decide('approve', id)));
    const statuses = responses.map((response) => ok(response, 200).status);
    expect(statuses.filter((status) => status === 'APPROVED')).toHaveLength(3);
    expect(statuses.filter((status) => status === 'FAILED')).toHaveLength(17);
    expect(await agent.readUsage()).toMatchObject({ dailyTransactionCount: 3, dailySpend: 300_00 });
    await app.settle();
    expect((await readBalances(app, agent.usd)).total).toBe(50_00);
    // A decision is final, even after the account is funded.
    await fundAccount(app, agent.usd, 100_00);
    for (const { id } of actions) {
      expect(statusAndCodeOf(await agent.decide('approve', id))).toEqual([409, 'CONFLICT']);
    }
  });

  it('approve actions up to the spending limit', async () => {
    const agent = await createAgentPayer(limitsOf({ dailyLimit: 450_00 }));
    const actions = await Promise.all(
      Array.from({ length: 20 }, () => agent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL')),
    );
    const responses = await Promise.all(actions.map(({ id }) => agent.decide('approve', id)));
    const statuses = responses.map((response) => ok(response, 200).status);
    expect(statuses.filter((status) => status === 'APPROVED')).toHaveLength(4);
    expect((await agent.readUsage()).dailySpend).toBe(400_00);
  });

  it('leave no pending action that was submitted during the deletion of the agent', async () => {
    const agent = await createAgentPayer();
    const [response] = await Promise.all([
      agent.transfer('out', 1_00),
      fixture.callAsPlatform('DELETE', `/agents/${agent.id}`),
    ]);
    expect([201, 401]).toContain(response.status);
    const [row] = await app.runtime.db.query<{ count: number }>(
      `select count(*)::int4 as count from agent_actions
        where agent_id = $1 and status = 'PENDING_APPROVAL'`,
      [agent.id],
    );
    expect(row?.count).toBe(0);
  });
});

describe('pending actions', () => {
  it('are limited to 500 per agent, and are rejected when the agent is deleted', async () => {
    const { agent, action } = await createPendingAction('TRANSFER_OUT');
    const copyRowsSql = (table: string, id: string, ids: string) =>
      `insert into ${table} select copy.* from ${table} t, generate_series(1, 498) as n,
        json_populate_record(t, json_build_object(${ids})) as copy where t.id = '${id}'`;
    const numberedIdSql = (kind: string) => `'${kind}:copy ' || n`;
    const transactionId = await agent.transactionOf(action.id);
    const { db } = app.runtime;
    await db.query(
      copyRowsSql('transactions', transactionId, `'id', ${numberedIdSql('Transaction')}`),
      [],
    );
    const ids = `'id', ${numberedIdSql('AgentAction')}, 'transaction_id', ${numberedIdSql('Transaction')}`;
    await db.query(copyRowsSql('agent_actions', action.id, ids), []);
    const lastAction = await agent.requestAction('TRANSFER_IN', 'PENDING_APPROVAL');
    for (const kind of KINDS)
      expect(statusAndCodeOf(await agent.requestPayment(kind))).toEqual([409, 'CONFLICT']);
    ok(await agent.decide('reject', lastAction.id), 200);
    await agent.requestAction('TRANSFER_IN', 'PENDING_APPROVAL');
    ok(await fixture.callAsPlatform('DELETE', `/agents/${agent.id}`), 204);
    const openActionsSql =
      "select 1 from agent_actions where agent_id = $1 and status <> 'REJECTED'";
    expect(await db.query(openActionsSql, [agent.id])).toEqual([]);
  });
});

describe('listAgentApprovals', () => {
  it('lists pending actions by agent, customer and time, in both orders and in pages', async () => {
    const platform = await app.newPlatform('Lists');
    const platformFixture = agentFixture(app, { platform });
    const [firstAgentPayer, secondAgentPayer] = [
      await openAgentPayer(app, platformFixture, REQUIRES_APPROVAL),
      await openAgentPayer(app, platformFixture, REQUIRES_APPROVAL),
    ];
    const start = app.effects.now();
    const ids: string[] = [];
    for (const agent of [firstAgentPayer, secondAgentPayer, firstAgentPayer]) {
      app.effects.set(app.effects.now() + 1_000);
      ids.push((await agent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL')).id);
    }
    const [firstId, secondId, thirdId] = ids;
    const list = async (query = '') =>
      ok(await platformFixture.callAsPlatform('GET', `/agents/approvals${query}`), 200);
    const listIds = async (query = '') =>
      (await list(query)).data.map(({ id }: { id: string }) => id);
    const timeAfter = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
    expect(await listIds()).toEqual([thirdId, secondId, firstId]);
    expect(await listIds('?sortOrder=asc')).toEqual([firstId, secondId, thirdId]);
    expect(await listIds(`?agentId=${firstAgentPayer.id}`)).toEqual([thirdId, firstId]);
    expect(await listIds(`?customerId=${secondAgentPayer.customer.id}`)).toEqual([secondId]);
    expect(await listIds(`?startDate=${timeAfter(2)}`)).toEqual([thirdId, secondId]);
    expect(await listIds(`?startDate=${timeAfter(2)}&endDate=${timeAfter(2)}`)).toEqual([secondId]);
    const page = await list('?limit=2');
    expect([page.hasMore, page.totalCount]).toEqual([true, 3]);
    expect(await listIds(`?limit=2&cursor=${page.nextCursor}`)).toEqual([firstId]);
    ok(
      await platformFixture.callAsPlatform(
        'POST',
        `/agents/${firstAgentPayer.id}/actions/${thirdId}/reject`,
      ),
      200,
    );
    expect(await listIds()).toEqual([secondId, firstId]);
    expect(
      statusAndCodeOf(
        await platformFixture.callAsPlatform('GET', '/agents/approvals?startDate=soon'),
      ),
    ).toEqual([400, 'INVALID_INPUT']);
  });
});
