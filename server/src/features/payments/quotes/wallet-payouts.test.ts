// Payments from an embedded wallet: exact amounts for every kind of destination, refunds after a failure,
// and signatures on a production platform.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  eventTypes,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../../test/kit/app/production.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { generateKeys, stampWith } from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  payloadOf,
  stampHeaders,
  walletPaymentFixture,
} from '../../../../test/kit/wallets/wallet-payments.ts';
import { walletSessions } from '../../wallets/store.ts';
import { readCurrent } from '../payouts/payout-jobs.ts';
import { asOutgoing } from '../transactions/rows.ts';
import { startPayment } from './execution/execute.ts';
import { receiveFunds } from './execution/funding.ts';

const TEN_USDB = 10_000_000;
const HUNDRED_USDB = 100_000_000;
const FULL_BALANCE = { balance: HUNDRED_USDB, total: HUNDRED_USDB };

const app = testApp();
const payer = walletPaymentFixture(app);

const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);

describe('payments from an embedded wallet', () => {
  it('credit another internal account and a wallet, to the micro-unit', async () => {
    const { accountId, session } = await payer.createFundedWallet();
    const person = await createCustomer(app);
    const path = `/customers/internal-accounts?customerId=${person.id}&currency=USDB`;
    const { data } = ok(await app.call('GET', path), 200);
    expect(data).toHaveLength(2);
    for (const { id } of data) {
      const quote = await payer.pay(session, quoteBody(accountId, id, 1_234_567));
      expect(quote).toMatchObject({ exchangeRate: 1, totalReceivingAmount: 1_234_567 });
      expect(await readBalances(app, id)).toEqual({ balance: 1_234_567, total: 1_234_567 });
    }
    const remainingAmount = HUNDRED_USDB - 2 * 1_234_567;
    expect(await readBalances(app, accountId)).toEqual({
      balance: remainingAmount,
      total: remainingAmount,
    });
  });

  it('pay another currency, a rail, a UMA address and a Spark wallet', async () => {
    const { accountId, customer: person, session } = await payer.createFundedWallet();
    const usd = await findInternalAccount(app, person.id, 'USD');
    const eur = await createExternalAccount(app, person.id, 'EUR');
    const spark = await payer.createSparkAccount(person.id);
    const umaAddress = '$success.eur@sandbox.uma.money';
    const discoveryResponse = await app.call(
      'GET',
      `/receiver/uma/${umaAddress}?customerId=${person.id}`,
    );
    const { lookupId } = ok(discoveryResponse, 200);
    const senderCustomerInfo = {
      ...{ FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1990-01-15', NATIONALITY: 'US' },
    };
    const quoteBodyTo = (id: string) => quoteBody(accountId, id, TEN_USDB);
    const umaBody = {
      ...quoteBody(accountId, '', TEN_USDB, { lookupId, senderCustomerInfo }),
      destination: { destinationType: 'UMA_ADDRESS', umaAddress },
    };
    const bodies = [quoteBodyTo(usd.id), quoteBodyTo(eur.id), umaBody, quoteBodyTo(spark.id)];
    for (const [index, body] of bodies.entries()) {
      const quote = await payer.pay(session, body);
      await app.settle();
      expect(await getTransaction(quote.transactionId)).toMatchObject({
        status: 'COMPLETED',
        sentAmount: { amount: TEN_USDB },
        receivedAmount: { amount: quote.totalReceivingAmount },
      });
      const remainingAmount = HUNDRED_USDB - (index + 1) * TEN_USDB;
      expect(await readBalances(app, accountId)).toEqual({
        balance: remainingAmount,
        total: remainingAmount,
      });
    }
    expect(await payer.readStamps(accountId)).toHaveLength(4);
    expect((await readBalances(app, usd.id)).balance).toBeGreaterThan(9_00);
  });

  it('cannot start without a signature', async () => {
    const { accountId, customer: person } = await payer.createFundedWallet();
    const target = await createExternalAccount(app, person.id, 'EUR');
    const quote = ok(await payer.createQuote(quoteBody(accountId, target.id, TEN_USDB)), 201);
    const sendBody = { quoteId: quote.id, currencyCode: 'USDB' };
    const response = await app.call('POST', '/sandbox/send', sendBody);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    const startedPayment = app.operate(async (ctx) => {
      return startPayment(ctx, await readCurrent(ctx, quote.transactionId, asOutgoing));
    });
    await expect(startedPayment).rejects.toMatchObject({ code: 'WALLET_SIGNATURE_MISSING' });
    expect(await readBalances(app, accountId)).toEqual(FULL_BALANCE);
  });

  it('are refunded to the wallet after a failure, with events', async () => {
    const { accountId, customer: person, session } = await payer.createFundedWallet();
    const target = await createExternalAccount(app, person.id, 'EUR', '004');
    const quote = await payer.pay(session, quoteBody(accountId, target.id, TEN_USDB));
    expect(await readBalances(app, accountId)).toEqual({
      balance: HUNDRED_USDB - TEN_USDB,
      total: HUNDRED_USDB,
    });
    await app.advance(60_000);
    expect(await getTransaction(quote.transactionId)).toMatchObject({
      status: 'FAILED',
      refund: { status: 'COMPLETED' },
    });
    expect(await readBalances(app, accountId)).toEqual(FULL_BALANCE);
    const eventNames = ['PENDING', 'PROCESSING', 'FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'];
    const events = await eventTypes(app, quote.transactionId);
    expect(events).toEqual(eventNames.map((name) => `OUTGOING_PAYMENT.${name}`));
    const walletEvents = (await app.events()).filter((each) => each.subject === accountId);
    expect(walletEvents.at(-1)).toMatchObject({
      type: 'INTERNAL_ACCOUNT.BALANCE_UPDATED',
      balance: BigInt(HUNDRED_USDB),
      held: 0n,
    });
  });
});

/** An approved customer of the production platform with a wallet, 100 USDB and a session. */
async function createProductionWallet() {
  const platform = app.production;
  const person = await createCustomer(app, { platform });
  await commandRunner(app)(['verifications', 'approve', person.id]);
  const { id: accountId } = await walletPaymentFixture(app, platform).fixture.walletOf(person.id);
  const deposit = { accountId, currency: 'USDB', amount: BigInt(HUNDRED_USDB) };
  await app.operate((ctx) => receiveFunds(ctx, deposit), platform);
  const keys = generateKeys();
  await app.operate(
    async (ctx) =>
      ctx.insert(walletSessions, {
        id: ctx.id('Session'),
        platform_id: platform.id,
        account_id: accountId,
        customer_id: person.id,
        credential_id: ctx.id('AuthMethod'),
        status: 'ACTIVE',
        public_key: keys.publicKey,
        client_key: keys.publicKey,
        api_key_id: 'key',
        authenticated_at: ctx.now,
        expires_at: ctx.now + 60_000,
        created_at: ctx.now,
        updated_at: ctx.now,
      }),
    platform,
  );
  const path = `/customers/internal-accounts?customerId=${person.id}&currency=USDB`;
  const { data } = ok(await app.call('GET', path, undefined, { platform }), 200);
  const balanceAccountId = data.find(
    (each: { type: string }) => each.type === 'INTERNAL_CRYPTO',
  ).id;
  return { accountId, targetId: balanceAccountId, keys };
}

describe('wallet in production', () => {
  it('pays with a signature of its session, and rejects sandbox signatures', async () => {
    const { accountId, targetId, keys } = await createProductionWallet();
    const { createQuote, execute } = walletPaymentFixture(app, app.production);
    const quote = ok(await createQuote(quoteBody(accountId, targetId, TEN_USDB)), 201);
    const expectError = async (stamp: string, code: string) => {
      const { status, body } = await execute(quote.id, stampHeaders(stamp));
      expect([status, body.code]).toEqual([401, code]);
    };
    await expectError('sandbox-valid-signature', 'WALLET_SIGNATURE_MALFORMED');
    const { privateKey } = generateKeys();
    await expectError(await stampWith(privateKey, payloadOf(quote)), 'WALLET_SIGNATURE_INVALID');
    await expectError(await stampWith(keys.privateKey, '{}'), 'WALLET_SIGNATURE_INVALID');
    const { requestId, payloadToSign } = ok(await execute(quote.id), 202);
    expect(payloadToSign).toBe(payloadOf(quote));
    const stamp = await stampWith(keys.privateKey, payloadToSign);
    const result = ok(
      await execute(quote.id, stampHeaders(stamp, { 'request-id': requestId })),
      200,
    );
    expect(result.status).toBe('COMPLETED');
    const platformOptions = { platform: app.production };
    expect(await readBalances(app, targetId, platformOptions)).toEqual({
      balance: TEN_USDB,
      total: TEN_USDB,
    });
    const remainingAmount = HUNDRED_USDB - TEN_USDB;
    expect(await readBalances(app, accountId, platformOptions)).toEqual({
      balance: remainingAmount,
      total: remainingAmount,
    });
  });
});
