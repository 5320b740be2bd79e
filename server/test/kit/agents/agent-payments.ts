// Fixture for payments of agents: external accounts, the three kinds of actions, decisions of the
// platform by action and by transaction, and the audit.
import { expect } from 'vitest';
import { createExternalAccount, ok, quoteBody } from '../app/fixtures.ts';
import type { ApiResponse, TestApp } from '../app/harness.ts';
import type { AgentFixture, FundedAgent } from './agents.ts';

export const KINDS = ['EXECUTE_QUOTE', 'TRANSFER_OUT', 'TRANSFER_IN'] as const;
export type Kind = (typeof KINDS)[number];

export const REQUIRES_APPROVAL = { defaultExecutionMode: 'APPROVAL_REQUIRED' };

/** A policy with high limits in USD. `overrides` replaces limits. */
export const limitsOf = (overrides: object) => ({
  spendingLimits: { currency: 'USD', perTransactionLimit: 1_000_000_00, ...overrides },
});

/** Status and code of a rejection. */
export const statusAndCodeOf = ({ status, body }: ApiResponse) => [status, body.code];

interface AuditEntry extends Record<string, unknown> {
  what: string;
  actor: string;
  action_id: string | null;
  details: Record<string, unknown>;
}

export type AgentPayer = Awaited<ReturnType<typeof openAgentPayer>>;

/**
 * Creates an agent of a funded customer with an external account. `overrides` replaces parts of the
 * policy.
 */
export async function openAgentPayer(
  app: TestApp,
  fixture: AgentFixture,
  overrides: object = {},
  amount?: number,
) {
  const agent: FundedAgent = await fixture.createAgent(
    overrides as Record<string, unknown>,
    amount,
  );
  const { platform } = fixture;
  const externalPayee = await createExternalAccount(app, agent.customer.id, 'USD', '000', {
    platform,
  });

  const createQuote = async (
    sentAmount: number,
    to: string = externalPayee.id,
    from: string = agent.usd,
  ) => ok(await agent.call('POST', '/agents/me/quotes', quoteBody(from, to, sentAmount)), 201);

  const execute = (id: string, headers?: Record<string, string>) =>
    agent.call('POST', `/agents/me/quotes/${id}/execute`, undefined, { headers });

  const transfer = (
    direction: 'out' | 'in',
    sentAmount: number,
    headers?: Record<string, string>,
  ) => {
    const [internalParty, externalParty] = [
      { accountId: agent.usd },
      { accountId: externalPayee.id },
    ];
    const accounts =
      direction === 'out'
        ? { source: internalParty, destination: externalParty }
        : { source: externalParty, destination: internalParty };
    const body = { ...accounts, amount: sentAmount };
    return agent.call('POST', `/agents/me/transfer-${direction}`, body, { headers });
  };

  /** Requests a payment of this kind. */
  async function request(kind: Kind, sentAmount = 100_00): Promise<ApiResponse> {
    if (kind === 'EXECUTE_QUOTE') return execute((await createQuote(sentAmount)).id);
    return transfer(kind === 'TRANSFER_OUT' ? 'out' : 'in', sentAmount);
  }

  /** Requests a payment and returns its action, which must have this status. */
  async function requestAction(
    kind: Kind,
    status: string,
    sentAmount?: number,
  ): Promise<ApiResponse['body']> {
    const body = ok(await request(kind, sentAmount), kind === 'EXECUTE_QUOTE' ? 200 : 201);
    expect([body.type, body.status]).toEqual([kind, status]);
    return body;
  }

  const decide = (decision: 'approve' | 'reject', id: string, body?: object) =>
    fixture.callAsPlatform('POST', `/agents/${agent.id}/actions/${id}/${decision}`, body);

  const queryRows = <R extends Record<string, unknown>>(sql: string, values: unknown[]) =>
    app.runtime.db.query<R>(sql, values);

  const transactionOf = async (actionId: string): Promise<string> => {
    const [row] = await queryRows('select transaction_id as id from agent_actions where id = $1', [
      actionId,
    ]);
    return row?.id as string;
  };

  return {
    ...agent,
    externalAccountId: externalPayee.id as string,
    createQuote,
    execute,
    transfer,
    requestPayment: request,
    requestAction,
    decide,
    transactionOf,
    readAction: async (id: string) => ok(await agent.call('GET', `/agents/me/actions/${id}`), 200),
    readTransaction: async (id: string) =>
      ok(await app.call('GET', `/transactions/${id}`, undefined, { platform }), 200),
    changePolicy: async (policy: object) =>
      ok(await fixture.callAsPlatform('PATCH', `/agents/${agent.id}/policy`, policy), 200),
    pauseAgent: async () =>
      ok(await fixture.callAsPlatform('PATCH', `/agents/${agent.id}`, { isPaused: true }), 200),
    readUsage: async () =>
      ok(await fixture.callAsPlatform('GET', `/agents/${agent.id}`), 200).usage,
    failureOf: async (id: string) =>
      (
        await queryRows<Pick<AuditEntry, 'details'>>(
          "select details from agent_audit where action_id = $1 and what = 'ACTION_FAILED'",
          [id],
        )
      )[0]?.details,
    /** Audit entries in order, without the creation of the agent. */
    readAudit: async () => {
      const entries = await queryRows<AuditEntry>(
        'select what, actor, action_id, details from agent_audit where agent_id = $1 order by id',
        [agent.id],
      );
      const creationEvents = ['CREATED', 'CODE_ISSUED', 'CONNECTED'];
      return entries.filter(({ what }) => !creationEvents.includes(what));
    },
  };
}

/** Audit events of an agent's actions, in order. */
export const auditEventsOf = async (agent: AgentPayer): Promise<string[]> =>
  (await agent.readAudit())
    .map(({ what: event }) => event)
    .filter((event) => event !== 'QUOTE_CREATED');

/** Decision of the platform through the transaction of an action. */
export const decideTransaction = (
  app: TestApp,
  decision: 'approve' | 'reject',
  id: string,
  body?: object,
): Promise<ApiResponse> => app.call('POST', `/transactions/${id}/${decision}`, body);

/** Returns a function that creates an agent with a pending action. */
export const pendingActionFactory =
  (app: TestApp, fixture: AgentFixture) =>
  async (kind: Kind, overrides: object = {}, amount?: number) => {
    const agent = await openAgentPayer(
      app,
      fixture,
      { ...REQUIRES_APPROVAL, ...overrides },
      amount,
    );
    const action = await agent.requestAction(kind, 'PENDING_APPROVAL');
    return { agent, action, transactionId: await agent.transactionOf(action.id) };
  };
