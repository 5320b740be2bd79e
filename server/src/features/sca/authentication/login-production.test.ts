// Second factors in production: codes sent by text message, passkeys of a device, and the stored
// data of both. A code is valid only for its purpose and for the number it was sent to.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../../test/kit/app/harness.ts';
import { openSecondProcess } from '../../../../test/kit/app/second-process.ts';
import { openForFile, testApp } from '../../../../test/kit/app/test-app.ts';
import {
  confirmCode,
  createEuropeanCustomer,
  messagesTo,
  sendCode,
} from '../../../../test/kit/customers/contacts.ts';
import { startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { assertionJson, factorFixture } from '../../../../test/kit/sca/factors.ts';
import { loginFixture, scaEventsOf, statusCodeAndFields } from '../../../../test/kit/sca/login.ts';
import { authenticator } from '../../../../test/kit/wallets/authenticator.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { customers } from '../../customers/records/store.ts';
import { codeSweep } from '../../notifications/codes/codes.ts';
import { readOwnPlatform } from '../../tenancy/platform/callers.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { scaLockouts } from '../lockout/lockout.ts';
import {
  openChallenge,
  presentChallenge,
  prove,
  resendCode,
  type ScaAction,
} from './challenges.ts';
import { type ChallengeRow, scaChallenges } from './store.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

const sms = openForFile(startReceiver);
let fixture: ReturnType<typeof loginFixture>;
const app = testApp(() => ({ connectors: { smsUrl: sms.url } }));
beforeAll(async () => {
  fixture = loginFixture(app, asProduction());
});

const asProduction = () => ({ platform: app.production });
const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);
/** The last message to a customer, as sent. Other messages may be sent concurrently. */
async function readTextMessage(customerId: string) {
  const lastMessage = (await messagesTo(app, customerId)).at(-1);
  return JSON.parse(sms.arrivals.find(({ id }) => id === lastMessage?.id)?.body ?? '{}');
}
/** The code in the last message to a customer. */
const readCode = async (customerId: string) =>
  String((await readTextMessage(customerId)).text).slice(0, 6);
/** A different code. */
const wrongCode = (correctCode: string, offset = 1) =>
  String((Number(correctCode) + offset) % 1_000_000).padStart(6, '0');

/** A customer with a phone number that was verified by its code. */
async function createPerson() {
  const customer = await createEuropeanCustomer(app, asProduction(), { currencies: ['EUR'] });
  ok(await sendCode(app, customer.id, 'phone', asProduction()), 204);
  await app.settle();
  ok(
    await confirmCode(app, customer.id, 'phone', await readCode(customer.id), asProduction()),
    200,
  );
  advanceClock(MINUTE);
  return customer;
}

/** A login that awaits the code that was sent. */
async function startSmsLogin(id: string) {
  const { challengeId } = ok(await fixture.start(id, 'SMS_OTP'), 200);
  await app.settle();
  return { factor: 'SMS_OTP', challengeId: challengeId as string, code: await readCode(id) };
}

const readRows = (table: string) =>
  app.runtime.db.query<{ row: string }>(`select to_json(t)::text as row from ${table} t`, []);

describe('a code in production', () => {
  it('is sent by text message and logs in once', async () => {
    const { id, phoneNumber } = await createPerson();
    const proof = await startSmsLogin(id);
    expect(await readTextMessage(id)).toMatchObject({
      to: phoneNumber,
      text:
        `${proof.code} is your code for Production. ` +
        'It expires in 5 minutes. Do not share it with anyone.',
    });
    const wrongProof = { ...proof, code: wrongCode(proof.code) };
    expect(statusCodeAndFields(await fixture.complete(id, wrongProof))).toEqual([
      400,
      'INVALID_INPUT',
      'code',
    ]);
    ok(await fixture.complete(id, proof), 200);
    expect(statusCodeAndFields(await fixture.complete(id, proof))).toEqual([
      400,
      'INVALID_INPUT',
      'code',
    ]);
    expect((await messagesTo(app, id)).at(-1)).toMatchObject({
      ...{ kind: 'SCA_CODE', channel: 'SMS', status: 'SENT', content: null },
    });
  });

  it('differs from the sandbox code', async () => {
    const { id } = await createPerson();
    const proof = await startSmsLogin(id);
    if (proof.code === '123456') return;
    expect((await fixture.complete(id, { ...proof, code: '123456' })).status).toBe(400);
  });

  it('appears as plain text in the message only', async () => {
    const { id } = await createPerson();
    sms.behave(500);
    ok(await fixture.start(id, 'SMS_OTP'), 200);
    await app.settle();
    const message = (await messagesTo(app, id)).at(-1);
    const secret = String(message?.text).slice(0, 6);
    expect(secret).toMatch(/^\d{6}$/);
    const tables = ['codes', 'sca_challenges', 'messages', 'events', 'jobs', 'idempotency'];
    const storedRows = (await Promise.all(tables.map(readRows))).flat().map(({ row }) => row);
    expect(storedRows.length).toBeGreaterThan(3);
    // The pattern is a whole word, because random data can contain the six digits.
    const pattern = new RegExp(`\\b${secret}\\b`);
    for (const output of [...storedRows, ...app.log]) expect(output).not.toMatch(pattern);
    const [row] = await app.runtime.db.query('select digest from codes', []);
    expect(row?.digest).toMatch(/^[0-9a-f]{64}$/);
    sms.behave(200);
    await app.advance(MINUTE);
    expect(await readCode(id)).toBe(secret);
  });

  it('is sent at most ten times in 15 minutes', async () => {
    const { id } = await createPerson();
    for (let index = 0; index < 10; index++) ok(await fixture.start(id, 'SMS_OTP'), 200);
    advanceClock(MINUTE);
    const rejection = await fixture.start(id, 'SMS_OTP');
    expect(statusCodeAndFields(rejection)).toEqual([429, 'RATE_LIMITED']);
    expect(rejection.headers['retry-after']).toBe(String(14 * 60));
    advanceClock(14 * MINUTE);
    ok(await fixture.start(id, 'SMS_OTP'), 200);
  });

  it('cannot be requested without a connector for messages', async () => {
    const { id } = await createPerson();
    const appWithoutProviders = await startApp();
    const options = { platform: appWithoutProviders.production };
    const { id: otherId } = await createEuropeanCustomer(appWithoutProviders, options);
    await appWithoutProviders.runtime.db.query(
      `update customers set contact_verification = '{"email":"VERIFIED","phone":"VERIFIED"}'`,
      [],
    );
    const rejection = await loginFixture(appWithoutProviders, options).start(otherId, 'SMS_OTP');
    expect(statusCodeAndFields(rejection)).toEqual([501, 'NOT_IMPLEMENTED']);
    expect(await appWithoutProviders.runtime.db.find(scaChallenges, {})).toEqual([]);
    await appWithoutProviders.close();
    ok(await fixture.start(id, 'SMS_OTP'), 200);
  });

  it('is deleted a day after its expiry', async () => {
    const { id } = await createPerson();
    const sweep = codeSweep();
    advanceClock(2 * DAY);
    await sweep.run(app.runtime);
    await startSmsLogin(id);
    advanceClock(DAY + 5 * MINUTE);
    expect(await sweep.run(app.runtime)).toBe(0);
    advanceClock(10 * MINUTE);
    expect(await sweep.run(app.runtime)).toBe(1);
    expect(await readRows('codes')).toEqual([]);
  });
});

describe('attempts at two servers', () => {
  async function completeAt(runtime: Runtime, customerId: string, proof: object) {
    const operation = app.operations.find(
      ({ contract }) => contract.operationId === 'completeScaLogin',
    );
    const body = { endUserIpAddress: '203.0.113.7', ...proof };
    const input = { params: {}, query: { customerId }, headers: {}, body };
    const caller = systemCaller(app.production.id, 'production');
    const outcome = await operate(runtime, caller, async (ctx) => operation?.run(ctx, input)).catch(
      (fault) => ({ status: fault.status as number }),
    );
    if (!outcome) throw new Error('the server has no operation completeScaLogin');
    return 'rejected' in outcome ? outcome.rejected.status : outcome.status;
  }

  it('are limited to five in total, and the correct code is accepted once', async () => {
    const { id } = await createPerson();
    const secondRuntime = openSecondProcess(app);
    const completeOnBothServers = (count: number, proofOf: (index: number) => object) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          completeAt(index % 2 ? secondRuntime : app.runtime, id, proofOf(index)),
        ),
      );
    const validLogin = await startSmsLogin(id);
    const statuses = await completeOnBothServers(6, () => validLogin);
    expect(statuses.sort()).toEqual([200, ...Array(5).fill(400)]);
    expect((await app.runtime.db.read(scaLockouts, id))?.failed_attempts).toBe(0);
    const proof = await startSmsLogin(id);
    const wrongStatuses = await completeOnBothServers(20, (index) => ({
      ...proof,
      code: wrongCode(proof.code, index + 1),
    }));
    expect(wrongStatuses.filter((status) => status === 400)).toHaveLength(5);
    expect(wrongStatuses.filter((status) => status === 423)).toHaveLength(15);
    expect((await app.runtime.db.read(scaLockouts, id))?.failed_attempts).toBe(5);
    expect(await completeAt(secondRuntime, id, proof)).toBe(423);
    expect((await app.runtime.db.read(scaChallenges, proof.challengeId))?.wrong).toBe(5);
    await secondRuntime.close();
  });
});

describe('a proof', () => {
  const deps = () => ({ connectors: app.connectorsOf, origin: () => '' });
  const paymentAction = (amount: string): ScaAction => ({
    kind: 'PAYMENT',
    subject: 'Quote:1',
    binding: `${amount} to DE89`,
  });

  async function partyOf(ctx: Parameters<typeof readOwnPlatform>[0], id: string) {
    const customer = await ctx.read(customers, id);
    if (!customer) throw new Error(`the customer ${id} was not found`);
    return { customer, platform: await readOwnPlatform(ctx) };
  }

  const openPaymentChallenge = (
    id: string,
    action: ScaAction,
    overrides: object = {},
  ): Promise<ChallengeRow> =>
    app.operate(async (ctx) => {
      const request = { ...action, factor: undefined, field: 'scaFactor', ...overrides };
      return openChallenge(ctx, deps(), await partyOf(ctx, id), request);
    }, app.production);

  /** `valid`, or the status of the rejection. */
  const tryProof = (id: string, challengeId: string, action: ScaAction, proof: object) =>
    app
      .operate(async (ctx) => {
        const row = (await ctx.read(scaChallenges, challengeId)) as ChallengeRow;
        return prove(ctx, await partyOf(ctx, id), row, { action, proof });
      }, app.production)
      .then(
        (rejection) => rejection?.rejected.status ?? 'valid',
        (fault) => fault.status,
      );

  const requestNewCode = (
    id: string,
    challengeId: string,
    action: ScaAction,
    description?: string,
  ) =>
    app
      .operate(async (ctx) => {
        const row = (await ctx.read(scaChallenges, challengeId)) as ChallengeRow;
        const values = { action, ...(description === undefined ? {} : { description }) };
        return resendCode(ctx, deps(), await partyOf(ctx, id), row, values);
      }, app.production)
      .then(
        () => 'sent',
        (fault) => `${fault.status} ${fault.retryAfterS ?? ''}`.trim(),
      );

  it('by a code covers the amount and payee in the message', async () => {
    const { id } = await createPerson();
    const row = await openPaymentChallenge(id, paymentAction('100.00 EUR'), {
      description: '100.00 EUR to DE89…3000',
    });
    await app.settle();
    expect((await readTextMessage(id)).text).toBe(
      `${await readCode(id)} is your code for Production to confirm: 100.00 EUR to DE89…3000. ` +
        'It expires in 5 minutes. Do not share it with anyone.',
    );
    const proof = { code: await readCode(id) };
    expect(await tryProof(id, row.id, paymentAction('999.00 EUR'), proof)).toBe(400);
    expect(await tryProof(id, row.id, paymentAction('100.00 EUR'), proof)).toBe('valid');
    const types = (await scaEventsOf(app, id)).map(({ type }) => type);
    expect(types).toEqual(['AUTHORIZE_FAILED', 'AUTHORIZED']);
  });

  it('by a code is valid only for the number that it was sent to', async () => {
    const { id } = await createPerson();
    const row = await openPaymentChallenge(id, paymentAction('1.00 EUR'));
    await app.settle();
    const proof = { code: await readCode(id) };
    await app.operate(async (ctx) => {
      const { customer } = await partyOf(ctx, id);
      ctx.update(customers, customer, { phone: '+4915200000001' });
    }, app.production);
    expect(await tryProof(id, row.id, paymentAction('1.00 EUR'), proof)).toBe(400);
    expect(await requestNewCode(id, row.id, paymentAction('1.00 EUR'))).toBe('429 30');
    advanceClock(30 * SECOND);
    expect(await requestNewCode(id, row.id, paymentAction('1.00 EUR'))).toBe('sent');
    await app.settle();
    expect((await readTextMessage(id)).to).toBe('+4915200000001');
    expect(
      await tryProof(id, row.id, paymentAction('1.00 EUR'), { code: await readCode(id) }),
    ).toBe('valid');
  });

  it('by a code keeps its expiry when the code is sent again', async () => {
    const { id } = await createPerson();
    const action = paymentAction('1.00 EUR');
    const row = await openPaymentChallenge(id, action);
    await app.settle();
    advanceClock(4 * MINUTE + 30 * SECOND);
    const results = await Promise.all([
      requestNewCode(id, row.id, action, 'rent'),
      requestNewCode(id, row.id, action),
    ]);
    expect(results.sort()).toEqual(['429 30', 'sent']);
    await app.settle();
    expect((await readTextMessage(id)).text).toContain('It expires in 30 seconds.');
    advanceClock(30 * SECOND);
    expect(await requestNewCode(id, row.id, action)).toBe('409');
    expect(await tryProof(id, row.id, action, { code: await readCode(id) })).toBe(400);
    expect((await app.runtime.db.read(scaChallenges, row.id))?.expires_at).toBe(row.expires_at);
  });

  it('expires at the requested time at the latest', async () => {
    const { id } = await createPerson();
    const until = app.effects.now() + MINUTE;
    const countBefore = sms.arrivals.length;
    const row = await openPaymentChallenge(id, paymentAction('1.00 EUR'), { until });
    expect(row.expires_at).toBe(until);
    advanceClock(MINUTE);
    await app.settle();
    expect(sms.arrivals).toHaveLength(countBefore);
    expect((await messagesTo(app, id)).at(-1)).toMatchObject({ failure: 'EXPIRED' });
  });

  it('of a payment cannot use an app or a factor that is not enrolled', async () => {
    const { id } = await createPerson();
    for (const factor of ['TOTP', 'PASSKEY']) {
      const rejection = openPaymentChallenge(id, paymentAction('1.00 EUR'), { factor });
      await expect(rejection).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: { errors: [{ field: 'scaFactor' }] },
      });
    }
  });

  it('by a passkey covers the payment, with user verification', async () => {
    const site = { rpId: 'bank.example', origins: ['https://app.bank.example'] };
    const sql = 'update platforms set passkey_site = $2 where id = $1';
    await app.runtime.db.query(sql, [app.production.id, JSON.stringify(site)]);
    const { id } = await createPerson();
    const device = authenticator({ rpId: 'bank.example', origin: 'https://app.bank.example' });
    await factorFixture(app, asProduction()).enrollPasskey(id, device);
    const action = paymentAction('100.00 EUR');
    const row = await openPaymentChallenge(id, action, {
      factor: 'PASSKEY',
      steps: ['CURRENCY_CONVERSION', 'PAYOUT'],
    });
    const presentFor = (action: ScaAction) =>
      app.operate(
        async (ctx) => presentChallenge(ctx, await partyOf(ctx, id), row, action),
        app.production,
      );
    const { passkeyAssertionOptions, ...view } = await presentFor(action);
    expect(view).toEqual({
      id: row.id,
      expiresAt: new Date(app.effects.now() + 10 * MINUTE).toISOString(),
      factor: 'PASSKEY',
      availableFactors: ['SMS_OTP', 'PASSKEY'],
      purpose: 'CURRENCY_CONVERSION',
    });
    expect(row.steps).toEqual(['PAYOUT']);
    const { challenge } = passkeyAssertionOptions as { challenge: string };
    const otherView = await presentFor(paymentAction('999.00 EUR'));
    expect(otherView.passkeyAssertionOptions).not.toMatchObject({ challenge });
    const origin = 'https://app.bank.example';
    const signChallenge = (ceremony?: object) => ({
      passkeyAssertion: assertionJson(device, challenge, ceremony),
      origin,
    });
    expect(await tryProof(id, row.id, action, signChallenge({ userVerified: false }))).toBe(400);
    expect(await tryProof(id, row.id, paymentAction('999.00 EUR'), signChallenge())).toBe(400);
    expect(await tryProof(id, row.id, action, { code: '123456' })).toBe(400);
    expect(await tryProof(id, row.id, action, signChallenge())).toBe('valid');
    expect(await tryProof(id, row.id, action, signChallenge())).toBe(400);
  });

  it('by a passkey logs in', async () => {
    const site = { rpId: 'bank.example', origins: ['https://app.bank.example'] };
    const sql = 'update platforms set passkey_site = $2 where id = $1';
    await app.runtime.db.query(sql, [app.production.id, JSON.stringify(site)]);
    const { id } = await createPerson();
    const device = authenticator({ rpId: 'bank.example', origin: 'https://app.bank.example' });
    const { origin } = await factorFixture(app, asProduction()).enrollPasskey(id, device);
    const { passkeyOptions, relyingPartyId } = ok(await fixture.start(id, 'PASSKEY'), 200);
    expect(relyingPartyId).toBe('bank.example');
    const passkeyAssertion = assertionJson(device, passkeyOptions.challenge);
    const proof = { factor: 'PASSKEY', passkeyAssertion, origin };
    const responses = await Promise.all([1, 2, 3].map(() => fixture.complete(id, proof)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});
