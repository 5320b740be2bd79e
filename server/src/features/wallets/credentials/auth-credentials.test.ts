// Rules for credentials of every type: listing, adding the first and further ones, and selecting
// the one to verify.
import { beforeAll, describe, expect, it } from 'vitest';
import { findInternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  type ClientSession,
  CODE,
  encryptOtp,
  generateKeys,
  NO_ACTIVE_SESSION,
  passkeyBody,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { errorOf, newPhoneNumber } from '../../../../test/kit/wallets/one-time-codes.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';

const MINUTE = 60_000;
const UNKNOWN_UUID = '00000000-0000-7000-8000-000000000000';

const app = testApp();
let fixture: WalletFixture;
let otherPlatformFixture: WalletFixture;
beforeAll(async () => {
  fixture = walletFixture(app);
  otherPlatformFixture = walletFixture(app, { platform: app.other });
});

const codeOf = (response: ApiResponse) => errorOf(response).slice(0, 2);
const CREDENTIAL_NOT_FOUND = [404, 'AUTH_METHOD_NOT_FOUND', 'Credential not found.'];

const createWalletWithPhoneNumber = () =>
  fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });

const create = (body: unknown, headers?: Record<string, string>) =>
  fixture.call('POST', '/auth/credentials', body, headers);
const add = (body: unknown, signer: ClientSession) =>
  fixture.callSigned('POST', '/auth/credentials', body, signer);
const idsOf = async (accountId: string) =>
  (await fixture.credentialsOf(accountId)).map(({ id }) => id as string);

describe('listAuthCredentials', () => {
  it('lists all credentials of a wallet, oldest first', async () => {
    const { accountId, customer, email, sms } = await fixture.createEmailAndSmsWallet();
    const { otpEncryptionTargetBundle: _, ...view } = sms;
    const [firstCredential, secondCredential, ...rest] = await fixture.credentialsOf(accountId);
    expect(firstCredential).toEqual({ ...email, updatedAt: expect.any(String) });
    expect(firstCredential).toEqual({
      id: expect.stringMatching(/^AuthMethod:/),
      accountId,
      type: 'EMAIL_OTP',
      nickname: customer.email,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(secondCredential).toEqual({ ...view, updatedAt: expect.any(String) });
    expect(secondCredential.nickname).toBe(customer.phoneNumber);
    expect(rest).toEqual([]);
  });

  it('returns an empty list for accounts that are unknown, of another platform or no wallet', async () => {
    const { accountId, customer } = await createWalletWithPhoneNumber();
    const plainAccount = await findInternalAccount(app, customer.id, 'USD');
    for (const id of [`InternalAccount:${UNKNOWN_UUID}`, plainAccount.id]) {
      expect(await fixture.credentialsOf(id)).toEqual([]);
    }
    expect(await otherPlatformFixture.credentialsOf(accountId)).toEqual([]);
  });

  it('requires the ID of an account', async () => {
    for (const query of [
      '',
      '?accountId=',
      '?accountId=x',
      `?accountId=Customer:${UNKNOWN_UUID}`,
    ]) {
      const response = await fixture.call('GET', `/auth/credentials${query}`);
      expect([query, ...codeOf(response)]).toEqual([query, 400, 'INVALID_INPUT']);
      expect(response.body.details.errors).toMatchObject([{ field: 'accountId' }]);
    }
  });
});

describe('createAuthCredential', () => {
  it('adds the first credential immediately, and every other one with a signature', async () => {
    const { accountId } = await fixture.createWalletCustomer({ email: undefined });
    expect(await fixture.credentialsOf(accountId)).toEqual([]);
    const firstBody = ok(await create(passkeyBody(accountId, '  My phone ')), 201);
    expect(firstBody).toMatchObject({ accountId, type: 'PASSKEY', nickname: 'My phone' });
    const secondBody = ok(await create(passkeyBody(accountId)), 202);
    expect(secondBody).toEqual({
      type: 'PASSKEY',
      payloadToSign: expect.any(String),
      requestId: expect.stringMatching(/^Request:/),
      expiresAt: new Date(app.effects.now() + 5 * MINUTE).toISOString(),
    });
    expect(await idsOf(accountId)).toEqual([firstBody.id]);
  });

  it('adds one of several concurrent first credentials', async () => {
    const { accountId } = await fixture.createWalletCustomer({ email: undefined });
    const responses = await Promise.all([1, 2, 3, 4].map(() => create(passkeyBody(accountId))));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 202, 202, 202]);
    expect(await idsOf(accountId)).toHaveLength(1);
  });

  it('sends the code of a new credential only with the signed request', async () => {
    const { accountId, customer } = await createWalletWithPhoneNumber();
    const signer = await fixture.openEmailSession(accountId);
    const body = { type: 'SMS_OTP', accountId };
    const { first, second } = await fixture.signedRetry('POST', '/auth/credentials', body, signer);
    expect(first.body).not.toHaveProperty('otpEncryptionTargetBundle');
    expect(JSON.parse(first.body.payloadToSign)).toMatchObject({
      type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
      parameters: { userPhoneNumber: customer.phoneNumber },
    });
    const smsCredential = ok(second, 201);
    const keys = generateKeys();
    const encryptedOtpBundle = await encryptOtp(
      CODE,
      smsCredential.otpEncryptionTargetBundle,
      keys.publicKey,
    );
    const path = `/auth/credentials/${smsCredential.id}/verify`;
    const verifyResponse = await fixture.callSigned(
      'POST',
      path,
      { type: 'SMS_OTP', encryptedOtpBundle },
      keys,
    );
    expect(ok(verifyResponse, 200)).toMatchObject({
      type: 'SMS_OTP',
      nickname: customer.phoneNumber,
    });
  });

  it('validates the account', async () => {
    const { accountId, customer } = await createWalletWithPhoneNumber();
    const plainAccount = await findInternalAccount(app, customer.id, 'USD');
    const foreignWallet = await otherPlatformFixture.createWalletCustomer();
    const notFoundError = [404, 'ACCOUNT_NOT_FOUND', 'Account not found.'];
    for (const id of [
      `InternalAccount:${UNKNOWN_UUID}`,
      foreignWallet.accountId,
      'x',
      customer.id,
    ]) {
      expect(errorOf(await create({ type: 'SMS_OTP', accountId: id }))).toEqual(notFoundError);
    }
    const rejectedReply = await create({ type: 'SMS_OTP', accountId: plainAccount.id });
    expect(codeOf(rejectedReply)).toEqual([400, 'INVALID_INPUT']);
    expect(rejectedReply.body.details.errors).toMatchObject([{ field: 'accountId' }]);
    ok(await create({ type: 'SMS_OTP', accountId }), 202);
  });

  it('is rejected, like other operations, until the wallet is provisioned', async () => {
    const { accountId, credential } = await createWalletWithPhoneNumber();
    await app.operate(async (ctx) => {
      await ctx.db.query("update internal_accounts set status = 'PENDING' where id = $1", [
        accountId,
      ]);
    });
    const row = await app.runtime.db.read(internalAccounts, accountId);
    expect(row?.status).toBe('PENDING');
    const expectedError = [409, 'WALLET_NOT_PROVISIONED'];
    expect(codeOf(await create({ type: 'SMS_OTP', accountId }))).toEqual(expectedError);
    const path = `/auth/credentials/${credential.id}`;
    expect(codeOf(await fixture.call('DELETE', path))).toEqual(expectedError);
    expect(codeOf(await fixture.call('POST', `${path}/challenge`))).toEqual(expectedError);
    const body = { type: 'EMAIL_OTP', encryptedOtpBundle: '{}' };
    expect(codeOf(await fixture.call('POST', `${path}/verify`, body))).toEqual(expectedError);
    await app.runtime.db.query("update internal_accounts set status = 'ACTIVE' where id = $1", [
      accountId,
    ]);
    const session = await fixture.openEmailSession(accountId);
    await app.runtime.db.query("update internal_accounts set status = 'PENDING' where id = $1", [
      accountId,
    ]);
    const sessionPath = `/auth/sessions/${session.session.id}`;
    expect(codeOf(await fixture.call('DELETE', sessionPath))).toEqual(expectedError);
    const clientPublicKey = generateKeys().publicKey;
    const refreshResponse = await fixture.call('POST', `${sessionPath}/refresh`, {
      clientPublicKey,
    });
    expect(codeOf(refreshResponse)).toEqual(expectedError);
  });

  it('rejects an existing credential in the first and in the signed request', async () => {
    const { accountId, byEmail, bySms } = await fixture.createEmailAndSmsWallet();
    const existsError = [400, 'SMS_OTP_CREDENTIAL_ALREADY_EXISTS'];
    expect(codeOf(await create({ type: 'SMS_OTP', accountId }))).toEqual(existsError);

    const body = passkeyBody(accountId);
    const createResponses = await Promise.all([create(body), create(body)]);
    const [firstHeaders, secondHeaders] = await Promise.all(
      createResponses.map(async (each, index) =>
        signedHeaders(ok(each, 202), index ? bySms : byEmail),
      ),
    );
    const responses = await Promise.all([create(body, firstHeaders), create(body, secondHeaders)]);
    expect(responses.map(codeOf).sort()).toEqual(
      [
        [201, undefined],
        [400, 'PASSKEY_CREDENTIAL_ALREADY_EXISTS'],
      ].sort(),
    );
    expect(await idsOf(accountId)).toHaveLength(3);
  });

  it('requires a signature of an active session of the same wallet', async () => {
    const { accountId } = await createWalletWithPhoneNumber();
    const otherWallet = await fixture.createEmailAndSmsWallet();
    const body = passkeyBody(accountId);
    expect(errorOf(await add(body, otherWallet.byEmail))).toEqual(NO_ACTIVE_SESSION);
    const ownSession = await fixture.openEmailSession(accountId);
    await app.advance(15 * MINUTE);
    expect(errorOf(await add(body, ownSession))).toEqual(NO_ACTIVE_SESSION);
    expect(await idsOf(accountId)).toHaveLength(1);
  });

  it('adds only the credential that was signed', async () => {
    const { accountId, byEmail } = await fixture.createEmailAndSmsWallet();
    const body = passkeyBody(accountId);
    const change = { ...body, nickname: 'Another' };
    const path = '/auth/credentials';
    const { first, second } = await fixture.signedRetry('POST', path, body, byEmail, { change });
    expect(codeOf(second)).toEqual([401, 'WALLET_SIGNATURE_BODY_MISMATCH']);
    const headers = await signedHeaders(first.body, byEmail);
    // The order of members does not affect the comparison of bodies.
    const reversedBody = Object.fromEntries(Object.entries(body).reverse());
    ok(await create(reversedBody, headers), 201);
    const secondResponse = await create(body, headers);
    expect(errorOf(secondResponse)).toEqual([
      401,
      'UNAUTHORIZED',
      'The Request-Id was already used. Send the first request again to repeat the operation.',
    ]);
  });

  it('ignores an Idempotency-Key', async () => {
    const { accountId, byEmail } = await fixture.createEmailAndSmsWallet();
    const headers = { 'idempotency-key': 'one' };
    const body = passkeyBody(accountId);
    const firstBody = ok(await create(body, headers), 202);
    expect(ok(await create(body, headers), 202).requestId).not.toBe(firstBody.requestId);
    const signatureHeaders = await signedHeaders(firstBody, byEmail);
    ok(await create(body, { ...headers, ...signatureHeaders }), 201);
    expect((await create(body, { ...headers, ...signatureHeaders })).status).toBe(401);
  });
});

describe('verifyAuthCredential', () => {
  it('accepts existing credentials only', async () => {
    const foreignWallet = await otherPlatformFixture.createWalletCustomer();
    const body = { type: 'EMAIL_OTP', encryptedOtpBundle: '{}' };
    for (const id of [`AuthMethod:${UNKNOWN_UUID}`, foreignWallet.credential.id, 'x']) {
      const path = `/auth/credentials/${id}`;
      expect(errorOf(await fixture.call('POST', `${path}/verify`, body))).toEqual(
        CREDENTIAL_NOT_FOUND,
      );
      expect(errorOf(await fixture.call('POST', `${path}/challenge`))).toEqual(
        CREDENTIAL_NOT_FOUND,
      );
    }
  });

  it('requires the type of the credential', async () => {
    const { credential } = await createWalletWithPhoneNumber();
    const response = await fixture.call('POST', `/auth/credentials/${credential.id}/verify`, {
      type: 'SMS_OTP',
      encryptedOtpBundle: '{}',
    });
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    expect(response.body.details.errors).toEqual([
      { field: 'type', message: 'must be EMAIL_OTP, the type of the credential' },
    ]);
  });
});

describe('challengeAuthCredential', () => {
  it('returns a new encryption key for each request under one idempotency key', async () => {
    const { credential } = await createWalletWithPhoneNumber();
    const path = `/auth/credentials/${credential.id}/challenge`;
    const headers = { 'idempotency-key': 'same' };
    const requestChallenge = async () =>
      ok(await fixture.call('POST', path, undefined, headers), 200);
    const [firstChallenge, secondChallenge] = [await requestChallenge(), await requestChallenge()];
    expect(secondChallenge.otpEncryptionTargetBundle).not.toBe(
      firstChallenge.otpEncryptionTargetBundle,
    );
  });
});
