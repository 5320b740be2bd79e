// Audit of failed requests, approvals, deletion of default deposit accounts and of customers with
// their agents, and retention of device codes.
import { describe, expect, it } from 'vitest';
import {
  auditEventsOf,
  openAgentPayer,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../test/kit/agents/agent-payments.ts';
import { agentFixture, policyBody } from '../../../test/kit/agents/agents.ts';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { loginFixture } from '../../../test/kit/sca/login.ts';
import {
  CODE,
  createPhoneVerifiedCustomer,
  execute,
  logIn,
} from '../../../test/kit/sca/strong-customers.ts';

const DAY_MS = 86_400_000;

const app = testApp();
const fixture = agentFixture(app);

describe('failed request of an agent', () => {
  it('is audited with its error code', async () => {
    const agent = await openAgentPayer(app, fixture, {}, 50_00);
    expect(statusAndCodeOf(await agent.transfer('out', 50_01))).toEqual([
      400,
      'INSUFFICIENT_FUNDS',
    ]);
    const quote = await agent.createQuote(50_01);
    expect(statusAndCodeOf(await agent.execute(quote.id))).toEqual([400, 'INSUFFICIENT_FUNDS']);
    expect(statusAndCodeOf(await agent.execute('Quote:unknown'))).toEqual([404, 'QUOTE_NOT_FOUND']);
    const auditEntries = (await agent.readAudit()).filter(({ what }) => what === 'ACTION_REFUSED');
    expect(auditEntries.map(({ actor, details }) => [actor, details.code])).toEqual([
      [agent.id, 'INSUFFICIENT_FUNDS'],
      [agent.id, 'INSUFFICIENT_FUNDS'],
      [agent.id, 'QUOTE_NOT_FOUND'],
    ]);
    expect(auditEntries[0]?.details).toMatchObject({
      from: agent.usd,
      to: agent.externalAccountId,
      amount: '5001',
    });
    expect(auditEntries[1]?.details).toMatchObject({ quoteId: quote.id });
    const { dailyTransactionCount, dailySpend } = await agent.readUsage();
    expect([dailyTransactionCount, dailySpend]).toEqual([0, 0]);
  });

  it('is audited once for each concurrent payment that exceeds the balance', async () => {
    const agent = await openAgentPayer(app, fixture, {}, 30_00);
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => agent.transfer('out', 10_00)),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    const rejections = responses.filter(({ status }) => status !== 201).map(statusAndCodeOf);
    expect(rejections).toEqual(Array(9).fill([400, 'INSUFFICIENT_FUNDS']));
    const events = await auditEventsOf(agent);
    expect(events.filter((event) => event === 'ACTION_REFUSED')).toHaveLength(9);
    expect(events.filter((event) => event === 'ACTION_EXECUTED')).toHaveLength(3);
    await app.settle();
  });
});

describe('approval', () => {
  it('leaves the action pending if the customer must log in first', async () => {
    const person = await createPhoneVerifiedCustomer(app);
    const eurAccount = await findInternalAccount(app, person.id, 'EUR');
    await fundAccount(app, eurAccount.id, 100_00);
    const payeeAccount = await createExternalAccount(app, person.id, 'EUR');
    const agent = await fixture.connectAgent(person.id, REQUIRES_APPROVAL);
    const body = quoteBody(eurAccount.id, payeeAccount.id, 10_00);
    const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    const path = `/agents/me/quotes/${quote.id}/execute`;
    const action = ok(await agent.call('POST', path), 200);
    const approve = () =>
      fixture.callAsPlatform('POST', `/agents/${agent.id}/actions/${action.id}/approve`);
    expect(statusAndCodeOf(await approve())).toEqual([409, 'SCA_SESSION_REQUIRED']);
    await logIn(app, person.id);
    const approvedBody = ok(await approve(), 200);
    expect([approvedBody.status, approvedBody.transaction.status]).toEqual([
      'APPROVED',
      'PENDING_AUTHORIZATION',
    ]);
    const proof = { code: CODE };
    expect(ok(await app.call('POST', `/quotes/${quote.id}/authorize`, proof), 200).status).toBe(
      'PROCESSING',
    );
    expect(statusAndCodeOf(await execute(app, quote.id))).toEqual([409, 'CONFLICT']);
    await app.settle();
  });

  it('leaves the action pending during a lockout of the customer', async () => {
    const person = await createPhoneVerifiedCustomer(app);
    const eurAccount = await findInternalAccount(app, person.id, 'EUR');
    await fundAccount(app, eurAccount.id, 100_00);
    const payeeAccount = await createExternalAccount(app, person.id, 'EUR');
    await logIn(app, person.id);
    const [requestingAgent, automaticAgent] = [
      await fixture.connectAgent(person.id, REQUIRES_APPROVAL),
      await fixture.connectAgent(person.id),
    ];
    const prepareExecution = async ({ call }: typeof requestingAgent) => {
      const body = quoteBody(eurAccount.id, payeeAccount.id, 10_00);
      const quote = ok(await call('POST', '/agents/me/quotes', body), 201);
      return { quote, execute: () => call('POST', `/agents/me/quotes/${quote.id}/execute`) };
    };
    const preparedExecution = await prepareExecution(requestingAgent);
    const action = ok(await preparedExecution.execute(), 200);
    const { execute: executeAutomatically } = await prepareExecution(automaticAgent);
    await loginFixture(app).failTimes(person.id, 5);
    const approve = () =>
      fixture.callAsPlatform('POST', `/agents/${requestingAgent.id}/actions/${action.id}/approve`);
    const approvalPath = `/transactions/${preparedExecution.quote.transactionId}/approve`;
    const lockedError = [423, 'ACCOUNT_LOCKED'];
    expect(statusAndCodeOf(await approve())).toEqual(lockedError);
    expect(statusAndCodeOf(await fixture.callAsPlatform('POST', approvalPath))).toEqual(
      lockedError,
    );
    expect(statusAndCodeOf(await executeAutomatically())).toEqual(lockedError);
    const realtimeSource = { sourceType: 'REALTIME_FUNDING', currency: 'EUR' };
    const body = { ...quoteBody(eurAccount.id, payeeAccount.id, 10_00), source: realtimeSource };
    expect(statusAndCodeOf(await automaticAgent.call('POST', '/agents/me/quotes', body))).toEqual(
      lockedError,
    );
    await loginFixture(app).reset(person.id);
    await logIn(app, person.id);
    expect(ok(await approve(), 200).status).toBe('APPROVED');
    await app.settle();
  });

  it('records the reason of a failure in the audit', async () => {
    const agent = await openAgentPayer(app, fixture, REQUIRES_APPROVAL);
    const { id } = await agent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL');
    await agent.pauseAgent();
    expect(ok(await agent.decide('approve', id), 200).status).toBe('FAILED');
    expect((await agent.readAudit()).at(-1)).toMatchObject({
      what: 'ACTION_FAILED',
      actor: expect.stringMatching(/^Token:/),
      details: { code: 'FORBIDDEN', reason: 'The agent is paused.' },
    });
  });
});

describe('default account for UMA deposits', () => {
  it('cannot be deleted by an agent', async () => {
    const agent = await openAgentPayer(app, fixture);
    const createdExternalAccount = await createExternalAccount(app, agent.customer.id, 'EUR');
    await app.runtime.db.query('update external_accounts set default_uma = true where id = $1', [
      createdExternalAccount.id,
    ]);
    const path = `/agents/me/external-accounts/${createdExternalAccount.id}`;
    expect(statusAndCodeOf(await agent.call('DELETE', path))).toEqual([403, 'FORBIDDEN']);
    expect((await agent.readAudit()).at(-1)).toMatchObject({
      what: 'ACTION_REFUSED',
      details: {
        operationId: 'agentDeleteExternalAccount',
        rule: 'DEFAULT_DEPOSIT_ACCOUNT',
      },
    });
    await app.call('DELETE', `/customers/external-accounts/${createdExternalAccount.id}`);
    expect(statusAndCodeOf(await agent.call('DELETE', path))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });
});

describe('deletion of a customer', () => {
  it('deletes its agents and rejects their pending actions', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    const payeeAccount = await createExternalAccount(app, person.id, 'USD');
    const agents = [
      await fixture.connectAgent(person.id, REQUIRES_APPROVAL),
      await fixture.connectAgent(person.id, REQUIRES_APPROVAL),
    ];
    const body = {
      source: { accountId: account.id },
      destination: { accountId: payeeAccount.id },
      amount: 1_00,
    };
    for (const each of agents) ok(await each.call('POST', '/agents/me/transfer-out', body), 201);
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    for (const each of agents) {
      expect(statusAndCodeOf(await each.call('GET', '/agents/me'))).toEqual([401, 'UNAUTHORIZED']);
    }
    await app.settle();
    for (const each of agents) {
      expect(statusAndCodeOf(await fixture.callAsPlatform('GET', `/agents/${each.id}`))).toEqual([
        404,
        'NOT_FOUND',
      ]);
    }
    const list = ok(
      await fixture.callAsPlatform('GET', `/agents/approvals?customerId=${person.id}`),
      200,
    );
    expect(list.data).toEqual([]);
    const rows = await app.runtime.db.query(
      `select a.status, a.rejection_reason as reason, t.status as payment
        from agent_actions a join transactions t on t.id = a.transaction_id
        where a.customer_id = $1`,
      [person.id],
    );
    const reason = 'The customer was deleted.';
    expect(rows).toEqual(Array(2).fill({ status: 'REJECTED', reason, payment: 'FAILED' }));
    const auditEntries = await app.runtime.db.query(
      `select agent_id as agent, actor, details ->> 'reason' as reason from agent_audit
        where customer_id = $1 and what in ('DELETED', 'ACTION_REJECTED') order by what, id`,
      [person.id],
    );
    const [{ actor } = {}] = await app.runtime.db.query(
      "select actor from agent_audit where customer_id = $1 and what = 'CREATED'",
      [person.id],
    );
    expect(actor).toMatch(/^Token:/);
    expect(auditEntries).toEqual(
      [null, reason].flatMap((expectedReason) =>
        agents.map(({ id }) => ({ agent: id, actor, reason: expectedReason })),
      ),
    );
  });
});

describe('device code', () => {
  it('can be queried for 30 days after its expiry', async () => {
    const person = await createCustomer(app);
    const body = { name: 'Late', customerId: person.id, policy: policyBody() };
    const { deviceCode } = ok(await fixture.callAsPlatform('POST', '/agents', body), 201);
    const readCodeStatus = () =>
      fixture.callAsPlatform('GET', `/agents/device-codes/${deviceCode.code}/status`);
    await app.advance(30 * DAY_MS);
    expect(ok(await readCodeStatus(), 200)).toEqual({ code: deviceCode.code, redeemed: false });
    await app.advance(DAY_MS + 20 * 60_000);
    expect(statusAndCodeOf(await readCodeStatus())).toEqual([404, 'NOT_FOUND']);
  });
});
