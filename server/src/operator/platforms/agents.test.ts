// Agents as shown to the operator: their policy, spending and audit entries, and the pause of an agent.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentPayer,
  openAgentPayer,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../test/kit/agents/agent-payments.ts';
import { type AgentFixture, agentFixture } from '../../../test/kit/agents/agents.ts';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  ok,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { erase } from '../../../test/kit/customers/erasure.ts';
import { main } from '../../operator.ts';

const app = testApp();
let fixture: AgentFixture;
let firstAgent: AgentPayer;
let secondAgent: AgentPayer;

async function run(...argv: string[]) {
  const result = { out: '', err: '' };
  const code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return { code, ...result };
}

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

beforeAll(async () => {
  fixture = agentFixture(app);
  firstAgent = await openAgentPayer(app, fixture);
  app.effects.set(app.effects.now() + 1_000);
  secondAgent = await openAgentPayer(app, fixture);
  ok(await firstAgent.transfer('out', 30_00), 201);
});

describe('agents list', () => {
  it('filters by platform and customer, newest first', async () => {
    const allAgents = await runJson('agents', 'list', '--platform', app.platform.id);
    expect(allAgents.map((each: { agentId: string }) => each.agentId)).toEqual([
      secondAgent.id,
      firstAgent.id,
    ]);
    expect(await runJson('agents', 'list', '--customer', firstAgent.customer.id)).toMatchObject([
      { agentId: firstAgent.id, customerId: firstAgent.customer.id, state: 'active' },
    ]);
    expect(await runJson('agents', 'list', '--platform', app.other.id)).toEqual([]);
    const { out } = await run('agents', 'list');
    expect(out).toMatch(/^CREATED +AGENT +CUSTOMER +STATE +NAME\n/);
    expect(out.split('\n')).toHaveLength(4);
    const nextPage = await runJson('agents', 'list', '--limit', '1', '--after', secondAgent.id);
    expect(nextPage.map((each: { agentId: string }) => each.agentId)).toEqual([firstAgent.id]);
    expect(await run('agents', 'list', '--after', 'x')).toMatchObject({ code: 1 });
  });
});

describe('agents show', () => {
  it('shows the policy and the spending', async () => {
    expect(await runJson('agents', 'show', firstAgent.id)).toMatchObject({
      id: firstAgent.id,
      platformId: app.platform.id,
      state: 'active',
      usage: { dailyTransactionCount: expect.any(Number), monthlySpend: expect.any(Number) },
    });
    const { out } = await run('agents', 'show', firstAgent.id);
    expect(out).toMatch(/Limits +currency=USD perTransactionLimit=100000000\n/);
    expect(out).not.toContain(firstAgent.accessToken);
    expect(await run('agents', 'show', 'x')).toMatchObject({ code: 1, err: 'Agent not found.\n' });
  });
});

describe('agents pause and resume', () => {
  it('pause an agent immediately and resume it, and store the reason', async () => {
    const pausedOutput = await runJson(
      'agents',
      'pause',
      secondAgent.id,
      '--reason',
      'Odd payments',
    );
    expect(pausedOutput).toMatchObject({ isPaused: true, state: 'paused' });
    expect(statusAndCodeOf(await secondAgent.transfer('out', 1_00))).toEqual([403, 'FORBIDDEN']);
    const { out } = await run('agents', 'resume', secondAgent.id, '--reason', 'Explained');
    expect(out).toMatch(/State +active\n/);
    ok(await secondAgent.transfer('out', 1_00), 201);
    // The command uses another clock, so the order of both entries is undefined.
    const entries = await secondAgent.readAudit();
    const entriesOf = (actorName: string) => entries.filter(({ actor }) => actor === actorName);
    expect(entriesOf(secondAgent.id).map(({ what }) => what)).toEqual([
      'ACTION_REFUSED',
      'ACTION_EXECUTED',
    ]);
    expect(entriesOf('operator')).toMatchObject([
      { what: 'CHANGED', details: { paused: true, reason: 'Odd payments' } },
      { what: 'CHANGED', details: { paused: false, reason: 'Explained' } },
    ]);
    expect(await run('agents', 'pause', secondAgent.id)).toMatchObject({ code: 2 });
    const longResult = await run('agents', 'pause', secondAgent.id, '--reason', 'x'.repeat(256));
    expect(longResult).toMatchObject({ code: 2 });
  });
});

describe('an erasure', () => {
  it('leaves no pending action if it precedes the job for agents', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    const target = await createExternalAccount(app, person.id, 'USD');
    const body = {
      source: { accountId: account.id },
      destination: { accountId: target.id },
      amount: 1_00,
    };
    for (const agent of [
      await fixture.connectAgent(person.id, REQUIRES_APPROVAL),
      await fixture.connectAgent(person.id, REQUIRES_APPROVAL),
    ]) {
      ok(await agent.call('POST', '/agents/me/transfer-out', body), 201);
    }
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    await erase(app.runtime, person.id, { actor: 'operator', reason: null });
    const readStates = () =>
      app.runtime.db.query(
        `select a.status, t.status as payment, g.id as agent from agent_actions a
          join transactions t on t.id = a.transaction_id left join agents g on g.id = a.agent_id
          where a.customer_id = $1`,
        [person.id],
      );
    const rejectedActions = Array(2).fill({ status: 'REJECTED', payment: 'FAILED', agent: null });
    expect(await readStates()).toEqual(rejectedActions);
    await app.settle();
    expect(await readStates()).toEqual(rejectedActions);
  });
});

describe('agents audit', () => {
  it('lists entries, newest first, by agent, customer or platform', async () => {
    const entries = await runJson('agents', 'audit', '--agent', firstAgent.id);
    const [latestEntry] = entries;
    expect(latestEntry).toMatchObject({
      what: 'ACTION_EXECUTED',
      actor: firstAgent.id,
      agentId: firstAgent.id,
      customerId: firstAgent.customer.id,
      details: { type: 'TRANSFER_OUT', amount: '3000', currency: 'USD' },
    });
    expect(entries.at(-1).what).toBe('CREATED');
    expect(await runJson('agents', 'audit', '--customer', firstAgent.customer.id)).toEqual(entries);
    expect(
      await runJson('agents', 'audit', '--agent', firstAgent.id, '--since', latestEntry.at),
    ).toEqual([latestEntry]);
    const command = ['agents', 'audit', '--agent', firstAgent.id];
    expect(await runJson(...command, '--after', latestEntry.lineId)).toEqual(entries.slice(1));
    expect(await runJson(...command, '--after', entries.at(-1).lineId)).toEqual([]);
    expect(await run(...command, '--after', 'x')).toMatchObject({ code: 1 });
    const allEntries = await runJson(
      'agents',
      'audit',
      '--platform',
      app.platform.id,
      '--limit',
      '1',
    );
    expect(allEntries).toHaveLength(1);
    const { out } = await run('agents', 'audit', '--agent', firstAgent.id);
    expect(out).toContain('amount=3000');
    expect(out).not.toContain(firstAgent.accessToken);
    expect(await run('agents', 'audit')).toMatchObject({ code: 2 });
    expect(await run('agents', 'audit', '--agent', firstAgent.id, '--since', 'x')).toMatchObject({
      code: 2,
    });
  });

  it('keeps the entries of a deleted agent', async () => {
    ok(await app.call('DELETE', `/agents/${firstAgent.id}`), 204);
    expect((await runJson('agents', 'audit', '--agent', firstAgent.id))[0].what).toBe('DELETED');
    expect(await runJson('agents', 'show', firstAgent.id)).toMatchObject({ state: 'deleted' });
    expect(await run('agents', 'pause', firstAgent.id, '--reason', 'x')).toMatchObject({ code: 1 });
  });
});
