// Actions of agents without an exchange rate from the currency of the payment to the currency of the
// spending limits. The server has no source of rates in production.
import { describe, expect, it } from 'vitest';
import {
  KINDS,
  type Kind,
  limitsOf,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../../test/kit/agents/agent-payments.ts';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { receiveFunds } from '../../payments/quotes/index.ts';

const app = testApp();

const NO_RATE = [400, 'QUOTE_RATE_UNAVAILABLE'];
const EUR_LIMITS = limitsOf({ currency: 'EUR' });

/** An agent of an approved customer with 1,000 USD and a US bank account. */
async function createAgent(overrides: object) {
  const platform = app.production;
  const options: CallOptions = { platform };
  const person = await createCustomer(app, options);
  const approvalSql =
    "update customers set status = 'APPROVED', version = version + 1 where id = $1";
  await app.runtime.db.query(approvalSql, [person.id]);
  const internalAccount = await findInternalAccount(app, person.id, 'USD', options);
  const deposit = { accountId: internalAccount.id as string, currency: 'USD', amount: 1_000_00n };
  await app.operate((ctx) => receiveFunds(ctx, deposit), platform);
  const bankAccount = await createExternalAccount(app, person.id, 'USD', '000', options);
  const fixture = agentFixture(app, options);
  const agent = await fixture.connectAgent(person.id, overrides as Record<string, unknown>);
  const [internal, external] = [internalAccount.id, bankAccount.id] as [string, string];

  async function request(kind: Kind) {
    if (kind === 'EXECUTE_QUOTE') {
      const body = quoteBody(internal, external, 100_00);
      const { id } = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
      return agent.call('POST', `/agents/me/quotes/${id}/execute`);
    }
    const isOut = kind === 'TRANSFER_OUT';
    const [from, to] = isOut ? [internal, external] : [external, internal];
    const body = { source: { accountId: from }, destination: { accountId: to }, amount: 100_00 };
    return agent.call('POST', `/agents/me/transfer-${isOut ? 'out' : 'in'}`, body);
  }

  return {
    agent,
    request,
    changePolicy: async (policy: object) =>
      ok(await fixture.callAsPlatform('PATCH', `/agents/${agent.id}/policy`, policy), 200),
    approve: (id: string) =>
      fixture.callAsPlatform('POST', `/agents/${agent.id}/actions/${id}/approve`),
    approveTransaction: async (actionId: string) => {
      const [row] = await app.runtime.db.query(
        'select transaction_id from agent_actions where id = $1',
        [actionId],
      );
      return fixture.callAsPlatform('POST', `/transactions/${row?.transaction_id}/approve`);
    },
    readStatus: async (id: string) =>
      ok(await agent.call('GET', `/agents/me/actions/${id}`), 200).status,
  };
}

describe('action without an exchange rate', () => {
  it.each(KINDS)('%s is rejected', async (kind) => {
    const { agent, request } = await createAgent(EUR_LIMITS);
    expect(statusAndCodeOf(await request(kind))).toEqual(NO_RATE);
    expect(ok(await agent.call('GET', '/agents/me/actions'), 200).data).toEqual([]);
  });

  it.each(KINDS)('%s remains pending after an attempted approval', async (kind) => {
    const { request, changePolicy, approve, approveTransaction, readStatus } = await createAgent({
      ...REQUIRES_APPROVAL,
      ...limitsOf({}),
    });
    const { id } = ok(await request(kind), kind === 'EXECUTE_QUOTE' ? 200 : 201);
    await changePolicy(EUR_LIMITS);
    expect(statusAndCodeOf(await approve(id))).toEqual(NO_RATE);
    expect(statusAndCodeOf(await approveTransaction(id))).toEqual(NO_RATE);
    expect(await readStatus(id)).toBe('PENDING_APPROVAL');
    await changePolicy(limitsOf({}));
    ok(await approveTransaction(id), 200);
    expect(await readStatus(id)).toBe('APPROVED');
  });
});
