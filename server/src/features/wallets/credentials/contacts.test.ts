// Changes of a contact that receives one-time codes. The holder of a wallet that uses the contact signs the
// change. The customer and all credentials change atomically.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  CODE,
  encryptOtp,
  generateKeys,
  signedHeaders,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { digestOf } from '../../customers/digests/index.ts';
import { type CredentialRow, credentials, walletSessions, wallets } from '../store.ts';

const app = testApp();
const fixture = walletFixture(app);

let counter = 0;
const createEmail = () => `new-${++counter}@example.com`;
const createPhone = () => `+1512555${String(1000 + ++counter)}`;
const change = (id: string, body: object, headers: Record<string, string> = {}) =>
  app.call('PATCH', `/customers/${id}`, { customerType: 'INDIVIDUAL', ...body }, { headers });
const readCustomer = async (id: string) => ok(await app.call('GET', `/customers/${id}`), 200);
const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const fieldsOf = ({ body }: ApiResponse) =>
  body.details.errors.map((each: { field: string }) => each.field);

/** A customer with a wallet and a session of it. */
async function createHolder(body: object = {}) {
  const wallet = await fixture.createWalletCustomer(body);
  return {
    ...wallet,
    id: wallet.customer.id as string,
    session: await fixture.openEmailSession(wallet.accountId),
  };
}
type Holder = Awaited<ReturnType<typeof createHolder>>;

/** Adds a one-time code credential without verification. */
const addOtpCredential = (
  { accountId, id }: Pick<Holder, 'accountId' | 'id'>,
  type: 'EMAIL_OTP' | 'SMS_OTP',
  uniqueness_key: string = type,
): Promise<CredentialRow> =>
  app.operate(async (ctx) =>
    ctx.insert(credentials, {
      id: ctx.id('AuthMethod'),
      platform_id: ctx.caller.platformId,
      account_id: accountId,
      customer_id: id,
      type,
      status: 'ACTIVE',
      uniqueness_key,
      sign_count: 0n,
      created_at: ctx.now,
      updated_at: ctx.now,
    }),
  );

/** Another wallet of the same customer, with a session. */
async function createSecondWallet({ accountId, id }: Holder) {
  const keys = generateKeys();
  const secondAccount = await app.operate(async (ctx) => {
    const [account, wallet] = await Promise.all([
      ctx.read(internalAccounts, accountId),
      ctx.read(wallets, accountId),
    ]);
    if (!account || !wallet) throw new Error(`the wallet ${accountId} was not found`);
    const otherId = ctx.id('InternalAccount');
    ctx.insert(internalAccounts, { ...account, id: otherId, currency: 'BTC' });
    ctx.insert(wallets, { ...wallet, id: otherId, organization_id: 'second' });
    ctx.insert(walletSessions, {
      id: ctx.id('Session'),
      platform_id: ctx.caller.platformId,
      account_id: otherId,
      customer_id: id,
      credential_id: ctx.id('AuthMethod'),
      status: 'ACTIVE',
      public_key: keys.publicKey,
      client_key: keys.publicKey,
      api_key_id: 'key',
      authenticated_at: ctx.now,
      expires_at: ctx.now + 600_000,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    return otherId;
  });
  await addOtpCredential({ accountId: secondAccount, id }, 'EMAIL_OTP');
  return { accountId: secondAccount, ...keys };
}

describe('a change of an e-mail address for one-time codes', () => {
  it('requests a signature and then changes customer and credential together', async () => {
    const { id, accountId, customer: previousCustomer, credential, session } = await createHolder();
    const email = createEmail();
    const firstResponse = await change(id, { email });
    expect(firstResponse.status).toBe(202);
    expect(Object.keys(firstResponse.body).sort()).toEqual([
      'expiresAt',
      'payloadToSign',
      'requestId',
    ]);
    const [wallet] = await app.runtime.db.query('select * from wallets where id = $1', [accountId]);
    expect(JSON.parse(firstResponse.body.payloadToSign)).toMatchObject({
      type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
      organizationId: wallet?.organization_id,
      parameters: { userEmail: email, userId: wallet?.user_id },
    });
    expect((await readCustomer(id)).email).toBe(previousCustomer.email);
    expect((await fixture.credentialsOf(accountId))[0]).toEqual(credential);

    app.effects.set(app.effects.now() + 1000);
    const signatureHeaders = await signedHeaders(firstResponse.body, session);
    const result = ok(await change(id, { email }, signatureHeaders), 200);
    expect(result).toMatchObject({ id, email });
    expect(await readCustomer(id)).toEqual(result);
    const [changedCredential] = await fixture.credentialsOf(accountId);
    expect(changedCredential).toMatchObject({ id: credential.id, nickname: email });
    expect(Date.parse(changedCredential.updatedAt)).toBe(app.effects.now());
    const [row] = await app.runtime.db.query('select email_digest from customers where id = $1', [
      id,
    ]);
    expect(row?.email_digest).toBe(digestOf(app.runtime.vault, 'email', email));
    expect((await fixture.sessionsOf(accountId)).map((each) => each.id)).toEqual([
      session.session.id,
    ]);
    const [authorization] = await app.runtime.db.query(
      'select * from wallet_authorizations where subject = $1',
      [id],
    );
    expect(authorization).toMatchObject({
      operation: 'updateCustomerById',
      public_key: session.publicKey,
    });
    const secondResponse = await fixture.callSigned(
      'PATCH',
      `/customers/${id}`,
      individualBody({ email: createEmail() }),
      session,
    );
    expect(secondResponse.status).toBe(200);
  });

  it('has no effect if a credential cannot be changed, and another address is accepted', async () => {
    const { id, accountId, customer: previousCustomer, credential, session } = await createHolder();
    const email = createEmail().replace('@', '+Sync-Failed@');
    const firstChange = ok(await change(id, { email }), 202);
    const signatureHeaders = await signedHeaders(firstChange, session);
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(codeOf(await change(id, { email }, signatureHeaders))).toEqual([
        424,
        'EMAIL_OTP_CREDENTIAL_SYNC_FAILED',
      ]);
    }
    expect((await readCustomer(id)).email).toBe(previousCustomer.email);
    expect(await fixture.credentialsOf(accountId)).toEqual([credential]);
    ok(
      await fixture.callSigned(
        'PATCH',
        `/customers/${id}`,
        individualBody({ email: createEmail() }),
        session,
      ),
      200,
    );
  });

  it('invalidates the code that was sent to the previous address', async () => {
    const { id, credential, session } = await createHolder();
    app.effects.set(app.effects.now() + 60_000);
    const bundle = await fixture.requestOtpBundle(credential.id);
    const keys = generateKeys();
    const otp = {
      type: 'EMAIL_OTP',
      encryptedOtpBundle: await encryptOtp(CODE, bundle, keys.publicKey),
    };
    ok(
      await fixture.callSigned(
        'PATCH',
        `/customers/${id}`,
        individualBody({ email: createEmail() }),
        session,
      ),
      200,
    );
    const verifyResponse = await app.call('POST', `/auth/credentials/${credential.id}/verify`, otp);
    expect(verifyResponse.status).toBeGreaterThanOrEqual(400);
    expect(verifyResponse.status).toBeLessThan(500);
    const remainingTargets = await app.runtime.db.query('select 1 from otp_targets where id = $1', [
      credential.id,
    ]);
    expect(remainingTargets).toEqual([]);
    app.effects.set(app.effects.now() + 60_000);
    expect((await fixture.openOtpSession(credential)).session.id).toMatch(/^Session:/);
  });

  it('is signed by a session of any wallet that uses the contact, and changes all of them', async () => {
    const person = await createHolder();
    const secondWallet = await createSecondWallet(person);
    const email = createEmail();
    const path = `/customers/${person.id}`;
    ok(await fixture.callSigned('PATCH', path, individualBody({ email }), secondWallet), 200);
    for (const accountId of [person.accountId, secondWallet.accountId]) {
      expect((await fixture.credentialsOf(accountId))[0]).toMatchObject({ nickname: email });
    }
    ok(
      await fixture.callSigned(
        'PATCH',
        path,
        individualBody({ email: createEmail() }),
        person.session,
      ),
      200,
    );
  });

  it('takes effect immediately for an unused address or the same value', async () => {
    const { id, customer: previousCustomer, session } = await createHolder();
    const unrelatedHeaders = { 'request-id': 'Request:x', 'service-wallet-signature': 'x' };
    ok(await change(id, { phoneNumber: createPhone() }), 200);
    ok(await change(id, { email: previousCustomer.email }), 200);
    ok(await change(id, { fullName: 'Ada King' }, unrelatedHeaders), 200);
    ok(await change(id, { phoneNumber: createPhone() }, unrelatedHeaders), 200);
    for (const [name, value] of Object.entries(unrelatedHeaders)) {
      ok(await change(id, { email: previousCustomer.email }, { [name]: value }), 200);
    }
    const signOutRequest = ok(
      await fixture.call('DELETE', `/auth/sessions/${session.session.id}`),
      202,
    );
    ok(
      await change(
        id,
        { email: previousCustomer.email },
        await signedHeaders(signOutRequest, session),
      ),
      200,
    );
    const customerWithoutWallet = await createCustomer(
      app,
      {},
      { currencies: ['USD'], email: createEmail() },
    );
    ok(await change(customerWithoutWallet.id, { email: createEmail() }, unrelatedHeaders), 200);
    const otherCustomer = await createCustomer(app);
    ok(await change(otherCustomer.id, { email: createEmail() }), 200);
  });

  it('cannot remove the address or include the telephone number', async () => {
    const { id } = await createHolder();
    const removalResponse = await change(id, { email: null });
    expect(codeOf(removalResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(removalResponse)).toEqual(['email']);
    const twoContactsResponse = await change(id, {
      email: createEmail(),
      phoneNumber: createPhone(),
    });
    expect(codeOf(twoContactsResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(twoContactsResponse)).toEqual(['email', 'phoneNumber']);
  });

  it('is rejected if another customer receives codes at the address, in any letter case', async () => {
    const [firstHolder, secondHolder] = [await createHolder(), await createHolder()];
    const usedEmail = { email: secondHolder.customer.email.toUpperCase() };
    const expectedError = [409, 'EMAIL_OTP_EMAIL_ALREADY_EXISTS'];
    expect(codeOf(await change(firstHolder.id, usedEmail))).toEqual(expectedError);

    const email = createEmail();
    const { requestId, payloadToSign } = ok(await change(firstHolder.id, { email }), 202);
    ok(
      await fixture.callSigned(
        'PATCH',
        `/customers/${secondHolder.id}`,
        individualBody({ email }),
        secondHolder.session,
      ),
      200,
    );
    const signatureHeaders = await signedHeaders({ requestId, payloadToSign }, firstHolder.session);
    expect(codeOf(await change(firstHolder.id, { email }, signatureHeaders))).toEqual(
      expectedError,
    );

    const revokeSql =
      'update credentials set status = $2, uniqueness_key = null where customer_id = $1';
    await app.runtime.db.query(revokeSql, [secondHolder.id, 'REVOKED']);
    ok(await change(firstHolder.id, { email }, signatureHeaders), 200);
    const otherPlatformFixture = walletFixture(app, { platform: app.other });
    const otherPlatformWallet = await otherPlatformFixture.createWalletCustomer();
    ok(await change(firstHolder.id, { email: otherPlatformWallet.customer.email }), 202);
  });

  it('is rejected if the credentials have changed since the first request', async () => {
    const person = await createHolder();
    const email = createEmail();
    const firstChange = ok(await change(person.id, { email }), 202);
    const signatureHeaders = await signedHeaders(firstChange, person.session);
    const secondWallet = await createSecondWallet(person);
    const expectedError = [409, 'EMAIL_OTP_CREDENTIAL_SET_CHANGED'];
    expect(codeOf(await change(person.id, { email }, signatureHeaders))).toEqual(expectedError);
    expect((await readCustomer(person.id)).email).toBe(person.customer.email);
    const revokeSql =
      'update credentials set status = $2, uniqueness_key = null where account_id = $1';
    await app.runtime.db.query(revokeSql, [secondWallet.accountId, 'REVOKED']);
    ok(await change(person.id, { email }, signatureHeaders), 200);
    const nextChange = ok(await change(person.id, { email: createEmail() }), 202);
    const secondSignedHeaders = await signedHeaders(nextChange, person.session);
    await app.runtime.db.query(revokeSql, [person.accountId, 'REVOKED']);
    const { userEmail } = JSON.parse(nextChange.payloadToSign).parameters;
    expect(codeOf(await change(person.id, { email: userEmail }, secondSignedHeaders))).toEqual(
      expectedError,
    );
  });
});

it('a new customer can have an e-mail address at which another customer receives codes', async () => {
  const { customer: previousCustomer } = await createHolder();
  const walletCustomer = await fixture.createWalletCustomer({ email: previousCustomer.email });
  expect(walletCustomer.credential.nickname).toBe(previousCustomer.email);
});

const individualBody = (overrides: object) => ({ customerType: 'INDIVIDUAL', ...overrides });

describe('the signature of a contact change', () => {
  it('is rejected with the code of the first failed check, and counted if it is invalid', async () => {
    const [{ id, session }, otherHolder] = [await createHolder(), await createHolder()];
    const email = createEmail();
    const firstChange = ok(await change(id, { email }), 202);
    const validSignedHeaders = await signedHeaders(firstChange, session);
    const { 'service-wallet-signature': stamp = '', 'request-id': requestId = '' } =
      validSignedHeaders;
    const otherHolderHeaders = await signedHeaders(firstChange, otherHolder.session);
    const expectRejection = async (
      headers: Record<string, string>,
      code: string,
      overrides: object = { email },
    ) => expect(codeOf(await change(id, overrides, headers))).toEqual([401, code]);
    await expectRejection({ 'request-id': requestId }, 'WALLET_SIGNATURE_MISSING');
    await expectRejection({ 'service-wallet-signature': stamp }, 'REQUEST_ID_MISSING');
    await expectRejection(
      { ...validSignedHeaders, 'service-wallet-signature': 'x' },
      'WALLET_SIGNATURE_MALFORMED',
    );
    await expectRejection({ ...validSignedHeaders, 'request-id': 'Request:x' }, 'UNAUTHORIZED');
    const otherCustomerResponse = await change(otherHolder.id, { email }, validSignedHeaders);
    expect(codeOf(otherCustomerResponse)).toEqual([401, 'UNAUTHORIZED']);
    await expectRejection(validSignedHeaders, 'WALLET_SIGNATURE_BODY_MISMATCH', {
      email: createEmail(),
    });
    await expectRejection(validSignedHeaders, 'WALLET_SIGNATURE_BODY_MISMATCH', {
      email,
      fullName: 'Eve',
    });
    await expectRejection(otherHolderHeaders, 'UNAUTHORIZED');
    const [row] = await app.runtime.db.query('select wrong from wallet_requests where id = $1', [
      requestId,
    ]);
    expect(row?.wrong).toBe(1);
    expect((await readCustomer(id)).email).not.toBe(email);
    ok(await change(id, { email }, validSignedHeaders), 200);
    // The contact has this value already, and the signature was used.
    await expectRejection(validSignedHeaders, 'UNAUTHORIZED');
    await expectRejection({ 'request-id': requestId }, 'WALLET_SIGNATURE_MISSING');
    ok(await change(id, { email }), 200);
  });

  it('is valid for one of many concurrent requests', async () => {
    const { id, session } = await createHolder();
    const email = createEmail();
    const validSignedHeaders = await signedHeaders(ok(await change(id, { email }), 202), session);
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => change(id, { email }, validSignedHeaders)),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    const authorizations = await app.runtime.db.query(
      'select 1 from wallet_authorizations where subject = $1',
      [id],
    );
    expect(authorizations).toHaveLength(1);
  });
});

describe('a change of a telephone number for one-time codes', () => {
  it('requires a signature and changes the credential, as for an e-mail address', async () => {
    const person = await createHolder({ phoneNumber: createPhone() });
    const credential = await addOtpCredential(person, 'SMS_OTP');
    const phoneNumber = createPhone();
    const firstChange = ok(await change(person.id, { phoneNumber }), 202);
    expect(JSON.parse(firstChange.payloadToSign)).toMatchObject({
      type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
      parameters: { userPhoneNumber: phoneNumber },
    });
    const signatureHeaders = await signedHeaders(firstChange, person.session);
    expect(ok(await change(person.id, { phoneNumber }, signatureHeaders), 200).phoneNumber).toBe(
      phoneNumber,
    );
    const changedCredentials = await fixture.credentialsOf(person.accountId);
    expect(changedCredentials.find((each) => each.id === credential.id)).toMatchObject({
      nickname: phoneNumber,
    });
    expect(codeOf(await change(person.id, { phoneNumber: null }))).toEqual([400, 'INVALID_INPUT']);

    const otherHolder = await createHolder({ phoneNumber: createPhone() });
    await addOtpCredential(otherHolder, 'SMS_OTP');
    expect(codeOf(await change(otherHolder.id, { phoneNumber }))).toEqual([
      409,
      'SMS_OTP_PHONE_NUMBER_ALREADY_EXISTS',
    ]);
    const secondChange = { phoneNumber: createPhone() };
    const secondSignedHeaders = await signedHeaders(
      ok(await change(otherHolder.id, secondChange), 202),
      otherHolder.session,
    );
    await addOtpCredential(otherHolder, 'SMS_OTP', 'another');
    expect(codeOf(await change(otherHolder.id, secondChange, secondSignedHeaders))).toEqual([
      409,
      'SMS_OTP_CREDENTIAL_SET_CHANGED',
    ]);
  });
});
