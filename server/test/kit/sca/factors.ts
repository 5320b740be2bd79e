// Fixture for SCA factors: enrollment of an authenticator app and of a software passkey, and their
// proofs.
import { TOTP } from 'otpauth';
import { expect } from 'vitest';
import { customers } from '../../../src/features/customers/records/store.ts';
import { scaEvents } from '../../../src/features/sca/events/events.ts';
import { platforms } from '../../../src/features/tenancy/platform/store.ts';
import { ok } from '../app/fixtures.ts';
import {
  type ApiResponse,
  type CallOptions,
  startApp,
  type TestApp,
  type TestPlatform,
} from '../app/harness.ts';
import { createEuropeanCustomer } from '../customers/contacts.ts';
import { type Authenticator, authenticator, type Ceremony } from '../wallets/authenticator.ts';
import { fieldsOf } from '../wallets/passkeys.ts';

/** TOTP code of a Base32 secret at `now`. */
export const codeAt = (secretBase32: string, now: number): string =>
  new TOTP({ secret: secretBase32 }).generate({ timestamp: now });

/** A registration in the JSON format of browsers. */
export function registrationJson(device: Authenticator, challenge: string, ceremony?: Ceremony) {
  const credential = device.create(challenge, { userVerified: true, ...ceremony });
  const {
    credentialId: id,
    clientDataJson: clientDataJSON,
    attestationObject,
    transports,
  } = credential;
  const response = { clientDataJSON, attestationObject, transports };
  return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
}

/** An assertion in the JSON format of browsers, over a challenge in base64url. */
export function assertionJson(device: Authenticator, challenge: string, ceremony?: Ceremony) {
  const assertion = device.get('', { userVerified: true, challengeText: challenge, ...ceremony });
  const { credentialId: id, clientDataJson: clientDataJSON, ...proof } = assertion;
  return { id, rawId: id, type: 'public-key', response: { clientDataJSON, ...proof } };
}

/** Requests for the factors of a customer. */
export function factorFixture(app: TestApp, options: CallOptions = {}) {
  const urlOf = (path: string, id: string) => `/sca/factors${path}?customerId=${id}`;
  const listFactors = (id: string) => app.call('GET', urlOf('', id), undefined, options);
  const startEnrollment = (id: string, type: string, overrides: CallOptions = {}) =>
    app.call('POST', urlOf('', id), { type }, { ...options, ...overrides });
  const confirmEnrollment = (id: string, body: object, overrides: CallOptions = {}) =>
    app.call('POST', urlOf('/confirm', id), body, { ...options, ...overrides });
  const removePasskey = (id: string, credentialId: string) =>
    app.call('DELETE', urlOf(`/${credentialId}`, id), undefined, options);

  return {
    listFactors,
    startEnrollment,
    confirmEnrollment,
    removePasskey,
    readFactors: async (id: string): Promise<string[]> =>
      ok(await listFactors(id), 200).factors.map((factor: { factor: string }) => factor.factor),
    /** Enrolls an authenticator app. Returns secret and recovery codes. */
    async enrollTotp(id: string) {
      const { secret, secretBase32Encoded: base32 } = ok(await startEnrollment(id, 'TOTP'), 200);
      const code = codeAt(base32, app.effects.now());
      const { recoveryCodes } = ok(
        await confirmEnrollment(id, { type: 'TOTP', secret, code }),
        200,
      );
      return { secret, base32, recoveryCodes } as Record<'secret' | 'base32', string> & {
        recoveryCodes: string[];
      };
    },
    /** Enrolls a passkey. Returns the authenticator, its origin and the credential ID. */
    async enrollPasskey(id: string, existingDevice?: Authenticator) {
      const { options: requestedOptions, allowedOrigins } = ok(
        await startEnrollment(id, 'PASSKEY'),
        200,
      );
      const [origin] = allowedOrigins as [string];
      const device = existingDevice ?? authenticator({ rpId: requestedOptions.rp.id, origin });
      const credential = registrationJson(device, requestedOptions.challenge);
      const { factor } = ok(
        await confirmEnrollment(id, { type: 'PASSKEY', origin, credential }),
        200,
      );
      return { device, origin, credentialId: factor.credentialId as string };
    },
  };
}

export const SITE = {
  rpId: 'shop.example.com',
  origins: ['https://pay.shop.example.com', 'android:apk-key-hash:uKTwrTnTRCCaU7-hWH2nQkzAEGs'],
};

/** Sets the passkey site of a platform. */
export const setPasskeySite = (app: TestApp, platform: TestPlatform, passkey_site: typeof SITE) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(platforms, platform.id);
    if (row) ctx.update(platforms, row, { passkey_site });
  }, platform);

/** Expects INVALID_INPUT for these fields. */
export function expectInvalidFields(reply: ApiResponse, ...fields: string[]) {
  expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_INPUT']);
  expect(fieldsOf(reply)).toEqual(fields);
}

/**
 * A server whose production platform has a passkey site, and requests in production and sandbox.
 */
export async function openFactors() {
  const app = await startApp();
  const { production } = app;
  await setPasskeySite(app, production, SITE);
  const { db } = app.runtime;
  return {
    app,
    close: app.close,
    platform: production,
    /** Factors in production. */
    fixture: factorFixture(app, { platform: production }),
    /** Factors in the sandbox. */
    sandboxFixture: factorFixture(app),
    /** A customer under SCA. */
    createScaCustomer: async (platform: TestPlatform = production) =>
      (await createEuropeanCustomer(app, { platform })).id as string,
    advanceClock: (ms: number) => app.effects.set(app.effects.now() + ms),
    async rowOf(id: string) {
      const row = await db.read(customers, id);
      if (!row) throw new Error(`no customer has the ID ${id}`);
      return row;
    },
    /** Type, factor and subject of the SCA events of a customer. */
    async eventsOf(id: string) {
      const rows = await db.find(scaEvents, { customer_id: id }, { orderBy: 'id' });
      return rows.map(({ type, factor, subject }) => [type, factor, subject]);
    },
  };
}
