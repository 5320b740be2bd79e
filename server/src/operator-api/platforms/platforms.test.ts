// Operations on platforms: settings, limits, card program, and the retention of request bodies.
import { afterAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
const pathOf = (suffix = '') => `/platforms/${app.platform.id}${suffix}`;

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

const fieldsOf = (body: { details: { errors: { field: string }[] } }) =>
  body.details.errors.map(({ field }) => field).sort();

describe('platforms', () => {
  it('are created with a token whose secret is shown once', async () => {
    const body = { name: 'New', currencies: ['USD', 'EUR'], reason: 'Contract 12' };
    const headers = { 'Idempotency-Key': 'create' };
    const createdReply = ok(await client.call('POST', '/platforms', { body, headers }), 201);
    expect(createdReply.webhookPublicKey).toContain('BEGIN PUBLIC KEY');
    const { clientId, clientSecret, platformId } = createdReply;
    ok(await app.call('GET', '/config', undefined, { platform: { clientId, clientSecret } }), 200);
    const replayedReply = ok(await client.call('POST', '/platforms', { body, headers }), 201);
    expect(replayedReply.platformId).toBe(platformId);
    expect(replayedReply.clientSecret).toBeUndefined();
    const settings = ok(await client.call('GET', `/platforms/${platformId}`), 200);
    expect(settings).toMatchObject({ name: 'New', regulated: true, environment: 'sandbox' });
    const records = await client.recordsOf('createPlatform');
    expect(records).toMatchObject([{ platformId, reason: 'Contract 12' }]);
  });

  it('are shown without currencies after the removal of all currencies', async () => {
    const platform = app.other;
    const { supportedCurrencies } = ok(
      await app.call('GET', '/config', undefined, { platform }),
      200,
    );
    const change = (list: unknown) =>
      app.call('PATCH', '/config', { supportedCurrencies: list }, { platform });
    ok(await change([]), 200);
    const settings = ok(await client.call('GET', `/platforms/${platform.id}`), 200);
    expect(settings.currencies).toEqual([]);
    ok(await change(supportedCurrencies), 200);
  });

  it('are rejected with every invalid field', async () => {
    const body = { name: 'New', currencies: ['USD'], regulated: true, terms: true };
    const passkeySite = { rpId: 'com', origins: ['https://example.com'] };
    const rejectedReply = await client.call('POST', '/platforms', {
      body: { ...body, passkeySite },
    });
    expect(fieldsOf(rejectedReply.body)).toEqual(['passkeySite.rpId', 'terms']);
    const unknownReply = await client.call('POST', '/platforms', {
      body: { name: 'New', currencies: ['XXX'] },
    });
    expect([unknownReply.status, fieldsOf(unknownReply.body)]).toEqual([400, ['currencies.0']]);
  });

  it('are listed in pages, limited to the platforms of the operator', async () => {
    const firstPage = ok(await client.call('GET', '/platforms?limit=1'), 200);
    expect(firstPage).toMatchObject({ hasMore: true, data: [{ platformId: expect.any(String) }] });
    const secondPage = ok(
      await client.call('GET', `/platforms?cursor=${firstPage.nextCursor}`),
      200,
    );
    const ids = [...firstPage.data, ...secondPage.data].map((each) => each.platformId);
    expect(ids).toEqual(expect.arrayContaining([app.platform.id, app.other.id]));
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    const ownList = ok(await client.call('GET', '/platforms', { secret }), 200);
    expect(ownList.data).toMatchObject([{ platformId: app.other.id }]);
  });

  it('change only the settings in the request', async () => {
    const passkeySite = { rpId: 'example.com', origins: ['https://pay.example.com'] };
    const body = { hourlyPayments: 12, brandColor: '#FFE500', passkeySite, walletProcessing: 2 };
    const changedReply = ok(await client.call('PATCH', pathOf(), { body }), 200);
    expect(changedReply).toMatchObject({ ...body, brandColor: '#ffe500' });
    const reset = { hourlyPayments: null, brandColor: null, walletProcessing: 0 };
    expect(ok(await client.call('PATCH', pathOf(), { body: reset }), 200)).toMatchObject({
      ...reset,
      passkeySite,
    });
    expect(await client.recordsOf('updatePlatform')).toMatchObject([
      { subject: app.platform.id },
      { subject: app.platform.id },
    ]);
    const { body: error } = await client.call('PATCH', `/platforms/${app.production.id}`, {
      body: { walletProcessing: 1 },
    });
    expect(fieldsOf(error)).toEqual(['walletProcessing']);
  });

  it('that the operator may not access are hidden', async () => {
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    const limit = { currency: 'USD', perDay: 5 };
    const endTime = '2999-01-01T00:00:00Z';
    const calls = [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine' }],
      ['GET', '/limits', undefined],
      ['PUT', '/limits', limit],
      ['DELETE', '/limits?currency=USD', undefined],
      ['GET', '/card-program', undefined],
      ['PATCH', '/card-program', { maxLive: 1 }],
      ['PUT', '/request-bodies', { until: endTime }],
    ] as const;
    for (const [method, pathSuffix, body] of calls) {
      const { status, body: error } = await client.call(method, pathOf(pathSuffix), {
        body,
        secret,
      });
      expect([pathSuffix, status, error.code]).toEqual([pathSuffix, 404, 'PLATFORM_NOT_FOUND']);
      const unknownReply = await client.call(
        method,
        `/platforms/PlatformConfig:none${pathSuffix}`,
        {
          body,
        },
      );
      expect([unknownReply.status, unknownReply.body]).toEqual([404, error]);
    }
  });
});

describe('limits', () => {
  it('are set, listed and removed', async () => {
    const body = { currency: 'USD', to: 'EUR', perPayment: 1_000_00, reason: 'Review 7' };
    const setReply = ok(await client.call('PUT', pathOf('/limits'), { body }), 200);
    const { reason, ...limit } = body;
    expect(setReply).toEqual({ platformId: app.platform.id, limits: [limit] });
    expect(ok(await client.call('GET', pathOf('/limits')), 200)).toEqual(setReply);
    expect(await client.recordsOf('setPaymentLimit')).toMatchObject([
      { subject: app.platform.id, platformId: app.platform.id, reason },
    ]);
    const path = pathOf('/limits?currency=USD&to=EUR');
    expect(ok(await client.call('DELETE', path), 200).limits).toEqual([]);
    expect((await client.call('DELETE', path)).body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('require a known currency and an amount', async () => {
    const { status, body } = await client.call('PUT', pathOf('/limits'), {
      body: { currency: 'XXX' },
    });
    expect([status, fieldsOf(body)]).toEqual([400, ['currency', 'perPayment']]);
  });
});

describe('card program', () => {
  it('changes only the settings in the request', async () => {
    const programBefore = ok(await client.call('GET', pathOf('/card-program')), 200);
    const body = { maxLive: 50, frameOrigins: ['https://app.example.com'] };
    const programAfter = ok(await client.call('PATCH', pathOf('/card-program'), { body }), 200);
    expect(programAfter).toEqual({ ...programBefore, ...body });
    expect(await client.recordsOf('updateCardProgram')).toMatchObject([
      { subject: app.platform.id },
    ]);
    const rejectedReply = await client.call('PATCH', pathOf('/card-program'), {
      body: { frameOrigins: ['https://app.example.com/path'] },
    });
    expect([rejectedReply.status, fieldsOf(rejectedReply.body)]).toEqual([400, ['frameOrigins.0']]);
  });
});

describe('request bodies', () => {
  it('of a production platform are retained until a specified time', async () => {
    const path = `/platforms/${app.production.id}/request-bodies`;
    const endTime = new Date(app.effects.now() + 60_000).toISOString();
    expect(ok(await client.call('PUT', path, { body: { until: endTime } }), 200)).toEqual({
      ...{ platformId: app.production.id, environment: 'production', requestBodiesUntil: endTime },
    });
    const retention = ok(await client.call('PUT', path, { body: { until: null } }), 200);
    expect(retention.requestBodiesUntil).toBeNull();
    const pastReply = await client.call('PUT', path, { body: { until: '2020-01-01T00:00:00Z' } });
    expect([pastReply.status, fieldsOf(pastReply.body)]).toEqual([400, ['until']]);
    const sandboxReply = await client.call('PUT', pathOf('/request-bodies'), {
      body: { until: endTime },
    });
    expect([sandboxReply.status, sandboxReply.body.code]).toEqual([409, 'CONFLICT']);
  });
});
