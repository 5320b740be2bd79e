// Scenario of a customer under SCA. Factors are enrolled, used for logins and payments, and reset,
// mostly after a failed attempt. Secrets are recorded at their creation. Six-digit codes are
// searched as words.
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { receiveFunds } from '../../../src/features/payments/quotes/index.ts';
import { findInternalAccount, ok, quoteBody } from '../app/fixtures.ts';
import type { ApiResponse, TestApp, TestPlatform } from '../app/harness.ts';
import { confirmCode, createEuropeanCustomer, sendCode } from '../customers/contacts.ts';
import { assertionJson, codeAt, factorFixture, registrationJson } from '../sca/factors.ts';
import { authenticator } from '../wallets/authenticator.ts';
import type { Exchange, SecretList } from './search.ts';

export interface StrongAuthenticationHarness {
  app: TestApp;
  platform: TestPlatform;
  secrets: SecretList;
  exchanges: Exchange[];
  /** The latest code sent to a customer. */
  sentCode(): Promise<string>;
  /** Records the stored data now, because some of it is deleted later. */
  recordStoredData(): Promise<void>;
  /** Called before a rate-limited request. */
  wait(): void;
}

export const randomPassword = (bytes = 12) => `Secret${randomBytes(bytes).toString('hex')}`;
export const idempotencyHeader = () => ({ 'idempotency-key': randomBytes(12).toString('hex') });

/** A random IPv4 or IPv6 address, recorded as a secret. */
const randomAddress = ({ secrets }: StrongAuthenticationHarness) => {
  const [a = 0, ...remainingBytes] = randomBytes(7);
  const parts = (Buffer.from(remainingBytes).toString('hex').match(/.{4}/g) ?? []).join(':');
  const address = a % 2 ? `2001:db8:7:1:2:${parts}` : `198.51.${100 + (a % 100)}.${100 + (a % 99)}`;
  return secrets.note('an address of an end user', address);
};

const newWrongCode = ({ secrets }: StrongAuthenticationHarness) =>
  secrets.note('a wrong code', randomPassword());

/** The sent code, recorded as a secret unless it is the sandbox code. */
async function sentCode({
  platform,
  secrets,
  ...harness
}: StrongAuthenticationHarness): Promise<string> {
  const code = await harness.sentCode();
  return platform.environment === 'sandbox'
    ? code
    : secrets.recordShortSecret('a code by SMS', code);
}

type Body = ApiResponse['body'];

function createFixtures(harness: StrongAuthenticationHarness) {
  const { app, platform } = harness;
  const request = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
    app.call(method, path, body, {
      platform,
      headers: method === 'POST' ? idempotencyHeader() : {},
    });
  return {
    send: request,
    factors: factorFixture(app, { platform }),
    clearFailedAttempts: async (id: string) => {
      const eventType = 'RESET_PASSWORD_COMPLETED';
      ok(await request('POST', `/sca/record-event?customerId=${id}`, { eventType }), 200);
    },
  };
}

type Fixtures = ReturnType<typeof createFixtures>;

/** Expects the rejection of a wrong proof. */
const expectProofRejected = (response: ApiResponse) =>
  expect([response.status, response.body.code]).toEqual(INVALID_INPUT);
const INVALID_INPUT = [400, 'INVALID_INPUT'];

async function createApprovedCustomer(harness: StrongAuthenticationHarness): Promise<string> {
  const { app, platform } = harness;
  const { id } = await createEuropeanCustomer(app, { platform }, { currencies: ['EUR'] });
  const sql = `update customers set status = 'APPROVED', version = version + 1 where id = $1`;
  await app.runtime.db.query(sql, [id]);
  ok(await sendCode(app, id, 'phone', { platform }), 204);
  const correctCode = await sentCode(harness);
  expect((await confirmCode(app, id, 'phone', newWrongCode(harness), { platform })).status).toBe(
    400,
  );
  ok(await confirmCode(app, id, 'phone', correctCode, { platform }), 200);
  harness.wait();
  return id;
}

async function logInBySms(
  harness: StrongAuthenticationHarness,
  { send: request }: Fixtures,
  id: string,
): Promise<void> {
  const startBody = { factor: 'SMS_OTP' };
  const { challengeId } = ok(
    await request('POST', `/sca/login/start?customerId=${id}`, startBody),
    200,
  );
  const code = await sentCode(harness);
  const path = `/sca/login/complete?customerId=${id}`;
  const proof = { ...startBody, challengeId, code, endUserIpAddress: randomAddress(harness) };
  expectProofRejected(await request('POST', path, { ...proof, code: newWrongCode(harness) }));
  const invalidAddress = harness.secrets.note('an invalid address', randomPassword());
  expectProofRejected(await request('POST', path, { ...proof, endUserIpAddress: invalidAddress }));
  ok(await request('POST', path, proof), 200);
  harness.wait();
}

/** Enrolls an authenticator app, and logs in with its code and with a recovery code. */
async function useApp(
  harness: StrongAuthenticationHarness,
  { send: request, factors }: Fixtures,
  id: string,
): Promise<void> {
  const { app, secrets } = harness;
  const { secret, secretBase32Encoded: base32 } = ok(
    await factors.startEnrollment(id, 'TOTP'),
    200,
  );
  const currentCode = () =>
    secrets.recordShortSecret('a code of an app', codeAt(base32, app.effects.now()));
  const confirmPath = `/sca/factors/confirm?customerId=${id}`;
  const body = { type: 'TOTP', secret, code: currentCode() };
  const otherSecret = secrets.note('a secret of another app', randomBytes(20).toString('hex'));
  expectProofRejected(await request('POST', confirmPath, { ...body, secret: otherSecret }));
  expectProofRejected(await request('POST', confirmPath, { ...body, code: newWrongCode(harness) }));
  const { recoveryCodes } = ok(await request('POST', confirmPath, body), 200);
  for (const code of recoveryCodes) {
    secrets.note('a recovery code', code);
    secrets.note('a recovery code', code.replaceAll('-', ''));
  }
  harness.wait();
  const logIn = (enteredCode: string) =>
    request('POST', `/sca/login/complete?customerId=${id}`, {
      ...{ factor: 'TOTP', code: enteredCode, endUserIpAddress: randomAddress(harness) },
    });
  expectProofRejected(await logIn(secrets.note('a wrong recovery code', 'QQQQ-7777-QQQQ')));
  ok(await logIn(currentCode()), 200);
  ok(await logIn(recoveryCodes[3].toLowerCase()), 200);
  expectProofRejected(await logIn(recoveryCodes[3]));
}

/** Enrolls a passkey and logs in with it, each after a rejected proof for another challenge. */
async function usePasskey(
  harness: StrongAuthenticationHarness,
  { send: request, factors }: Fixtures,
  id: string,
) {
  const { options, allowedOrigins } = ok(await factors.startEnrollment(id, 'PASSKEY'), 200);
  const [origin] = allowedOrigins as [string];
  const device = authenticator({ rpId: options.rp.id, origin });
  const confirm = (challenge: string) =>
    request('POST', `/sca/factors/confirm?customerId=${id}`, {
      ...{ type: 'PASSKEY', origin, credential: registrationJson(device, challenge) },
    });
  const newChallenge = () => randomBytes(32).toString('base64url');
  expectProofRejected(await confirm(newChallenge()));
  const { factor } = ok(await confirm(options.challenge), 200);
  // A pending quote contains the ID, and stored replies of quotes are erased with the customer.
  harness.secrets.note('the ID of a passkey', device.credentialId, 'idempotency.reply');
  const loginChallenge = ok(
    await request('POST', `/sca/login/start?customerId=${id}`, { factor: 'PASSKEY' }),
    200,
  );
  const logIn = (challenge: string) =>
    request('POST', `/sca/login/complete?customerId=${id}`, {
      ...{ factor: 'PASSKEY', origin, endUserIpAddress: randomAddress(harness) },
      passkeyAssertion: assertionJson(device, challenge),
    });
  expectProofRejected(await logIn(newChallenge()));
  ok(await logIn(loginChallenge.passkeyOptions.challenge), 200);
  return { device, origin, credentialId: factor.credentialId as string };
}

type Passkey = Awaited<ReturnType<typeof usePasskey>>;

async function createFundedAccount(
  { app, platform }: StrongAuthenticationHarness,
  id: string,
): Promise<string> {
  const { id: accountId } = await findInternalAccount(app, id, 'EUR', { platform });
  const deposit = { accountId, currency: 'EUR', amount: 1_000_00n };
  await app.operate((ctx) => receiveFunds(ctx, deposit), platform);
  return accountId;
}

async function createPayee({ send: request }: Fixtures, customerId: string): Promise<string> {
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
  const accountInfo = {
    ...{ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' },
    beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
  };
  const body = { customerId, currency: 'EUR', accountInfo };
  return ok(await request('POST', '/customers/external-accounts', body), 201).id;
}

/** Executes a payout that requires authorization. */
async function executeQuote(
  { send: request }: Fixtures,
  from: string,
  to: string,
  factor: string,
): Promise<Body> {
  const body = quoteBody(from, to, 100_00, { scaFactor: factor });
  const { id } = ok(await request('POST', '/quotes', body), 201);
  return ok(await request('POST', `/quotes/${id}/execute`, { scaFactor: factor }), 200);
}

async function pay(
  harness: StrongAuthenticationHarness,
  fixture: Fixtures,
  id: string,
  { device, origin }: Passkey,
) {
  const from = await createFundedAccount(harness, id);
  const to = await createPayee(fixture, id);
  const authorize = (quote: Body, proof: object) =>
    fixture.send('POST', `/quotes/${quote.id}/authorize`, {
      endUserIpAddress: randomAddress(harness),
      ...proof,
    });

  const passkeyPayment = await executeQuote(fixture, from, to, 'PASSKEY');
  const { challenge } = passkeyPayment.scaChallenge.passkeyAssertionOptions;
  const proof = (text: string) => ({ passkeyAssertion: assertionJson(device, text), origin });
  expectProofRejected(
    await authorize(passkeyPayment, proof(randomBytes(32).toString('base64url'))),
  );
  ok(await authorize(passkeyPayment, proof(challenge)), 200);

  const smsPayment = await executeQuote(fixture, from, to, 'SMS_OTP');
  await harness.recordStoredData();
  await sentCode(harness);
  expectProofRejected(await authorize(smsPayment, { code: newWrongCode(harness) }));
  harness.wait();
  ok(await fixture.send('POST', `/quotes/${smsPayment.id}/authorize/resend`), 204);
  ok(await authorize(smsPayment, { code: await sentCode(harness) }), 200);
  harness.wait();

  const trustPath = `/customers/external-accounts/${to}/trust`;
  const { scaChallenge } = ok(await fixture.send('POST', trustPath), 200);
  const validProof = { challengeId: scaChallenge.id, code: await sentCode(harness) };
  expectProofRejected(
    await fixture.send('POST', `${trustPath}/confirm`, {
      ...validProof,
      code: newWrongCode(harness),
    }),
  );
  ok(await fixture.send('POST', `${trustPath}/confirm`, validProof), 200);
}

/** Resets a lost factor, through the hosted page if liveness is connected. */
async function resetLostApp(
  harness: StrongAuthenticationHarness,
  { send: request }: Fixtures,
  id: string,
): Promise<void> {
  const { app, secrets, exchanges } = harness;
  const resetPath = `/sca/factors/reset`;
  const ownerQuery = `?customerId=${id}`;
  const startedReset = ok(
    await request('POST', `${resetPath}${ownerQuery}`, { factor: 'TOTP' }),
    201,
  );
  const { resetId, verificationLink } = startedReset;
  await harness.recordStoredData();
  if (verificationLink === undefined) return;
  const openResetPage = async (method: 'GET' | 'POST', path: string) => {
    const { statusCode: status, body } = await app.server.inject({ method, url: `/reset/${path}` });
    exchanges.push({ name: `${method} /reset`, response: { status, body } });
    return status;
  };
  const secret = new URL(verificationLink).pathname.split('/').at(-1) as string;
  const unknownSecret = secrets.note(
    'an unknown secret of a link',
    randomBytes(20).toString('hex'),
  );
  expect([
    await openResetPage('GET', unknownSecret),
    await openResetPage('POST', unknownSecret),
  ]).toEqual([404, 404]);
  expect([
    await openResetPage('GET', `${secret}/more`),
    await openResetPage('GET', secret),
  ]).toEqual([404, 200]);
  expect([await openResetPage('POST', secret), await openResetPage('POST', secret)]).toEqual([
    200, 404,
  ]);
  ok(await request('POST', `${resetPath}/${resetId}/complete${ownerQuery}`, {}), 204);
  for (const reference of [secret, unknownSecret]) {
    expect((await request('GET', `${resetPath}/${reference}${ownerQuery}`)).status).toBe(404);
    expect((await request('POST', `${resetPath}/${reference}/complete${ownerQuery}`)).status).toBe(
      404,
    );
  }
}

/** Sends proofs in unexpected places. Rejections must not repeat them. */
async function sendMisplacedProofs(
  harness: StrongAuthenticationHarness,
  { send: request }: Fixtures,
  id: string,
): Promise<void> {
  const secret = (bytes?: number) =>
    harness.secrets.note('a misplaced proof', randomPassword(bytes));
  const loginPath = `/sca/login/complete?customerId=${id}`;
  const confirmPath = `/sca/factors/confirm?customerId=${id}`;
  const invalidCredential = {
    id: secret(),
    response: { clientDataJSON: secret(), [secret()]: secret() },
  };
  const ip = { endUserIpAddress: randomAddress(harness) };
  const rejectedCalls: [string, object][] = [
    [loginPath, { factor: secret(), code: secret(), ...ip }],
    [loginPath, { factor: 'SMS_OTP', challengeId: secret(), code: secret(), ...ip }],
    [loginPath, { factor: 'SMS_OTP', code: secret(40), ...ip }],
    [loginPath, { factor: 'PASSKEY', code: secret(), passkeyAssertion: secret(), ...ip }],
    [
      loginPath,
      { factor: 'PASSKEY', passkeyAssertion: invalidCredential, origin: secret(), ...ip },
    ],
    [confirmPath, { type: 'TOTP', secret: secret(40), code: secret(), [secret()]: secret() }],
    [confirmPath, { type: 'PASSKEY', origin: secret(), credential: invalidCredential }],
    [confirmPath, { type: secret(), secret: secret() }],
    [`/quotes/${secret()}/authorize`, { code: secret(), ...ip }],
    [`/sca/record-event?customerId=${id}`, { eventType: secret() }],
    [`/sca/login/start?customerId=${secret()}`, { factor: 'SMS_OTP' }],
    [`/sca/factors/reset/${secret()}/complete?customerId=${id}`, { mobile: secret() }],
  ];
  for (const [path, body] of rejectedCalls) {
    const { status } = await request('POST', path, body);
    expect([path, body, status >= 400 && status < 500]).toEqual([path, body, true]);
  }
}

/** Runs the complete scenario, from phone verification to the reset of a factor. */
export async function runScaScenario(harness: StrongAuthenticationHarness): Promise<void> {
  const fixture = createFixtures(harness);
  const id = await createApprovedCustomer(harness);
  await logInBySms(harness, fixture, id);
  await useApp(harness, fixture, id);
  const passkey = await usePasskey(harness, fixture, id);
  await fixture.clearFailedAttempts(id);
  await sendMisplacedProofs(harness, fixture, id);
  await fixture.clearFailedAttempts(id);
  await logInBySms(harness, fixture, id);
  await pay(harness, fixture, id, passkey);
  const enrollment = ok(await fixture.factors.startEnrollment(id, 'TOTP'), 200);
  expect(enrollment.secret).toMatch(/^[0-9a-f]{40}$/);
  await resetLostApp(harness, fixture, id);
  const path = `/sca/factors/${passkey.credentialId}?customerId=${id}`;
  ok(await fixture.send('DELETE', path), 204);
}
