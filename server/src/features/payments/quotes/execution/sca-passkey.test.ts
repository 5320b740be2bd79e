// Payments authorized with a passkey. An assertion is valid for one amount and payee only. The
// sandbox accepts responses without a signature check. The production tests use a software
// authenticator.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  eventTypes,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../../../../test/kit/app/fixtures.ts';
import type {
  ApiResponse,
  CallOptions,
  TestPlatform,
} from '../../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { createEuropeanCustomer } from '../../../../../test/kit/customers/contacts.ts';
import { assertionJson, factorFixture } from '../../../../../test/kit/sca/factors.ts';
import { loginFixture } from '../../../../../test/kit/sca/login.ts';
import {
  ADDRESS,
  authorize,
  createQuotedPayout,
  createScaPayer,
  execute,
  ORIGIN,
  resend,
  type ScaPayer,
} from '../../../../../test/kit/sca/strong-customers.ts';
import type { Authenticator } from '../../../../../test/kit/wallets/authenticator.ts';
import { platforms } from '../../../tenancy/platform/store.ts';
import { receiveFunds } from './funding.ts';

const app = testApp();
beforeEach(() => app.advance(60_000));

const MINUTE_MS = 60_000;
const BY_PASSKEY = { scaFactor: 'PASSKEY' };

const fieldsOf = ({ status, body }: ApiResponse) => [
  status,
  body.details?.errors?.map(({ field }: { field: string }) => field),
];

interface PendingQuote {
  id: string;
  transactionId: string;
  scaChallenge: { expiresAt: string; passkeyAssertionOptions: { challenge: string } };
}

const challengeOf = ({ scaChallenge }: PendingQuote) =>
  scaChallenge.passkeyAssertionOptions.challenge;

describe('passkey in the sandbox', () => {
  let payer: ScaPayer;
  let device: Authenticator;
  beforeAll(async () => {
    payer = await createScaPayer(app);
    ({ device } = await factorFixture(app).enrollPasskey(payer.person.id));
  });

  async function createPendingQuote(): Promise<PendingQuote> {
    const { quote } = await createQuotedPayout(app, payer, { amount: 10_00 });
    return ok(await execute(app, quote.id, BY_PASSKEY), 200);
  }
  const signChallengeOf = (quote: PendingQuote, from = quote) => ({
    passkeyAssertion: assertionJson(device, challengeOf(from)),
    origin: ORIGIN,
  });

  it('is requested without origins and authorizes the payment', async () => {
    const quote = await createPendingQuote();
    expect(quote.scaChallenge).toMatchObject({
      factor: 'PASSKEY',
      availableFactors: ['SMS_OTP', 'PASSKEY'],
      purpose: 'PAYOUT',
      expiresAt: new Date(app.effects.now() + 10 * MINUTE_MS).toISOString(),
      passkeyAssertionOptions: { rpId: 'localhost', userVerification: 'required' },
    });
    expect(quote.scaChallenge).not.toHaveProperty('passkeyAllowedOrigins');
    expect(ok(await app.call('GET', `/quotes/${quote.id}`), 200)).toEqual(quote);
    const secondResponse = await resend(app, quote.id);
    expect([secondResponse.status, secondResponse.body.code]).toEqual([409, 'CONFLICT']);
    const result = ok(await authorize(app, quote.id, signChallengeOf(quote)), 200);
    expect(result.status).toBe('PROCESSING');
  });

  it('is required again for the second step, with a new challenge', async () => {
    const setTwoSteps = (sca_two_steps: boolean) =>
      app.operate(async (ctx) => {
        const row = await ctx.read(platforms, app.platform.id);
        if (row) ctx.update(platforms, row, { sca_two_steps });
      });
    await setTwoSteps(true);
    const from = payer.usdc.id;
    const { quote } = await createQuotedPayout(app, payer, {
      from,
      currency: 'EUR',
      amount: 10_000_000,
    });
    const firstQuote: PendingQuote = ok(await execute(app, quote.id, BY_PASSKEY), 200);
    await setTwoSteps(false);
    const secondQuote: PendingQuote = ok(
      await authorize(app, quote.id, signChallengeOf(firstQuote)),
      200,
    );
    expect(secondQuote.scaChallenge).toMatchObject({ factor: 'PASSKEY', purpose: 'PAYOUT' });
    expect(challengeOf(secondQuote)).not.toBe(challengeOf(firstQuote));
    expect(
      fieldsOf(await authorize(app, quote.id, signChallengeOf(secondQuote, firstQuote))),
    ).toEqual([400, ['passkeyAssertion']]);
    expect(ok(await authorize(app, quote.id, signChallengeOf(secondQuote)), 200).status).toBe(
      'PROCESSING',
    );
  });

  it('is rejected for another payment, without an origin, and for another origin', async () => {
    const [firstQuote, otherQuote] = [await createPendingQuote(), await createPendingQuote()];
    expect(challengeOf(firstQuote)).not.toBe(challengeOf(otherQuote));
    expect(
      fieldsOf(await authorize(app, firstQuote.id, signChallengeOf(firstQuote, otherQuote))),
    ).toEqual([400, ['passkeyAssertion']]);
    const { passkeyAssertion } = signChallengeOf(firstQuote);
    expect(fieldsOf(await authorize(app, firstQuote.id, { passkeyAssertion }))).toEqual([
      400,
      ['origin'],
    ]);
    const otherOriginProof = { passkeyAssertion, origin: 'https://other.example' };
    expect(fieldsOf(await authorize(app, firstQuote.id, otherOriginProof))).toEqual([
      400,
      ['origin'],
    ]);
    ok(await authorize(app, firstQuote.id, signChallengeOf(firstQuote)), 200);
    ok(await authorize(app, otherQuote.id, signChallengeOf(otherQuote)), 200);
  });

  it('has a challenge that expires after ten minutes, or with a realtime funding quote', async () => {
    const quote = await createPendingQuote();
    await app.advance(10 * MINUTE_MS - 1);
    expect(ok(await app.call('GET', `/quotes/${quote.id}`), 200).status).toBe(
      'PENDING_AUTHORIZATION',
    );
    await app.advance(1);
    expect(ok(await app.call('GET', `/quotes/${quote.id}`), 200).status).toBe('FAILED');

    const target = await createExternalAccount(app, payer.person.id, 'MXN');
    const source = {
      sourceType: 'REALTIME_FUNDING',
      customerId: payer.person.id,
      currency: 'USDC',
      cryptoNetwork: 'BASE',
    };
    const body = { ...quoteBody('', target.id, 100_000_000, BY_PASSKEY), source };
    const realtimeQuote = ok(await app.call('POST', '/quotes', body), 202);
    expect(realtimeQuote.scaChallenge.expiresAt).toBe(realtimeQuote.expiresAt);
    expect(
      ok(await authorize(app, realtimeQuote.id, signChallengeOf(realtimeQuote)), 200).status,
    ).toBe('PENDING');
  });
});

describe('passkey in production', () => {
  const SITE = { rpId: 'wallet.example.com', origins: ['https://wallet.example.com'] };
  let platform: TestPlatform;
  let options: CallOptions;
  beforeAll(async () => {
    platform = await app.newPlatform('Bank', { environment: 'production', regulated: false });
    options = { platform };
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, platform.id);
      if (row) ctx.update(platforms, row, { passkey_site: SITE });
    }, platform);
  });

  /** An approved customer with a passkey, a session and a balance of `cents`. */
  async function createPayerWithPasskey(cents: number) {
    const person = await createEuropeanCustomer(app, options);
    await app.runtime.db.query(
      `update customers set status = 'APPROVED', version = version + 1 where id = $1`,
      [person.id],
    );
    const { device, origin } = await factorFixture(app, options).enrollPasskey(person.id);
    const login = loginFixture(app, options);
    const { passkeyOptions } = ok(await login.start(person.id, 'PASSKEY'), 200);
    const passkeyAssertion = assertionJson(device, passkeyOptions.challenge);
    ok(await login.complete(person.id, { factor: 'PASSKEY', passkeyAssertion, origin }), 200);
    const account = await findInternalAccount(app, person.id, 'EUR', options);
    const deposit = { accountId: account.id, currency: 'EUR', amount: BigInt(cents) };
    await app.operate((ctx) => receiveFunds(ctx, deposit), platform);
    return { person, account, device, origin };
  }

  /** A quote for a payout of the customer to an external account. */
  async function createQuote({
    person,
    account,
  }: Awaited<ReturnType<typeof createPayerWithPasskey>>) {
    const ibanFields = { accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' };
    const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
    const accountInfo = {
      ...ibanFields,
      beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
    };
    const accountBody = { customerId: person.id, currency: 'EUR', accountInfo };
    const target = ok(
      await app.call('POST', '/customers/external-accounts', accountBody, options),
      201,
    );
    const request = quoteBody(account.id, target.id, 100_00);
    return ok(await app.call('POST', '/quotes', request, options), 201).id as string;
  }

  it('is the only factor without a connector that sends codes', async () => {
    const payer = await createPayerWithPasskey(1_000_00);
    await app.runtime.db.query(
      `update customers set version = version + 1,
        contact_verification = '{"email":"VERIFIED","phone":"VERIFIED"}' where id = $1`,
      [payer.person.id],
    );
    const id = await createQuote(payer);
    const rejectedResponse = await execute(app, id, {}, options);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
    expect(ok(await execute(app, id, BY_PASSKEY, options), 200).status).toBe(
      'PENDING_AUTHORIZATION',
    );
    // Simulates a challenge that was created while SMS was still connected.
    await app.runtime.db.query(
      `update sca_challenges set factor = 'SMS_OTP', version = version + 1 where subject = $1`,
      [id],
    );
    const secondResponse = await resend(app, id, options);
    expect([secondResponse.status, secondResponse.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
  });

  it('is the default without a phone number', async () => {
    const payer = await createPayerWithPasskey(1_000_00);
    const id = await createQuote(payer);
    const rejectedResponse = await execute(app, id, { scaFactor: 'SMS_OTP' }, options);
    expect(fieldsOf(rejectedResponse)).toEqual([400, ['scaFactor']]);
    const { scaChallenge } = ok(await execute(app, id, {}, options), 200);
    expect(scaChallenge).toMatchObject({ factor: 'PASSKEY', availableFactors: ['PASSKEY'] });
  });

  it('authorizes the payment only with its challenge and user verification', async () => {
    const payer = await createPayerWithPasskey(1_000_00);
    const { device, origin } = payer;
    const id = await createQuote(payer);
    const quote: PendingQuote = ok(await execute(app, id, BY_PASSKEY, options), 200);

    const submitAssertion = (overrides: object = {}, challenge = challengeOf(quote)) =>
      authorize(
        app,
        id,
        {
          passkeyAssertion: assertionJson(device, challenge, { counter: 7, ...overrides }),
          origin,
          endUserIpAddress: ADDRESS,
        },
        options,
      );
    const otherChallenge = Buffer.alloc(32, 1).toString('base64url');
    for (const rejectedResponse of [
      await submitAssertion({ userVerified: false }),
      await submitAssertion({}, otherChallenge),
    ]) {
      expect(rejectedResponse.status).toBe(400);
    }
    expect(ok(await submitAssertion(), 200).status).toBe('PROCESSING');
    const events = await eventTypes(app, quote.transactionId);
    expect(events.map((type) => type.replace('OUTGOING_PAYMENT.', ''))).toEqual([
      'PENDING',
      'PENDING_AUTHORIZATION',
      'PROCESSING',
    ]);
  });
});
