// Payments from an embedded wallet: the payload to sign, the rejection of invalid signatures, and a single
// posting after a valid signature.
import { describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { generateKeys, stampWith } from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  payloadOf,
  stampHeaders,
  walletPaymentFixture,
} from '../../../../test/kit/wallets/wallet-payments.ts';

const MINUTE_MS = 60_000;
const AMOUNT = 10_000_000;

const app = testApp();
const payer = walletPaymentFixture(app);

const create = (body: object) => payer.createQuote(body);
const execute = (id: string, headers: Record<string, string> = {}, body?: object) =>
  payer.execute(id, headers, body);
const readStamps = (accountId: string) => payer.readStamps(accountId);
const readQuote = async (id: string) => ok(await app.call('GET', `/quotes/${id}`), 200);
const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);
const codeOf = ({ status, body }: ApiResponse) => [status, body.code];

/** A quote for 10 USDB, and the stamp that executes it. */
async function createQuote() {
  const wallet = await payer.createFundedWallet();
  const target = await createExternalAccount(app, wallet.customer.id, 'EUR');
  const body = quoteBody(wallet.accountId, target.id, AMOUNT);
  const quote = ok(await create(body), 201);
  const stamp = await stampWith(wallet.session.privateKey, payloadOf(quote));
  return { ...wallet, target, quote, stamp };
}

const fullBalance = { balance: 100_000_000, total: 100_000_000 };

describe('createQuote from an embedded wallet', () => {
  it('returns the payload to sign, which includes all amounts', async () => {
    const { quote, accountId, target } = await createQuote();
    expect(quote.transactionId).toMatch(/^Transaction:/);
    expect(quote.paymentInstructions).toEqual([
      { accountOrWalletInfo: { accountType: 'EMBEDDED_WALLET', payloadToSign: payloadOf(quote) } },
    ]);
    const activity = JSON.parse(payloadOf(quote));
    const [row] = await app.runtime.db.query('select * from wallets where id = $1', [accountId]);
    expect(activity).toEqual({
      type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      generateAppProofs: true,
      organizationId: row?.organization_id,
      timestampMs: String(app.effects.now()),
      parameters: {
        signWith: row?.wallet_id,
        type: 'TRANSACTION_TYPE_LEDGER',
        unsignedTransaction: expect.stringMatching(/^([0-9a-f]{2})+$/),
      },
    });
    expect(Object.keys(activity)).toEqual(Object.keys(activity).sort());
    expect(payloadOf(quote)).not.toMatch(/\s/);
    const { unsignedTransaction } = activity.parameters;
    expect(JSON.parse(Buffer.from(unsignedTransaction, 'hex').toString())).toEqual({
      quoteId: quote.id,
      transactionId: quote.transactionId,
      source: accountId,
      sendingCurrency: 'USDB',
      sendingAmount: String(AMOUNT),
      fees: String(quote.feesIncluded),
      destination: target.id,
      receivingCurrency: 'EUR',
      receivingAmount: String(quote.totalReceivingAmount),
      expiresAt: quote.expiresAt,
    });
    app.effects.set(app.effects.now() + 1000);
    expect(payloadOf(await readQuote(quote.id))).toBe(payloadOf(quote));
    expect(await readBalances(app, accountId)).toEqual(fullBalance);
  });

  it('returns a unique payload per quote', async () => {
    const { accountId, target } = await createQuote();
    const body = quoteBody(accountId, target.id, AMOUNT);
    const [firstQuote, secondQuote] = [ok(await create(body), 201), ok(await create(body), 201)];
    expect(payloadOf(firstQuote)).not.toBe(payloadOf(secondQuote));
  });

  it('rejects immediate execution and transfers without a quote', async () => {
    const { accountId, customer: person } = await payer.createFundedWallet();
    const eur = await createExternalAccount(app, person.id, 'EUR');
    const immediateResponse = await create(
      quoteBody(accountId, eur.id, AMOUNT, { immediatelyExecute: true }),
    );
    expect(immediateResponse.status).toBe(400);
    expect(immediateResponse.body.details.errors).toMatchObject([{ field: 'immediatelyExecute' }]);
    const spark = await payer.createSparkAccount(person.id);
    const transferResponse = await app.call('POST', '/transfer-out', {
      source: { accountId },
      destination: { accountId: spark.id },
      amount: AMOUNT,
    });
    expect(transferResponse.status).toBe(400);
    expect(transferResponse.body.details.errors).toMatchObject([{ field: 'source.accountId' }]);
    expect(await readBalances(app, accountId)).toEqual(fullBalance);
  });

  it('rejects wallets that are unprovisioned, frozen, or of another platform', async () => {
    const { accountId, customer: person } = await payer.createFundedWallet();
    const target = await createExternalAccount(app, person.id, 'EUR');
    const body = quoteBody(accountId, target.id, AMOUNT);
    const setStatus = (status: string) =>
      app.runtime.db.query('update internal_accounts set status = $2 where id = $1', [
        accountId,
        status,
      ]);
    await setStatus('PENDING');
    expect(codeOf(await create(body))).toEqual([409, 'WALLET_NOT_PROVISIONED']);
    const keyHeader = { 'idempotency-key': 'before provisioning' };
    const earlyResponse = await app.call('POST', '/quotes', body, { headers: keyHeader });
    expect(codeOf(earlyResponse)).toEqual([409, 'WALLET_NOT_PROVISIONED']);
    expect(earlyResponse.headers['x-should-retry']).toBe('true');
    await setStatus('ACTIVE');
    // The condition was temporary, so the error is not stored for the key.
    ok(await app.call('POST', '/quotes', body, { headers: keyHeader }), 201);
    await setStatus('FROZEN');
    expect(codeOf(await create(body))).toEqual([400, 'INVALID_INPUT']);
    await setStatus('ACTIVE');
    const foreignResponse = await app.call('POST', '/quotes', body, { platform: app.other });
    expect(codeOf(foreignResponse)).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });

  it('rejects the wallet of a deleted customer', async () => {
    const { accountId, customer: person } = await payer.fixture.createWalletCustomer();
    const payee = await createExternalAccount(app, null, 'EUR');
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    const rejectedResponse = await create(quoteBody(accountId, payee.id, AMOUNT));
    expect(codeOf(rejectedResponse)).toEqual([410, 'CUSTOMER_DELETED']);
  });
});

describe('executeQuote from an embedded wallet', () => {
  it('returns the payload to sign first, then posts the payment', async () => {
    const { quote, accountId, session, stamp } = await createQuote();
    const firstResponse = await execute(quote.id);
    expect(firstResponse.status).toBe(202);
    expect(firstResponse.body).toEqual({
      payloadToSign: payloadOf(quote),
      requestId: expect.stringMatching(/^Request:/),
      expiresAt: quote.expiresAt,
    });
    expect(await readBalances(app, accountId)).toEqual(fullBalance);
    expect((await readQuote(quote.id)).status).toBe('PENDING');
    const headers = stampHeaders(stamp, { 'request-id': firstResponse.body.requestId });
    expect(ok(await execute(quote.id, headers), 200).status).toBe('PROCESSING');
    await app.settle();
    expect((await getTransaction(quote.transactionId)).status).toBe('COMPLETED');
    expect(await readBalances(app, accountId)).toEqual({ balance: 90_000_000, total: 90_000_000 });
    expect(await readStamps(accountId)).toEqual([
      {
        operation: 'executeQuote',
        subject: quote.id,
        session_id: session.session.id,
        public_key: session.publicKey,
        stamp,
      },
    ]);
    expect(codeOf(await execute(quote.id, headers))).toEqual([409, 'CONFLICT']);
    expect(codeOf(await execute(quote.id))).toEqual([409, 'CONFLICT']);
  });

  it('limits the request to the expiry of the quote', async () => {
    const { quote } = await createQuote();
    app.effects.set(app.effects.now() + 2 * MINUTE_MS);
    expect(ok(await execute(quote.id), 202).expiresAt).toBe(quote.expiresAt);
  });

  it('accepts the stamp without a request ID, and an empty body', async () => {
    const { quote, accountId, stamp } = await createQuote();
    ok(await execute(quote.id, stampHeaders(stamp), {}), 200);
    await app.settle();
    expect(await readBalances(app, accountId)).toEqual({ balance: 90_000_000, total: 90_000_000 });
  });

  it('accepts the sandbox signature, with and without a session', async () => {
    const sandboxStamp = stampHeaders('sandbox-valid-signature');
    const { quote, accountId, session } = await createQuote();
    ok(await execute(quote.id, sandboxStamp), 200);
    expect(await readStamps(accountId)).toMatchObject([{ session_id: session.session.id }]);
    const laterPayment = await createQuote();
    app.effects.set(app.effects.now() + 16 * MINUTE_MS);
    const body = quoteBody(laterPayment.accountId, laterPayment.target.id, AMOUNT);
    const [firstQuote, secondQuote] = [ok(await create(body), 201), ok(await create(body), 201)];
    ok(await execute(firstQuote.id, sandboxStamp), 200);
    const { requestId } = ok(await execute(secondQuote.id), 202);
    ok(await execute(secondQuote.id, { ...sandboxStamp, 'request-id': requestId }), 200);
    expect(await readStamps(laterPayment.accountId)).toMatchObject([
      { session_id: null, stamp: 'sandbox-valid-signature' },
      { session_id: null, stamp: 'sandbox-valid-signature' },
    ]);
    await app.settle();
  });

  it('rejects invalid signatures and keeps the quote executable', async () => {
    const { quote, accountId, session, stamp } = await createQuote();
    const otherPayment = await createQuote();
    const { requestId } = ok(await execute(quote.id), 202);
    const otherRequestId = ok(await execute(otherPayment.quote.id), 202).requestId;
    const otherSessionStamp = stampHeaders(
      await stampWith(otherPayment.session.privateKey, payloadOf(quote)),
    );
    const otherQuoteStamp = stampHeaders(
      await stampWith(session.privateKey, payloadOf(otherPayment.quote)),
    );
    const unknownRequestId = 'Request:019b0000-0000-7000-8000-000000000000';
    const rejectedHeaders: [Record<string, string>, string][] = [
      [{ 'request-id': requestId }, 'WALLET_SIGNATURE_MISSING'],
      [{ 'request-id': 'nonsense' }, 'WALLET_SIGNATURE_MISSING'],
      [stampHeaders('nonsense'), 'WALLET_SIGNATURE_MALFORMED'],
      [stampHeaders('nonsense', { 'request-id': requestId }), 'WALLET_SIGNATURE_MALFORMED'],
      [stampHeaders(stamp, { 'request-id': 'nonsense' }), 'UNAUTHORIZED'],
      [stampHeaders(stamp, { 'request-id': unknownRequestId }), 'UNAUTHORIZED'],
      [stampHeaders(stamp, { 'request-id': otherRequestId }), 'UNAUTHORIZED'],
      [otherSessionStamp, 'UNAUTHORIZED'],
      [{ ...otherSessionStamp, 'request-id': requestId }, 'UNAUTHORIZED'],
      [otherQuoteStamp, 'UNAUTHORIZED'],
      [stampHeaders(await stampWith(generateKeys().privateKey, payloadOf(quote))), 'UNAUTHORIZED'],
    ];
    for (const [headers, code] of rejectedHeaders) {
      expect(codeOf(await execute(quote.id, headers)), JSON.stringify(headers)).toEqual([
        401,
        code,
      ]);
    }
    expect((await readQuote(quote.id)).status).toBe('PENDING');
    expect(await readBalances(app, accountId)).toEqual(fullBalance);
    expect(await readStamps(accountId)).toEqual([]);
    ok(await execute(quote.id, stampHeaders(stamp, { 'request-id': requestId })), 200);
    await app.settle();
  });

  it('drops a request after five invalid signatures, and the quote remains executable', async () => {
    const { quote, stamp } = await createQuote();
    const { requestId } = ok(await execute(quote.id), 202);
    const wrongStamp = await stampWith(generateKeys().privateKey, payloadOf(quote));
    const headers = { 'request-id': requestId };
    for (let i = 0; i < 5; i++) {
      expect((await execute(quote.id, stampHeaders(wrongStamp, headers))).status).toBe(401);
    }
    const droppedResponse = await execute(quote.id, stampHeaders(stamp, headers));
    expect(codeOf(droppedResponse)).toEqual([401, 'UNAUTHORIZED']);
    ok(await execute(quote.id, stampHeaders(stamp)), 200);
    await app.settle();
  });

  it('accepts active sessions only', async () => {
    const { quote, accountId, session, stamp } = await createQuote();
    const setStatusSql = 'update wallet_sessions set status = $2 where id = $1';
    await app.runtime.db.query(setStatusSql, [session.session.id, 'REVOKED']);
    expect(codeOf(await execute(quote.id, stampHeaders(stamp)))).toEqual([401, 'UNAUTHORIZED']);
    const newSession = await payer.fixture.openEmailSession(accountId);
    const newStamp = await stampWith(newSession.privateKey, payloadOf(quote));
    const expireSql = 'update wallet_sessions set expires_at = created_at where id = $1';
    await app.runtime.db.query(expireSql, [newSession.session.id]);
    expect(codeOf(await execute(quote.id, stampHeaders(newStamp)))).toEqual([401, 'UNAUTHORIZED']);
    expect(await readBalances(app, accountId)).toEqual(fullBalance);
  });

  it('reports an expired quote before signature errors', async () => {
    const { quote, stamp } = await createQuote();
    const { requestId } = ok(await execute(quote.id), 202);
    app.effects.set(Date.parse(quote.expiresAt));
    for (const headers of [
      {},
      stampHeaders(stamp),
      stampHeaders('x', { 'request-id': requestId }),
    ]) {
      expect(codeOf(await execute(quote.id, headers))).toEqual([400, 'QUOTE_EXPIRED']);
    }
  });

  it('keeps the quote executable if the wallet has insufficient funds', async () => {
    const { quote, stamp, accountId, target } = await createQuote();
    const otherQuote = ok(await create(quoteBody(accountId, target.id, 100_000_000)), 201);
    const { privateKey } = await payer.fixture.openEmailSession(accountId);
    ok(
      await execute(
        otherQuote.id,
        stampHeaders(await stampWith(privateKey, payloadOf(otherQuote))),
      ),
      200,
    );
    await app.settle();
    const underfundedResponse = await execute(quote.id, stampHeaders(stamp));
    expect(codeOf(underfundedResponse)).toEqual([400, 'INSUFFICIENT_FUNDS']);
    expect(await readStamps(accountId)).toHaveLength(1);
    await fundAccount(app, accountId, AMOUNT);
    ok(await execute(quote.id, stampHeaders(stamp)), 200);
    await app.settle();
    expect(await readBalances(app, accountId)).toEqual({ balance: 0, total: 0 });
  });

  it('ignores the signature headers for other accounts', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const quote = ok(await create(quoteBody(account.id, target.id, 100_00)), 201);
    expect(quote.paymentInstructions).toEqual([]);
    ok(await execute(quote.id, stampHeaders('nonsense', { 'request-id': 'nonsense' })), 200);
    await app.settle();
  });

  it('accepts one Idempotency-Key for all requests of a signed retry', async () => {
    const { quote, accountId, stamp } = await createQuote();
    const keyHeader = { 'idempotency-key': `all requests ${quote.id}` };
    const { requestId } = ok(await execute(quote.id, keyHeader), 202);
    expect((await execute(quote.id, { ...keyHeader, ...stampHeaders('nonsense') })).status).toBe(
      401,
    );
    const wrongStamp = await stampWith(generateKeys().privateKey, payloadOf(quote));
    const requestHeader = { ...keyHeader, 'request-id': requestId };
    expect(
      (await execute(quote.id, { ...requestHeader, ...stampHeaders(wrongStamp) })).status,
    ).toBe(401);
    const result = await execute(quote.id, { ...requestHeader, ...stampHeaders(stamp) });
    ok(result, 200);
    for (const headers of [{ ...requestHeader, ...stampHeaders(stamp) }, keyHeader]) {
      const secondResponse = await execute(quote.id, headers);
      expect(secondResponse.headers['idempotency-replayed']).toBe('true');
      expect([secondResponse.status, secondResponse.body]).toEqual([200, result.body]);
    }
    await app.settle();
    expect(await readBalances(app, accountId)).toEqual({ balance: 90_000_000, total: 90_000_000 });
    expect(await readStamps(accountId)).toHaveLength(1);
  });

  it('replays the error of a signed request for a later unsigned request', async () => {
    const { accountId, session } = await payer.createFundedWallet();
    const payee = await createExternalAccount(app, null, 'EUR');
    const body = quoteBody(accountId, payee.id, 90_000_000);
    const [firstQuote, secondQuote] = [ok(await create(body), 201), ok(await create(body), 201)];
    const sign = (quote: typeof firstQuote) => stampWith(session.privateKey, payloadOf(quote));
    ok(await execute(firstQuote.id, stampHeaders(await sign(firstQuote))), 200);
    const keyHeader = { 'idempotency-key': `rejected ${secondQuote.id}` };
    const rejectedResponse = await execute(secondQuote.id, {
      ...keyHeader,
      ...stampHeaders(await sign(secondQuote)),
    });
    expect(codeOf(rejectedResponse)).toEqual([400, 'INSUFFICIENT_FUNDS']);
    const secondResponse = await execute(secondQuote.id, keyHeader);
    expect(codeOf(secondResponse)).toEqual([400, 'INSUFFICIENT_FUNDS']);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    await app.settle();
  });

  it('posts the payment once under concurrent executions', async () => {
    const { quote, accountId, stamp } = await createQuote();
    const { requestId } = ok(await execute(quote.id), 202);
    const requestHeader = stampHeaders(stamp, { 'request-id': requestId });
    const variants = [
      stampHeaders(stamp),
      requestHeader,
      stampHeaders(stamp),
      requestHeader,
      stampHeaders(stamp),
    ];
    const responses = await Promise.all(variants.map((headers) => execute(quote.id, headers)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    await app.settle();
    expect(await readBalances(app, accountId)).toEqual({ balance: 90_000_000, total: 90_000_000 });
    expect(await readStamps(accountId)).toHaveLength(1);
  });

  it('requires a token with the permission to transact', async () => {
    const { quote, stamp } = await createQuote();
    const callerToken = await app.tokenWith(['VIEW']);
    const path = `/quotes/${quote.id}/execute`;
    const rejectedResponse = await app.call('POST', path, undefined, {
      platform: callerToken,
      headers: stampHeaders(stamp),
    });
    expect(codeOf(rejectedResponse)).toEqual([403, 'FORBIDDEN']);
    const options = { platform: app.other, headers: stampHeaders(stamp) };
    expect((await app.call('POST', path, undefined, options)).body.code).toBe('QUOTE_NOT_FOUND');
  });
});
