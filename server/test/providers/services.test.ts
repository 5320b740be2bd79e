// Services of a provider in production. Routes select the provider. Calls use HTTP with signatures.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, findInternalAccount, ok } from '../kit/app/fixtures.ts';
import { openOnboarding } from '../kit/customers/onboarding.ts';
import { operatorClient } from '../kit/operator/client.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';

const IBAN = 'DE89370400440532013000';
const SERVICES = ['account_check', 'rates', 'identity', 'funding', 'email', 'sms'];
const FUNDING_INSTRUCTION = {
  accountOrWalletInfo: {
    ...{ accountType: 'EUR_ACCOUNT', iban: IBAN, paymentRails: ['SEPA'], reference: 'REF-1' },
  },
};

let harness: Awaited<ReturnType<typeof openOnboarding>>;
let platform: Awaited<ReturnType<typeof harness.createPlatform>>;
let adapter: Adapter;
/** Bodies of the calls, by path. */
const receivedBodies = new Map<string, object[]>();

const write = async (method: string, path: string, body?: object) => {
  const reply = await operatorClient(harness.app).call(method, path, { body });
  expect(reply.status < 300 ? 'done' : reply.body).toBe('done');
  return reply.body;
};

/** The provider responds with this body, which may depend on the call. */
function reply(path: string, body: object | ((call: never) => object)) {
  adapter.replies[path] = (call) => {
    receivedBodies.set(path, [...(receivedBodies.get(path) ?? []), call]);
    return { body: typeof body === 'function' ? body(call as never) : body };
  };
}

const createRates = (at: number, eur: string) => ({
  ...{ base: 'USD', at: new Date(at).toISOString(), rates: { EUR: eur }, validForSeconds: 86_400 },
});

beforeAll(async () => {
  harness = await openOnboarding();
  platform = await harness.createPlatform('default', 'production');
  adapter = await startAdapter(harness.app);
  reply('/capabilities', { protocol: '1', services: SERVICES, fundingCurrencies: ['EUR'] });
  await addProvider(write, adapter, 'bank');
  await write('POST', '/providers/bank/check');
  for (const kind of SERVICES) {
    const route = { providerId: 'bank', environment: 'production', priority: 10, kind };
    await write('POST', '/provider-routes', route);
  }
});
afterAll(async () => {
  await adapter.close();
  await harness.close();
});

const call = (method: string, path: string, body?: object) =>
  harness.app.call(method, path, body, { platform });

const createAccount = (fullName: string, iban = IBAN) =>
  call('POST', '/platform/external-accounts', {
    currency: 'EUR',
    accountInfo: {
      ...{ accountType: 'EUR_ACCOUNT', iban },
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName, countryOfResidence: 'DE' },
    },
  });

/** A customer with complete data, and the result of its submission. */
async function submitCustomer() {
  const { id } = await harness.createPerson(platform, 'Ada Lovelace');
  await harness.addDocument(platform, id, 'PASSPORT');
  const body = ok(await harness.submitVerification(platform, id), 200);
  return { id, verification: body };
}

describe('a route of a service', () => {
  it('has a provider and no fields of transfers', async () => {
    const body = { environment: 'production', priority: 1, kind: 'identity' };
    const reply = await operatorClient(harness.app).call('POST', '/provider-routes', {
      body: { ...body, providerId: null, currency: 'EUR' },
    });
    expect(reply).toMatchObject({
      status: 400,
      body: {
        details: {
          errors: [
            { field: 'currency', message: 'must be absent for the service identity' },
            { field: 'providerId', message: 'is required for the service identity' },
          ],
        },
      },
    });
  });
});

describe('account_check', () => {
  it('compares the name when an account is created', async () => {
    reply('/accounts/check', { result: 'partly_matched', fullName: 'Grace B. Hopper' });
    const { body } = await createAccount('Grace Hopper');
    expect(body).toMatchObject({
      beneficiaryVerificationStatus: 'PARTIAL_MATCH',
      beneficiaryVerifiedData: { fullName: 'Grace B. Hopper' },
    });
    expect(receivedBodies.get('/accounts/check')).toMatchObject([
      { account: { accountType: 'EUR_ACCOUNT', iban: IBAN }, elapsedSeconds: 0 },
    ]);
  });

  it('rejects an account that does not exist', async () => {
    reply('/accounts/check', { result: 'invalid_account' });
    expect((await createAccount('Grace Hopper')).body.code).toBe('INVALID_BANK_ACCOUNT');
  });

  it('is repeated while the provider fails', async () => {
    adapter.replies['/accounts/check'] = () => ({ status: 503, body: {} });
    const { body } = await createAccount('Ada Lovelace', 'GB29NWBK60161331926819');
    expect(body.beneficiaryVerificationStatus).toBe('PENDING');
    reply('/accounts/check', { result: 'matched', fullName: 'Ada Lovelace' });
    await harness.app.advance(120_000);
    const path = `/platform/external-accounts/${body.id}`;
    expect((await call('GET', path)).body.beneficiaryVerificationStatus).toBe('MATCHED');
  });
});

describe('rates', () => {
  const estimate = async () => {
    const path = '/exchange-rates?sourceCurrency=USD&destinationCurrency=EUR&sendingAmount=100000';
    return ok(await call('GET', path), 200).data[0].exchangeRate as number;
  };

  it('are requested, and replaced by a message immediately', async () => {
    const now = harness.app.effects.now();
    reply('/rates', createRates(now - 1_000, '0.5'));
    const estimateBefore = await estimate();
    const message = { type: 'rates.updated', rates: createRates(now, '0.25') };
    expect((await adapter.send('bank', message)).body).toEqual({ result: 'APPLIED' });
    expect((await estimate()) / estimateBefore).toBeCloseTo(2, 3);
    const olderMessage = { type: 'rates.updated', rates: createRates(now - 60_000, '0.75') };
    expect((await adapter.send('bank', olderMessage)).body).toEqual({ result: 'IGNORED' });
    const invalidRates = [
      { ...createRates(now + 1_000, '0.75'), base: 'XXX' },
      createRates(now + 3_600_000, '0.75'),
    ];
    for (const rateTable of invalidRates) {
      const { status, body } = await adapter.send('bank', {
        type: 'rates.updated',
        rates: rateTable,
      });
      expect([status, body.details?.errors[0].field]).toEqual([400, 'rates']);
    }
    expect((await estimate()) / estimateBefore).toBeCloseTo(2, 3);
  });
});

describe('identity', () => {
  it('is decided once by a message', async () => {
    reply('/identity/submit', { state: 'review' });
    const { id, verification } = await submitCustomer();
    expect(verification.verificationStatus).toBe('PENDING_MANUAL_REVIEW');
    expect(receivedBodies.get('/identity/submit')?.at(-1)).toMatchObject({
      ...{ caseId: verification.id, customerId: id, type: 'INDIVIDUAL' },
      documents: [{ documentType: 'PASSPORT', country: 'US' }],
    });
    const message = { type: 'identity.decided', caseId: verification.id };
    const approvedMessage = { ...message, decision: { state: 'approved' } };
    expect((await adapter.send('bank', approvedMessage)).body).toEqual({ result: 'APPLIED' });
    expect(await harness.readStatuses(platform, id)).toEqual(['APPROVED']);
    expect((await adapter.send('bank', approvedMessage)).body).toEqual({ result: 'IGNORED' });
    const rejectedMessage = { ...message, decision: { state: 'rejected' } };
    expect(await adapter.send('bank', rejectedMessage)).toMatchObject({
      status: 409,
      body: { message: 'The decision is rejected, but the verification is APPROVED.' },
    });
    expect(await harness.readStatuses(platform, id)).toEqual(['APPROVED']);
    const unknownCase = { ...approvedMessage, caseId: `${verification.id}0` };
    expect((await adapter.send('bank', unknownCase)).status).toBe(409);
  });

  it('is polled while the provider is paused, and new cases are not submitted', async () => {
    reply('/identity/submit', { state: 'review', checkAfterSeconds: 60 });
    const pendingCase = await submitCustomer();
    await write('POST', '/providers/bank/pause');
    const count = receivedBodies.get('/identity/submit')?.length;
    const laterCase = await submitCustomer();
    expect(receivedBodies.get('/identity/submit')).toHaveLength(count ?? 0);
    reply('/identity/state', { state: 'rejected', findings: [{ type: 'INVALID_DOCUMENT' }] });
    await harness.app.advance(61_000);
    expect(await harness.readStatuses(platform, pendingCase.id)).toEqual(['REJECTED']);
    await write('POST', '/providers/bank/resume');
    reply('/identity/submit', { state: 'approved' });
    await harness.app.advance(3_600_000);
    expect(await harness.readStatuses(platform, laterCase.id)).toEqual(['APPROVED']);
  });

  it('is submitted again to a provider for which the case is unknown', async () => {
    reply('/identity/submit', { state: 'review', checkAfterSeconds: 60 });
    const { id } = await submitCustomer();
    adapter.replies['/identity/state'] = () => ({ status: 404, body: {} });
    reply('/identity/submit', { state: 'approved' });
    await harness.app.advance(61_000);
    expect(await harness.readStatuses(platform, id)).toEqual(['APPROVED']);
  });
});

describe('funding', () => {
  it('adds the account details after an account is opened', async () => {
    reply('/funding/account', ({ accountId }: { accountId: string }) => ({
      instructions: [{ ...FUNDING_INSTRUCTION, instructionsNotes: accountId }],
    }));
    const { id } = await createCustomer(harness.app, { platform });
    const openedAccount = await findInternalAccount(harness.app, id, 'EUR', { platform });
    expect(openedAccount.fundingPaymentInstructions).toEqual([]);
    await harness.app.settle();
    const account = await findInternalAccount(harness.app, id, 'EUR', { platform });
    expect(account.fundingPaymentInstructions).toMatchObject([
      { instructionsNotes: openedAccount.id },
    ]);
    const events = await harness.app.events();
    const types = events
      .filter((event) => event.data?.id === openedAccount.id)
      .map((event) => event.type);
    expect(types).toContain('INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED');
  });

  it('has instructions for one payment, which a quote requires', async () => {
    reply('/identity/submit', { state: 'approved' });
    const { id } = await submitCustomer();
    reply('/accounts/check', { result: 'unsupported' });
    const payee = ok(await createAccount('Grace Hopper', 'FR1420041010050500013M02606'), 201);
    const createQuote = () =>
      call('POST', '/quotes', {
        source: { sourceType: 'REALTIME_FUNDING', currency: 'EUR', customerId: id },
        destination: { destinationType: 'ACCOUNT', accountId: payee.id },
        ...{ lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 100_00 },
      });
    const { status, body } = await createQuote();
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    reply('/funding/payment', { instructions: [FUNDING_INSTRUCTION] });
    const quote = ok(await createQuote(), 201);
    expect(quote.paymentInstructions).toMatchObject([FUNDING_INSTRUCTION]);
    expect(receivedBodies.get('/funding/payment')).toMatchObject([
      { transactionId: quote.transactionId, amount: 100_00, currency: 'EUR', owner: 'customer' },
    ]);
  });
});

describe('email', () => {
  it('is sent by the provider with the ID of the message', async () => {
    reply('/messages/send', { result: 'sent' });
    const person = await harness.createPerson(platform, 'Erika Mustermann', {
      ...{ nationality: 'DE', email: 'erika@example.com', phoneNumber: '+4915123456789' },
      address: { line1: 'Heidestr. 17', city: 'Köln', postalCode: '51147', country: 'DE' },
      ...{ idType: 'NON_US_TAX_ID', identifier: '65 929 970 489', countryOfIssuance: 'DE' },
    });
    const path = `/customers/${person.id}/verify-email`;
    expect((await call('POST', path)).status).toBeLessThan(300);
    await harness.app.settle();
    expect(receivedBodies.get('/messages/send')).toMatchObject([
      { messageId: expect.any(String), channel: 'email', to: 'erika@example.com' },
    ]);
  });
});
