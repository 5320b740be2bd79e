// Examples of strong customer authentication.
import { describe } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { balanceOf, createGermanAccount, createPerson, EMIL } from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';
import { assertionJson, codeAt, registrationJson } from '../kit/sca/factors.ts';
import { authenticator } from '../kit/wallets/authenticator.ts';

const CODE = '123456';
const endUserIpAddress = '203.0.113.7';

/** A customer in Germany whose telephone is verified. */
async function createEuropeanCustomer(recorder: ExampleRecorder): Promise<string> {
  const { id } = await createPerson(recorder, EMIL);
  const { app } = recorder;
  for (const contact of ['email', 'phone']) {
    await app.call('POST', `/customers/${id}/verify-${contact}`);
    await app.call('POST', `/customers/${id}/verify-${contact}/confirm`, { code: CODE });
  }
  return id;
}

async function logIn({ record }: ExampleRecorder, customerId: string) {
  const query = { customerId };
  const { challengeId } = await record('startScaLogin', 'sms', {
    summary: 'Send a code by text message',
    query,
    body: { factor: 'SMS_OTP' },
  });
  await record('completeScaLogin', 'sms', {
    summary: 'Log in with the code',
    query,
    body: { factor: 'SMS_OTP', challengeId, code: CODE, endUserIpAddress },
  });
}

async function recordPayment(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const customerId = await createEuropeanCustomer(recorder);
  await logIn(recorder, customerId);
  const account = await balanceOf(recorder, customerId, 'EUR');
  await app.call('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: 1_000_00 });
  const bank = await createGermanAccount(recorder, customerId);
  const quote = await record('createQuote', 'strong-authentication', {
    summary: 'A payment in EUR that the customer authenticates',
    body: {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'ACCOUNT', accountId: bank.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 80_00,
    },
  });
  const params = { quoteId: quote.id };
  await record('executeQuote', 'authentication-required', {
    summary: 'A quote that the customer must authorize first',
    params,
  });
  await app.advance(60_000);
  await record('resendQuoteScaCode', 'sent', { summary: 'Send the code again', params });
  await record('authorizeQuote', 'sms', {
    summary: 'Authenticate with the code',
    params,
    body: { code: CODE, endUserIpAddress },
  });
  await recordTrust(recorder, bank.id);
  await record('createQuote', 'strong-authentication-first', {
    summary: 'Paid in by bank transfer. The customer authorizes the quote first',
    body: {
      source: { sourceType: 'REALTIME_FUNDING', currency: 'EUR', customerId },
      destination: { destinationType: 'ACCOUNT', accountId: bank.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 80_00,
    },
  });
  await recordAgentPayment(recorder, customerId, bank.id);
}

/** Payments by an agent, which the customer authenticates. */
async function recordAgentPayment(
  { app, record }: ExampleRecorder,
  customerId: string,
  bankId: string,
) {
  const policy = {
    permissions: ['CREATE_QUOTES', 'EXECUTE_QUOTES'],
    defaultExecutionMode: 'AUTO',
    spendingLimits: { currency: 'EUR', perTransactionLimit: 500_00 },
  };
  const createdAgent = await app.call('POST', '/agents', {
    name: 'Bookkeeping',
    customerId,
    policy,
  });
  const code = ok(createdAgent, 201).deviceCode.code;
  const redemption = await app.call('POST', `/agents/device-codes/${code}/redeem`, undefined, {
    platform: null,
  });
  await record('agentCreateQuote', 'strong-authentication-first', {
    summary: 'Paid in by bank transfer. The customer authorizes the quote first',
    body: {
      source: { sourceType: 'REALTIME_FUNDING', currency: 'EUR', customerId },
      destination: { destinationType: 'ACCOUNT', accountId: bankId },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 80_00,
    },
    platform: null,
    headers: { authorization: `Bearer ${ok(redemption, 200).accessToken}` },
  });
}

async function recordTrust({ record }: ExampleRecorder, externalAccountId: string) {
  const params = { externalAccountId };
  const body = { code: CODE };
  await record('startBeneficiaryTrust', 'sms', {
    summary: 'Trust a payee: send a code',
    params,
  });
  await record('confirmBeneficiaryTrust', 'sms', { summary: 'Trust a payee', params, body });
  await record('startBeneficiaryUntrust', 'sms', {
    summary: 'Withdraw the trust: send a code',
    params,
  });
  await record('confirmBeneficiaryUntrust', 'sms', { summary: 'Withdraw the trust', params, body });
}

async function recordFactors(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const customerId = await createEuropeanCustomer(recorder);
  const query = { customerId };
  const { secret, secretBase32Encoded } = await record('startScaFactorEnrollment', 'app', {
    summary: 'Enroll an authenticator app',
    query,
    body: { type: 'TOTP' },
  });
  const code = codeAt(secretBase32Encoded, app.effects.now());
  await record('confirmScaFactorEnrollment', 'app', {
    summary: 'Confirm with a code of the app',
    query,
    body: { type: 'TOTP', secret, code },
  });
  const { challengeId } = await record('startScaLogin', 'app', {
    summary: 'Log in with an authenticator app',
    query,
    body: { factor: 'TOTP' },
  });
  // The code of the enrollment cannot be used again.
  await app.advance(30_000);
  await record('completeScaLogin', 'app', {
    summary: 'Log in with a code of the app',
    query,
    body: {
      factor: 'TOTP',
      challengeId,
      code: codeAt(secretBase32Encoded, app.effects.now()),
      endUserIpAddress,
    },
  });
  await record('listScaFactors', 'two', { summary: 'Factors of a customer', query });
  await record('recordSecurityEvent', 'failed-login', {
    summary: 'A failed login in your app',
    query,
    body: { eventType: 'FAILED_LOGIN_ATTEMPT' },
  });
  const { resetId } = await record('startTwoFactorReset', 'app', {
    summary: 'The customer has lost the app',
    query,
    body: { factor: 'TOTP' },
  });
  await record('getTwoFactorResetStatus', 'initiated', {
    summary: 'State of a reset',
    params: { resetId },
    query,
  });
  const path = `/sca/factors/reset/${resetId}?customerId=${customerId}`;
  await app.call('GET', path);
  await record('completeTwoFactorReset', 'done', {
    summary: 'Complete a reset after the identity check',
    params: { resetId },
    query,
    body: {},
  });
}

/** A quote of 80.00 EUR from a balance to a bank account. */
async function createEuroQuote(recorder: ExampleRecorder, customerId: string) {
  const { app } = recorder;
  const account = await balanceOf(recorder, customerId, 'EUR');
  await app.call('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: 1_000_00 });
  const bank = await createGermanAccount(recorder, customerId);
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: account.id },
    destination: { destinationType: 'ACCOUNT', accountId: bank.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 80_00,
  };
  return ok(await app.call('POST', '/quotes', body), 201);
}

async function recordPasskey(recorder: ExampleRecorder) {
  const { record } = recorder;
  const customerId = await createEuropeanCustomer(recorder);
  const query = { customerId };
  const { options: requestedOptions, allowedOrigins } = await record(
    'startScaFactorEnrollment',
    'passkey',
    {
      summary: 'Enroll a passkey: options for the browser',
      query,
      body: { type: 'PASSKEY' },
    },
  );
  const [origin] = allowedOrigins;
  const device = authenticator({ rpId: requestedOptions.rp.id, origin });
  const { factor } = await record('confirmScaFactorEnrollment', 'passkey', {
    summary: 'Confirm with the result of the browser',
    query,
    body: {
      type: 'PASSKEY',
      origin,
      credential: registrationJson(device, requestedOptions.challenge),
    },
  });
  const prove = ({ challenge }: { challenge: string }) => ({
    passkeyAssertion: assertionJson(device, challenge),
    origin,
    endUserIpAddress,
  });
  const { challengeId, passkeyOptions } = await record('startScaLogin', 'passkey', {
    summary: 'Log in with a passkey: options for the browser',
    query,
    body: { factor: 'PASSKEY' },
  });
  await record('completeScaLogin', 'passkey', {
    summary: 'Log in with the result of the browser',
    query,
    body: { factor: 'PASSKEY', challengeId, ...prove(passkeyOptions) },
  });
  const quote = await createEuroQuote(recorder, customerId);
  const params = { quoteId: quote.id as string };
  const { scaChallenge } = await record('executeQuote', 'passkey', {
    summary: 'A quote that the customer authorizes with a passkey',
    params,
    body: { scaFactor: 'PASSKEY' },
  });
  await record('authorizeQuote', 'passkey', {
    summary: 'Authenticate with a passkey',
    params,
    body: prove(scaChallenge.passkeyAssertionOptions),
  });
  await record('deleteScaFactor', 'passkey', {
    summary: 'Remove a passkey',
    params: { credentialId: factor.credentialId },
    query,
  });
}

describe('examples of strong authentication', () => {
  examples('sca', { recordPayment, recordFactors, recordPasskey });
});
