// Approvals that are rejected because of a temporary condition, through the action and through its
// transaction. The action remains pending, and can be approved when the condition has ended.
import { describe, expect, it } from 'vitest';
import {
  type AgentPayer,
  type Kind,
  openAgentPayer,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../../test/kit/agents/agent-payments.ts';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import {
  createExternalAccount,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../../test/kit/app/production.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { createPhoneVerifiedCustomer, logIn } from '../../../../test/kit/sca/strong-customers.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { platforms } from '../../tenancy/platform/store.ts';

const app = testApp();

async function runAccountCommand(verb: string, id: string): Promise<void> {
  const { code, err } = await commandRunner(app)([
    ...['external-accounts', verb, id, '--reason', 'Micro-entries'],
  ]);
  expect([code, err]).toEqual([0, '']);
}

const setLimits = (
  platform: TestPlatform,
  limits: Partial<Pick<PlatformRow, 'hourly_payments' | 'limits'>>,
) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(platforms, platform.id);
    if (row) ctx.update(platforms, row, limits);
  }, platform);

/** Both operations that approve an action. */
const approvalsOf = (
  platform: TestPlatform,
  agentId: string,
  { id, transactionId }: { id: string; transactionId: string },
) => {
  const post = (path: string) => app.call('POST', path, undefined, { platform });
  return {
    approveAction: () => post(`/agents/${agentId}/actions/${id}/approve`),
    approveTransaction: () => post(`/transactions/${transactionId}/approve`),
  };
};

interface Condition {
  kind: Kind;
  begin(agent: AgentPayer, platform: TestPlatform): Promise<unknown>;
  end(agent: AgentPayer, platform: TestPlatform): Promise<unknown>;
}

const VALIDATION: Omit<Condition, 'kind'> = {
  begin: ({ externalAccountId }) => runAccountCommand('check', externalAccountId),
  end: ({ externalAccountId }) => runAccountCommand('clear', externalAccountId),
};

const CONDITIONS: [status: number, code: string, condition: Condition][] = [
  [
    429,
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    {
      kind: 'TRANSFER_OUT',
      begin: (_, platform) => setLimits(platform, { limits: [{ currency: 'USD', perDay: 99_99 }] }),
      end: (_, platform) => setLimits(platform, { limits: [] }),
    },
  ],
  [
    403,
    'VELOCITY_LIMIT_EXCEEDED',
    {
      kind: 'EXECUTE_QUOTE',
      async begin({ usd, externalAccountId }, platform) {
        await setLimits(platform, { hourly_payments: 1 });
        const accounts = {
          source: { accountId: usd },
          destination: { accountId: externalAccountId },
        };
        const body = { ...accounts, amount: 1_00 };
        ok(await app.call('POST', '/transfer-out', body, { platform }), 201);
      },
      end: (_, platform) => setLimits(platform, { hourly_payments: null }),
    },
  ],
  [409, 'BANK_ACCOUNT_VALIDATION_PENDING', { kind: 'TRANSFER_OUT', ...VALIDATION }],
  [409, 'BANK_ACCOUNT_VALIDATION_PENDING', { kind: 'TRANSFER_IN', ...VALIDATION }],
];

describe('approval', () => {
  it.each(CONDITIONS)('is rejected with %i %s', async (status, code, { kind, begin, end }) => {
    const platform = await app.newPlatform(code);
    const agent = await openAgentPayer(app, agentFixture(app, { platform }), REQUIRES_APPROVAL);
    const { id } = await agent.requestAction(kind, 'PENDING_APPROVAL');
    const transactionId = await agent.transactionOf(id);
    await begin(agent, platform);
    const { approveAction, approveTransaction } = approvalsOf(platform, agent.id, {
      id,
      transactionId,
    });
    for (const approve of [approveAction, approveTransaction])
      expect(statusAndCodeOf(await approve())).toEqual([status, code]);
    expect((await agent.readAction(id)).status).toBe('PENDING_APPROVAL');
    await end(agent, platform);
    ok(await approveTransaction(), 200);
    expect((await agent.readAction(id)).status).toBe('APPROVED');
    await app.settle();
  });

  it('is rejected with 409 SCA_SESSION_REQUIRED if the customer is not logged in', async () => {
    const person = await createPhoneVerifiedCustomer(app);
    const account = await findInternalAccount(app, person.id, 'EUR');
    await fundAccount(app, account.id, 100_00);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const agent = await agentFixture(app).connectAgent(person.id, REQUIRES_APPROVAL);
    const body = quoteBody(account.id, target.id, 10_00);
    const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    const { id } = ok(await agent.call('POST', `/agents/me/quotes/${quote.id}/execute`), 200);
    const { transactionId } = quote;
    const { approveAction, approveTransaction } = approvalsOf(app.platform, agent.id, {
      id,
      transactionId,
    });
    for (const approve of [approveAction, approveTransaction])
      expect(statusAndCodeOf(await approve())).toEqual([409, 'SCA_SESSION_REQUIRED']);
    await logIn(app, person.id);
    expect(ok(await approveTransaction(), 200).status).toBe('PENDING_AUTHORIZATION');
  });
});
