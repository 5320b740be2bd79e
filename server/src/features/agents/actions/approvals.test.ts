// Decisions of the platform on pending actions. A decision is evaluated under current conditions,
// takes effect once, and is reported in events and in the audit.
import { describe, expect, it } from 'vitest';
import {
  type AgentPayer,
  auditEventsOf,
  decideTransaction,
  KINDS,
  type Kind,
  limitsOf,
  openAgentPayer,
  pendingActionFactory,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../../test/kit/agents/agent-payments.ts';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import {
  createCustomer,
  eventTypes,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { transitionInternalAccount } from '../../balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { type ActionRow, agentActions } from '../store.ts';
import { approve } from './actions.ts';
import { loadAction } from './present-action.ts';

const app = testApp();
const fixture = agentFixture(app);

const AMOUNT = 100_00;
const createAgentPayer = (overrides: object = {}, amount?: number) =>
  openAgentPayer(app, fixture, { ...REQUIRES_APPROVAL, ...overrides }, amount);
const directionOf = (kind: Kind) => (kind === 'TRANSFER_IN' ? 'INCOMING' : 'OUTGOING');

const createPendingAction: ReturnType<typeof pendingActionFactory> = (...args) =>
  pendingActionFactory(app, fixture)(...args);

describe('pending action', () => {
  it.each(KINDS)('%s posts no funds and is reported in full', async (kind) => {
    const { agent, action, transactionId } = await createPendingAction(kind);
    expect(action.transaction).toBeUndefined();
    expect(await agent.readTransaction(transactionId)).toMatchObject({
      status: 'PENDING',
      agentId: agent.id,
    });
    const events = (await app.events()).filter(({ subject }) => subject === action.id);
    expect(events).toMatchObject([
      { type: 'AGENT_ACTION.PENDING_APPROVAL', platformId: app.platform.id, data: action },
    ]);
    expect(await eventTypes(app, transactionId)).toEqual([]);
    expect(await readBalances(app, agent.usd)).toEqual({ balance: 10_000_00, total: 10_000_00 });
    expect((await agent.readUsage()).dailyTransactionCount).toBe(0);
    expect(await auditEventsOf(agent)).toEqual(['ACTION_SUBMITTED']);
    // A pending action cannot be canceled as a payment, and starts no transfer.
    const cancellation = await app.call('POST', `/transactions/${transactionId}/cancel`);
    expect(statusAndCodeOf(cancellation)).toEqual([409, 'TRANSACTION_NOT_CANCELLABLE']);
    await app.settle();
    expect((await agent.readAction(action.id)).status).toBe('PENDING_APPROVAL');
  });

  it('prevents other actions with its quote until it is rejected', async () => {
    const agent = await createAgentPayer();
    const quote = await agent.createQuote(AMOUNT);
    const responses = await Promise.all([1, 2, 3].map(() => agent.execute(quote.id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(statusAndCodeOf(await agent.execute(quote.id))).toEqual([409, 'CONFLICT']);
    const { id } = responses.find(({ status }) => status === 200)?.body ?? {};
    ok(await agent.decide('reject', id), 200);
    const secondAction = ok(await agent.execute(quote.id), 200);
    expect(ok(await agent.decide('approve', secondAction.id), 200).status).toBe('APPROVED');
    expect(statusAndCodeOf(await agent.execute(quote.id))).toEqual([409, 'CONFLICT']);
  });
});

describe('approveAgentAction', () => {
  it.each(KINDS)('executes %s', async (kind) => {
    const { agent, action, transactionId } = await createPendingAction(kind);
    app.effects.set(app.effects.now() + 60_000);
    const result = ok(await agent.decide('approve', action.id), 200);
    expect(result).toMatchObject({ id: action.id, status: 'APPROVED' });
    expect(result.transaction).toMatchObject({ id: transactionId, agentId: agent.id });
    expect(result.updatedAt > result.createdAt).toBe(true);
    await app.settle();
    const currentAction = await agent.readAction(action.id);
    expect([currentAction.status, currentAction.transaction.status]).toEqual([
      'APPROVED',
      'COMPLETED',
    ]);
    const incomingStatuses = kind === 'TRANSFER_IN' ? ['PENDING', 'COMPLETED'] : undefined;
    const statuses = incomingStatuses ?? ['PENDING', 'PROCESSING', 'COMPLETED'];
    expect(await eventTypes(app, transactionId)).toEqual(
      statuses.map((status) => `${directionOf(kind)}_PAYMENT.${status}`),
    );
    expect(await agent.readUsage()).toMatchObject({
      dailyTransactionCount: 1,
      dailySpend: AMOUNT,
    });
    const auditEntries = await agent.readAudit();
    expect(auditEntries.at(-1)).toMatchObject({ what: 'ACTION_APPROVED', action_id: action.id });
    expect(auditEntries.at(-1)?.actor).not.toBe(agent.id);
    for (const decision of ['approve', 'reject'] as const) {
      expect(statusAndCodeOf(await agent.decide(decision, action.id))).toEqual([409, 'CONFLICT']);
    }
  });

  it.each(KINDS)('can be requested through the transaction of %s', async (kind) => {
    const { agent, action, transactionId } = await createPendingAction(kind);
    const response = ok(await decideTransaction(app, 'approve', transactionId), 200);
    expect(response).toMatchObject({
      id: transactionId,
      type: directionOf(kind),
      agentId: agent.id,
    });
    await app.settle();
    expect((await agent.readAction(action.id)).transaction.status).toBe('COMPLETED');
    for (const decision of ['approve', 'reject'] as const) {
      expect(statusAndCodeOf(await decideTransaction(app, decision, transactionId))).toEqual([
        409,
        'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
      ]);
    }
  });

  it('rejects an Idempotency-Key that is too long, and replays the reply to a valid key', async () => {
    const { agent, action } = await createPendingAction('TRANSFER_OUT');
    const path = `/agents/${agent.id}/actions/${action.id}/approve`;
    const headers = { 'idempotency-key': 'k'.repeat(256) };
    expect(statusAndCodeOf(await app.call('POST', path, undefined, { headers }))).toEqual([
      400,
      'INVALID_INPUT',
    ]);
    const keyHeaders = { 'idempotency-key': 'k' };
    const decidedAction = ok(await app.call('POST', path, undefined, { headers: keyHeaders }), 200);
    expect(ok(await app.call('POST', path, undefined, { headers: keyHeaders }), 200)).toEqual(
      decidedAction,
    );
  });

  it('finds only actions of its platform, each under its agent', async () => {
    const { agent, action, transactionId } = await createPendingAction('TRANSFER_OUT');
    const otherPayer = await createAgentPayer();
    const actionPathOf = (id: string) => `/agents/${id}/actions/${action.id}`;
    for (const decision of ['approve', 'reject']) {
      const foreignResponse = await app.call(
        'POST',
        `${actionPathOf(agent.id)}/${decision}`,
        undefined,
        {
          platform: app.other,
        },
      );
      const mismatchedResponse = await app.call(
        'POST',
        `${actionPathOf(otherPayer.id)}/${decision}`,
      );
      const unknownResponse = await app.call('POST', `/agents/${agent.id}/actions/x/${decision}`);
      for (const response of [foreignResponse, mismatchedResponse, unknownResponse]) {
        expect(statusAndCodeOf(response)).toEqual([404, 'NOT_FOUND']);
      }
      const otherPlatformResponse = await app.call(
        'POST',
        `/transactions/${transactionId}/${decision}`,
        undefined,
        {
          platform: app.other,
        },
      );
      expect(otherPlatformResponse.status).toBe(404);
    }
    expect((await agent.readAction(action.id)).status).toBe('PENDING_APPROVAL');
  });
});

describe('rejectAgentAction', () => {
  it.each(KINDS)('rejects %s', async (kind) => {
    const { agent, action, transactionId } = await createPendingAction(kind);
    const result = ok(await agent.decide('reject', action.id, { reason: 'Too much.' }), 200);
    expect(result).toMatchObject({ status: 'REJECTED', rejectionReason: 'Too much.' });
    expect(result.transaction).toBeUndefined();
    expect((await agent.readAction(action.id)).rejectionReason).toBe('Too much.');
    const payment = await agent.readTransaction(transactionId);
    const isQuote = kind === 'EXECUTE_QUOTE';
    expect([payment.status, payment.failureReason]).toEqual([
      isQuote ? 'PENDING' : 'FAILED',
      undefined,
    ]);
    expect(await eventTypes(app, transactionId)).toEqual(
      isQuote ? [] : [`${directionOf(kind)}_PAYMENT.FAILED`],
    );
    expect(await auditEventsOf(agent)).toEqual(['ACTION_SUBMITTED', 'ACTION_REJECTED']);
    expect(statusAndCodeOf(await agent.decide('approve', action.id))).toEqual([409, 'CONFLICT']);
    await app.settle();
    expect(await readBalances(app, agent.usd)).toEqual({ balance: 10_000_00, total: 10_000_00 });
  });

  it.each(KINDS)('can be requested through the transaction of %s, with a reason', async (kind) => {
    const { agent, action, transactionId } = await createPendingAction(kind);
    const longReasonResponse = await decideTransaction(app, 'reject', transactionId, {
      reason: 'x'.repeat(256),
    });
    expect(statusAndCodeOf(longReasonResponse)).toEqual([400, 'INVALID_INPUT']);
    const reason = 'x'.repeat(255);
    const response = ok(await decideTransaction(app, 'reject', transactionId, { reason }), 200);
    expect(response.status).toBe(kind === 'EXECUTE_QUOTE' ? 'PENDING' : 'FAILED');
    const currentAction = await agent.readAction(action.id);
    expect([currentAction.status, currentAction.rejectionReason]).toEqual(['REJECTED', reason]);
  });

  it('rejects a reason over 255 characters', async () => {
    const { agent, action } = await createPendingAction('EXECUTE_QUOTE');
    const longReasonResponse = await agent.decide('reject', action.id, { reason: 'x'.repeat(256) });
    expect(statusAndCodeOf(longReasonResponse)).toEqual([400, 'INVALID_INPUT']);
  });

  it('needs no reason after the quote has expired', async () => {
    const { agent, action } = await createPendingAction('EXECUTE_QUOTE');
    await app.advance(24 * 3_600_000);
    expect((await agent.readAction(action.id)).quote.status).toBe('EXPIRED');
    const result = ok(await agent.decide('reject', action.id), 200);
    expect([result.status, result.rejectionReason]).toEqual(['REJECTED', undefined]);
  });
});

describe('quote between internal accounts', () => {
  const approvals = ['no approval', 'approval of the action', 'approval of the transaction'];

  it.each(approvals)('completes immediately with %s', async (approval) => {
    const policy = approval === 'no approval' ? {} : REQUIRES_APPROVAL;
    const agent = await openAgentPayer(app, fixture, policy);
    const { umaAddress } = await createCustomer(app);
    const path = `/receiver/uma/${encodeURIComponent(umaAddress)}?customerId=${agent.customer.id}`;
    const { lookupId } = ok(await app.call('GET', path), 200);
    const destination = { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'USD' };
    const body = { ...quoteBody(agent.usd, '', AMOUNT), destination, lookupId };
    const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    const action = ok(await agent.execute(quote.id), 200);
    if (approval === 'approval of the action') ok(await agent.decide('approve', action.id), 200);
    if (approval === 'approval of the transaction')
      ok(await decideTransaction(app, 'approve', quote.transactionId), 200);
    expect((await agent.readAction(action.id)).status).toBe('APPROVED');
    expect((await agent.readTransaction(quote.transactionId)).status).toBe('COMPLETED');
  });
});

describe('pending action under changed conditions', () => {
  /** Changes before the approval, and the error code that is recorded. */
  const causes: [string, string, (agent: AgentPayer) => Promise<unknown>, object?][] = [
    ['the agent is paused', 'FORBIDDEN', (agent) => agent.pauseAgent()],
    [
      'the permission was removed',
      'FORBIDDEN',
      (agent) => agent.changePolicy({ permissions: ['VIEW_TRANSACTIONS'] }),
    ],
    [
      'the account is no longer allowed',
      'FORBIDDEN',
      (agent) => agent.changePolicy({ accountRestrictions: { allowedAccountIds: [agent.eur] } }),
    ],
    [
      'the limit of one payment was lowered',
      'FORBIDDEN',
      (agent) => agent.changePolicy({ spendingLimits: { perTransactionLimit: AMOUNT - 1 } }),
    ],
    [
      'the daily limit is reached',
      'FORBIDDEN',
      async (agent) => {
        await agent.changePolicy({ defaultExecutionMode: 'AUTO' });
        ok(await agent.transfer('out', 60_00), 201);
      },
      limitsOf({ dailyLimit: 150_00 }),
    ],
    [
      'the source is frozen',
      'INVALID_INPUT',
      (agent) =>
        app.operate(async (ctx) => {
          const row = await ctx.read(internalAccounts, agent.usd);
          if (row) transitionInternalAccount(ctx, row, 'freeze');
        }),
    ],
    [
      'the external account was deleted',
      'ACCOUNT_NOT_FOUND',
      async (agent) =>
        ok(
          await app.call('DELETE', `/customers/external-accounts/${agent.externalAccountId}`),
          204,
        ),
    ],
  ];

  it.each(causes)('becomes FAILED if %s', async (_, code, applyChange, overrides = {}) => {
    for (const kind of ['EXECUTE_QUOTE', 'TRANSFER_OUT'] as const) {
      const { agent, action, transactionId } = await createPendingAction(kind, overrides);
      await applyChange(agent);
      const usageBefore = await agent.readUsage();
      const result = ok(await agent.decide('approve', action.id), 200);
      expect([result.status, result.transaction]).toEqual(['FAILED', undefined]);
      expect(await agent.failureOf(action.id)).toMatchObject({ code });
      expect(await agent.readUsage()).toEqual(usageBefore);
      const isQuote = kind === 'EXECUTE_QUOTE';
      expect((await agent.readTransaction(transactionId)).status).toBe(
        isQuote ? 'PENDING' : 'FAILED',
      );
      expect(await eventTypes(app, transactionId)).toEqual(
        isQuote ? [] : ['OUTGOING_PAYMENT.FAILED'],
      );
      expect((await auditEventsOf(agent)).at(-1)).toBe('ACTION_FAILED');
      expect(statusAndCodeOf(await agent.decide('approve', action.id))).toEqual([409, 'CONFLICT']);
    }
  });

  it('becomes FAILED through its transaction without sufficient funds', async () => {
    const pendingAction = await createPendingAction('TRANSFER_OUT', {}, 150_00);
    await pendingAction.agent.changePolicy({ defaultExecutionMode: 'AUTO' });
    ok(await pendingAction.agent.transfer('out', 60_00), 201);
    const response = ok(await decideTransaction(app, 'approve', pendingAction.transactionId), 200);
    expect(response.status).toBe('FAILED');
    expect(await pendingAction.agent.failureOf(pendingAction.action.id)).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
    expect((await pendingAction.agent.readAction(pendingAction.action.id)).status).toBe('FAILED');
  });

  it('prevents the platform from executing the quote', async () => {
    const { agent, action, transactionId } = await createPendingAction('EXECUTE_QUOTE');
    const executionResponse = await app.call('POST', `/quotes/${action.quote.id}/execute`);
    expect(statusAndCodeOf(executionResponse)).toEqual([409, 'CONFLICT']);
    expect(executionResponse.body.details).toEqual({ actionId: action.id });
    ok(await agent.decide('reject', action.id), 200);
    ok(await app.call('POST', `/quotes/${action.quote.id}/execute`), 200);
    // The payment has started without a pending action.
    expect(statusAndCodeOf(await decideTransaction(app, 'approve', transactionId))).toEqual([
      409,
      'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    ]);
    await app.settle();
  });

  it('reports the reason of a failure through the transaction of its quote', async () => {
    const { agent, action, transactionId } = await createPendingAction('EXECUTE_QUOTE');
    await agent.pauseAgent();
    const response = await decideTransaction(app, 'approve', transactionId);
    expect(statusAndCodeOf(response)).toEqual([409, 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL']);
    expect(response.body.reason).toContain('The agent is paused.');
    expect((await agent.readAction(action.id)).status).toBe('FAILED');
    expect((await agent.readTransaction(transactionId)).status).toBe('PENDING');
  });

  it('can be rejected through its transaction after the quote has expired', async () => {
    const { agent, action, transactionId } = await createPendingAction('EXECUTE_QUOTE');
    await app.advance(Date.parse(action.quote.expiresAt) - app.effects.now() + 1_000);
    expect(ok(await decideTransaction(app, 'reject', transactionId), 200).status).toBe('EXPIRED');
    expect((await agent.readAction(action.id)).status).toBe('REJECTED');
  });

  it('becomes FAILED if the quote has expired', async () => {
    const expiredAction = await createPendingAction('EXECUTE_QUOTE');
    app.effects.set(Date.parse(expiredAction.action.quote.expiresAt));
    const decidedAction = ok(
      await expiredAction.agent.decide('approve', expiredAction.action.id),
      200,
    );
    expect([decidedAction.status, decidedAction.quote.status]).toEqual(['FAILED', 'EXPIRED']);
    expect(await expiredAction.agent.failureOf(expiredAction.action.id)).toMatchObject({
      code: 'QUOTE_EXPIRED',
    });
  });

  it('becomes FAILED if the account of an incoming transfer was deleted', async () => {
    for (const isByTransaction of [false, true]) {
      const { agent, action, transactionId } = await createPendingAction('TRANSFER_IN');
      ok(await app.call('DELETE', `/customers/external-accounts/${agent.externalAccountId}`), 204);
      const response = isByTransaction
        ? await decideTransaction(app, 'approve', transactionId)
        : await agent.decide('approve', action.id);
      expect(ok(response, 200).status).toBe('FAILED');
      expect((await agent.readTransaction(transactionId)).status).toBe('FAILED');
      expect(await eventTypes(app, transactionId)).toEqual(['INCOMING_PAYMENT.FAILED']);
    }
  });

  it('becomes REJECTED when its agent is deleted', async () => {
    const agent = await createAgentPayer();
    const [quoteAction, transferAction] = [
      await agent.requestAction('EXECUTE_QUOTE', 'PENDING_APPROVAL'),
      await agent.requestAction('TRANSFER_IN', 'PENDING_APPROVAL'),
    ];
    const transactionId = await agent.transactionOf(transferAction.id);
    ok(await fixture.callAsPlatform('DELETE', `/agents/${agent.id}`), 204);
    for (const { id } of [quoteAction, transferAction]) {
      expect(statusAndCodeOf(await agent.decide('approve', id))).toEqual([409, 'CONFLICT']);
    }
    expect((await agent.readTransaction(transactionId)).status).toBe('FAILED');
    const auditEvents = await auditEventsOf(agent);
    expect(auditEvents.filter((event) => event === 'ACTION_REJECTED')).toHaveLength(2);
    const { data } = ok(
      await fixture.callAsPlatform('GET', `/agents/approvals?agentId=${agent.id}`),
      200,
    );
    expect(data).toEqual([]);
  });

  /** Approves an action as the platform, with other connectors. */
  async function approveWith(actionId: string, overrides: Partial<Connectors>) {
    const row = (await app.runtime.db.read(agentActions, actionId)) as ActionRow;
    const connectors = () => ({ ...app.connectorsOf('sandbox'), ...overrides });
    const deps = { connectors, origin: () => '' };
    return app.operate(async (ctx) => approve(ctx, deps, await loadAction(ctx, row)));
  }

  it('remains pending without an exchange rate', async () => {
    const { agent, action } = await createPendingAction('TRANSFER_OUT', {
      spendingLimits: { currency: 'EUR', perTransactionLimit: AMOUNT },
    });
    const approval = approveWith(action.id, { rates: undefined });
    await expect(approval).rejects.toMatchObject({ code: 'QUOTE_RATE_UNAVAILABLE' });
    expect((await agent.readAction(action.id)).status).toBe('PENDING_APPROVAL');
    expect(ok(await agent.decide('approve', action.id), 200).status).toBe('APPROVED');
  });

  it('becomes FAILED if no rail is connected', async () => {
    const { agent, action } = await createPendingAction('TRANSFER_IN');
    const { action: failedAction } = await approveWith(action.id, { rail: undefined });
    expect(failedAction.status).toBe('FAILED');
    expect(await agent.failureOf(action.id)).toMatchObject({ code: 'NOT_IMPLEMENTED' });
    expect(statusAndCodeOf(await agent.decide('approve', action.id))).toEqual([409, 'CONFLICT']);
  });

  it('requires one approval, regardless of mode and threshold', async () => {
    const threshold = { approvalThresholds: { currency: 'USD', amount: 1 } };
    const { agent, action } = await createPendingAction('TRANSFER_OUT', threshold);
    expect(ok(await agent.decide('approve', action.id), 200).status).toBe('APPROVED');
  });
});
