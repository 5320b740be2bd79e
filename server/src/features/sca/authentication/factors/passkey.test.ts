// Passkeys as second factors. A software authenticator registers and asserts on a production platform, with
// every WebAuthn check. In the sandbox, a page without a device simulates an authenticator.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../../test/kit/app/fixtures.ts';
import { createEuropeanCustomer } from '../../../../../test/kit/customers/contacts.ts';
import {
  assertionJson,
  expectInvalidFields,
  factorFixture,
  openFactors,
  registrationJson,
  SITE,
  setPasskeySite,
} from '../../../../../test/kit/sca/factors.ts';
import { authenticator, type Ceremony } from '../../../../../test/kit/wallets/authenticator.ts';
import { scaFactors } from '../store.ts';
import { assertionOptions, verifyAssertion } from './factors.ts';

const MINUTE = 60_000;
const [WEB, APP] = SITE.origins as [string, string];

let factors: Awaited<ReturnType<typeof openFactors>>;
let { app, platform, fixture, sandboxFixture, createScaCustomer, advanceClock, rowOf, eventsOf } =
  {} as typeof factors;
beforeAll(async () => {
  factors = await openFactors();
  ({ app, platform, fixture, sandboxFixture, createScaCustomer, advanceClock, rowOf, eventsOf } =
    factors);
});
afterAll(() => app.close());

async function assert(id: string, challenge: string, input: { origin: string; json: object }) {
  const proof = { passkeyAssertion: input.json, origin: input.origin };
  return app.operate(
    async (ctx) => verifyAssertion(ctx, await rowOf(id), challenge, proof),
    platform,
  );
}

/** A started enrollment, and the credential that `device` creates for it. */
async function startRegistration(
  id: string,
  device = authenticator({ rpId: SITE.rpId, origin: WEB }),
) {
  const { options } = ok(await fixture.startEnrollment(id, 'PASSKEY'), 200);
  const register = (ceremony?: Ceremony) => registrationJson(device, options.challenge, ceremony);
  const confirm = (credential: object, origin: string = WEB) =>
    fixture.confirmEnrollment(id, { type: 'PASSKEY', origin, credential });
  return { options, device, register, confirm };
}

describe('a passkey', () => {
  it('has the options that browsers require', async () => {
    const { id, email } = await createEuropeanCustomer(app, { platform });
    const enrollment = ok(await fixture.startEnrollment(id, 'PASSKEY'), 200);
    expect(enrollment).toEqual({
      type: 'PASSKEY',
      relyingPartyId: SITE.rpId,
      allowedOrigins: SITE.origins,
      options: {
        rp: { id: SITE.rpId, name: 'Production' },
        user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: email },
        challenge: expect.stringMatching(/^[\w-]{43}$/),
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
        timeout: 600_000,
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        attestation: 'none',
      },
    });
    expect(Buffer.from(id).length).toBeLessThanOrEqual(64);
  });

  it('is enrolled at any of the origins, even with a key of another algorithm', async () => {
    for (const [algorithm, origin] of [
      ['ES256', WEB],
      ['EDDSA', WEB],
      ['RS256', APP],
    ] as const) {
      const id = await createScaCustomer();
      const device = authenticator({ algorithm, rpId: SITE.rpId, origin });
      const { register, confirm } = await startRegistration(id, device);
      const { type, factor } = ok(await confirm(register(), origin), 200);
      expect([type, factor]).toEqual([
        'PASSKEY',
        { factor: 'PASSKEY', credentialId: expect.any(String), name: 'Passkey' },
      ]);
      expect(ok(await fixture.listFactors(id), 200).factors).toEqual([factor]);
      expect(await eventsOf(id)).toEqual([['FACTOR_ENROLLED', 'PASSKEY', factor.credentialId]]);
    }
  });

  it.each<[string, Ceremony, string]>([
    ['without user verification', { userVerified: false }, 'credential.response.attestationObject'],
    ['without user presence', { userPresent: false }, 'credential.response.attestationObject'],
    ['of another site', { rpId: 'example.com' }, 'credential.response.attestationObject'],
    ['for another challenge', { challengeText: 'AAAA' }, 'credential.response.clientDataJSON'],
    ['from another origin', { origin: APP }, 'credential.response.clientDataJSON'],
    ['that was an assertion', { type: 'webauthn.get' }, 'credential.response.clientDataJSON'],
  ])('is rejected %s', async (_, ceremony, field) => {
    const id = await createScaCustomer();
    const { register, confirm } = await startRegistration(id);
    expectInvalidFields(await confirm(register(ceremony)), field);
    expect(await fixture.readFactors(id)).toEqual([]);
    ok(await confirm(register()), 200);
  });

  it('is rejected for an origin of another site or the ID of another credential', async () => {
    const id = await createScaCustomer();
    const { register, confirm } = await startRegistration(id);
    const foreignOrigin = 'https://shop.example.com.evil.example';
    expectInvalidFields(
      await confirm(register({ origin: foreignOrigin }), foreignOrigin),
      'origin',
    );
    expectInvalidFields(await confirm({ ...register(), id: 'AAAA' }), 'credential.id');
  });

  it('reports malformed fields, which do not count as failures', async () => {
    const id = await createScaCustomer();
    const { register, confirm } = await startRegistration(id);
    const requiredPaths = ['id', 'response.clientDataJSON', 'response.attestationObject'];
    const credentialPaths = requiredPaths.map((each) => `credential.${each}`);
    for (let round = 0; round < 6; round++)
      expectInvalidFields(await confirm({}), ...credentialPaths);
    expectInvalidFields(await confirm({ id: 'x', response: null }), ...credentialPaths.slice(1));
    ok(await confirm(register()), 200);
  });

  it('cannot be enrolled after five failures, or after ten minutes', async () => {
    const id = await createScaCustomer();
    const firstRegistration = await startRegistration(id);
    for (let round = 0; round < 5; round++) {
      expectInvalidFields(
        await firstRegistration.confirm(firstRegistration.register({ userVerified: false })),
        'credential.response.attestationObject',
      );
    }
    expectInvalidFields(await firstRegistration.confirm(firstRegistration.register()), 'type');
    const secondRegistration = await startRegistration(id);
    expectInvalidFields(
      await secondRegistration.confirm(firstRegistration.register()),
      'credential.response.clientDataJSON',
    );
    advanceClock(10 * MINUTE);
    expectInvalidFields(await secondRegistration.confirm(secondRegistration.register()), 'type');
  });

  it('is rejected at the start and at the confirmation if the customer has a passkey', async () => {
    const id = await createScaCustomer();
    const earlierRegistration = await startRegistration(id);
    await fixture.enrollPasskey(id);
    const secondResponse = await fixture.startEnrollment(id, 'PASSKEY');
    expect([secondResponse.status, secondResponse.body.code]).toEqual([
      409,
      'PASSKEY_ALREADY_ENROLLED',
    ]);
    const confirmedResponse = await earlierRegistration.confirm(earlierRegistration.register());
    expect([confirmedResponse.status, confirmedResponse.body.code]).toEqual([
      409,
      'PASSKEY_ALREADY_ENROLLED',
    ]);
  });

  it('is enrolled once by concurrent confirmations', async () => {
    const id = await createScaCustomer();
    const { register, confirm } = await startRegistration(id);
    const responses = await Promise.all([
      confirm(register()),
      confirm(register()),
      confirm(register()),
    ]);
    const statuses = responses.map(({ status }) => status).sort();
    expect([statuses[0], statuses.slice(1).every((each) => each >= 400)]).toEqual([200, true]);
    expect(await fixture.readFactors(id)).toEqual(['PASSKEY']);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('requires a configured site in production', async () => {
    const platform = await app.newPlatform('Without site', { environment: 'production' });
    const platformFixture = factorFixture(app, { platform });
    const id = await createScaCustomer(platform);
    const body = { type: 'PASSKEY', origin: WEB, credential: { id: 'x' } };
    for (const reply of [
      await platformFixture.startEnrollment(id, 'PASSKEY'),
      await platformFixture.confirmEnrollment(id, body),
    ]) {
      expect([reply.status, reply.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
    }
  });

  it('is stored encrypted', async () => {
    const id = await createScaCustomer();
    const { device } = await fixture.enrollPasskey(id);
    const rows = await app.runtime.db.find(scaFactors, { customer_id: id });
    expect(rows.map(({ type, facts }) => [type, facts.startsWith('s1.')])).toEqual([
      ['PASSKEY', true],
    ]);
    const text = JSON.stringify(rows, (_, each) => (typeof each === 'bigint' ? `${each}` : each));
    expect(text).not.toContain(device.credentialId);
  });
});

describe('an assertion', () => {
  const CHALLENGE = Buffer.from('an action').toString('base64url');

  it('requires the passkey with user verification', async () => {
    const id = await createScaCustomer();
    const { device } = await fixture.enrollPasskey(id);
    const assertionRequest = await app.operate(
      async (ctx) => assertionOptions(ctx, await rowOf(id), CHALLENGE),
      platform,
    );
    expect(assertionRequest).toEqual({
      allowedOrigins: SITE.origins,
      relyingPartyId: SITE.rpId,
      options: {
        challenge: CHALLENGE,
        timeout: 600_000,
        rpId: SITE.rpId,
        allowCredentials: [
          { type: 'public-key', id: device.credentialId, transports: ['internal'] },
        ],
        userVerification: 'required',
      },
    });
  });

  it('is valid over the challenge, from any of the origins, with an increasing counter', async () => {
    const id = await createScaCustomer();
    const { device } = await fixture.enrollPasskey(id);
    const assertFrom = (origin: string, counter: number) =>
      assert(id, CHALLENGE, {
        origin,
        json: assertionJson(device, CHALLENGE, { origin, counter }),
      });
    expect(await assertFrom(WEB, 0)).toBe(true);
    expect(await assertFrom(APP, 5)).toBe(true);
    expect(await assertFrom(WEB, 5)).toBe(false);
    expect(await assertFrom(WEB, 6)).toBe(true);
  });

  it.each<[string, Ceremony]>([
    ['over another challenge', { challengeText: 'AAAA' }],
    ['without user verification', { userVerified: false }],
    ['from another origin', { origin: APP }],
    ['of another site', { rpId: 'pay.shop.example.com' }],
    ['that was a registration', { type: 'webauthn.create' }],
    ['in a frame of another site', { topOrigin: 'https://evil.example' }],
  ])('is invalid %s', async (_, ceremony) => {
    const id = await createScaCustomer();
    const { device } = await fixture.enrollPasskey(id);
    const json = assertionJson(device, CHALLENGE, ceremony);
    expect(await assert(id, CHALLENGE, { origin: WEB, json })).toBe(false);
  });

  it('is rejected from another device and for a customer without a passkey', async () => {
    const id = await createScaCustomer();
    const { device } = await fixture.enrollPasskey(id);
    const credentialId = Buffer.from(device.credentialId, 'base64url');
    const copiedDevice = authenticator({ rpId: SITE.rpId, origin: WEB, credentialId });
    const assertWith = (customerId: string, signer: typeof device) =>
      assert(customerId, CHALLENGE, { origin: WEB, json: assertionJson(signer, CHALLENGE) });
    expect(await assertWith(id, copiedDevice)).toBe(false);
    expect(await assertWith(id, authenticator({ rpId: SITE.rpId, origin: WEB }))).toBe(false);
    expect(await assertWith(await createScaCustomer(), device)).toBe(false);
    expect(await assertWith(id, device)).toBe(true);
  });

  it('reports malformed fields and an invalid origin', async () => {
    const id = await createScaCustomer();
    const { device } = await fixture.enrollPasskey(id);
    const json = assertionJson(device, CHALLENGE);
    const readErrorFields = async (input: object, origin = WEB) =>
      assert(id, CHALLENGE, { origin, json: input }).then(
        () => 'accepted',
        ({ details }) => details.errors.map((each: { field: string }) => each.field),
      );
    const parts = ['clientDataJSON', 'authenticatorData', 'signature'];
    expect(await readErrorFields({})).toEqual([
      'passkeyAssertion.id',
      ...parts.map((each) => `passkeyAssertion.response.${each}`),
    ]);
    const response = { ...json.response, signature: '!' };
    expect(await readErrorFields({ ...json, response })).toEqual([
      'passkeyAssertion.response.signature',
    ]);
    expect(await readErrorFields(json, 'https://evil.example')).toEqual(['origin']);
    expect(await readErrorFields(json)).toBe('accepted');
  });
});

describe('a passkey of the sandbox', () => {
  const ORIGIN = 'http://localhost:3000';
  const credentialJson = (challenge: unknown, overrides: object = {}) => ({
    id: 'cGxheWVk',
    response: {
      clientDataJSON: Buffer.from(JSON.stringify({ challenge, ...overrides })).toString(
        'base64url',
      ),
    },
  });

  it('requires only the challenge and an allowed origin', async () => {
    const id = await createScaCustomer(app.platform);
    const enrollment = ok(await sandboxFixture.startEnrollment(id, 'PASSKEY'), 200);
    expect([enrollment.relyingPartyId, enrollment.allowedOrigins]).toEqual(['localhost', [ORIGIN]]);
    const { challenge } = enrollment.options;
    const confirm = (input: object, origin = ORIGIN) =>
      sandboxFixture.confirmEnrollment(id, { type: 'PASSKEY', origin, credential: input });
    const dataField = 'credential.response.clientDataJSON';
    expectInvalidFields(
      await confirm(credentialJson(challenge), 'http://localhost:4000'),
      'origin',
    );
    expectInvalidFields(await confirm(credentialJson('AAAA')), dataField);
    expectInvalidFields(await confirm(credentialJson(7)), dataField);
    expectInvalidFields(
      await confirm(credentialJson(challenge, { origin: 'http://localhost:1' })),
      dataField,
    );
    expectInvalidFields(await confirm({ id: 'x', response: { clientDataJSON: 'bm8' } }), dataField);
    const { factor } = ok(await confirm(credentialJson(challenge)), 200);
    expect(ok(await sandboxFixture.listFactors(id), 200).factors).toEqual([factor]);
    ok(await sandboxFixture.removePasskey(id, factor.credentialId), 204);
  });

  it('can be enrolled with a device and asserted by simulation at a configured site', async () => {
    const platform = await app.newPlatform('With a site');
    const siteFixture = factorFixture(app, { platform });
    await setPasskeySite(app, platform, SITE);
    const id = await createScaCustomer(platform);
    const { origin } = await siteFixture.enrollPasskey(id);
    expect(origin).toBe(WEB);
    const result = await app.operate(async (ctx) => {
      const row = await rowOf(id);
      const proofOf = (challenge: string) => ({
        passkeyAssertion: credentialJson(challenge, { origin }),
        origin,
      });
      return [
        await verifyAssertion(ctx, row, 'AAAA', proofOf('AAAA')),
        await verifyAssertion(ctx, row, 'AAAA', proofOf('BBBB')),
      ];
    }, platform);
    expect(result).toEqual([true, false]);
  });
});
