// Fixture for embedded wallets: customers with a wallet, client keys, sessions and signed retries.
// Client steps use the published client libraries, so the tests also cover compatibility.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { createCustomer, ok } from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';
import { authenticator } from './authenticator.ts';
import {
  CODE,
  encryptOtp,
  generateKeys,
  type Keys,
  type SigningKey,
  signedHeaders,
} from './client-keys.ts';

export {
  CODE,
  encryptOtp,
  generateKeys,
  type Keys,
  openSessionKey,
  type SigningKey as Holder,
  signedHeaders,
  stampWith,
} from './client-keys.ts';

/** Rejection of a session that may not sign, in the sandbox. */
export const NO_ACTIVE_SESSION = [
  401,
  'UNAUTHORIZED',
  'The wallet signature does not belong to an active session that may sign this request.',
];

/** Rejection of an active session other than the required signer. */
export const otherSessionMustSign = (requiredSigner: string) => [
  401,
  'UNAUTHORIZED',
  'The wallet signature belongs to a session that may not sign this request, because ' +
    `${requiredSigner} must sign.`,
];

/** Request to add a passkey of an authenticator. */
export function passkeyBody(accountId: string, nickname = 'Phone', device = authenticator()) {
  const challenge = randomUUID();
  return {
    type: 'PASSKEY',
    accountId,
    nickname,
    challenge,
    attestation: device.create(challenge),
  };
}

/** A session and its private key. */
export interface ClientSession extends Keys {
  // biome-ignore lint/suspicious/noExplicitAny: a reply whose fields the tests assert.
  session: any;
}

export type WalletFixture = ReturnType<typeof walletFixture>;

let counter = 0;

/** `platform` is the calling platform. Defaults to the main platform. */
export function walletFixture(app: TestApp, { platform }: Pick<CallOptions, 'platform'> = {}) {
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    app.call(method, path, body, { platform, headers });

  const credentialsOf = async (accountId: string): Promise<ApiResponse['body'][]> =>
    ok(await call('GET', `/auth/credentials?accountId=${accountId}`), 200).data;

  const sessionsOf = async (accountId: string): Promise<ApiResponse['body'][]> =>
    ok(await call('GET', `/auth/sessions?accountId=${accountId}`), 200).data;

  async function walletOf(customerId: string) {
    const path = `/customers/internal-accounts?customerId=${customerId}&type=EMBEDDED_WALLET`;
    const { data } = ok(await call('GET', path), 200);
    expect(data).toHaveLength(1);
    return data[0];
  }

  /** A customer with a provisioned wallet and its first credential. */
  async function createWalletCustomer(body: object = {}) {
    const email = `person-${++counter}@example.com`;
    const person = await createCustomer(app, { platform }, { email, ...body });
    await app.settle();
    const account = await walletOf(person.id);
    const [credential] = await credentialsOf(account.id);
    return { customer: person, account, accountId: account.id as string, credential };
  }

  /** Performs a signed retry. `change` replaces the body of the second request. */
  async function signedRetry(
    method: string,
    path: string,
    body: unknown,
    signer: SigningKey,
    { change = body, headers = {} }: { change?: unknown; headers?: Record<string, string> } = {},
  ): Promise<{ first: ApiResponse; second: ApiResponse }> {
    const firstResponse = await call(method, path, body, headers);
    ok(firstResponse, 202);
    const retryHeaders = await signedHeaders(firstResponse.body, signer);
    return {
      first: firstResponse,
      second: await call(method, path, change, { ...headers, ...retryHeaders }),
    };
  }

  /** Performs a signed retry and returns its last reply. */
  const callSigned = async (method: string, path: string, body: unknown, signer: SigningKey) =>
    (await signedRetry(method, path, body, signer)).second;

  /** Requests a one-time code and returns its encryption key. */
  async function requestOtpBundle(credentialId: string): Promise<string> {
    const response = await call('POST', `/auth/credentials/${credentialId}/challenge`, {});
    return ok(response, 200).otpEncryptionTargetBundle;
  }

  /** A session of a credential of one-time codes. */
  async function openOtpSession(
    { id, type }: { id: string; type: string },
    keys = generateKeys(),
    code = CODE,
  ): Promise<ClientSession> {
    const encryptedOtpBundle = await encryptOtp(code, await requestOtpBundle(id), keys.publicKey);
    const body = { type, encryptedOtpBundle };
    const response = await callSigned('POST', `/auth/credentials/${id}/verify`, body, keys);
    return { session: ok(response, 200), ...keys };
  }

  /** A session of the wallet's e-mail credential. */
  async function openEmailSession(
    accountId: string,
    keys = generateKeys(),
  ): Promise<ClientSession> {
    const emailCredential = (await credentialsOf(accountId)).find(
      ({ type }) => type === 'EMAIL_OTP',
    );
    expect(emailCredential).toBeDefined();
    return openOtpSession(emailCredential, keys);
  }

  /** A wallet with an e-mail and an SMS credential, and a session of each. */
  async function createEmailAndSmsWallet() {
    const phoneNumber = `+1555${String(1_000_000 + ++counter)}`;
    const { accountId, customer, credential: email } = await createWalletCustomer({ phoneNumber });
    const byEmail = await openEmailSession(accountId);
    const body = { type: 'SMS_OTP', accountId };
    const sms = ok(await callSigned('POST', '/auth/credentials', body, byEmail), 201);
    const smsSession = await openOtpSession(sms);
    return { accountId, customer, email, sms, byEmail, bySms: smsSession };
  }

  return {
    get platform() {
      return platform ?? app.platform;
    },
    call,
    credentialsOf,
    sessionsOf,
    walletOf,
    createWalletCustomer,
    signedRetry,
    callSigned,
    requestOtpBundle,
    openOtpSession,
    openEmailSession,
    createEmailAndSmsWallet,
  };
}
