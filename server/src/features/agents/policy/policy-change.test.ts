// Merging and validation of policy changes, and usage after a change of currency.
import { describe, expect, it } from 'vitest';
import { agentFixture, policyBody } from '../../../../test/kit/agents/agents.ts';
import { createCustomer, createExternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { presentAgent } from '../present.ts';
import { type AgentRow, agents } from '../store.ts';

type Json = Record<string, unknown>;

const app = testApp();
const fixture = agentFixture(app);

const fieldsOf = (body: { details: { errors: { field: string }[] } }) =>
  body.details.errors.map((each) => each.field).sort();

describe('updateAgentPolicy', () => {
  const LIMITS = { currency: 'USD', perTransactionLimit: 10, dailyLimit: 20, monthlyLimit: 30 };

  async function changePolicy(policyBefore: Json, body: Json) {
    const { agent } = await fixture.createUnconnectedAgent(
      (await fixture.createFundedCustomer()).customer.id,
      policyBefore,
    );
    return ok(await fixture.callAsPlatform('PATCH', `/agents/${agent.id}/policy`, body), 200)
      .policy;
  }

  it.each<[string, Json, Json]>([
    ['keeps absent fields', {}, {}],
    [
      'replaces the permissions',
      { permissions: ['CREATE_QUOTES', 'CREATE_QUOTES'] },
      {
        permissions: ['CREATE_QUOTES'],
      },
    ],
    ['removes all permissions', { permissions: [] }, { permissions: [] }],
    [
      'changes the mode',
      { defaultExecutionMode: 'APPROVAL_REQUIRED' },
      {
        defaultExecutionMode: 'APPROVAL_REQUIRED',
      },
    ],
    [
      'merges limits, and null removes a limit',
      {
        spendingLimits: { perTransactionLimit: 11, dailyLimit: null, dailyTransactionLimit: 2 },
      },
      {
        spendingLimits: {
          ...LIMITS,
          perTransactionLimit: 11,
          dailyLimit: null,
          dailyTransactionLimit: 2,
        },
      },
    ],
    [
      'keeps the amounts if only the currency changes',
      { spendingLimits: { currency: 'EUR' } },
      {
        spendingLimits: { ...LIMITS, currency: 'EUR' },
      },
    ],
    [
      'merges thresholds',
      { approvalThresholds: { amount: 9 } },
      {
        approvalThresholds: { currency: 'USD', amount: 9 },
      },
    ],
    [
      'removes the threshold',
      { approvalThresholds: { amount: null } },
      {
        approvalThresholds: { currency: 'USD', amount: null },
      },
    ],
  ])('%s', async (_, body, expectedFields) => {
    const policyBefore = policyBody({
      spendingLimits: LIMITS,
      approvalThresholds: { currency: 'USD', amount: 8 },
    });
    expect(await changePolicy(policyBefore, body)).toEqual({ ...policyBefore, ...expectedFields });
  });

  it('merges restrictions by field and replaces lists', async () => {
    const { customer: person, usd, eur } = await fixture.createFundedCustomer();
    const { agent } = await fixture.createUnconnectedAgent(person.id);
    const change = async (accountRestrictions: Json) => {
      const path = `/agents/${agent.id}/policy`;
      const { body } = await fixture.callAsPlatform('PATCH', path, { accountRestrictions });
      return body.policy.accountRestrictions;
    };
    const rules = [{ accountId: usd, perTransactionLimit: 5 }];
    expect(await change({ accountRules: rules })).toEqual({ accountRules: rules });
    const accountFields = { allowedAccountIds: [usd, eur], accountRules: rules };
    expect(await change({ allowedAccountIds: [usd, eur] })).toEqual(accountFields);
    const otherRules = [{ accountId: eur, executionMode: 'AUTO' }];
    expect(await change({ accountRules: otherRules })).toEqual({
      ...accountFields,
      accountRules: otherRules,
    });
    expect(await change({ allowedAccountIds: null })).toEqual({
      allowedAccountIds: null,
      accountRules: otherRules,
    });
    expect(await change({ accountRules: [] })).toEqual({
      allowedAccountIds: null,
      accountRules: [],
    });
  });

  it('reports all invalid fields', async () => {
    const { agent } = await fixture.createUnconnectedAgent((await createCustomer(app)).id);
    const invalidBody = {
      spendingLimits: { currency: 'XXX', dailyTransactionLimit: -1 },
      accountRestrictions: { allowedAccountIds: ['x'] },
      approvalThresholds: { amount: 5 },
    };
    const { status, body } = await fixture.callAsPlatform(
      'PATCH',
      `/agents/${agent.id}/policy`,
      invalidBody,
    );
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(body)).toEqual([
      'accountRestrictions.allowedAccountIds.0',
      'approvalThresholds.currency',
      'spendingLimits.currency',
      'spendingLimits.dailyTransactionLimit',
    ]);
    expect((await fixture.callAsPlatform('GET', `/agents/${agent.id}`)).body.policy).toEqual(
      agent.policy,
    );
  });

  it('keeps former currencies while spending in them counts', async () => {
    const { agent } = await fixture.createUnconnectedAgent((await createCustomer(app)).id);
    const changeCurrencyAt = async (currency: string, time: string) => {
      app.effects.set(Date.parse(time));
      const path = `/agents/${agent.id}/policy`;
      ok(await fixture.callAsPlatform('PATCH', path, { spendingLimits: { currency } }), 200);
      const [row] = await app.runtime.db.find(agents, { id: agent.id });
      return row?.former_currencies.map((each) => `${each.currency} ${each.until.slice(0, 10)}`);
    };
    expect(await changeCurrencyAt('USD', '2027-03-01')).toEqual([]);
    expect(await changeCurrencyAt('EUR', '2027-03-02')).toEqual(['USD 2027-03-02']);
    expect(await changeCurrencyAt('GBP', '2027-03-03')).toEqual([
      'USD 2027-03-02',
      'EUR 2027-03-03',
    ]);
    expect(await changeCurrencyAt('USD', '2027-03-31')).toEqual([
      'EUR 2027-03-03',
      'GBP 2027-03-31',
    ]);
    expect(await changeCurrencyAt('EUR', '2027-04-01')).toEqual(['USD 2027-04-01']);
  });

  it('shows usage in a former currency at the current rate, and omits it without a rate', async () => {
    const { customer: person, usd, ...agent } = await fixture.createAgent();
    const payee = await createExternalAccount(app, person.id, 'USD');
    const source = { accountId: usd };
    const transfer = { source, destination: { accountId: payee.id }, amount: 100_00 };
    ok(await agent.call('POST', '/agents/me/transfer-out', transfer), 201);
    const path = `/agents/${agent.id}/policy`;
    const change = { spendingLimits: { currency: 'EUR' } };
    const { usage } = ok(await fixture.callAsPlatform('PATCH', path, change), 200);
    expect(usage.dailyTransactionCount).toBe(1);
    expect(usage.dailySpend).toBe(usage.monthlySpend);
    expect(usage.dailySpend).toBeGreaterThan(50_00);
    expect(usage.dailySpend).toBeLessThan(100_00);
    const depsWithoutRates = { connectors: () => ({}) };
    const view = await app.operate(async (ctx) =>
      presentAgent(ctx, depsWithoutRates, (await ctx.read(agents, agent.id)) as AgentRow),
    );
    expect(view.usage).toMatchObject({ dailyTransactionCount: 1, dailySpend: 0 });
  });
});
