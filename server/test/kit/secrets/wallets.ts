// Scenario of a wallet and its owner, from the first code to the last credential. It covers every
// credential type, sessions and signatures of every kind, the export of the recovery phrase, and
// secrets in unexpected fields. Secrets are recorded, so that a test can search for them.
import { randomBytes } from 'node:crypto';
import { mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { expect } from 'vitest';
import { ok } from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp, TestPlatform } from '../app/harness.ts';
import { nonceOf } from '../http/identity-provider.ts';
import { authenticator } from '../wallets/authenticator.ts';
import { walletCrypto } from '../wallets/client-libraries.ts';
import {
  type ClientSession,
  generateKeys,
  type Keys,
  openSessionKey,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../wallets/embedded-wallets.ts';
import { encryptTo, type OtpType, otpFixture } from '../wallets/one-time-codes.ts';
import { passkeyFixture, passkeyRegistration } from '../wallets/passkeys.ts';
import type { Exchange, SecretList } from './search.ts';

const WALLET_PLACES = ['wallet_authorizations.stamp'];
const CUSTOMER_PLACES = ['customers.', 'the event CUSTOMER.', 'the webhook CUSTOMER.'];

/** Names of secret fields in requests and replies. */
const SECRET_FIELDS: Readonly<Record<string, (value: string) => string>> = {
  encryptedSessionSigningKey: (value) => value,
  encryptedWalletCredentials: (value) => JSON.parse(value).data,
  encryptedOtpBundle: (value) => /"ciphertext":"(\w+)"/.exec(value)?.[1] ?? value,
  oidcToken: (value) => value,
  signature: (value) => value,
  attestationObject: (value) => value,
  clientDataJSON: (value) => value,
  secret: (value) => value,
  secretBase32Encoded: (value) => value,
  livenessAccessToken: (value) => value,
  accessToken: (value) => value,
};

function noteFields(secrets: SecretList, value: unknown): void {
  for (const [name, field] of Object.entries(value ?? {})) {
    if (typeof field === 'object') noteFields(secrets, field);
    const readSecret = SECRET_FIELDS[name];
    if (readSecret && typeof field === 'string') secrets.note(name, readSecret(field));
  }
}

/** Wraps the application to record exchanges and secrets. */
export function recordCalls<A extends Pick<TestApp, 'call'>>(app: A, secrets: SecretList) {
  const exchanges: Exchange[] = [];
  async function call(method: string, path: string, body?: unknown, options: CallOptions = {}) {
    noteFields(secrets, body);
    const stamp = options.headers?.['service-wallet-signature'];
    if (stamp) secrets.note('a stamp', stamp, ...WALLET_PLACES);
    const response = await app.call(method, path, body, options);
    exchanges.push({ name: `${method} ${path.replaceAll(/:[\w-]+/g, '')}`, response });
    if (response.body) noteFields(secrets, response.body);
    // The payload of a quote is part of the quote.
    const text = response.body?.payloadToSign;
    if (text && !path.startsWith('/quotes')) secrets.note('a text to sign', text);
    return response;
  }
  return { app: { ...app, call }, exchanges };
}

export interface WalletHarness {
  app: TestApp;
  platform: TestPlatform;
  secrets: SecretList;
  /** The latest code sent to the credential of this type. */
  codeOf(type: OtpType): Promise<string>;
  /** An ID token with these claims. */
  tokenOf(claims: object): Promise<string>;
  /** Called before a rate-limited request. */
  wait(): void;
}

export interface CompletedWallet extends WalletHarness {
  fixture: WalletFixture;
  accountId: string;
  customerId: string;
  email: ApiResponse['body'];
  /** The latest session. */
  session: ClientSession;
}

const randomText = (bytes = 12) => `Secret${randomBytes(bytes).toString('hex')}`;

function createKeys({ secrets }: WalletHarness): Keys {
  const keys = generateKeys();
  secrets.note('a private key of a client', keys.privateKey);
  return keys;
}

/** A session reply with its signing key. */
function sessionOf(
  { secrets }: WalletHarness,
  session: ApiResponse['body'],
  keys: Keys,
): ClientSession {
  const sealedKey = session.encryptedSessionSigningKey;
  if (sealedKey === undefined) return { session, ...keys };
  const ownSessionKey = openSessionKey(sealedKey, keys.privateKey);
  secrets.note('a private key of a session', ownSessionKey.privateKey);
  return { session, ...ownSessionKey };
}

const newContact = ({ secrets }: WalletHarness) => {
  const email = secrets.note(
    'an e-mail address',
    `${randomText(6)}@example.com`.toLowerCase(),
    ...CUSTOMER_PLACES,
  );
  const digits = String(randomBytes(4).readUInt32BE() % 9_000_000).padStart(7, '0');
  const phoneNumber = secrets.note('a telephone number', `+1415${digits}`, ...CUSTOMER_PLACES);
  return { email, phoneNumber };
};

const idempotencyHeader = () => ({ 'idempotency-key': randomBytes(12).toString('hex') });

/** Signs in, after attempts with invalid codes and with the signature of another key. */
async function signIn(
  harness: WalletHarness,
  fixture: WalletFixture,
  credential: ApiResponse['body'],
) {
  const { secrets, app } = harness;
  const { submitCode, verifyBundle } = otpFixture(app, fixture);
  const bundle = await fixture.requestOtpBundle(credential.id);
  const code = await harness.codeOf(credential.type);
  const wrongCode = secrets.note('a wrong code', randomText());
  const rejection = await submitCode(credential, bundle, { code: wrongCode });
  expect(rejection.response.status).toBe(401);
  for (const text of [
    `not JSON, ${secrets.note('a code in a text', randomText())}`,
    JSON.stringify({ otp_code: 1, public_key: secrets.note('a code in a bundle', randomText()) }),
  ]) {
    expect((await verifyBundle(credential, encryptTo(bundle, text))).status).toBe(400);
  }
  const keys = createKeys(harness);
  const { sealed: sealedBundle, response } = await submitCode(credential, bundle, { code, keys });
  const challengeReply = ok(response, 202);
  const unknownHeaders = await signedHeaders(challengeReply, createKeys(harness));
  expect((await verifyBundle(credential, sealedBundle, unknownHeaders)).status).toBe(401);
  const headers = { ...(await signedHeaders(challengeReply, keys)), ...idempotencyHeader() };
  const newSession = sessionOf(
    harness,
    ok(await verifyBundle(credential, sealedBundle, headers), 200),
    keys,
  );
  expect((await verifyBundle(credential, sealedBundle, headers)).status).toBe(401);
  return newSession;
}

/** Refreshes a session with a generated key. */
async function refresh(harness: CompletedWallet): Promise<ClientSession> {
  const keys = createKeys(harness);
  const path = `/auth/sessions/${harness.session.session.id}/refresh`;
  const body = { clientPublicKey: keys.uncompressedKey };
  const { second } = await harness.fixture.signedRetry('POST', path, body, harness.session, {
    headers: idempotencyHeader(),
  });
  return sessionOf(harness, ok(second, 201), keys);
}

/** Refreshes a session whose reply is stored until the client retries. */
export async function refreshLate(
  harness: CompletedWallet,
  concurrentWork: () => Promise<void>,
): Promise<void> {
  const keys = createKeys(harness);
  const path = `/auth/sessions/${harness.session.session.id}/refresh`;
  const body = { clientPublicKey: keys.uncompressedKey };
  const challengeReply = ok(await harness.fixture.call('POST', path, body), 202);
  const headers = await signedHeaders(challengeReply, harness.session);
  expect(ok(await harness.fixture.call('POST', path, body, headers), 200).status).toBe(
    'PROCESSING',
  );
  await concurrentWork();
  sessionOf(harness, ok(await harness.fixture.call('POST', path, body, headers), 201), keys);
}

async function proveByText(harness: CompletedWallet): Promise<void> {
  const body = { type: 'SMS_OTP', accountId: harness.accountId };
  const smsCredential = ok(
    await harness.fixture.callSigned('POST', '/auth/credentials', body, harness.session),
    201,
  );
  await harness.codeOf('SMS_OTP');
  harness.wait();
  await signIn(harness, harness.fixture, smsCredential);
}

async function proveByPasskey(harness: CompletedWallet) {
  const { fixture, accountId, session } = harness;
  const { challengeOf, verifyWith } = passkeyFixture(fixture);
  const device = authenticator();
  const body = passkeyRegistration(accountId, device, { challenge: randomText() });
  const addedCredential = ok(
    await fixture.callSigned('POST', '/auth/credentials', body, session),
    201,
  );
  const holder = { accountId, session, device, id: addedCredential.id };
  const keys = createKeys(harness);
  const challengeReply = await challengeOf(holder, keys.uncompressedKey);
  const otherOriginAssertion = device.get(challengeReply.challenge, {
    origin: 'https://elsewhere.example.com',
  });
  expect((await verifyWith(holder, challengeReply.requestId, otherOriginAssertion)).status).toBe(
    401,
  );
  const nextChallenge = await challengeOf(holder, keys.uncompressedKey);
  const proof = device.get(nextChallenge.challenge);
  const newSession = ok(await verifyWith(holder, nextChallenge.requestId, proof), 200);
  expect((await verifyWith(holder, nextChallenge.requestId, proof)).status).toBe(401);
  return sessionOf(harness, newSession, keys);
}

async function proveByIdentity(harness: CompletedWallet): Promise<void> {
  const { fixture, accountId, session } = harness;
  const claims = { aud: 'shop', sub: randomText(6) };
  const body = { type: 'OAUTH', accountId, oidcToken: await harness.tokenOf(claims) };
  const addedCredential = ok(
    await fixture.callSigned('POST', '/auth/credentials', body, session),
    201,
  );
  const keys = createKeys(harness);
  const proof = async (nonce: string) => ({
    type: 'OAUTH',
    oidcToken: await harness.tokenOf({ ...claims, nonce }),
    clientPublicKey: keys.uncompressedKey,
  });
  const path = `/auth/credentials/${addedCredential.id}/verify`;
  expect((await fixture.call('POST', path, await proof('of another key'))).status).toBe(401);
  const validProof = await proof(nonceOf(keys.uncompressedKey));
  sessionOf(
    harness,
    ok(await fixture.call('POST', path, validProof, idempotencyHeader()), 200),
    keys,
  );
  expect((await fixture.call('POST', path, validProof)).status).toBeGreaterThanOrEqual(400);
}

/** Exports the recovery phrase, which must not be stored. */
async function exportPhrase(harness: CompletedWallet): Promise<void> {
  const { fixture, accountId, session, secrets } = harness;
  const keys = createKeys(harness);
  const path = `/internal-accounts/${accountId}/export`;
  const body = { clientPublicKey: keys.uncompressedKey };
  const { second } = await fixture.signedRetry('POST', path, body, session, {
    headers: idempotencyHeader(),
  });
  const bundle = JSON.parse(ok(second, 200).encryptedWalletCredentials);
  const sealedExport = JSON.parse(Buffer.from(bundle.data, 'hex').toString());
  const mnemonicBytes = walletCrypto.hpkeDecrypt({
    ciphertextBuf: Buffer.from(sealedExport.ciphertext, 'hex'),
    encappedKeyBuf: Buffer.from(sealedExport.encappedPublic, 'hex'),
    receiverPriv: keys.privateKey,
  });
  const text = Buffer.from(mnemonicBytes).toString();
  secrets.note('the words of a seed', text);
  const words = text.split(' ');
  for (const position of [0, 4, 8])
    secrets.note('four words', words.slice(position, position + 4).join(' '));
  secrets.note('a seed', Buffer.from(mnemonicToEntropy(text, wordlist)).toString('hex'));
}

/** Sends secrets in unexpected fields. Rejections must not repeat them. */
async function sendMisplacedSecrets({
  fixture,
  accountId,
  email,
  session,
  secrets,
  ...harness
}: CompletedWallet) {
  const secret = (bytes?: number) => secrets.note('a misplaced secret', randomText(bytes));
  const key = secrets.note('a private key for a public one', generateKeys().privateKey);
  const verifyPath = `/auth/credentials/${email.id}/verify`;
  const bodies: [string, object][] = [
    [verifyPath, { type: 'EMAIL_OTP', encryptedOtpBundle: secret(), code: secret() }],
    [verifyPath, { type: secret(), encryptedOtpBundle: secret() }],
    [verifyPath, { type: 'PASSKEY', assertion: { signature: secret(), [secret()]: secret() } }],
    [`/auth/sessions/${session.session.id}/refresh`, { clientPublicKey: key }],
    [`/auth/sessions/${session.session.id}/refresh`, { clientPublicKey: `04${key}${key}` }],
    [`/internal-accounts/${accountId}/export`, { clientPublicKey: key, words: secret(20) }],
    ['/auth/credentials', { type: 'OAUTH', accountId, oidcToken: `${secret()}.${secret()}.x` }],
    ['/auth/credentials', { type: 'OAUTH', accountId: secret(), oidcToken: [secret()] }],
    ['/auth/credentials', { type: 'PASSKEY', accountId, challenge: 1, attestation: secret() }],
  ];
  for (const [path, body] of bodies) {
    const { status } = await fixture.call('POST', path, body);
    expect([path, status >= 400 && status < 500]).toEqual([path, true]);
  }
  for (const stamp of [secret(), secrets.note('an invalid stamp', key.repeat(2))]) {
    const headers = { 'service-wallet-signature': stamp, 'request-id': `Request:${secret()}` };
    const path = `/auth/sessions/${session.session.id}`;
    expect((await fixture.call('DELETE', path, undefined, headers)).status).toBe(401);
  }
  const wrongCredentials = { clientId: harness.platform.clientId, clientSecret: secret() };
  expect(
    (await harness.app.call('GET', '/config', undefined, { platform: wrongCredentials })).status,
  ).toBe(401);
}

/** Makes signed changes of the account and of the owner's contact. */
async function changeAccountAndContact(harness: CompletedWallet): Promise<void> {
  const { fixture, accountId, customerId, session } = harness;
  const privacyBody = { privateEnabled: true };
  ok(
    await fixture.callSigned('PATCH', `/internal-accounts/${accountId}`, privacyBody, session),
    200,
  );
  const { email } = newContact(harness);
  const body = { customerType: 'INDIVIDUAL', email };
  ok(await fixture.callSigned('PATCH', `/customers/${customerId}`, body, session), 200);
}

/** Creates a customer with a wallet, its first credential and a session. */
export async function beginLifecycle(harness: WalletHarness): Promise<CompletedWallet> {
  const fixture = walletFixture(harness.app, { platform: harness.platform });
  const { accountId, customer, credential } = await fixture.createWalletCustomer(
    newContact(harness),
  );
  const session = await signIn(harness, fixture, credential);
  return { ...harness, fixture, accountId, customerId: customer.id, email: credential, session };
}

/** Runs the remaining scenario. The wallet has four credentials at the end. */
export async function continueLifecycle(
  startedLifecycle: CompletedWallet,
): Promise<CompletedWallet> {
  const harness = { ...startedLifecycle, session: await refresh(startedLifecycle) };
  await proveByText(harness);
  const session = await proveByPasskey(harness);
  await proveByIdentity(harness);
  await sendMisplacedSecrets(harness);
  await changeAccountAndContact(harness);
  await exportPhrase({ ...harness, session });
  const path = `/auth/sessions/${startedLifecycle.session.session.id}`;
  ok(await harness.fixture.callSigned('DELETE', path, undefined, session), 204);
  return { ...harness, session };
}
