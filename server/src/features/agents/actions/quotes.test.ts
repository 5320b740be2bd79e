// Quotes of agents: created by the platform's operation, for the customer of the agent only,
// between accounts that the policy allows.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentFixture, type FundedAgent } from '../../../../test/kit/agents/agents.ts';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { authorize, createScaPayer } from '../../../../test/kit/sca/strong-customers.ts';

const app = testApp();
let fixture: ReturnType<typeof agentFixture>;
let agent: FundedAgent;
/** Another customer of the same platform, and one of another platform. */
let otherHolder: Awaited<ReturnType<typeof fixture.createFundedCustomer>>;
let foreignCustomer: Awaited<ReturnType<typeof fixture.createFundedCustomer>>;
/** A payee account of the agent's customer. */
let payeeAccountId: string;

beforeAll(async () => {
  fixture = agentFixture(app);
  otherHolder = await fixture.createFundedCustomer();
  foreignCustomer = await agentFixture(app, { platform: app.other }).createFundedCustomer();
});
beforeEach(async () => {
  agent = await fixture.createAgent();
  payeeAccountId = (await createExternalAccount(app, agent.customer.id, 'EUR')).id;
});

const QUOTES_PATH = '/agents/me/quotes';
const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const requestQuote = (body: object, headers?: Record<string, string>) =>
  agent.call('POST', QUOTES_PATH, body, headers ? { headers } : {});
const createQuote = async (overrides: object = {}) =>
  ok(await requestQuote(quoteBody(agent.usd, payeeAccountId, 100_00, overrides)), 201);
const fieldsOf = ({ body }: ApiResponse) =>
  body.details.errors.map(({ field }: { field: string }) => field).sort();
const accountSource = (accountId: string, overrides: object = {}) => ({
  source: { sourceType: 'ACCOUNT', accountId, ...overrides },
});
const realtimeSource = (overrides: object = {}) => ({
  source: { sourceType: 'REALTIME_FUNDING', currency: 'USD', ...overrides },
});
const restrictPolicy = (policy: object) =>
  fixture.callAsPlatform('PATCH', `/agents/${agent.id}/policy`, policy);
const allow = (...allowedAccountIds: string[]) =>
  restrictPolicy({ accountRestrictions: { allowedAccountIds } });
const readAudit = () =>
  app.runtime.db.query<{ what: string; actor: string; details: object }>(
    'select what, actor, details from agent_audit where agent_id = $1 order by created_at, id',
    [agent.id],
  );

describe('agentCreateQuote', () => {
  describe('a quote of an agent', () => {
    it('equals the resource of the platform API, with the agent ID', async () => {
      const quote = await createQuote({ description: 'Rent' });
      expect(quote).toMatchObject({
        status: 'PENDING',
        source: { accountId: agent.usd },
        destination: { accountId: payeeAccountId },
        totalSendingAmount: 100_00,
        description: 'Rent',
      });
      expect(ok(await agent.call('GET', `${QUOTES_PATH}/${quote.id}`), 200)).toEqual(quote);
      expect(ok(await app.call('GET', `/quotes/${quote.id}`), 200)).toEqual(quote);
      const payment = ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200);
      expect(payment).toMatchObject({ agentId: agent.id, customerId: agent.customer.id });
      const [row] = await app.runtime.db.query('select agent_id from quotes where id = $1', [
        quote.id,
      ]);
      expect(row?.agent_id).toBe(agent.id);
      const auditEntries = (await readAudit()).filter(({ what }) => what === 'QUOTE_CREATED');
      expect(auditEntries).toEqual([
        { what: 'QUOTE_CREATED', actor: agent.id, details: { quoteId: quote.id } },
      ]);
    });

    it('has the same price as a quote of the platform', async () => {
      const body = quoteBody(agent.usd, payeeAccountId, 100_00);
      const otherQuote = ok(await app.call('POST', '/quotes', body), 201);
      const { totalReceivingAmount, feesIncluded, exchangeRate } = ok(
        await requestQuote(body),
        201,
      );
      expect({ totalReceivingAmount, feesIncluded, exchangeRate }).toEqual({
        totalReceivingAmount: otherQuote.totalReceivingAmount,
        feesIncluded: otherQuote.feesIncluded,
        exchangeRate: otherQuote.exchangeRate,
      });
    });

    it('can be funded by a debit of an external account', async () => {
      const debitedAccount = await createExternalAccount(app, agent.customer.id, 'USD');
      const quote = ok(await requestQuote(quoteBody(debitedAccount.id, agent.usd, 10_00)), 201);
      expect(quote.source.accountId).toBe(debitedAccount.id);
    });

    it('belongs to the customer of the agent if it is funded by a pay-in', async () => {
      for (const request of [{}, { customerId: agent.customer.id }]) {
        const quote = ok(
          await requestQuote({
            ...quoteBody('', payeeAccountId, 100_00),
            ...realtimeSource(request),
          }),
          201,
        );
        expect(quote.source).toEqual({ ...realtimeSource().source, customerId: agent.customer.id });
        expect(quote.paymentInstructions).toHaveLength(1);
        const { customerId } = ok(
          await app.call('GET', `/transactions/${quote.transactionId}`),
          200,
        );
        expect(customerId).toBe(agent.customer.id);
      }
    });

    it('is created once per Idempotency-Key of an agent', async () => {
      const otherAgent = await fixture.connectAgent(agent.customer.id);
      const headers = { 'idempotency-key': 'one' };
      const body = quoteBody(agent.usd, payeeAccountId, 100_00);
      const firstQuote = ok(await requestQuote(body, headers), 201);
      const secondResponse = await requestQuote(body, headers);
      expect([secondResponse.status, secondResponse.body]).toEqual([201, firstQuote]);
      const changedBody = { ...body, lockedCurrencyAmount: 90_00 };
      expect(codeOf(await requestQuote(changedBody, headers))).toEqual([
        409,
        'DUPLICATE_PAY_REQUEST',
      ]);
      const otherAgentQuote = ok(
        await otherAgent.call('POST', QUOTES_PATH, changedBody, { headers }),
        201,
      );
      expect(otherAgentQuote.id).not.toBe(firstQuote.id);
      const otherQuote = ok(await app.call('POST', '/quotes', body, { headers }), 201);
      expect(otherQuote.id).not.toBe(firstQuote.id);
    });
  });

  describe('a request of an agent for a quote', () => {
    it('reports immediate execution, fees and every other invalid field', async () => {
      const platformFeeOverride = {
        platformFixedFee: { amount: 0, currency: 'USD' },
        platformVariableFeeBps: 0,
      };
      const invalidFields = {
        immediatelyExecute: true,
        platformFeeOverride,
        lockedCurrencySide: 'NONE',
      };
      const rejectedResponse = await requestQuote(
        quoteBody(agent.usd, payeeAccountId, 100_00, invalidFields),
      );
      expect(codeOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT']);
      expect(fieldsOf(rejectedResponse)).toEqual(
        expect.arrayContaining(['immediatelyExecute', 'lockedCurrencySide', 'platformFeeOverride']),
      );
      for (const [name, value] of Object.entries({
        immediatelyExecute: true,
        platformFeeOverride,
      })) {
        const response = await requestQuote(
          quoteBody(agent.usd, payeeAccountId, 100_00, { [name]: value }),
        );
        expect([response.status, fieldsOf(response)]).toEqual([400, [name]]);
      }
      expect((await createQuote({ immediatelyExecute: false })).status).toBe('PENDING');
    });

    it('cannot use accounts of other customers', async () => {
      const platformAccount = (await findInternalAccount(app, null, 'USD')).id;
      const otherExternalAccountId = (
        await createExternalAccount(app, otherHolder.customer.id, 'USD')
      ).id;
      const platform = app.other;
      const foreignAccountId = (
        await createExternalAccount(app, foreignCustomer.customer.id, 'USD', '000', {
          platform,
        })
      ).id;
      const foreignIds = [
        otherHolder.usd,
        platformAccount,
        foreignCustomer.usd,
        otherExternalAccountId,
        foreignAccountId,
        'nothing',
      ];
      const unknownResponse = await requestQuote(
        quoteBody(`InternalAccount:${UNKNOWN_ID}`, payeeAccountId, 1_00),
      );
      expect(codeOf(unknownResponse)).toEqual([404, 'ACCOUNT_NOT_FOUND']);
      for (const id of [...foreignIds, `ExternalAccount:${UNKNOWN_ID}`]) {
        const sourceResponse = await requestQuote(quoteBody(id, payeeAccountId, 1_00));
        const destinationResponse = await requestQuote(quoteBody(agent.usd, id, 1_00));
        expect([id, sourceResponse.body, destinationResponse.body]).toEqual([
          id,
          unknownResponse.body,
          unknownResponse.body,
        ]);
      }
      // An account in addition to a source of another type is rejected as well.
      const bodyWithTwoSources = {
        ...quoteBody('', payeeAccountId, 1_00),
        ...realtimeSource({ accountId: otherHolder.usd }),
      };
      expect(fieldsOf(await requestQuote(bodyWithTwoSources))).toEqual(['source.accountId']);
    });

    it('cannot pay on behalf of another customer', async () => {
      const validQuoteBody = quoteBody(agent.usd, payeeAccountId, 1_00);
      for (const { customer: otherCustomer } of [otherHolder, foreignCustomer]) {
        const { id: customerId } = otherCustomer;
        for (const source of [
          accountSource(agent.usd, { customerId }),
          realtimeSource({ customerId }),
        ]) {
          expect(codeOf(await requestQuote({ ...validQuoteBody, ...source }))).toEqual([
            404,
            'CUSTOMER_NOT_FOUND',
          ]);
        }
      }
      const { id: customerId } = agent.customer;
      ok(
        await requestQuote({ ...validQuoteBody, ...accountSource(agent.usd, { customerId }) }),
        201,
      );
    });

    it('cannot use accounts that the policy excludes as source or destination', async () => {
      ok(await allow(agent.eur), 200);
      const rejectedResponse = await requestQuote(quoteBody(agent.usd, payeeAccountId, 1_00));
      expect(codeOf(rejectedResponse)).toEqual([403, 'FORBIDDEN']);
      expect(rejectedResponse.body.reason).toContain('account');
      expect(codeOf(await requestQuote(quoteBody(agent.eur, agent.usd, 1_00)))).toEqual([
        403,
        'FORBIDDEN',
      ]);
      ok(await requestQuote(quoteBody(agent.eur, payeeAccountId, 1_00)), 201);
      // The error does not disclose whether the account of another customer exists.
      expect((await requestQuote(quoteBody(otherHolder.usd, payeeAccountId, 1_00))).status).toBe(
        404,
      );
      const auditEntries = (await readAudit()).filter(({ what }) => what === 'ACTION_REFUSED');
      expect(auditEntries.map(({ details }) => details)).toEqual(
        Array(2).fill({ operationId: 'agentCreateQuote', rule: 'ACCOUNT' }),
      );
      ok(await allow(agent.eur, agent.usd), 200);
      ok(await requestQuote(quoteBody(agent.eur, agent.usd, 1_00)), 201);
    });

    it('is rejected without permission or while the agent is paused', async () => {
      const quote = await createQuote();
      ok(await restrictPolicy({ permissions: ['EXECUTE_QUOTES'] }), 200);
      const forbiddenResponse = await requestQuote(quoteBody(agent.usd, payeeAccountId, 1_00));
      expect(codeOf(forbiddenResponse)).toEqual([403, 'FORBIDDEN']);
      expect(forbiddenResponse.body.reason).toContain('CREATE_QUOTES');
      ok(await restrictPolicy({ permissions: ['CREATE_QUOTES'] }), 200);
      ok(await fixture.callAsPlatform('PATCH', `/agents/${agent.id}`, { isPaused: true }), 200);
      const pausedResponse = await requestQuote(quoteBody(agent.usd, payeeAccountId, 1_00));
      expect([...codeOf(pausedResponse), pausedResponse.body.reason]).toEqual([
        403,
        'FORBIDDEN',
        'The agent is paused.',
      ]);
      expect(ok(await agent.call('GET', `${QUOTES_PATH}/${quote.id}`), 200)).toEqual(quote);
      const auditEntries = (await readAudit()).filter(({ what }) => what === 'ACTION_REFUSED');
      expect(auditEntries).toHaveLength(2);
    });
  });
});

describe('agentGetQuote', () => {
  it('returns a quote to its agent only', async () => {
    const quote = await createQuote();
    const otherAgent = await fixture.connectAgent(agent.customer.id);
    const platformQuote = ok(
      await app.call('POST', '/quotes', quoteBody(agent.usd, payeeAccountId, 1_00)),
      201,
    );
    const unknownResponse = await agent.call('GET', `${QUOTES_PATH}/Quote:${UNKNOWN_ID}`);
    expect(codeOf(unknownResponse)).toEqual([404, 'QUOTE_NOT_FOUND']);
    for (const response of [
      await otherAgent.call('GET', `${QUOTES_PATH}/${quote.id}`),
      await agent.call('GET', `${QUOTES_PATH}/${platformQuote.id}`),
      await agent.call('GET', `${QUOTES_PATH}/nothing`),
    ]) {
      expect(response.body).toEqual(unknownResponse.body);
    }
  });
});

describe('agentCreateQuote to a UMA address', () => {
  const HOST = 'sandbox.uma.money';
  const SENDER_INFO = { FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1990-01-15', NATIONALITY: 'US' };

  /** A quote request to an address, after a payee discovery of the platform for a customer. */
  async function createUmaRequest(
    umaAddress: string,
    customerId = agent.customer.id,
    overrides: object = {},
  ) {
    const path = `/receiver/uma/${encodeURIComponent(umaAddress)}?customerId=${customerId}`;
    const { lookupId } = ok(await app.call('GET', path), 200);
    return {
      ...quoteBody(agent.usd, '', 100_00),
      destination: { destinationType: 'UMA_ADDRESS', umaAddress },
      lookupId,
      senderCustomerInfo: SENDER_INFO,
      ...overrides,
    };
  }

  it('accepts a payee discovery of the platform', async () => {
    const address = `$success.eur@${HOST}`;
    const quote = ok(await requestQuote(await createUmaRequest(address)), 201);
    expect(quote.destination).toMatchObject({ umaAddress: address });
  });

  it('rejects a payee discovery of another customer', async () => {
    const otherCustomer = await createCustomer(app);
    for (const address of [`$success.eur@${HOST}`, otherCustomer.umaAddress]) {
      const rejectedResponse = await requestQuote(
        await createUmaRequest(address, otherHolder.customer.id),
      );
      const unknownDiscovery = await requestQuote(
        await createUmaRequest(address, undefined, { lookupId: `Lookup:${UNKNOWN_ID}` }),
      );
      expect(codeOf(rejectedResponse)).toEqual([404, 'LOOKUP_REQUEST_NOT_FOUND']);
      expect(rejectedResponse.body).toEqual(unknownDiscovery.body);
    }
  });

  it.each<[string, number, string]>([
    ['payment.unsupported-uma-version', 412, 'UNSUPPORTED_UMA_VERSION'],
    ['payreq-request-failed', 424, 'PAYREQ_REQUEST_FAILED'],
  ])('returns the error of the counterparty: %s', async (name, status, code) => {
    expect(codeOf(await requestQuote(await createUmaRequest(`$error.${name}@${HOST}`)))).toEqual([
      status,
      code,
    ]);
    expect((await readAudit()).map(({ what }) => what)).not.toContain('QUOTE_CREATED');
  });

  it('rejects a receiver who was deleted after the discovery', async () => {
    const deletedCustomer = await createCustomer(app);
    const body = await createUmaRequest(deletedCustomer.umaAddress);
    ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
    expect(codeOf(await requestQuote(body))).toEqual([410, 'CUSTOMER_DELETED']);
  });

  it('rejects customers of another platform', async () => {
    const { umaAddress } = foreignCustomer.customer;
    expect(codeOf(await requestQuote(await createUmaRequest(umaAddress)))).toEqual([
      501,
      'NOT_IMPLEMENTED',
    ]);
  });
});

describe('a quote of an agent whose customer is under SCA', () => {
  it('has payment instructions after the authorization', async () => {
    const { person } = await createScaPayer(app);
    const { call, id } = await fixture.connectAgent(person.id);
    const externalAccount = await createExternalAccount(app, person.id, 'EUR');
    const body = {
      ...quoteBody('', externalAccount.id, 100_00),
      ...realtimeSource({ currency: 'EUR' }),
    };
    const quote = ok(await call('POST', QUOTES_PATH, body), 202);
    expect(quote).toMatchObject({
      status: 'PENDING_AUTHORIZATION',
      scaChallenge: { factor: 'SMS_OTP' },
      paymentInstructions: [],
    });
    expect(ok(await call('GET', `${QUOTES_PATH}/${quote.id}`), 200)).toEqual(quote);
    ok(await authorize(app, quote.id), 200);
    const quoteView = ok(await call('GET', `${QUOTES_PATH}/${quote.id}`), 200);
    expect(quoteView.status).toBe('PENDING');
    expect(quoteView.paymentInstructions).toHaveLength(1);
    const payment = ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200);
    expect(payment.agentId).toBe(id);
  });
});

describe('a quote of an agent funded by a pay-in', () => {
  const limitPolicy = (overrides: object) => ({
    spendingLimits: { currency: 'USD', perTransactionLimit: 100_00, ...overrides },
  });
  const accountRulePolicy = (accountId: string, overrides: object) => ({
    accountRestrictions: { accountRules: [{ accountId, ...overrides }] },
  });
  const requestPayIn = (to: string, amount = 100_00) =>
    requestQuote({ ...quoteBody('', to, amount), ...realtimeSource() });
  const readRejections = async () =>
    (await readAudit())
      .filter(({ what }) => what === 'ACTION_REFUSED')
      .map(({ details }) => details);

  it.each<[string, object, string]>([
    ['PERMISSION', { permissions: ['CREATE_QUOTES'] }, 'EXECUTE_QUOTES'],
    ['EXECUTION_MODE', { defaultExecutionMode: 'APPROVAL_REQUIRED' }, 'starts without approval'],
    [
      'APPROVAL_THRESHOLD',
      { approvalThresholds: { currency: 'USD', amount: 99_99 } },
      'without approval',
    ],
    ['PER_TRANSACTION_LIMIT', limitPolicy({ perTransactionLimit: 99_99 }), 'perTransactionLimit'],
    ['DAILY_LIMIT', limitPolicy({ dailyLimit: 99_99 }), 'dailyLimit'],
  ])('is rejected by the policy: %s', async (rule, policy, reasonPart) => {
    ok(await restrictPolicy(policy), 200);
    const rejectedResponse = await requestPayIn(payeeAccountId);
    expect(codeOf(rejectedResponse)).toEqual([403, 'FORBIDDEN']);
    expect(rejectedResponse.body.reason).toContain(reasonPart);
    expect(await readRejections()).toEqual([{ rule, type: 'EXECUTE_QUOTE' }]);
    const paymentSql = 'select 1 from transactions where agent_id = $1';
    expect(await app.runtime.db.query(paymentSql, [agent.id])).toEqual([]);
    // A quote that needs execution is evaluated at execution.
    ok(await requestQuote(quoteBody(agent.usd, payeeAccountId, 100_00)), 201);
  });

  it('is subject to the rules of the internal destination account', async () => {
    ok(
      await restrictPolicy(accountRulePolicy(agent.usd, { executionMode: 'APPROVAL_REQUIRED' })),
      200,
    );
    expect(codeOf(await requestPayIn(agent.usd))).toEqual([403, 'FORBIDDEN']);
    ok(await requestPayIn(agent.eur), 201);
    ok(await restrictPolicy(accountRulePolicy(agent.usd, { perTransactionLimit: 50_00 })), 200);
    expect(codeOf(await requestPayIn(agent.usd))).toEqual([403, 'FORBIDDEN']);
    ok(await requestPayIn(agent.usd, 50_00), 201);
    // A restricted agent cannot pay between external accounts.
    ok(await allow(agent.usd), 200);
    expect(codeOf(await requestPayIn(payeeAccountId))).toEqual([403, 'FORBIDDEN']);
    ok(await requestPayIn(agent.usd, 50_00), 201);
  });

  it('is excluded from daily and monthly usage', async () => {
    ok(await restrictPolicy(limitPolicy({ dailyLimit: 100_00, dailyTransactionLimit: 1 })), 200);
    const quote = ok(await requestPayIn(payeeAccountId), 201);
    const details = { quoteId: quote.id, currencyCode: 'USD', currencyAmount: 100_00 };
    ok(await app.call('POST', '/sandbox/send', details), 200);
    await app.settle();
    expect(ok(await agent.call('GET', `${QUOTES_PATH}/${quote.id}`), 200).status).toBe('COMPLETED');
    const { usage } = ok(await agent.call('GET', '/agents/me'), 200);
    expect(usage).toMatchObject({ dailyTransactionCount: 0, dailySpend: 0, monthlySpend: 0 });
  });
});
