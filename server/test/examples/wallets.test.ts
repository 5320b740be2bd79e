// Examples of embedded wallets: credentials, sessions, and requests that the wallet signs.
import { randomBytes } from 'node:crypto';
import { describe } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { balanceOf, createPerson, createUsAccount } from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';
import { nonceOf, segment } from '../kit/http/identity-provider.ts';
import { authenticator } from '../kit/wallets/authenticator.ts';
import {
  CODE,
  encryptOtp,
  generateKeys,
  type Keys,
  signedHeaders,
} from '../kit/wallets/client-keys.ts';

/** Records the wallet of a customer. Returns its account ID. */
async function recordWalletOf(recorder: ExampleRecorder, customerId: string) {
  const query = { customerId, type: 'EMBEDDED_WALLET' };
  const { data } = await recorder.record('listCustomerInternalAccounts', 'embedded-wallet', {
    summary: 'The embedded wallet of a customer',
    query,
  });
  return data[0].id as string;
}

async function recordSession(recorder: ExampleRecorder, accountId: string): Promise<Keys> {
  const { record } = recorder;
  const keys = generateKeys();
  const { data } = await record('listAuthCredentials', 'of-a-wallet', {
    summary: 'Credentials of a wallet',
    query: { accountId },
  });
  const params = { id: data[0].id as string };
  const { otpEncryptionTargetBundle: bundle } = await record('challengeAuthCredential', 'email', {
    summary: 'Send a code by e-mail',
    params,
    body: {},
  });
  const body = {
    type: 'EMAIL_OTP',
    encryptedOtpBundle: await encryptOtp(CODE, bundle, keys.publicKey),
  };
  const challenge = await record('verifyAuthCredential', 'to-sign', {
    summary: 'First request: the reply contains the payload to sign',
    params,
    body,
  });
  await record('verifyAuthCredential', 'session', {
    summary: 'Second request, signed: a session',
    params,
    body,
    headers: await signedHeaders(challenge, keys),
  });
  return keys;
}

/** Records the first and the signed request of an operation. */
async function signRequest(
  recorder: ExampleRecorder,
  keys: Keys,
  operationId: string,
  name: string,
  request: Parameters<ExampleRecorder['record']>[2],
) {
  const firstReply = await recorder.record(operationId, `${name}-to-sign`, {
    ...request,
    summary: `${request.summary}: first request`,
  });
  return recorder.record(operationId, name, {
    ...request,
    summary: `${request.summary}: signed request`,
    headers: await signedHeaders(firstReply, keys),
  });
}

async function recordWallet(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder, {
    email: 'wallet.holder@example.com',
    phoneNumber: '+15035550123',
  });
  await recorder.app.settle();
  const accountId = await recordWalletOf(recorder, customer.id);
  const keys = await recordSession(recorder, accountId);
  const { data } = await recorder.record('listAuthSessions', 'of-a-wallet', {
    summary: 'Sessions of a wallet',
    query: { accountId },
  });
  const sms = await signRequest(recorder, keys, 'createAuthCredential', 'sms', {
    summary: 'Add codes by text message',
    body: { type: 'SMS_OTP', accountId },
  });
  await signRequest(recorder, keys, 'updateInternalAccount', 'private', {
    summary: 'Hide the transactions of the wallet',
    params: { id: accountId },
    body: { privateEnabled: true },
  });
  await signRequest(recorder, keys, 'exportInternalAccount', 'words', {
    summary: 'Export the recovery phrase',
    params: { id: accountId },
    body: { clientPublicKey: generateKeys().uncompressedKey },
  });
  const device = generateKeys();
  await signRequest(recorder, keys, 'refreshAuthSession', 'new-key', {
    summary: 'Continue the session with a new key',
    params: { id: data[0].id },
    body: { clientPublicKey: device.publicKey },
  });
  await signRequest(recorder, device, 'revokeAuthCredential', 'sms', {
    summary: 'Remove a credential',
    params: { id: sms.id },
  });
  await signRequest(recorder, device, 'revokeAuthSession', 'own', {
    summary: 'Revoke a session',
    params: { id: data[0].id },
  });
}

/** A customer with a wallet, and the keys of its session. */
async function recordWalletWithSession(recorder: ExampleRecorder, email: string) {
  const { app } = recorder;
  const customer = await createPerson(recorder, { email, phoneNumber: '+15035550199' });
  await app.settle();
  const path = `/customers/internal-accounts?customerId=${customer.id}&type=EMBEDDED_WALLET`;
  const accountId: string = ok(await app.call('GET', path), 200).data[0].id;
  const credentials = ok(await app.call('GET', `/auth/credentials?accountId=${accountId}`), 200);
  const credentialPath = `/auth/credentials/${credentials.data[0].id}`;
  const challenge = ok(await app.call('POST', `${credentialPath}/challenge`, {}), 200);
  const keys = generateKeys();
  const encryptedOtpBundle = await encryptOtp(
    CODE,
    challenge.otpEncryptionTargetBundle,
    keys.publicKey,
  );
  const body = { type: 'EMAIL_OTP', encryptedOtpBundle };
  const firstReply = ok(await app.call('POST', `${credentialPath}/verify`, body), 202);
  const headers = await signedHeaders(firstReply, keys);
  ok(await app.call('POST', `${credentialPath}/verify`, body, { headers }), 200);
  return { customer, accountId, keys };
}

/** Codes by text message, and codes by e-mail after their removal. */
async function recordCodes(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const { accountId, keys } = await recordWalletWithSession(recorder, 'wallet.codes@example.com');
  const path = `/auth/credentials?accountId=${accountId}`;
  const [email] = ok(await app.call('GET', path), 200).data;
  const send = async (method: string, path: string, body?: object) => {
    const firstReply = ok(await app.call(method, path, body), 202);
    const response = await app.call(method, path, body, {
      headers: await signedHeaders(firstReply, keys),
    });
    return response.body;
  };
  const { id } = await send('POST', '/auth/credentials', { type: 'SMS_OTP', accountId });
  const params = { id: id as string };
  const { otpEncryptionTargetBundle: bundle } = await record('challengeAuthCredential', 'sms', {
    summary: 'Send a code by text message',
    params,
    body: {},
  });
  const smsKeys = generateKeys();
  await signRequest(recorder, smsKeys, 'verifyAuthCredential', 'sms', {
    summary: 'Open a session with a code from a text message',
    params,
    body: {
      type: 'SMS_OTP',
      encryptedOtpBundle: await encryptOtp(CODE, bundle, smsKeys.publicKey),
    },
  });
  const removal = ok(await app.call('DELETE', `/auth/credentials/${email.id}`), 202);
  const headers = await signedHeaders(removal, smsKeys);
  ok(await app.call('DELETE', `/auth/credentials/${email.id}`, undefined, { headers }), 204);
  await signRequest(recorder, smsKeys, 'createAuthCredential', 'email', {
    summary: 'Add codes by e-mail',
    body: { type: 'EMAIL_OTP', accountId },
  });
}

async function recordPasskey(recorder: ExampleRecorder) {
  const { record } = recorder;
  const email = 'wallet.passkey@example.com';
  const { accountId, keys } = await recordWalletWithSession(recorder, email);
  const device = authenticator();
  const challenge = randomBytes(32).toString('base64url');
  const { id } = await signRequest(recorder, keys, 'createAuthCredential', 'passkey', {
    summary: 'Add a passkey',
    body: {
      type: 'PASSKEY',
      accountId,
      nickname: 'Phone',
      challenge,
      attestation: device.create(challenge),
    },
  });
  const params = { id: id as string };
  const passkeyChallenge = await record('challengeAuthCredential', 'passkey', {
    summary: 'The challenge for a passkey',
    params,
    body: { clientPublicKey: generateKeys().publicKey },
  });
  await record('verifyAuthCredential', 'passkey', {
    summary: 'Open a session with a passkey',
    params,
    headers: { 'request-id': passkeyChallenge.requestId },
    body: { type: 'PASSKEY', assertion: device.get(passkeyChallenge.challenge) },
  });
}

/** A user of an identity provider. The sandbox does not verify the signature of a token. */
async function recordIdentity(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const email = 'wallet.identity@example.com';
  const { accountId, keys } = await recordWalletWithSession(recorder, email);
  const now = app.effects.now() / 1000;
  const tokenOf = (claims: object) =>
    [
      segment({ alg: 'RS256', kid: 'example', typ: 'JWT' }),
      segment({
        iss: 'https://accounts.google.com',
        aud: 'northwind.example.com',
        sub: '110248495921238986420',
        email,
        iat: now,
        exp: now + 3600,
        ...claims,
      }),
      randomBytes(256).toString('base64url'),
    ].join('.');
  const { id } = await signRequest(recorder, keys, 'createAuthCredential', 'identity', {
    summary: 'Add a user of an identity provider',
    body: { type: 'OAUTH', accountId, oidcToken: tokenOf({}) },
  });
  const { publicKey } = generateKeys();
  await record('verifyAuthCredential', 'identity', {
    summary: 'Open a session with an ID token',
    params: { id },
    body: {
      type: 'OAUTH',
      oidcToken: tokenOf({ nonce: nonceOf(publicKey) }),
      clientPublicKey: publicKey,
    },
  });
}

/** A payment from a wallet, and another e-mail address that signs in to it. */
async function recordPayment(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const { customer, accountId } = await recordWalletWithSession(
    recorder,
    'wallet.payer@example.com',
  );
  const fundPath = `/sandbox/internal-accounts/${accountId}/fund`;
  ok(await app.call('POST', fundPath, { amount: 100_000_000 }), 200);
  const bank = await createUsAccount(recorder, customer.id);
  const quote = await record('createQuote', 'embedded-wallet', {
    summary: 'From an embedded wallet: the reply contains the payload to sign',
    body: {
      source: { sourceType: 'ACCOUNT', accountId },
      destination: { destinationType: 'ACCOUNT', accountId: bank.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 10_000_000,
    },
  });
  await record('executeQuote', 'wallet-to-sign', {
    summary: 'From an embedded wallet, without a signature: the reply contains the payload to sign',
    params: { quoteId: quote.id },
  });
  await record('updateCustomerById', 'email-of-a-wallet', {
    summary: 'Change the e-mail address of a wallet: the reply contains the payload to sign',
    params: { customerId: customer.id },
    body: { customerType: 'INDIVIDUAL', email: 'new.address@example.com' },
  });
}

/** Signed requests with one PROCESSING reply before completion. */
async function recordRequestsInProgress(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const { accountId, keys } = await recordWalletWithSession(recorder, 'wallet.patient@example.com');
  const setPolls = (count: number) =>
    app.runtime.db.query('update platforms set wallet_polls = $1, version = version + 1', [count]);
  await setPolls(1);
  const summary = 'Signed request: in progress, to be sent again';
  const recordSigned = async (
    operationId: string,
    [method, path, body]: [method: string, path: string, body?: object],
    params?: Record<string, string>,
  ) => {
    const firstReply = ok(await app.call(method, path, body), 202);
    const headers = await signedHeaders(firstReply, keys);
    await record(operationId, 'in-progress', { summary, params: params ?? {}, body, headers });
    return (await app.call(method, path, body, { headers })).body;
  };
  const sms = { type: 'SMS_OTP', accountId };
  const { id } = await recordSigned('createAuthCredential', ['POST', '/auth/credentials', sms]);
  await recordSigned('revokeAuthCredential', ['DELETE', `/auth/credentials/${id}`], { id });
  const { data } = ok(await app.call('GET', `/auth/sessions?accountId=${accountId}`), 200);
  const ownSession = `/auth/sessions/${data[0].id}`;
  const params = { id: data[0].id as string };
  const refreshBody = { clientPublicKey: generateKeys().publicKey };
  await recordSigned('refreshAuthSession', ['POST', `${ownSession}/refresh`, refreshBody], params);
  await recordSigned('revokeAuthSession', ['DELETE', ownSession], params);
  await setPolls(0);
}

/** A key that signs card payments of a wallet. */
async function recordDelegation(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const customer = await createPerson(recorder, { email: 'card.holder@example.com' });
  await app.settle();
  const accountId = await recordWalletOf(recorder, customer.id);
  const keys = await recordSession(recorder, accountId);
  const card = ok(
    await app.call('POST', '/cards', {
      cardholderId: customer.id,
      platformCardId: 'wallet-card-4001',
      form: 'VIRTUAL',
      fundingSources: [accountId],
    }),
    201,
  );
  await app.settle();
  const body = { cardId: card.id, internalAccountId: accountId, nickname: 'Everyday card' };
  const send = (name: string, summary: string, headers?: Record<string, string>) =>
    record('createDelegatedKey', name, { summary, body, ...(headers ? { headers } : {}) });
  const firstReply = await send('first', 'First request: the reply contains the payload to sign');
  const secondReply = await send(
    'second',
    'Second request, signed: the reply contains the payload to sign next',
    await signedHeaders(firstReply, keys),
  );
  const { id } = await send(
    'third',
    'Third request, signed: the key is active',
    await signedHeaders(secondReply, keys),
  );
  await record('listDelegatedKeys', 'of-a-wallet', {
    summary: 'Delegated keys of a wallet',
    query: { accountId },
  });
  const params = { id: id as string };
  await record('getDelegatedKeyById', 'active', { summary: 'An active key', params });
  await record('revokeDelegatedKey', 'revoked', { summary: 'Revoke a key', params });
  const balance = await balanceOf(recorder, customer.id, 'USDB');
  await record('updateCardById', 'funding-source', {
    summary: 'Pay from the balance of the customer instead',
    params: { id: card.id },
    body: { fundingSources: [balance.id] },
  });
}

describe('examples of embedded wallets', () => {
  examples('wallets', {
    recordWallet,
    recordCodes,
    recordPasskey,
    recordIdentity,
    recordPayment,
    recordRequestsInProgress,
    recordDelegation,
  });
});
