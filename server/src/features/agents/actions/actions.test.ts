// Actions of agents over HTTP: every policy rule, execution of each kind of payment, events and
// audit.
import { describe, expect, it } from 'vitest';
import {
  KINDS,
  limitsOf,
  openAgentPayer,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../../test/kit/agents/agent-payments.ts';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import {
  createCustomer,
  createExternalAccount,
  eventTypes,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();
const fixture = agentFixture(app);

const createAgentPayer = (overrides: object = {}, amount?: number) =>
  openAgentPayer(app, fixture, overrides, amount);
const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';

describe('action allowed by the policy', () => {
  it.each(KINDS)('%s is executed immediately, counted and audited', async (kind) => {
    const agent = await createAgentPayer();
    const action = await agent.requestAction(kind, 'APPROVED');
    const { transaction } = action;
    expect(action).toMatchObject({
      agentId: agent.id,
      customerId: agent.customer.id,
      platformCustomerId: agent.customer.platformCustomerId,
    });
    expect(transaction).toMatchObject({ agentId: agent.id, customerId: agent.customer.id });
    const isQuote = kind === 'EXECUTE_QUOTE';
    expect([action.quote?.transactionId, action.transferDetails]).toEqual(
      isQuote
        ? [transaction.id, undefined]
        : [
            undefined,
            {
              amount: 100_00,
              currency: 'USD',
              sourceAccountId: kind === 'TRANSFER_OUT' ? agent.usd : agent.externalAccountId,
              destinationAccountId: kind === 'TRANSFER_OUT' ? agent.externalAccountId : agent.usd,
            },
          ],
    );
    expect(await agent.readUsage()).toMatchObject({
      dailyTransactionCount: 1,
      dailySpend: 100_00,
      monthlySpend: 100_00,
    });
    await app.settle();
    expect((await agent.readTransaction(transaction.id)).status).toBe('COMPLETED');
    expect((await agent.readAction(action.id)).transaction.status).toBe('COMPLETED');
    expect((await readBalances(app, agent.usd)).total).toBe(
      kind === 'TRANSFER_IN' ? 10_100_00 : 9_900_00,
    );
    const auditEntries = (await agent.readAudit()).filter(({ what }) => what !== 'QUOTE_CREATED');
    expect(auditEntries).toMatchObject([
      {
        what: 'ACTION_EXECUTED',
        actor: agent.id,
        action_id: action.id,
        details: { type: kind, accountId: agent.usd, amount: '10000', currency: 'USD' },
      },
    ]);
    expect(await eventTypes(app, action.id)).toEqual([]);
  });

  it('is created once per Idempotency-Key', async () => {
    const agent = await createAgentPayer();
    const key = { 'idempotency-key': 'once' };
    const firstTransfer = ok(await agent.transfer('out', 5_00, key), 201);
    expect(ok(await agent.transfer('out', 5_00, key), 201).id).toBe(firstTransfer.id);
    expect(statusAndCodeOf(await agent.transfer('out', 6_00, key))).toEqual([
      409,
      'DUPLICATE_PAY_REQUEST',
    ]);
    ok(await agent.transfer('in', 5_00, key), 201);
    expect(statusAndCodeOf(await agent.transfer('in', 6_00, key))).toEqual([
      409,
      'DUPLICATE_PAY_REQUEST',
    ]);
    const quote = await agent.createQuote(5_00);
    const result = ok(await agent.execute(quote.id, key), 200);
    expect(ok(await agent.execute(quote.id, key), 200).id).toBe(result.id);
    expect(statusAndCodeOf(await agent.execute(quote.id))).toEqual([409, 'CONFLICT']);
    expect((await agent.readUsage()).dailyTransactionCount).toBe(3);
  });

  describe('agentCreateTransferOut', () => {
    it('restores the amount of a failed payment and keeps the count', async () => {
      const agent = await createAgentPayer();
      const unavailableAccount = await createExternalAccount(app, agent.customer.id, 'USD', '003');
      const accounts = {
        source: { accountId: agent.usd },
        destination: { accountId: unavailableAccount.id },
      };
      ok(await agent.call('POST', '/agents/me/transfer-out', { ...accounts, amount: 70_00 }), 201);
      expect((await agent.readUsage()).dailySpend).toBe(70_00);
      await app.settle();
      expect(await agent.readUsage()).toMatchObject({ dailyTransactionCount: 1, dailySpend: 0 });
    });
  });

  describe('agentCreateTransferIn', () => {
    it('restores the amount of a failed debit, before and after it was credited', async () => {
      for (const suffix of ['003', '005']) {
        const agent = await createAgentPayer();
        const source = await createExternalAccount(app, agent.customer.id, 'USD', suffix);
        const accounts = {
          source: { accountId: source.id },
          destination: { accountId: agent.usd },
        };
        const body = { ...accounts, amount: 70_00 };
        const action = ok(await agent.call('POST', '/agents/me/transfer-in', body), 201);
        expect((await agent.readUsage()).dailySpend).toBe(70_00);
        await app.advance(60_000);
        expect((await agent.readAction(action.id)).transaction.status).toBe('FAILED');
        expect(await agent.readUsage()).toMatchObject({ dailyTransactionCount: 1, dailySpend: 0 });
      }
    });
  });

  it('is rejected without sufficient funds', async () => {
    const agent = await createAgentPayer({}, 50_00);
    expect(statusAndCodeOf(await agent.transfer('out', 60_00))).toEqual([
      400,
      'INSUFFICIENT_FUNDS',
    ]);
    const quote = await agent.createQuote(60_00);
    expect(statusAndCodeOf(await agent.execute(quote.id))).toEqual([400, 'INSUFFICIENT_FUNDS']);
    expect((await agent.readUsage()).dailyTransactionCount).toBe(0);
  });
});

describe('policy rule', () => {
  /** [rule, policy, number of preceding payments, part of the reason] */
  const rules: [string, object, number, RegExp][] = [
    ['PERMISSION', { permissions: ['CREATE_QUOTES'] }, 0, /CREATE_TRANSFERS/],
    ['PER_TRANSACTION_LIMIT', limitsOf({ perTransactionLimit: 99_99 }), 0, /perTransactionLimit/],
    ['DAILY_TRANSACTION_LIMIT', limitsOf({ dailyTransactionLimit: 1 }), 1, /dailyTransactionLimit/],
    ['DAILY_LIMIT', limitsOf({ dailyLimit: 100_99 }), 1, /dailyLimit/],
    ['MONTHLY_LIMIT', limitsOf({ monthlyLimit: 100_99 }), 1, /monthlyLimit/],
    [
      'ACCOUNT',
      { accountRestrictions: { allowedAccountIds: [] } },
      0,
      /does not allow this account/,
    ],
    // A payment above a limit is rejected without an approval request.
    ['DAILY_LIMIT', { ...REQUIRES_APPROVAL, ...limitsOf({ dailyLimit: 99_99 }) }, 0, /dailyLimit/],
  ];

  it.each(rules)(
    '%s rejects the action and is audited',
    async (rule, policy, precedingCount, reason) => {
      const agent = await createAgentPayer(policy);
      for (let index = 0; index < precedingCount; index++)
        ok(await agent.transfer('out', 1_00), 201);
      const response = await agent.transfer('out', 100_00);
      expect(statusAndCodeOf(response)).toEqual([403, 'FORBIDDEN']);
      expect(response.body.reason).toMatch(reason);
      const lastEntry = (await agent.readAudit()).at(-1);
      expect(lastEntry).toMatchObject({
        what: 'ACTION_REFUSED',
        actor: agent.id,
        details: { rule, type: 'TRANSFER_OUT' },
      });
      expect((await agent.readUsage()).dailyTransactionCount).toBe(precedingCount);
      const { data } = ok(await agent.call('GET', '/agents/me/actions'), 200);
      expect(data).toHaveLength(precedingCount);
    },
  );

  it('applies to every kind of payment, before resources are read', async () => {
    const agent = await createAgentPayer(limitsOf({ perTransactionLimit: 10_00 }));
    for (const kind of KINDS)
      expect(statusAndCodeOf(await agent.requestPayment(kind))).toEqual([403, 'FORBIDDEN']);
    const quote = await agent.createQuote(1_00);
    await agent.changePolicy({ permissions: ['CREATE_QUOTES'] });
    const response = await agent.execute(quote.id);
    expect([statusAndCodeOf(response), response.body.reason]).toEqual([
      [403, 'FORBIDDEN'],
      expect.stringContaining('EXECUTE_QUOTES'),
    ]);
    await agent.pauseAgent();
    const pausedResponse = await agent.execute(quote.id);
    expect([statusAndCodeOf(pausedResponse), pausedResponse.body.reason]).toEqual([
      [403, 'FORBIDDEN'],
      'The agent is paused.',
    ]);
    // The policy is evaluated before resources are read, so the reply is the same for unknown ones.
    expect(statusAndCodeOf(await agent.execute(`Quote:${UNKNOWN_ID}`))).toEqual([403, 'FORBIDDEN']);
    ok(await agent.call('GET', '/agents/me/actions'), 200);
  });

  it('of an account overrides the general rule', async () => {
    const agent = await createAgentPayer(limitsOf({ perTransactionLimit: 10_00 }));
    const rule = { accountId: agent.usd, perTransactionLimit: 200_00 };
    await agent.changePolicy({ accountRestrictions: { accountRules: [rule] } });
    await agent.requestAction('TRANSFER_OUT', 'APPROVED');
    const approvalRule = { ...rule, executionMode: 'APPROVAL_REQUIRED' };
    await agent.changePolicy({ accountRestrictions: { accountRules: [approvalRule] } });
    for (const kind of KINDS) await agent.requestAction(kind, 'PENDING_APPROVAL');
  });

  it('requires approval above the threshold, in the currency of the threshold', async () => {
    const agent = await createAgentPayer({
      approvalThresholds: { currency: 'USD', amount: 100_00 },
    });
    await agent.requestAction('TRANSFER_OUT', 'APPROVED', 100_00);
    await agent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL', 100_01);
    await agent.changePolicy({ approvalThresholds: { currency: 'EUR', amount: 100_00 } });
    // 100 EUR are more than 100 USD and less than 200 USD.
    await agent.requestAction('TRANSFER_OUT', 'APPROVED', 100_01);
    await agent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL', 200_00);
    const submittedEntries = (await agent.readAudit()).filter(
      ({ what }) => what === 'ACTION_SUBMITTED',
    );
    expect(submittedEntries.map(({ details }) => details.rule)).toEqual([
      'APPROVAL_THRESHOLD',
      'APPROVAL_THRESHOLD',
    ]);
  });

  it('excludes an account as destination, including through a UMA address', async () => {
    const agent = await createAgentPayer();
    const eurQuote = await agent.createQuote(1_00, agent.eur);
    const { umaAddress } = agent.customer;
    const path = `/receiver/uma/${encodeURIComponent(umaAddress)}`;
    const { lookupId } = ok(await app.call('GET', path), 200);
    const destination = { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'EUR' };
    const body = { ...quoteBody(agent.usd, '', 1_00), destination, lookupId };
    const umaQuote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    await agent.changePolicy({ accountRestrictions: { allowedAccountIds: [agent.usd] } });
    for (const { id } of [eurQuote, umaQuote]) {
      expect(statusAndCodeOf(await agent.execute(id))).toEqual([403, 'FORBIDDEN']);
    }
    expect((await agent.readAudit()).at(-1)?.details).toMatchObject({ rule: 'ACCOUNT' });
    await agent.changePolicy({
      accountRestrictions: { allowedAccountIds: [agent.usd, agent.eur] },
    });
    for (const { id } of [eurQuote, umaQuote]) ok(await agent.execute(id), 200);
  });

  it('prevents payments between external accounts for a restricted agent', async () => {
    const agent = await createAgentPayer();
    const otherExternalAccount = await createExternalAccount(app, agent.customer.id, 'USD');
    await agent.changePolicy({ accountRestrictions: { allowedAccountIds: [agent.usd] } });
    const externalQuote = await agent.createQuote(
      10_00,
      otherExternalAccount.id,
      agent.externalAccountId,
    );
    expect(statusAndCodeOf(await agent.execute(externalQuote.id))).toEqual([403, 'FORBIDDEN']);
    const debitQuote = await agent.createQuote(10_00, agent.usd, agent.externalAccountId);
    expect(ok(await agent.execute(debitQuote.id), 200).status).toBe('APPROVED');
    await agent.changePolicy({ accountRestrictions: { allowedAccountIds: null } });
    expect(ok(await agent.execute(externalQuote.id), 200).status).toBe('APPROVED');
  });
});

describe('agentGetAction', () => {
  it('returns an action of the calling agent only', async () => {
    const agent = await createAgentPayer(REQUIRES_APPROVAL);
    const otherAgent = await createAgentPayer(REQUIRES_APPROVAL);
    const readAction = (id: string) => agent.call('GET', `/agents/me/actions/${id}`);
    const action = await agent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL');
    expect(ok(await readAction(action.id), 200)).toEqual(action);
    const otherAction = await otherAgent.requestAction('TRANSFER_OUT', 'PENDING_APPROVAL');
    for (const id of [otherAction.id, `AgentAction:${UNKNOWN_ID}`, 'x']) {
      expect(statusAndCodeOf(await readAction(id))).toEqual([404, 'NOT_FOUND']);
    }
  });
});

describe('operations of an agent', () => {
  describe('on resources of other customers', () => {
    it('return the code of an unknown quote or account', async () => {
      const [agent, otherAgent] = [
        await createAgentPayer(),
        await createAgentPayer(REQUIRES_APPROVAL),
      ];
      const body = quoteBody(agent.usd, agent.externalAccountId, 10_00);
      const platformQuoteId = ok(await app.call('POST', '/quotes', body), 201).id;
      const otherQuoteId = (await otherAgent.createQuote(10_00)).id;
      for (const id of [platformQuoteId, otherQuoteId, `Quote:${UNKNOWN_ID}`, 'x']) {
        expect(statusAndCodeOf(await agent.execute(id))).toEqual([404, 'QUOTE_NOT_FOUND']);
      }
      const requestTransfer = (method: string, source: string, destination: string) =>
        agent.call('POST', `/agents/me/transfer-${method}`, {
          source: { accountId: source },
          destination: { accountId: destination },
          amount: 1_00,
        });
      const platformExternalAccount = await createExternalAccount(app, null, 'USD');
      for (const [method, from, to] of [
        ['out', otherAgent.usd, agent.externalAccountId],
        ['out', agent.usd, otherAgent.externalAccountId],
        ['out', agent.usd, platformExternalAccount.id],
        ['in', otherAgent.externalAccountId, agent.usd],
        ['in', agent.externalAccountId, otherAgent.usd],
        ['in', 'x', agent.usd],
      ] as const) {
        expect(statusAndCodeOf(await requestTransfer(method, from, to))).toEqual([
          404,
          'ACCOUNT_NOT_FOUND',
        ]);
      }
      expect(
        statusAndCodeOf(
          await requestTransfer('out', agent.externalAccountId, agent.externalAccountId),
        ),
      ).toEqual([400, 'INVALID_INPUT']);
      expect(
        statusAndCodeOf(
          await requestTransfer('in', agent.externalAccountId, agent.externalAccountId),
        ),
      ).toEqual([400, 'INVALID_INPUT']);
      expect(
        statusAndCodeOf(await requestTransfer('out', agent.eur, agent.externalAccountId)),
      ).toEqual([400, 'INVALID_CURRENCY']);
    });
  });

  it('return NOT_IMPLEMENTED for a rail that is not connected', async () => {
    const platform = app.production;
    const person = await createCustomer(app, { platform });
    const approvedSql =
      "update customers set status = 'APPROVED', version = version + 1 where id = $1";
    await app.runtime.db.query(approvedSql, [person.id]);
    const bitcoinAccount = await findInternalAccount(app, person.id, 'BTC', { platform });
    const accountInfo = { accountType: 'LIGHTNING', lightningAddress: 'ada@example.com' };
    const body = { customerId: person.id, currency: 'BTC', accountInfo };
    const bitcoinWallet = ok(
      await app.call('POST', '/customers/external-accounts', body, { platform }),
      201,
    );
    const agent = await agentFixture(app, { platform }).connectAgent(person.id, {
      spendingLimits: { currency: 'BTC', perTransactionLimit: 1_000_000 },
    });
    const rejectedResponse = await agent.call('POST', '/agents/me/transfer-out', {
      source: { accountId: bitcoinAccount.id },
      destination: { accountId: bitcoinWallet.id },
      amount: 1_000,
    });
    expect(statusAndCodeOf(rejectedResponse)).toEqual([501, 'NOT_IMPLEMENTED']);
  });

  describe('agentExecuteQuote', () => {
    it('returns GONE if the receiver was deleted after the quote', async () => {
      const agent = await createAgentPayer();
      const deletedCustomer = await createCustomer(app);
      const path = `/receiver/uma/${encodeURIComponent(deletedCustomer.umaAddress)}`;
      const { lookupId } = ok(
        await app.call('GET', `${path}?customerId=${agent.customer.id}`),
        200,
      );
      const destination = {
        destinationType: 'UMA_ADDRESS',
        umaAddress: deletedCustomer.umaAddress,
      };
      const body = { ...quoteBody(agent.usd, '', 1_00), destination, lookupId };
      const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
      ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
      expect((await agent.execute(quote.id)).status).toBe(410);
    });
  });

  describe('agentListActions', () => {
    it('lists the actions of the calling agent by status, newest first, in pages', async () => {
      const agent = await createAgentPayer();
      const firstAction = await agent.requestAction('TRANSFER_OUT', 'APPROVED', 1_00);
      app.effects.set(app.effects.now() + 1_000);
      await agent.changePolicy(REQUIRES_APPROVAL);
      const secondAction = await agent.requestAction('TRANSFER_IN', 'PENDING_APPROVAL', 1_00);
      const list = async (query: string) =>
        ok(await agent.call('GET', `/agents/me/actions${query}`), 200);
      const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
      expect(idsOf(await list(''))).toEqual([secondAction.id, firstAction.id]);
      expect(idsOf(await list('?status=PENDING_APPROVAL'))).toEqual([secondAction.id]);
      expect(idsOf(await list('?status=REJECTED'))).toEqual([]);
      const page = await list('?limit=1');
      expect([idsOf(page), page.hasMore, page.totalCount]).toEqual([[secondAction.id], true, 2]);
      expect(idsOf(await list(`?limit=1&cursor=${page.nextCursor}`))).toEqual([firstAction.id]);
      const invalidResponse = await agent.call('GET', '/agents/me/actions?status=NEW');
      expect(statusAndCodeOf(invalidResponse)).toEqual([400, 'INVALID_INPUT']);
    });
  });
});
