// Payments of agents that need SCA of the customer or a signature of the wallet holder, and two
// hundred concurrent payments.
import { describe, expect, it } from 'vitest';
import {
  type AgentPayer,
  limitsOf,
  openAgentPayer,
  REQUIRES_APPROVAL,
  statusAndCodeOf,
} from '../../../test/kit/agents/agent-payments.ts';
import { agentFixture } from '../../../test/kit/agents/agents.ts';
import {
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { createEuropeanCustomer } from '../../../test/kit/customers/contacts.ts';
import { createScaPayer } from '../../../test/kit/sca/strong-customers.ts';
import { stampWith } from '../../../test/kit/wallets/embedded-wallets.ts';
import {
  payloadOf,
  stampHeaders,
  walletPaymentFixture,
} from '../../../test/kit/wallets/wallet-payments.ts';
import { receiveFunds } from '../payments/quotes/index.ts';

const app = testApp();
const fixture = agentFixture(app);

const createAgentPayer = (overrides: object = {}, amount?: number) =>
  openAgentPayer(app, fixture, overrides, amount);

describe('payment that requires SCA', () => {
  it('fails as a transfer that was pending before SCA applied', async () => {
    const agent = await createAgentPayer(REQUIRES_APPROVAL);
    const payeeAccount = await createExternalAccount(app, agent.customer.id, 'EUR');
    const accounts = {
      source: { accountId: agent.eur },
      destination: { accountId: payeeAccount.id },
    };
    const transfer = () =>
      agent.call('POST', '/agents/me/transfer-out', { ...accounts, amount: 10_00 });
    const { id } = ok(await transfer(), 201);
    const regionSql = "update customers set region = 'DE', version = version + 1 where id = $1";
    await app.runtime.db.query(regionSql, [agent.customer.id]);
    expect(statusAndCodeOf(await transfer())).toEqual([409, 'CONFLICT']);
    expect(ok(await agent.decide('approve', id), 200).status).toBe('FAILED');
    expect(await agent.failureOf(id)).toMatchObject({ code: 'CONFLICT' });
  });

  it('requires authorization with a quote and is rejected as a transfer', async () => {
    const payer = await createScaPayer(app);
    const { person } = payer;
    const eurAccountId = payer.eur.id;
    const payeeAccount = await createExternalAccount(app, person.id, 'EUR');
    const agent = await fixture.connectAgent(person.id);
    const rejectedResponse = await agent.call('POST', '/agents/me/transfer-out', {
      source: { accountId: eurAccountId },
      destination: { accountId: payeeAccount.id },
      amount: 10_00,
    });
    expect(statusAndCodeOf(rejectedResponse)).toEqual([409, 'CONFLICT']);
    const body = quoteBody(eurAccountId, payeeAccount.id, 10_00);
    const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    const action = ok(await agent.call('POST', `/agents/me/quotes/${quote.id}/execute`), 200);
    expect([action.status, action.transaction.status]).toEqual([
      'APPROVED',
      'PENDING_AUTHORIZATION',
    ]);
    expect(action.quote.scaChallenge.id).toMatch(/^ScaChallenge:/);
    const readSpentAmount = async () =>
      ok(await app.call('GET', `/agents/${agent.id}`), 200).usage.dailySpend as number;
    expect(await readSpentAmount()).toBeGreaterThan(10_00);
    // The payment is not authorized in time, so its usage of the limits is restored.
    await app.advance(10 * 60_000);
    const failedAction = ok(await agent.call('GET', `/agents/me/actions/${action.id}`), 200);
    expect(failedAction.transaction).toMatchObject({
      status: 'FAILED',
      failureReason: 'SCA_NOT_COMPLETED',
    });
    expect(await readSpentAmount()).toBe(0);
  });
});

describe('production without an SMS provider', () => {
  it('rejects payments that require SCA', async () => {
    const platform = app.production;
    const person = await createEuropeanCustomer(app, { platform });
    const queryByCustomer = (text: string) => app.runtime.db.query(text, [person.id]);
    await queryByCustomer(`update customers set status = 'APPROVED', version = version + 1,
      contact_verification = '{"email":"VERIFIED","phone":"VERIFIED"}' where id = $1`);
    await queryByCustomer(`insert into sca_lockouts
        (id, platform_id, failed_attempts, suspended, session_expires_at, updated_at)
      select id, platform_id, 0, false, '2100-01-01', updated_at from customers where id = $1`);
    const sourceAccount = await findInternalAccount(app, person.id, 'EUR', { platform });
    const deposit = { accountId: sourceAccount.id as string, currency: 'EUR', amount: 100_00n };
    await app.operate((ctx) => receiveFunds(ctx, deposit), platform);
    const iban = { accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' };
    const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
    const accountInfo = { ...iban, beneficiary: { ...beneficiary, countryOfResidence: 'DE' } };
    const accountBody = { customerId: person.id, currency: 'EUR', accountInfo };
    const externalAccount = ok(
      await app.call('POST', '/customers/external-accounts', accountBody, { platform }),
      201,
    );
    const agent = await agentFixture(app, { platform }).connectAgent(person.id, {
      spendingLimits: { currency: 'EUR', perTransactionLimit: 100_00 },
    });
    const body = quoteBody(sourceAccount.id, externalAccount.id, 10_00);
    const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    const rejectedResponse = await agent.call('POST', `/agents/me/quotes/${quote.id}/execute`);
    expect(statusAndCodeOf(rejectedResponse)).toEqual([501, 'NOT_IMPLEMENTED']);
  });
});

describe('quote with an embedded wallet as source', () => {
  async function setUpWalletQuote(overrides: object = {}) {
    const wallets = walletPaymentFixture(app);
    const wallet = await wallets.createFundedWallet();
    const agent = await fixture.connectAgent(
      wallet.customer.id,
      overrides as Record<string, unknown>,
    );
    const payeeAccount = await createExternalAccount(app, wallet.customer.id, 'EUR');
    const body = quoteBody(wallet.accountId, payeeAccount.id, 10_000_000);
    const quote = ok(await agent.call('POST', '/agents/me/quotes', body), 201);
    const stamp = await stampWith(wallet.session.privateKey, payloadOf(quote));
    const execute = (headers: Record<string, string> = {}) =>
      agent.call('POST', `/agents/me/quotes/${quote.id}/execute`, undefined, { headers });
    const readSpendableBalance = async () => (await readBalances(app, wallet.accountId)).balance;
    return { ...wallet, agent, quote, stamp, execute, readSpendableBalance };
  }
  type WalletQuote = Awaited<ReturnType<typeof setUpWalletQuote>>;
  const approve = ({ agent }: WalletQuote, id: string) =>
    fixture.callAsPlatform('POST', `/agents/${agent.id}/actions/${id}/approve`);

  it('requires the signature of the holder with the request', async () => {
    const walletQuote = await setUpWalletQuote();
    const keyHeaders = { 'idempotency-key': 'k' };
    expect(statusAndCodeOf(await walletQuote.execute(keyHeaders))).toEqual([
      401,
      'WALLET_SIGNATURE_MISSING',
    ]);
    const { session } = await walletPaymentFixture(app).createFundedWallet();
    const otherStamp = await stampWith(session.privateKey, payloadOf(walletQuote.quote));
    const wrongResponse = await walletQuote.execute(stampHeaders(otherStamp, keyHeaders));
    expect(wrongResponse.status).toBe(401);
    expect(await walletQuote.readSpendableBalance()).toBe(100_000_000);
    const result = ok(await walletQuote.execute(stampHeaders(walletQuote.stamp, keyHeaders)), 200);
    expect(result.status).toBe('APPROVED');
    expect(await walletQuote.readSpendableBalance()).toBe(90_000_000);
  });

  it('is approved after the session has expired', async () => {
    const walletQuote = await setUpWalletQuote(REQUIRES_APPROVAL);
    expect(statusAndCodeOf(await walletQuote.execute())).toEqual([401, 'WALLET_SIGNATURE_MISSING']);
    const action = ok(await walletQuote.execute(stampHeaders(walletQuote.stamp)), 200);
    expect([action.status, action.transaction]).toEqual(['PENDING_APPROVAL', undefined]);
    await app.runtime.db.query('update wallet_sessions set expires_at = $1', [
      new Date(app.effects.now()),
    ]);
    app.effects.set(app.effects.now() + 60_000);
    expect(ok(await approve(walletQuote, action.id), 200).status).toBe('APPROVED');
    expect(await walletQuote.readSpendableBalance()).toBe(90_000_000);
  });

  it('fails at the approval after the quote has expired', async () => {
    const walletQuote = await setUpWalletQuote(REQUIRES_APPROVAL);
    const action = ok(await walletQuote.execute(stampHeaders(walletQuote.stamp)), 200);
    app.effects.set(Date.parse(walletQuote.quote.expiresAt));
    expect(ok(await approve(walletQuote, action.id), 200).status).toBe('FAILED');
    expect(await walletQuote.readSpendableBalance()).toBe(100_000_000);
  });
});

describe('two hundred concurrent transfers at a limit', () => {
  const requestConcurrently = (agent: AgentPayer, count: number) =>
    Promise.all(Array.from({ length: count }, () => agent.transfer('out', 1_00)));

  it.each([
    ['dailyLimit', limitsOf({ dailyLimit: 37_50 }), 37],
    ['dailyTransactionLimit', limitsOf({ dailyTransactionLimit: 11 }), 11],
    ['monthlyLimit', limitsOf({ monthlyLimit: 23_00 }), 23],
  ])('succeed only within %s', async (name, policy, max) => {
    const agent = await createAgentPayer(policy);
    const responses = await requestConcurrently(agent, 200);
    const acceptedResponses = responses.filter(({ status }) => status === 201);
    const rejectedResponses = responses.filter(({ status }) => status === 403);
    expect([acceptedResponses.length, rejectedResponses.length]).toEqual([max, 200 - max]);
    for (const { body } of rejectedResponses) expect(body.reason).toContain(name);
    expect(await agent.readUsage()).toMatchObject({
      dailyTransactionCount: max,
      dailySpend: max * 1_00,
      monthlySpend: max * 1_00,
    });
    await app.settle();
    expect((await readBalances(app, agent.usd)).total).toBe(10_000_00 - max * 1_00);
    const auditEvents = (await agent.readAudit()).map(({ what }) => what);
    expect(auditEvents.filter((event) => event === 'ACTION_EXECUTED')).toHaveLength(max);
    expect(auditEvents.filter((event) => event === 'ACTION_REFUSED')).toHaveLength(200 - max);
  });
});
