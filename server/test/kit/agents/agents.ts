// Fixture for agents: a funded customer, an agent with a permissive policy, and requests with the
// access token of the agent.
import { createCustomer, findInternalAccount, fundAccount, ok } from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';

type Json = Record<string, unknown>;

/** A policy that permits all actions without approval. `overrides` replaces parts of it. */
export const policyBody = (overrides: Json = {}) => ({
  permissions: [
    'VIEW_TRANSACTIONS',
    'CREATE_TRANSFERS',
    'CREATE_QUOTES',
    'EXECUTE_QUOTES',
    'MANAGE_EXTERNAL_ACCOUNTS',
  ],
  defaultExecutionMode: 'AUTO',
  spendingLimits: { currency: 'USD', perTransactionLimit: 1_000_000_00 },
  ...overrides,
});

export type AgentFixture = ReturnType<typeof agentFixture>;
export type FundedAgent = Awaited<ReturnType<AgentFixture['createAgent']>>;

let counter = 0;

/** `platform` is the platform of the agents. Defaults to the main platform. */
export function agentFixture(app: TestApp, { platform }: Pick<CallOptions, 'platform'> = {}) {
  const callAsPlatform = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse> => app.call(method, path, body, { platform, headers });

  const redeemCode = (code: string) =>
    app.call('POST', `/agents/device-codes/${code}/redeem`, undefined, { platform: null });

  /** Requests with an access token. */
  const withToken =
    (accessToken: string) =>
    (
      method: string,
      path: string,
      body?: unknown,
      { headers = {} }: Pick<CallOptions, 'headers'> = {},
    ): Promise<ApiResponse> => {
      const authorization = `Bearer ${accessToken}`;
      return app.call(method, path, body, {
        platform: null,
        headers: { authorization, ...headers },
      });
    };

  /** A customer with `amount` minor units of USD and of EUR. */
  async function createFundedCustomer(amount = 10_000_00) {
    const person = await createCustomer(app, { platform });
    const [usd, eur] = [
      await findInternalAccount(app, person.id, 'USD', { platform }),
      await findInternalAccount(app, person.id, 'EUR', { platform }),
    ];
    for (const { id } of [usd, eur]) await fundAccount(app, id, amount, { platform });
    return { customer: person, usd: usd.id as string, eur: eur.id as string };
  }

  /** An agent that is not connected yet, with its device code. */
  async function createUnconnectedAgent(customerId: string, overrides: Json = {}) {
    const body = { name: `Agent ${++counter}`, customerId, policy: policyBody(overrides) };
    return ok(await callAsPlatform('POST', '/agents', body), 201);
  }

  /** A connected agent of a customer. `overrides` replaces parts of its policy. */
  async function connectAgent(customerId: string, overrides: Json = {}) {
    const { agent, deviceCode } = await createUnconnectedAgent(customerId, overrides);
    const { accessToken } = ok(await redeemCode(deviceCode.code), 200);
    // Redemptions are rate-limited by address.
    await app.runtime.db.query("delete from attempt_limits where id like 'agent redeem %'");
    return {
      id: agent.id as string,
      accessToken: accessToken as string,
      code: deviceCode.code as string,
      /** Sends a request as the agent. */
      call: withToken(accessToken),
    };
  }

  /** A funded customer with a connected agent. */
  async function createAgent(overrides: Json = {}, amount?: number) {
    const fundedCustomer = await createFundedCustomer(amount);
    return { ...fundedCustomer, ...(await connectAgent(fundedCustomer.customer.id, overrides)) };
  }

  return {
    get platform() {
      return platform ?? app.platform;
    },
    callAsPlatform,
    redeemCode,
    withToken,
    createFundedCustomer,
    createUnconnectedAgent,
    connectAgent,
    createAgent,
  };
}
