// Fixture for customers under SCA with a verified phone number, a session, and EUR and USDC
// balances, and for requests that authorize their payments. The sandbox accepts 123456 for every
// code.

import {
  createExternalAccount,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';
import { confirmCode, createEuropeanCustomer, sendCode } from '../customers/contacts.ts';

export const CODE = '123456';
export const ADDRESS = '203.0.113.7';
/** Default passkey origin of the sandbox. */
export const ORIGIN = 'http://localhost:3000';

/** An individual in Germany with a verified phone number and without a session. */
export async function createPhoneVerifiedCustomer(
  app: TestApp,
  options: CallOptions = {},
  overrides: object = {},
) {
  const person = await createEuropeanCustomer(app, options, overrides);
  ok(await sendCode(app, person.id, 'phone', options), 204);
  ok(await confirmCode(app, person.id, 'phone', CODE, options), 200);
  return person;
}

/** Logs a customer in with the sandbox code. The session lasts 180 days. */
export async function logIn(app: TestApp, customerId: string, options: CallOptions = {}) {
  const customerQuery = `?customerId=${customerId}`;
  const factor = 'SMS_OTP';
  const startResponse = await app.call(
    'POST',
    `/sca/login/start${customerQuery}`,
    { factor },
    options,
  );
  const { challengeId } = ok(startResponse, 200);
  const proof = { factor, challengeId, code: CODE, endUserIpAddress: ADDRESS };
  return ok(await app.call('POST', `/sca/login/complete${customerQuery}`, proof, options), 200);
}

export type ScaPayer = Awaited<ReturnType<typeof createScaPayer>>;

/** A customer with verified phone, session and balances in minor units. */
export async function createScaPayer(
  app: TestApp,
  { eur = 1_000_00, usdc = 1_000_000_000 }: { eur?: number; usdc?: number } = {},
  options: CallOptions = {},
) {
  const person = await createPhoneVerifiedCustomer(app, options);
  await logIn(app, person.id, options);
  const accountOf = async (currency: string, amount: number) => {
    const account = await findInternalAccount(app, person.id, currency, options);
    if (amount > 0) await fundAccount(app, account.id, amount, options);
    return account;
  };
  const [euroAccount, usdcAccount] = [await accountOf('EUR', eur), await accountOf('USDC', usdc)];
  return { person, eur: euroAccount, usdc: usdcAccount };
}

/** An unexecuted quote from EUR to an external account, by default in EUR. */
export async function createQuotedPayout(
  app: TestApp,
  payer: ScaPayer,
  {
    currency = 'EUR',
    amount = 100_00,
    from = payer.eur.id,
    overrides = {},
  }: { currency?: string; amount?: number; from?: string; overrides?: object } = {},
  options: CallOptions = {},
) {
  const target = await createExternalAccount(app, payer.person.id, currency, '000', options);
  const body = quoteBody(from, target.id, amount, overrides);
  const quote = ok(await app.call('POST', '/quotes', body, options), 201);
  return { target, quote };
}

export const execute = (
  app: TestApp,
  quoteId: string,
  body: object = {},
  options: CallOptions = {},
): Promise<ApiResponse> => app.call('POST', `/quotes/${quoteId}/execute`, body, options);

/** Sends a proof for a quote. Defaults to the sandbox code. */
export const authorize = (
  app: TestApp,
  quoteId: string,
  proof: object = { code: CODE, endUserIpAddress: ADDRESS },
  options: CallOptions = {},
): Promise<ApiResponse> => app.call('POST', `/quotes/${quoteId}/authorize`, proof, options);

export const resend = (
  app: TestApp,
  quoteId: string,
  options: CallOptions = {},
): Promise<ApiResponse> =>
  app.call('POST', `/quotes/${quoteId}/authorize/resend`, undefined, options);
