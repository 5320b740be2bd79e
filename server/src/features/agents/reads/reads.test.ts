// Reads by agents and their changes of external accounts. An agent receives the same resources as
// its platform, without resources of other customers.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentFixture, type FundedAgent } from '../../../../test/kit/agents/agents.ts';
import {
  accountInfos,
  createExternalAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { externalAccounts } from '../../payees/external-accounts/store.ts';

const app = testApp();
let fixture: ReturnType<typeof agentFixture>;
let agent: FundedAgent;
/** Another customer of the same platform, and one of another platform. */
let otherHolder: Awaited<ReturnType<typeof fixture.createFundedCustomer>>;
let foreignCustomer: Awaited<ReturnType<typeof fixture.createFundedCustomer>>;

beforeAll(async () => {
  fixture = agentFixture(app);
  otherHolder = await fixture.createFundedCustomer();
  foreignCustomer = await agentFixture(app, { platform: app.other }).createFundedCustomer();
});
beforeEach(async () => {
  agent = await fixture.createAgent();
});

const AGENT_PATH = '/agents/me';
const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);
const usdAccountBody = (overrides: object = {}) => ({
  currency: 'USD',
  accountInfo: accountInfos.USD?.('000'),
  ...overrides,
});
const restrictPolicy = (policy: object, targetAgent = agent) =>
  fixture.callAsPlatform('PATCH', `/agents/${targetAgent.id}/policy`, policy);
const pause = () => fixture.callAsPlatform('PATCH', `/agents/${agent.id}`, { isPaused: true });
const readAudit = (id: string) =>
  app.runtime.db.query<{ what: string; actor: string; details: unknown }>(
    'select what, actor, details from agent_audit where agent_id = $1 order by created_at, id',
    [id],
  );

/** Pays from the account of the customer through the platform. Returns the transaction ID. */
async function pay(payer = agent, amount = 10_00): Promise<string> {
  const externalAccount = await createExternalAccount(app, payer.customer.id, 'EUR');
  const body = quoteBody(payer.usd, externalAccount.id, amount, { immediatelyExecute: true });
  return ok(await app.call('POST', '/quotes', body), 201).transactionId;
}

/** Reads all pages of a list with one row per page. */
async function readAllPages(path: string): Promise<{ ids: string[]; totals: number[] }> {
  const [ids, totals]: [string[], number[]] = [[], []];
  for (let cursor = ''; ; ) {
    const separator = path.includes('?') ? '&' : '?';
    const body = ok(await agent.call('GET', `${path}${separator}limit=1${cursor}`), 200);
    ids.push(...idsOf(body));
    totals.push(body.totalCount);
    if (!body.hasMore) return { ids, totals };
    cursor = `&cursor=${body.nextCursor}`;
  }
}

describe('getAgentMe', () => {
  it('returns the same resource as for the platform', async () => {
    const agentView = ok(await agent.call('GET', AGENT_PATH), 200);
    expect(agentView).toEqual(ok(await fixture.callAsPlatform('GET', `/agents/${agent.id}`), 200));
    expect(agentView).toMatchObject({
      id: agent.id,
      customerId: agent.customer.id,
      isConnected: true,
    });
  });

  it('requires no permission and is available while paused', async () => {
    ok(await restrictPolicy({ permissions: [] }), 200);
    ok(await pause(), 200);
    expect(ok(await agent.call('GET', AGENT_PATH), 200)).toMatchObject({
      isPaused: true,
      policy: { permissions: [] },
    });
  });
});

describe('agentListInternalAccounts', () => {
  const OWN_ACCOUNTS_PATH = `${AGENT_PATH}/internal-accounts`;

  it('returns the accounts of the customer of the agent, as for the platform', async () => {
    const platformPath = `/customers/internal-accounts?customerId=${agent.customer.id}`;
    const agentList = ok(await agent.call('GET', OWN_ACCOUNTS_PATH), 200);
    expect(agentList).toEqual(ok(await app.call('GET', platformPath), 200));
    expect(idsOf(agentList)).toEqual(expect.arrayContaining([agent.usd, agent.eur]));
    expect(idsOf(ok(await agent.call('GET', `${OWN_ACCOUNTS_PATH}?currency=EUR`), 200))).toEqual([
      agent.eur,
    ]);
    const wallets = ok(await agent.call('GET', `${OWN_ACCOUNTS_PATH}?type=EMBEDDED_WALLET`), 200);
    expect(idsOf(wallets)).not.toContain(agent.usd);
  });

  it('ignores the customer ID of a request', async () => {
    const requestedPath = `${OWN_ACCOUNTS_PATH}?customerId=${otherHolder.customer.id}`;
    const { data } = ok(await agent.call('GET', requestedPath), 200);
    expect(data.length).toBeGreaterThan(1);
    for (const each of data) expect(each.customerId).toBe(agent.customer.id);
  });

  it('returns only accounts that the policy allows, paginated', async () => {
    const { ids: allIds } = await readAllPages(OWN_ACCOUNTS_PATH);
    expect(allIds).toEqual(idsOf(ok(await agent.call('GET', OWN_ACCOUNTS_PATH), 200)));
    const allowedIds = [agent.eur, agent.usd];
    ok(await restrictPolicy({ accountRestrictions: { allowedAccountIds: allowedIds } }), 200);
    const { ids, totals } = await readAllPages(OWN_ACCOUNTS_PATH);
    expect(ids).toEqual(allIds.filter((id) => allowedIds.includes(id)));
    expect(totals).toEqual([2, 2]);
    expect((await readAllPages(`${OWN_ACCOUNTS_PATH}?currency=USD`)).ids).toEqual([agent.usd]);
    ok(await restrictPolicy({ accountRestrictions: { allowedAccountIds: [] } }), 200);
    expect(await readAllPages(OWN_ACCOUNTS_PATH)).toEqual({ ids: [], totals: [0] });
  });

  it('requires a valid cursor', async () => {
    expect(codeOf(await agent.call('GET', `${OWN_ACCOUNTS_PATH}?cursor=x`))).toEqual([
      400,
      'INVALID_INPUT',
    ]);
  });
});

describe('transactions', () => {
  const OWN_TRANSACTIONS_PATH = `${AGENT_PATH}/transactions`;

  it('include all transactions of the customer of the agent, as for the platform', async () => {
    const id = await pay();
    const list = ok(await agent.call('GET', OWN_TRANSACTIONS_PATH), 200);
    const platformPath = `/transactions?customerId=${agent.customer.id}`;
    expect(list).toEqual(ok(await app.call('GET', platformPath), 200));
    expect(idsOf(list)).toContain(id);
    const agentView = ok(await agent.call('GET', `${OWN_TRANSACTIONS_PATH}/${id}`), 200);
    expect(agentView).toEqual(ok(await app.call('GET', `/transactions/${id}`), 200));
    expect(agentView.agentId).toBeUndefined();
  });

  it('contain the agent ID if the agent created the quote', async () => {
    const externalAccount = await createExternalAccount(app, agent.customer.id, 'EUR');
    const quote = ok(
      await agent.call(
        'POST',
        `${AGENT_PATH}/quotes`,
        quoteBody(agent.usd, externalAccount.id, 5_00),
      ),
      201,
    );
    const quotePayment = ok(
      await agent.call('GET', `${OWN_TRANSACTIONS_PATH}/${quote.transactionId}`),
      200,
    );
    expect(quotePayment.agentId).toBe(agent.id);
    expect(ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200)).toEqual(
      quotePayment,
    );
  });

  describe('agentListTransactions', () => {
    it('returns pages, and filters by type, reference and receiver', async () => {
      const firstPaymentId = await pay();
      await app.advance(1_000);
      const secondPaymentId = await pay();
      expect((await readAllPages(`${OWN_TRANSACTIONS_PATH}?type=OUTGOING`)).ids).toEqual([
        secondPaymentId,
        firstPaymentId,
      ]);
      expect(
        (await readAllPages(`${OWN_TRANSACTIONS_PATH}?type=OUTGOING&sortOrder=asc`)).ids,
      ).toEqual([firstPaymentId, secondPaymentId]);
      const agentView = ok(
        await agent.call('GET', `${OWN_TRANSACTIONS_PATH}/${firstPaymentId}`),
        200,
      );
      const listTransactions = (query: string) =>
        agent.call('GET', `${OWN_TRANSACTIONS_PATH}?${query}`);
      const { reference } = agentView.reconciliationInstructions;
      expect(idsOf(ok(await listTransactions(`reference=${reference}`), 200))).toEqual([
        firstPaymentId,
      ]);
      const receiver = agentView.destination.accountId;
      expect(
        idsOf(ok(await listTransactions(`receiverAccountIdentifier=${receiver}`), 200)),
      ).toEqual([firstPaymentId]);
      expect(codeOf(await listTransactions('status=NONE'))).toEqual([400, 'INVALID_INPUT']);
    });
  });

  it('belong to the customer of the agent for every filter', async () => {
    const id = await pay();
    const otherCustomer = ok(
      await fixture.callAsPlatform('GET', `/customers/${otherHolder.customer.id}`),
      200,
    );
    for (const query of [
      `customerId=${otherHolder.customer.id}`,
      `customerId=${app.platform.id}`,
      `platformCustomerId=${otherCustomer.platformCustomerId}`,
      `customerId=${otherHolder.customer.id}&platformCustomerId=${otherCustomer.platformCustomerId}`,
    ]) {
      const { data } = ok(
        await agent.call('GET', `${OWN_TRANSACTIONS_PATH}?type=OUTGOING&${query}`),
        200,
      );
      expect([query, data.map((each: { id: string }) => each.id)]).toEqual([query, [id]]);
    }
  });

  describe('agentGetTransaction', () => {
    it('returns TRANSACTION_NOT_FOUND for a transaction of another customer', async () => {
      const otherPayer = { ...agent, ...otherHolder };
      const foreignId = await pay(otherPayer);
      const unknownResponse = await agent.call(
        'GET',
        `${OWN_TRANSACTIONS_PATH}/Transaction:${UNKNOWN_ID}`,
      );
      expect(codeOf(unknownResponse)).toEqual([404, 'TRANSACTION_NOT_FOUND']);
      expect((await agent.call('GET', `${OWN_TRANSACTIONS_PATH}/${foreignId}`)).body).toEqual(
        unknownResponse.body,
      );
      expect((await agent.call('GET', `${OWN_TRANSACTIONS_PATH}/nothing`)).body).toEqual(
        unknownResponse.body,
      );
    });
  });
});

describe('external accounts', () => {
  const OWN_ACCOUNTS_PATH = `${AGENT_PATH}/external-accounts`;

  describe('agentListExternalAccounts', () => {
    it('returns the same accounts as for the platform, with unmasked numbers', async () => {
      const body = usdAccountBody();
      const createdAccount = ok(await agent.call('POST', OWN_ACCOUNTS_PATH, body), 201);
      expect(createdAccount).toMatchObject({
        customerId: agent.customer.id,
        accountInfo: body.accountInfo,
      });
      const path = `/customers/external-accounts/${createdAccount.id}`;
      expect(ok(await agent.call('GET', `${OWN_ACCOUNTS_PATH}/${createdAccount.id}`), 200)).toEqual(
        createdAccount,
      );
      expect(ok(await app.call('GET', path), 200)).toEqual(createdAccount);
      await createExternalAccount(app, agent.customer.id, 'EUR');
      const ownAccounts = ok(await agent.call('GET', OWN_ACCOUNTS_PATH), 200);
      const platformPath = `/customers/external-accounts?customerId=${agent.customer.id}`;
      expect(ownAccounts).toEqual(ok(await app.call('GET', platformPath), 200));
      expect((await readAllPages(OWN_ACCOUNTS_PATH)).ids).toEqual(idsOf(ownAccounts));
      expect((await readAllPages(`${OWN_ACCOUNTS_PATH}?currency=USD`)).ids).toEqual([
        createdAccount.id,
      ]);
      const pathWithCustomerId = `${OWN_ACCOUNTS_PATH}?customerId=${otherHolder.customer.id}`;
      expect(ok(await agent.call('GET', pathWithCustomerId), 200)).toEqual(ownAccounts);
      expect(codeOf(await agent.call('GET', `${OWN_ACCOUNTS_PATH}?cursor=x`))).toEqual([
        400,
        'INVALID_INPUT',
      ]);
    });
  });

  describe('agentCreateExternalAccount', () => {
    it('ignores customerId and creates the account for the customer of the agent', async () => {
      for (const { customer } of [otherHolder, foreignCustomer]) {
        const createdAccount = ok(
          await agent.call('POST', OWN_ACCOUNTS_PATH, usdAccountBody({ customerId: customer.id })),
          201,
        );
        expect(createdAccount.customerId).toBe(agent.customer.id);
      }
    });

    it('rejects a duplicate', async () => {
      const body = usdAccountBody();
      ok(await agent.call('POST', OWN_ACCOUNTS_PATH, body), 201);
      expect(codeOf(await agent.call('POST', OWN_ACCOUNTS_PATH, body))).toEqual([
        409,
        'DUPLICATE_EXTERNAL_ACCOUNT',
      ]);
    });

    it('rejects the default account for incoming UMA payments', async () => {
      const rejectedResponse = await agent.call('POST', OWN_ACCOUNTS_PATH, {
        ...usdAccountBody({ defaultUmaDepositAccount: true }),
        currency: undefined,
      });
      expect(codeOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT']);
      expect(
        rejectedResponse.body.details.errors.map((each: { field: string }) => each.field).sort(),
      ).toEqual(['currency', 'defaultUmaDepositAccount']);
      const createdAccount = ok(
        await agent.call(
          'POST',
          OWN_ACCOUNTS_PATH,
          usdAccountBody({ defaultUmaDepositAccount: false }),
        ),
        201,
      );
      expect(createdAccount.defaultUmaDepositAccount).toBe(false);
    });
  });

  describe('agentDeleteExternalAccount', () => {
    it('deletes an account unless it is a trusted beneficiary of the customer', async () => {
      const { id } = ok(await agent.call('POST', OWN_ACCOUNTS_PATH, usdAccountBody()), 201);
      await app.operate(async (ctx) => {
        const row = await ctx.read(externalAccounts, id);
        if (row) ctx.update(externalAccounts, row, { trusted_at: ctx.now });
      });
      const trustedResponse = await agent.call('DELETE', `${OWN_ACCOUNTS_PATH}/${id}`);
      expect(codeOf(trustedResponse)).toEqual([409, 'BENEFICIARY_TRUSTED']);
      const otherAccount = ok(await agent.call('POST', OWN_ACCOUNTS_PATH, usdAccountBody()), 201);
      ok(await agent.call('DELETE', `${OWN_ACCOUNTS_PATH}/${otherAccount.id}`), 204);
      expect((await readAllPages(OWN_ACCOUNTS_PATH)).ids).toEqual([id]);
      expect(codeOf(await agent.call('GET', `${OWN_ACCOUNTS_PATH}/${otherAccount.id}`))).toEqual([
        404,
        'ACCOUNT_NOT_FOUND',
      ]);
    });
  });

  describe('agentGetExternalAccount', () => {
    it('returns ACCOUNT_NOT_FOUND for accounts of other customers', async () => {
      const foreignIds = [
        (await createExternalAccount(app, otherHolder.customer.id, 'USD')).id,
        (await createExternalAccount(app, null, 'USD')).id,
        (
          await createExternalAccount(app, foreignCustomer.customer.id, 'USD', '000', {
            platform: app.other,
          })
        ).id,
        'nothing',
      ];
      for (const method of ['GET', 'DELETE']) {
        const unknownResponse = await agent.call(
          method,
          `${OWN_ACCOUNTS_PATH}/ExternalAccount:${UNKNOWN_ID}`,
        );
        expect(codeOf(unknownResponse)).toEqual([404, 'ACCOUNT_NOT_FOUND']);
        for (const id of foreignIds) {
          expect((await agent.call(method, `${OWN_ACCOUNTS_PATH}/${id}`)).body).toEqual(
            unknownResponse.body,
          );
        }
      }
      const path = `/customers/external-accounts/${foreignIds[0]}`;
      expect((await app.call('GET', path)).status).toBe(200);
    });
  });

  it('are created once per Idempotency-Key of an agent', async () => {
    const otherCustomerAgent = await fixture.connectAgent(otherHolder.customer.id);
    const secondAgent = await fixture.connectAgent(agent.customer.id);
    const headers = { 'idempotency-key': 'one' };
    const body = usdAccountBody();
    const firstAccount = ok(await agent.call('POST', OWN_ACCOUNTS_PATH, body, { headers }), 201);
    const secondResponse = await agent.call('POST', OWN_ACCOUNTS_PATH, body, { headers });
    expect([secondResponse.status, secondResponse.body]).toEqual([201, firstAccount]);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    expect(
      codeOf(await agent.call('POST', OWN_ACCOUNTS_PATH, usdAccountBody(), { headers })),
    ).toEqual([409, 'CONFLICT']);
    const otherCustomerAccount = ok(
      await otherCustomerAgent.call('POST', OWN_ACCOUNTS_PATH, body, { headers }),
      201,
    );
    expect(otherCustomerAccount.customerId).toBe(otherHolder.customer.id);
    expect(
      ok(await secondAgent.call('POST', OWN_ACCOUNTS_PATH, usdAccountBody(), { headers }), 201).id,
    ).not.toBe(firstAccount.id);
  });

  it('are audited', async () => {
    const { id } = ok(await agent.call('POST', OWN_ACCOUNTS_PATH, usdAccountBody()), 201);
    ok(await agent.call('DELETE', `${OWN_ACCOUNTS_PATH}/${id}`), 204);
    const auditEntries = (await readAudit(agent.id)).filter(({ what }) =>
      what.startsWith('ACCOUNT'),
    );
    expect(auditEntries).toEqual([
      { what: 'ACCOUNT_ADDED', actor: agent.id, details: { accountId: id } },
      { what: 'ACCOUNT_DELETED', actor: agent.id, details: { accountId: id } },
    ]);
  });
});

describe('policy', () => {
  const PERMISSIONS = [
    'VIEW_TRANSACTIONS',
    'CREATE_TRANSFERS',
    'CREATE_QUOTES',
    'EXECUTE_QUOTES',
    'MANAGE_EXTERNAL_ACCOUNTS',
  ];
  /** Path of each read, and the permission that it requires. */
  const READS: [string, string][] = [
    ['/internal-accounts', 'VIEW_TRANSACTIONS'],
    ['/transactions', 'VIEW_TRANSACTIONS'],
    ['/transactions/OWN', 'VIEW_TRANSACTIONS'],
    ['/external-accounts', 'MANAGE_EXTERNAL_ACCOUNTS'],
    ['/external-accounts/OWN', 'MANAGE_EXTERNAL_ACCOUNTS'],
  ];

  const createOwnPath = async (path: string) => {
    const id = path.startsWith('/transactions')
      ? await pay()
      : (await createExternalAccount(app, agent.customer.id, 'USD')).id;
    return AGENT_PATH + path.replace('OWN', id);
  };
  const policyWithout = (permission: string) => ({
    permissions: PERMISSIONS.filter((each) => each !== permission),
  });

  it.each(READS)(
    'is evaluated for GET %s, which requires %s and is available while paused',
    async (path, permission) => {
      const url = await createOwnPath(path);
      ok(await pause(), 200);
      ok(await agent.call('GET', url), 200);
      ok(await restrictPolicy(policyWithout(permission)), 200);
      const rejectedResponse = await agent.call('GET', url);
      expect(codeOf(rejectedResponse)).toEqual([403, 'FORBIDDEN']);
      expect(rejectedResponse.body.reason).toContain(permission);
      expect((await readAudit(agent.id)).map(({ what }) => what)).not.toContain('ACTION_REFUSED');
    },
  );

  it.each([
    ['POST', '/external-accounts', 'agentCreateExternalAccount'],
    ['DELETE', '/external-accounts/OWN', 'agentDeleteExternalAccount'],
  ])(
    'rejects %s %s without the permission or while paused, and audits the rejection',
    async (method, path, operationId) => {
      const url = await createOwnPath(path);
      const send = () => agent.call(method, url, method === 'POST' ? usdAccountBody() : undefined);
      ok(await restrictPolicy(policyWithout('MANAGE_EXTERNAL_ACCOUNTS')), 200);
      const firstResponse = await send();
      expect(codeOf(firstResponse)).toEqual([403, 'FORBIDDEN']);
      ok(await restrictPolicy({ permissions: PERMISSIONS }), 200);
      ok(await pause(), 200);
      const secondResponse = await send();
      expect([...codeOf(secondResponse), secondResponse.body.reason]).toEqual([
        403,
        'FORBIDDEN',
        'The agent is paused.',
      ]);
      const auditEntries = (await readAudit(agent.id)).filter(
        ({ what }) => what === 'ACTION_REFUSED',
      );
      expect(auditEntries.map(({ details }) => details)).toEqual([
        { operationId, rule: 'PERMISSION' },
        { operationId, rule: 'PAUSED' },
      ]);
      ok(await fixture.callAsPlatform('PATCH', `/agents/${agent.id}`, { isPaused: false }), 200);
      ok(await send(), method === 'POST' ? 201 : 204);
    },
  );

  it('applies from the next request', async () => {
    ok(await agent.call('GET', `${AGENT_PATH}/transactions`), 200);
    ok(await restrictPolicy({ permissions: [] }), 200);
    expect((await agent.call('GET', `${AGENT_PATH}/transactions`)).status).toBe(403);
    ok(await fixture.callAsPlatform('DELETE', `/agents/${agent.id}`), 204);
    expect(codeOf(await agent.call('GET', AGENT_PATH))).toEqual([401, 'UNAUTHORIZED']);
  });
});
