// Messages of providers: deposits, signatures, keys and malformed input.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';

const { service, read, rejects, write } = operatorService();
const BANK = 'acme-bank';
let adapter: Adapter;
let accountId: string;
let reference: string;

const providerBody = (fields: object = {}) => ({
  ...{ providerId: BANK, environment: 'production', url: adapter.url },
  ...{ publicKeyPem: adapter.publicKeyPem, privateAddressAllowed: true, ...fields },
});

const readBalance = async () =>
  (await service.app.call('GET', `/internal-accounts/${accountId}`, undefined, service.callOptions))
    .body.balance.amount;

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  await write('POST', '/providers', providerBody());
  const payer = await service.createPayer();
  accountId = payer.account;
  const path = `/internal-accounts/${accountId}`;
  const { body } = await service.app.call('GET', path, undefined, service.callOptions);
  reference = body.fundingPaymentInstructions[0].accountOrWalletInfo.reference;
});
afterAll(() => adapter.close());

const depositMessage = (fields: object = {}) => ({
  ...{ type: 'deposit.received', amount: 25_00, currency: 'USD', paymentReference: reference },
  ...{ bankReference: 'STMT-1', senderName: 'Ada Lovelace', rail: 'WIRE', ...fields },
});

describe('deposit.received', () => {
  it('is posted once for each bank reference', async () => {
    expect((await adapter.send(BANK, depositMessage())).body).toEqual({ result: 'APPLIED' });
    expect((await adapter.send(BANK, depositMessage())).body).toEqual({ result: 'IGNORED' });
    expect(await readBalance()).toBe(25_00);
    const otherAmountMessage = depositMessage({ id: 'other-amount', amount: 26_00 });
    expect((await adapter.send(BANK, otherAmountMessage)).status).toBe(409);
    const { data } = await read('/provider-messages?result=CONTRADICTORY');
    expect(data).toMatchObject([
      {
        messageId: 'other-amount',
        problem: expect.stringContaining('already recorded for another deposit'),
      },
    ]);
    const directFields = {
      paymentReference: undefined,
      accountId,
      bankReference: 'STMT-2',
    };
    expect((await adapter.send(BANK, depositMessage(directFields))).body).toEqual({
      result: 'APPLIED',
    });
    expect(await readBalance()).toBe(50_00);
  });

  it('is posted once if an operator also records it, in either order', async () => {
    const balanceBefore = await readBalance();
    const recordManually = (bankReference: string, amount: number) =>
      write('POST', '/deposits', { bankReference, amount, currency: 'USD', accountId });
    const firstDeposit = await recordManually('STMT-H1', 3_00);
    expect(firstDeposit.recorded).toBe('now');
    const message = { id: 'operator-first', amount: 3_00, bankReference: 'STMT-H1' };
    expect((await adapter.send(BANK, depositMessage(message))).body).toEqual({ result: 'IGNORED' });
    const { data } = await read('/provider-messages?result=IGNORED');
    expect(data[0]).toMatchObject({
      ...{ messageId: 'operator-first', transactionId: firstDeposit.transactionId },
      problem: 'An operator already recorded this deposit. It was not posted again.',
    });
    await adapter.send(BANK, depositMessage({ amount: 4_00, bankReference: 'STMT-H2' }));
    expect((await recordManually('STMT-H2', 4_00)).recorded).toBe('before');
    expect(await readBalance()).toBe(balanceBefore + 7_00);
    // A message whose amount differs from the entry of the operator is another deposit.
    await adapter.send(BANK, depositMessage({ amount: 5_00, bankReference: 'STMT-H1' }));
    expect(await readBalance()).toBe(balanceBefore + 12_00);
    const matches = await write('POST', '/search', { query: 'STMT-H2' });
    expect(matches.data).toHaveLength(1);
    for (const [bankReference, amount] of [
      ['STMT-H1', 5_00],
      ['STMT-H2', 4_00],
    ]) {
      const returnedFields = { type: 'deposit.returned', bankReference, currency: 'USD', amount };
      expect((await adapter.send(BANK, returnedFields)).body).toEqual({ result: 'APPLIED' });
    }
    await write('POST', `/deposits/${firstDeposit.transactionId}/return`);
    expect(await readBalance()).toBe(balanceBefore);
  });

  it('is stored for an operator if its payment reference is unknown', async () => {
    const unknownDeposit = depositMessage({
      paymentReference: 'RF UNKNOWN',
      bankReference: 'STMT-3',
    });
    expect((await adapter.send(BANK, { ...unknownDeposit, id: 'unknown-reference' })).status).toBe(
      409,
    );
    expect((await adapter.send(BANK, { ...unknownDeposit, id: 'unknown-reference' })).status).toBe(
      409,
    );
    const { data } = await read('/provider-messages?result=CONTRADICTORY');
    expect(
      data.filter((message: { messageId: string }) => message.messageId === 'unknown-reference'),
    ).toMatchObject([{ problem: 'Payment reference not found.', type: 'deposit.received' }]);
    expect(await readBalance()).toBe(50_00);
  });

  it('is reversed by a deposit.returned message with the same amount', async () => {
    const returnedFields = { type: 'deposit.returned', bankReference: 'STMT-2', currency: 'USD' };
    expect((await adapter.send(BANK, { ...returnedFields, amount: 1 })).status).toBe(409);
    expect((await adapter.send(BANK, { ...returnedFields, amount: 25_00 })).body).toEqual({
      result: 'APPLIED',
    });
    expect(await readBalance()).toBe(25_00);
    const repeatedReply = await adapter.send(BANK, { ...returnedFields, amount: 25_00 });
    expect(repeatedReply.body).toEqual({ result: 'IGNORED' });
    expect(await readBalance()).toBe(25_00);
    const unmatchedFields = { ...returnedFields, bankReference: 'NONE', amount: 25_00 };
    expect((await adapter.send(BANK, unmatchedFields)).status).toBe(409);
  });

  it('is reversed once by messages about a deposit that funded a payment', async () => {
    const payer = await service.createPayer();
    const quote = ok(
      await service.app.call(
        'POST',
        '/quotes',
        {
          source: { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: payer.person.id },
          destination: {
            destinationType: 'ACCOUNT',
            accountId: await service.createPayee(payer.person.id),
          },
          ...{ lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 40_00 },
        },
        service.callOptions,
      ),
      201,
    );
    const fields = { bankReference: 'STMT-F1', amount: 40_00 };
    const fundingMessage = depositMessage({
      ...{
        ...fields,
        paymentReference: quote.paymentInstructions[0].accountOrWalletInfo.reference,
      },
    });
    expect((await adapter.send(BANK, fundingMessage)).body).toEqual({ result: 'APPLIED' });
    const returnedFields = { type: 'deposit.returned', currency: 'USD', ...fields };
    const send = async (id: string) => (await adapter.send(BANK, { ...returnedFields, id })).body;
    const ids = Array.from({ length: 8 }, (_, index) => `return-${index}`);
    const replies = await Promise.all(ids.map(send));
    const applied = replies.filter(({ result }) => result === 'APPLIED');
    expect(applied).toHaveLength(1);
    const otherReplies = replies.filter((reply) => !applied.includes(reply));
    expect(otherReplies).toEqual(otherReplies.map(() => ({ result: 'IGNORED' })));
    expect(await send('late-return')).toEqual({ result: 'IGNORED' });
    const reversals = await service.app.runtime.db.query(
      "select amount from ledger_transfers where transaction_id = $1 and step like 'return%'",
      [quote.transactionId],
    );
    expect(reversals).toEqual([{ amount: 40_00n }]);
  });

  it('never credits an account of the other environment', async () => {
    const sandbox = await service.app.call('GET', '/platform/internal-accounts');
    const deposit = depositMessage({
      ...{ paymentReference: undefined, accountId: sandbox.body.data[0].id },
      bankReference: 'STMT-4',
    });
    expect((await adapter.send(BANK, deposit)).status).toBe(409);
  });
});

describe('an invalid message', () => {
  it('is rejected with every invalid field, and is stored encrypted', async () => {
    const message = depositMessage({ amount: 0, senderName: 'Grace Hopper' });
    const { status, body } = await adapter.send(BANK, { ...message, currency: 7, id: undefined });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_INPUT' });
    const fields = body.details.errors.map((error: { field: string }) => error.field);
    expect(fields.sort()).toEqual(['amount', 'currency', 'id']);
    expect((await adapter.send(BANK, '{"id":')).status).toBe(400);
    expect((await adapter.send(BANK, '[]')).status).toBe(400);
    const { data } = await read('/provider-messages?result=REJECTED');
    expect(data[0]).toMatchObject({ type: null, result: 'REJECTED' });
    const rows = await service.app.runtime.db.query('select * from provider_messages');
    expect(JSON.stringify(rows, (_, value) => String(value))).not.toContain('Grace');
    expect(service.app.log.join('\n')).not.toContain('Grace');
    const ambiguousDeposit = depositMessage({ accountId, bankReference: 'STMT-5' });
    expect((await adapter.send(BANK, ambiguousDeposit)).status).toBe(400);
  });
});

describe('the signature of a message', () => {
  it('is required, and covers body, address and time', async () => {
    const deposit = depositMessage({ bankReference: 'STMT-6' });
    // biome-ignore lint/suspicious/noExplicitAny: a changed request.
    const expectRejected = async (change: (request: any) => void) =>
      expect((await adapter.send(BANK, deposit, change)).status).toBe(401);
    await expectRejected((request) => delete request.headers.signature);
    await expectRejected((request) => {
      request.body = request.body.replace('2500', '9900');
    });
    await expectRejected((request) => {
      request.headers.host = 'other.example';
    });
    const { app } = service;
    const now = app.effects.now();
    await expectRejected(() => app.effects.set(now + 400_000));
    app.effects.set(now);
    expect((await adapter.send('other-bank', deposit)).status).toBe(404);
    expect(await readBalance()).toBe(25_00);
  });

  it('is accepted with the new key, and with the earlier key during the overlap', async () => {
    const otherAdapter = await startAdapter(service.app);
    const { body } = await otherAdapter.send(BANK, depositMessage({ bankReference: 'STMT-7' }));
    expect(body.message).toContain('is not known');
    const addedKey = await write('POST', `/providers/${BANK}/keys`, {
      ...{ publicKeyPem: otherAdapter.publicKeyPem, overlapHours: 1 },
    });
    expect(addedKey.providerKeys).toHaveLength(2);
    const repeatedMessage = { ...depositMessage({ bankReference: 'STMT-1' }) };
    expect((await otherAdapter.send(BANK, repeatedMessage)).status).toBe(200);
    expect((await adapter.send(BANK, repeatedMessage)).status).toBe(200);
    await service.app.advance(3_600_001);
    expect((await adapter.send(BANK, repeatedMessage)).status).toBe(401);
    expect((await otherAdapter.send(BANK, repeatedMessage)).status).toBe(200);
    await otherAdapter.close();
  });
});

describe('rotateProviderKey', () => {
  it('signs with the new key after the overlap, and retires the earlier one later', async () => {
    const rotation = await write('POST', `/providers/${BANK}/rotate`, { overlapHours: 1 });
    const [firstKey, secondKey] = rotation.ownKeys;
    adapter.accept([firstKey]);
    const readProblem = async () => (await write('POST', `/providers/${BANK}/check`)).problem;
    expect(await readProblem()).toBeNull();
    await service.app.advance(3_600_001);
    expect(await readProblem()).toContain('status 401');
    adapter.accept([secondKey]);
    expect(await readProblem()).toBeNull();
    await service.app.advance(3_600_001);
    expect((await read(`/providers/${BANK}`)).ownKeys).toMatchObject([{ keyId: secondKey.keyId }]);
    const [expiringKey] = (await write('POST', `/providers/${BANK}/rotate`, { overlapHours: 1 }))
      .ownKeys;
    const laterRotation = await write('POST', `/providers/${BANK}/rotate`, { overlapHours: 9 });
    expect(laterRotation.ownKeys[0]).toEqual(expiringKey);
  });
});

describe('createProvider', () => {
  it('reports every invalid field, and rejects private addresses unless allowed', async () => {
    const invalidProvider = {
      providerId: 'Acme',
      environment: 'test',
      url: 'x',
      publicKeyPem: 'x',
    };
    const body = await rejects(400, 'INVALID_INPUT', 'POST', '/providers', {
      body: invalidProvider,
    });
    const fields = body.details.errors.map((error: { field: string }) => error.field);
    expect(fields.sort()).toEqual(['environment', 'providerId']);
    const rejectsUrl = async (url: string, fields: object = { privateAddressAllowed: false }) => {
      const input = { body: providerBody({ providerId: 'other', url, ...fields }) };
      const error = await rejects(400, 'INVALID_INPUT', 'POST', '/providers', input);
      expect(error.details.errors).toMatchObject([{ field: 'url' }]);
    };
    for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', '169.254.169.254', 'localhost'])
      await rejectsUrl(`https://${host}/`);
    await rejectsUrl('http://bank.example/');
    await rejectsUrl('https://user:secret@bank.example/', { privateAddressAllowed: true });
    await rejectsUrl('ftp://bank.example/', { privateAddressAllowed: true });
    await rejects(409, 'CONFLICT', 'POST', '/providers', { body: providerBody() });
    const secondProvider = {
      body: providerBody({ providerId: 'other', url: 'x', publicKeyPem: 'x' }),
    };
    const problems = await rejects(400, 'INVALID_INPUT', 'POST', '/providers', secondProvider);
    const names = problems.details.errors.map((error: { field: string }) => error.field);
    expect(names).toEqual(['url', 'publicKeyPem']);
  });
});
