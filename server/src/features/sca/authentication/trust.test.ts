// Trusted accounts: confirmation and removal of the trust with each factor, and rejected requests. Also the
// required customer ID of operations on factors.
import { describe, expect, it } from 'vitest';
import { createCustomer, createExternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { createEuropeanCustomer, messagesTo } from '../../../../test/kit/customers/contacts.ts';
import { assertionJson, factorFixture } from '../../../../test/kit/sca/factors.ts';
import { scaEventsOf, statusCodeAndFields } from '../../../../test/kit/sca/login.ts';
import {
  authorize,
  CODE,
  createPhoneVerifiedCustomer,
  createQuotedPayout,
  createScaPayer,
  execute,
} from '../../../../test/kit/sca/strong-customers.ts';
import { externalAccounts } from '../../payees/external-accounts/store.ts';
import { scaChallenges } from './store.ts';

const app = testApp();
const factors = factorFixture(app);

type Direction = 'trust' | 'untrust';

const start = (id: string, direction: Direction = 'trust', options: CallOptions = {}) =>
  app.call('POST', `/customers/external-accounts/${id}/${direction}`, undefined, options);
const confirm = (id: string, proof: object, direction: Direction = 'trust', options = {}) =>
  app.call('POST', `/customers/external-accounts/${id}/${direction}/confirm`, proof, options);
const remove = (id: string) => app.call('DELETE', `/customers/external-accounts/${id}`);

const challengeOf = async (id: string, direction: Direction = 'trust') =>
  ok(await start(id, direction), 200).scaChallenge;

async function changeTrust(id: string, direction: Direction) {
  const { id: challengeId } = await challengeOf(id, direction);
  return ok(await confirm(id, { challengeId, code: CODE }, direction), 200);
}

const readTrustTime = async (id: string) =>
  (await app.runtime.db.read(externalAccounts, id))?.trusted_at;

/**
 * A customer with a verified phone number and without a login, and an external account of the
 * customer.
 */
async function createPayee() {
  const person = await createPhoneVerifiedCustomer(app);
  return { person, account: await createExternalAccount(app, person.id, 'EUR') };
}

describe('beneficiary trust', () => {
  it('is added and removed with a code for the account, without a session', async () => {
    const { person, account } = await createPayee();
    const challenge = await challengeOf(account.id);
    expect(challenge).toEqual({
      id: expect.stringMatching(/^ScaChallenge:/),
      factor: 'SMS_OTP',
      availableFactors: ['SMS_OTP'],
      expiresAt: new Date(app.effects.now() + 5 * 60_000).toISOString(),
    });
    const { text } = (await messagesTo(app, person.id)).at(-1) ?? {};
    const { iban } = account.accountInfo;
    expect(text).toContain(`: trust in ${iban.slice(0, 4)}…${iban.slice(-4)}.`);
    expect(await readTrustTime(account.id)).toBeNull();
    const proof = { challengeId: challenge.id, code: CODE };
    expect(ok(await confirm(account.id, proof), 200)).toEqual({ trusted: true });
    expect(await readTrustTime(account.id)).toBe(app.effects.now());
    expect(statusCodeAndFields(await remove(account.id))).toEqual([409, 'BENEFICIARY_TRUSTED']);
    expect(await changeTrust(account.id, 'untrust')).toEqual({ trusted: false });
    expect(await readTrustTime(account.id)).toBeNull();
    ok(await remove(account.id), 204);
    const events = await scaEventsOf(app, person.id);
    expect(events.map(({ type }) => type)).toEqual(['TRUSTED', 'UNTRUSTED']);
    expect(statusCodeAndFields(await start(account.id))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });

  describe('confirmBeneficiaryUntrust', () => {
    it('can repeat, like confirmBeneficiaryTrust, with a new proof each time', async () => {
      const { account } = await createPayee();
      expect(await changeTrust(account.id, 'untrust')).toEqual({ trusted: false });
      await changeTrust(account.id, 'trust');
      const trustedSince = await readTrustTime(account.id);
      app.effects.set(app.effects.now() + 60_000);
      expect(statusCodeAndFields(await confirm(account.id, { code: CODE }))).toEqual([
        ...[400, 'INVALID_INPUT', 'challengeId'],
      ]);
      expect(await changeTrust(account.id, 'trust')).toEqual({ trusted: true });
      expect(await readTrustTime(account.id)).toBe(trustedSince);
    });
  });

  describe('startBeneficiaryTrust', () => {
    it('accepts an empty body, and its confirmation requires no challenge ID', async () => {
      const { account } = await createPayee();
      ok(await app.call('POST', `/customers/external-accounts/${account.id}/trust`, {}), 200);
      ok(await confirm(account.id, { code: CODE }), 200);
    });
  });

  it('uses PASSKEY without SMS_OTP, and TOTP without a passkey', async () => {
    const person = await createEuropeanCustomer(app);
    const account = await createExternalAccount(app, person.id, 'EUR');
    expect(statusCodeAndFields(await start(account.id))).toEqual([
      ...[400, 'INVALID_INPUT', 'externalAccountId'],
    ]);
    await factors.enrollTotp(person.id);
    expect(await challengeOf(account.id)).toMatchObject({
      ...{ factor: 'TOTP', availableFactors: ['TOTP'] },
    });
    ok(await confirm(account.id, { code: CODE }), 200);
    const { device, origin } = await factors.enrollPasskey(person.id);
    const challenge = await challengeOf(account.id, 'untrust');
    expect(challenge).toMatchObject({ factor: 'PASSKEY', passkeyAllowedOrigins: [origin] });
    const passkeyAssertion = assertionJson(device, challenge.passkeyAssertionOptions.challenge);
    const proof = { challengeId: challenge.id, passkeyAssertion, origin };
    ok(await confirm(account.id, proof, 'untrust'), 200);
  });
});

describe('a proof', () => {
  it('is valid once, for its account and direction only', async () => {
    const { person, account } = await createPayee();
    const otherExternalAccount = await createExternalAccount(app, person.id, 'EUR');
    const { id: challengeId } = await challengeOf(account.id);
    const { id: otherChallengeId } = await challengeOf(otherExternalAccount.id);
    const expectedError = [400, 'INVALID_INPUT', 'challengeId'];
    const code = CODE;
    expect(
      statusCodeAndFields(await confirm(account.id, { challengeId: otherChallengeId, code })),
    ).toEqual(expectedError);
    expect(
      statusCodeAndFields(await confirm(account.id, { challengeId, code }, 'untrust')),
    ).toEqual(expectedError);
    ok(await confirm(account.id, { challengeId, code }), 200);
    expect(statusCodeAndFields(await confirm(account.id, { challengeId, code }))).toEqual(
      expectedError,
    );
    expect(await readTrustTime(otherExternalAccount.id)).toBeNull();
  });

  it('belongs to the latest challenge', async () => {
    const { account } = await createPayee();
    const { id: olderChallengeId } = await challengeOf(account.id);
    const { id: newerChallengeId } = await challengeOf(account.id);
    expect(
      statusCodeAndFields(await confirm(account.id, { challengeId: olderChallengeId, code: CODE })),
    ).toEqual([...[400, 'INVALID_INPUT', 'challengeId']]);
    ok(await confirm(account.id, { challengeId: newerChallengeId, code: CODE }), 200);
    expect(await app.runtime.db.read(scaChallenges, olderChallengeId)).toMatchObject({
      status: 'REPLACED',
    });
  });

  it('of a passkey is invalid for the other direction and for a payment', async () => {
    const payer = await createScaPayer(app);
    const { device, origin } = await factors.enrollPasskey(payer.person.id);
    // Without a phone number the challenge uses the passkey.
    const sql = `update customers set contact_verification = '{"email":"PENDING","phone":"PENDING"}',
      version = version + 1 where id = $1`;
    await app.runtime.db.query(sql, [payer.person.id]);
    const { target, quote } = await createQuotedPayout(app, payer);
    const executedBody = ok(await execute(app, quote.id, { scaFactor: 'PASSKEY' }), 200);
    const sign = (challenge: { passkeyAssertionOptions: { challenge: string } }) => ({
      passkeyAssertion: assertionJson(device, challenge.passkeyAssertionOptions.challenge),
      origin,
    });
    const trustProof = sign(await challengeOf(target.id));
    const untrustProof = sign(await challengeOf(target.id, 'untrust'));
    const paymentProof = sign(executedBody.scaChallenge);
    const responses = [
      await confirm(target.id, untrustProof),
      await confirm(target.id, paymentProof),
      await confirm(target.id, trustProof, 'untrust'),
      await authorize(app, quote.id, trustProof),
    ];
    for (const response of responses) {
      expect(statusCodeAndFields(response)).toEqual([400, 'INVALID_INPUT', 'passkeyAssertion']);
    }
    expect(await readTrustTime(target.id)).toBeNull();
  });

  describe('confirmBeneficiaryTrust', () => {
    it('reports the invalid field of a malformed proof without counting a failure', async () => {
      const { person, account } = await createPayee();
      await challengeOf(account.id);
      for (const proof of [{}, { code: null }, { code: CODE, passkeyAssertion: {}, origin: 'x' }]) {
        const [status, code, field] = statusCodeAndFields(await confirm(account.id, proof));
        expect([status, code]).toEqual([400, 'INVALID_INPUT']);
        expect(['code', 'passkeyAssertion']).toContain(field);
      }
      expect(await scaEventsOf(app, person.id)).toEqual([]);
    });

    it('rejects a proof after expiry', async () => {
      const { account } = await createPayee();
      const { id: challengeId } = await challengeOf(account.id);
      app.effects.set(app.effects.now() + 5 * 60_000);
      expect(statusCodeAndFields(await confirm(account.id, { challengeId, code: CODE }))).toEqual([
        ...[400, 'INVALID_INPUT', 'code'],
      ]);
      expect(await readTrustTime(account.id)).toBeNull();
    });
  });

  it('that is wrong counts toward the lockout, which blocks start and confirmation', async () => {
    const { person, account } = await createPayee();
    for (let attempts = 0; attempts < 5; attempts++) {
      if (attempts % 3 === 0) await challengeOf(account.id);
      expect(statusCodeAndFields(await confirm(account.id, { code: '000000' }))).toEqual([
        ...[400, 'INVALID_INPUT', 'code'],
      ]);
    }
    const lockedResponses = [
      await start(account.id),
      await confirm(account.id, { code: CODE }),
      await start(account.id, 'untrust'),
      await confirm(account.id, { code: CODE }, 'untrust'),
    ];
    for (const response of lockedResponses) {
      expect(statusCodeAndFields(response)).toEqual([423, 'ACCOUNT_LOCKED']);
      expect(response.body.details).toMatchObject({ suspended: false, failedAttempts: 5 });
    }
    const events = await scaEventsOf(app, person.id);
    expect(events.map(({ type }) => type)).toEqual(Array(5).fill('TRUST_FAILED'));
    app.effects.set(app.effects.now() + 15 * 60_000);
    expect(await changeTrust(account.id, 'trust')).toEqual({ trusted: true });
  });
});

describe('a request for beneficiary trust', () => {
  const requestAll = async (id: string, options: CallOptions = {}) =>
    Promise.all([
      start(id, 'trust', options),
      confirm(id, { code: CODE }, 'trust', options),
      start(id, 'untrust', options),
      confirm(id, { code: CODE }, 'untrust', options),
    ]);

  it('requires an account of a customer of the platform', async () => {
    const platformExternalAccount = await createExternalAccount(app, null, 'EUR');
    const person = await createPhoneVerifiedCustomer(app, { platform: app.other });
    const otherPlatformAccount = await createExternalAccount(app, person.id, 'EUR', '000', {
      platform: app.other,
    });
    for (const id of [platformExternalAccount.id, otherPlatformAccount.id, 'x']) {
      for (const response of await requestAll(id)) {
        expect(statusCodeAndFields(response)).toEqual([404, 'ACCOUNT_NOT_FOUND']);
      }
    }
  });

  it('is rejected for customers without SCA and for deleted customers', async () => {
    const person = await createCustomer(app);
    const account = await createExternalAccount(app, person.id, 'USD');
    for (const response of await requestAll(account.id))
      expect(statusCodeAndFields(response)).toEqual([409, 'CONFLICT']);
    const deletedPayee = await createPayee();
    ok(await app.call('DELETE', `/customers/${deletedPayee.person.id}`), 200);
    for (const response of await requestAll(deletedPayee.account.id)) {
      expect(statusCodeAndFields(response)).toEqual([410, 'CUSTOMER_DELETED']);
    }
  });

  it('is rejected without a connector for messages', async () => {
    const platformOptions = { platform: app.production };
    const person = await createEuropeanCustomer(app, platformOptions);
    const sql = `update customers set contact_verification = '{"email":"VERIFIED","phone":"VERIFIED"}',
      version = version + 1 where id = $1`;
    await app.runtime.db.query(sql, [person.id]);
    const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
    const accountInfo = {
      ...{ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' },
      beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
    };
    const body = { currency: 'EUR', accountInfo, customerId: person.id };
    const createdExternalAccount = ok(
      await app.call('POST', '/customers/external-accounts', body, platformOptions),
      201,
    );
    for (const direction of ['trust', 'untrust'] as const) {
      expect(
        statusCodeAndFields(await start(createdExternalAccount.id, direction, platformOptions)),
      ).toEqual([501, 'NOT_IMPLEMENTED']);
    }
  });
});

describe.each([
  ['startBeneficiaryTrust', 'trust'],
  ['startBeneficiaryUntrust', 'untrust'],
] as const)('%s', (_operation, direction) => {
  it('is rejected for a customer without factors', async () => {
    const person = await createEuropeanCustomer(app);
    const account = await createExternalAccount(app, person.id, 'EUR');
    const { status, body } = await start(account.id, direction);
    expect([status, body.details.errors[0].field]).toEqual([400, 'externalAccountId']);
  });
});

describe('customerId', () => {
  it.each([
    ['GET', '/sca/factors'],
    ['DELETE', '/sca/factors/ScaFactor:x'],
    ['GET', '/sca/factors/reset/TwoFactorReset:x'],
  ])('is required: %s %s', async (method, path) => {
    const { status, body } = await app.call(method, path);
    expect([status, body.details.errors[0].field]).toEqual([400, 'customerId']);
  });
});
