// Verification links over the API and the requests of the page: validity, reachable data and
// limits. Browser tests of the page are in test/browser.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { type ApiResponse, startApp, wireOf } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { documentForm, pdfFile } from '../../../../test/kit/http/documents.ts';
import { customers } from '../records/store.ts';
import { decide } from '../verifications/decide.ts';

const DAY_MS = 24 * 3_600_000;

const IDENTIFIER = { idType: 'SSN', identifier: '123-45-6789' };
const BUSINESS = {
  customerType: 'BUSINESS',
  businessInfo: {
    legalName: 'Acme Inc',
    country: 'US',
    taxId: '12-3456789',
    incorporatedOn: '2020-01-15',
  },
};
const OWNER = {
  roles: ['UBO', 'CONTROL_PERSON'],
  ownershipPercentage: 60,
  personalInfo: {
    firstName: 'Grace',
    lastName: 'Hopper',
    birthDate: '1970-12-09',
    nationality: 'US',
    address: {
      line1: '3 Navy Rd',
      city: 'Arlington',
      state: 'VA',
      postalCode: '22201',
      country: 'US',
    },
    idType: 'SSN',
    identifier: '987-65-4321',
  },
};

const app = testApp();
const platformOptions = () => ({ platform: app.unregulated });

const createLink = (id: string, body?: object, options = {}) =>
  app.call('POST', `/customers/${id}/kyc-link`, body, { ...platformOptions(), ...options });

const secretOf = ({ body }: ApiResponse) =>
  new URL(body.kycUrl).pathname.split('/').at(-1) as string;

/** Sends a request under a link, as the page does. */
async function send(
  secret: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiResponse> {
  const wire = body === undefined ? undefined : await wireOf(body);
  const reply = await app.app.server.inject({
    method: method as 'GET',
    url: `/verify/${secret}${path}`,
    ...(wire ? { payload: wire.payload, headers: { 'content-type': wire.type } } : {}),
  });
  const isJson = String(reply.headers['content-type']).includes('json');
  const response = isJson ? JSON.parse(reply.body) : reply.body;
  return { status: reply.statusCode, body: response, headers: reply.headers };
}

const passportForm = (documentHolder: string, name?: string) =>
  documentForm(
    {
      documentHolder,
      documentType: 'PASSPORT',
      country: 'US',
      documentNumber: 'P1',
      issuingAuthority: 'Department of State',
    },
    { bytes: pdfFile(), ...(name ? { name } : {}) },
  );

/** Creates an individual with complete data, and a link. */
async function createReadyCustomer(fullName = 'Ada Lovelace', redirectUri?: string) {
  const person = await createCustomer(app, platformOptions(), { ...IDENTIFIER, fullName });
  ok(await app.call('POST', '/documents', passportForm(person.id), platformOptions()), 201);
  const createResponse = await createLink(person.id, { redirectUri });
  return { person, secret: secretOf(createResponse) };
}

describe('createCustomerKycLink', () => {
  it('creates a new link on every call, valid for a day', async () => {
    const person = await createCustomer(app, platformOptions());
    const firstLink = ok(await createLink(person.id), 201);
    expect(firstLink).toEqual({
      kycUrl: expect.stringMatching(/^http:\/\/[^/]+\/verify\/[\w-]{43}$/),
      expiresAt: new Date(app.effects.now() + DAY_MS).toISOString(),
      provider: 'SUMSUB',
    });
    const secondLink = ok(await createLink(person.id), 201);
    expect(secondLink.kycUrl).not.toBe(firstLink.kycUrl);
    for (const body of [firstLink, secondLink]) {
      expect((await send(secretOf({ body } as ApiResponse), 'GET', '/state')).status).toBe(200);
    }
    const customerResponse = await app.call(
      'GET',
      `/customers/${person.id}`,
      undefined,
      platformOptions(),
    );
    expect(customerResponse.body.kycStatus).toBe('UNVERIFIED');
  });

  it('includes redirectUri and stores the secret as a hash only', async () => {
    const person = await createCustomer(app, platformOptions());
    const redirectUri = 'https://shop.example/done?a=1&b=2';
    const createResponse = await createLink(
      person.id,
      { redirectUri },
      { headers: { 'idempotency-key': 'k1' } },
    );
    const url = new URL(ok(createResponse, 201).kycUrl);
    expect(url.searchParams.get('redirectUri')).toBe(redirectUri);
    const secondResponse = await createLink(
      person.id,
      { redirectUri },
      { headers: { 'idempotency-key': 'k1' } },
    );
    expect(secondResponse.body).toEqual(createResponse.body);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    const rows = await app.runtime.db.query(
      'select row_to_json(l)::text as text from kyc_links l union all select reply from ' +
        'idempotency',
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const { text } of rows) expect(text).not.toContain(secretOf(createResponse));
    expect(app.log.join('\n')).not.toContain(secretOf(createResponse));
  });

  it.each([
    'http://shop.example/',
    'javascript:alert(1)',
    'ftp://localhost/',
    'https://user:pw@shop.example/',
    'no address',
    '/done',
  ])('rejects the redirect target %s', async (redirectUri) => {
    const person = await createCustomer(app, platformOptions());
    const { status, body } = await createLink(person.id, { redirectUri });
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(body.details.errors).toMatchObject([{ field: 'redirectUri' }]);
  });

  it.each(['http://localhost:3000/a', 'http://127.0.0.1/', 'http://[::1]:8080/', 'https://a.b/'])(
    'accepts the redirect target %s',
    async (redirectUri) => {
      const person = await createCustomer(app, platformOptions());
      ok(await createLink(person.id, { redirectUri }), 201);
    },
  );

  it.each([
    ['Ada Lovelace', 'APPROVED'],
    ['Ada Lovelace 002', 'REJECTED'],
  ])('returns 201 for a customer with a final status: %s, %s', async (fullName, status) => {
    const person = await createCustomer(app, {}, { fullName });
    expect(person.kycStatus).toBe(status);
    await app.operate(async (ctx) => {
      const row = await ctx.read(customers, person.id);
      const contact_verification = { email: 'VERIFIED', phone: 'PENDING' } as const;
      if (row) ctx.update(customers, row, { contact_verification });
    });
    const redirectUri = 'https://shop.example/done';
    const createResponse = await createLink(person.id, { redirectUri }, { platform: app.platform });
    const secret = secretOf({ ...createResponse, body: ok(createResponse, 201) });
    const state = ok(await send(secret, 'GET', '/state'), 200);
    expect(state).toMatchObject({ status, gaps: [], findings: [], redirectUri });
    expect((await send(secret, 'POST', '/submit')).status).toBe(409);
    const query = `platformCustomerId=${person.platformCustomerId}`;
    ok(await app.call('GET', `/customers/kyc-link?${query}`), 200);
    expect(ok(await app.call('GET', `/customers/${person.id}`), 200).kycStatus).toBe(status);
  });

  it('rejects unverified contacts, deleted customers and other platforms', async () => {
    const foreignCustomer = await createCustomer(app);
    const unverifiedCustomer = await createCustomer(app, platformOptions());
    await app.operate(async (ctx) => {
      const row = await ctx.read(customers, unverifiedCustomer.id);
      const contact_verification = { email: 'VERIFIED', phone: 'PENDING' } as const;
      if (row) ctx.update(customers, row, { contact_verification });
    }, app.unregulated);
    const { status, body } = await createLink(unverifiedCustomer.id);
    expect([status, body.code, body.details]).toEqual([409, 'CONFLICT', { channels: ['phone'] }]);
    const deletedCustomer = await createCustomer(app, platformOptions());
    ok(
      await app.call('DELETE', `/customers/${deletedCustomer.id}`, undefined, platformOptions()),
      200,
    );
    expect((await createLink(deletedCustomer.id)).body.code).toBe('CUSTOMER_DELETED');
    expect((await createLink(foreignCustomer.id)).body.code).toBe('CUSTOMER_NOT_FOUND');
  });
});

describe('getCustomerKycLink', () => {
  const getLink = (query: string) =>
    app.call('GET', `/customers/kyc-link${query}`, undefined, platformOptions());

  it('creates a link by platformCustomerId', async () => {
    const person = await createCustomer(app, platformOptions());
    const idQuery = `platformCustomerId=${person.platformCustomerId}`;
    const linkResponse = await getLink(`?${idQuery}&redirectUri=https%3A%2F%2Fshop.example%2F`);
    ok(linkResponse, 200);
    const { body } = await send(secretOf(linkResponse), 'GET', '/state');
    expect(body.customer.id).toBe(person.id);
    expect((await getLink(`?${idQuery}&redirectUri=http%3A%2F%2Fshop.example`)).status).toBe(400);
  });

  it('applies the rules of createCustomerKycLink and requires the ID', async () => {
    expect((await getLink('')).body.details.errors).toMatchObject([
      { field: 'platformCustomerId' },
    ]);
    expect((await getLink('?platformCustomerId=unknown')).body.code).toBe('CUSTOMER_NOT_FOUND');
    const otherCustomer = await createCustomer(app);
    const foreignResponse = await getLink(
      `?platformCustomerId=${otherCustomer.platformCustomerId}`,
    );
    expect(foreignResponse.body.code).toBe('CUSTOMER_NOT_FOUND');
    const person = await createCustomer(app, platformOptions());
    await app.operate(async (ctx) => {
      const row = await ctx.read(customers, person.id);
      const contact_verification = { email: 'PENDING', phone: 'PENDING' } as const;
      if (row) ctx.update(customers, row, { contact_verification });
    }, app.unregulated);
    expect((await getLink(`?platformCustomerId=${person.platformCustomerId}`)).status).toBe(409);
  });
});

describe('the page of a link', () => {
  it('has security headers and contains no personal data', async () => {
    const { secret } = await createReadyCustomer();
    const page = await send(secret, 'GET', '');
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
    expect(page.body).not.toContain('Ada');
    const files = [...String(page.body).matchAll(/"(assets\/[^"]+)"/g)].map(([, file]) => file);
    expect(files).toHaveLength(2);
    for (const file of files) {
      const { status, headers } = await send('', 'GET', file as string);
      expect([status, headers['cache-control']]).toEqual([
        200,
        expect.stringContaining('immutable'),
      ]);
    }
    expect((await send('assets', 'GET', '/page-0.js')).status).toBe(404);
    const state = await send(secret, 'GET', '/state');
    expect(state.headers['cache-control']).toBe('no-store');
    expect(JSON.stringify(state.body)).not.toMatch(/6789"/);
  });

  it('becomes invalid only after an accepted submission', async () => {
    const { person, secret } = await createReadyCustomer('Ada Lovelace', 'https://shop.example/');
    const otherSecret = secretOf(await createLink(person.id));
    const submitResponses = await Promise.all([
      send(secret, 'POST', '/submit'),
      send(secret, 'POST', '/submit'),
    ]);
    expect(submitResponses.map(({ status }) => status).sort()).toEqual([200, 410]);
    const acceptedResponse = submitResponses.find(({ status }) => status === 200);
    expect(acceptedResponse?.body).toEqual({
      verificationStatus: 'APPROVED',
      errors: [],
      redirectUri: 'https://shop.example/',
    });
    const path = `/verifications?customerId=${person.id}`;
    expect((await app.call('GET', path, undefined, platformOptions())).body.data).toHaveLength(1);
    for (const [method, subpath] of [
      ['GET', '/state'],
      ['POST', '/submit'],
      ['GET', ''],
    ] as const) {
      expect((await send(secret, method, subpath)).status).toBe(410);
    }
    expect((await send(otherSecret, 'GET', '/state')).body.status).toBe('APPROVED');
    expect((await send(otherSecret, 'POST', '/submit')).status).toBe(409);
  });

  it('remains valid while more information is required', async () => {
    const { secret } = await createReadyCustomer('Bad Scan 003');
    const { body } = await send(secret, 'POST', '/submit');
    expect(body).toMatchObject({
      verificationStatus: 'RESOLVE_ERRORS',
      errors: [{ type: 'POOR_QUALITY_DOCUMENT' }],
    });
    expect((await send(secret, 'GET', '/state')).status).toBe(200);
  });

  it('does not disclose findings about the applicant', async () => {
    const { person, secret } = await createReadyCustomer();
    const { id } = person;
    const finding = { resourceId: id, type: 'APPLICANT_SANCTIONED', reason: 'On list X' } as const;
    await app.operate(async (ctx) => {
      const row = await ctx.read(customers, id);
      if (row) await decide(ctx, row, { state: 'unresolved', errors: [finding] });
    }, app.unregulated);
    const { body } = await send(secret, 'GET', '/state');
    expect(body.findings).toEqual([
      {
        resourceId: id,
        type: 'APPLICANT_REJECTED',
        reason: expect.stringMatching(/further review/),
      },
    ]);
    expect(body.gaps).toEqual(body.findings);
    const submitResponse = await send(secret, 'POST', '/submit');
    expect(submitResponse.body).toEqual({
      verificationStatus: 'RESOLVE_ERRORS',
      errors: body.findings,
    });
    expect(JSON.stringify([body, submitResponse.body])).not.toMatch(/SANCTIONED|list X/);
    const { body: listedBody } = await app.call(
      'GET',
      `/verifications?customerId=${id}`,
      undefined,
      platformOptions(),
    );
    expect(listedBody.data[0].errors).toEqual([finding]);
  });

  it('expires after a day', async () => {
    const { secret } = await createReadyCustomer();
    const createdAt = app.effects.now();
    app.effects.set(createdAt + DAY_MS - 1);
    expect((await send(secret, 'GET', '/state')).status).toBe(200);
    app.effects.set(createdAt + DAY_MS);
    const { status, body } = await send(secret, 'GET', '/state');
    expect([status, body.code]).toEqual([410, 'LINK_ENDED']);
    expect((await send(secret, 'GET', '')).status).toBe(410);
    app.effects.set(createdAt);
  });

  it('changes customer fields except fields that the platform controls', async () => {
    const person = await createCustomer(app, platformOptions());
    const secret = secretOf(await createLink(person.id));
    const change = { customerType: 'INDIVIDUAL', ...IDENTIFIER, email: 'other@example.com' };
    expect((await send(secret, 'PATCH', '/customer', change)).status).toBe(204);
    const { body } = await app.call('GET', `/customers/${person.id}`, undefined, platformOptions());
    expect(body).toMatchObject({ idType: 'SSN' });
    expect(body.email).toBeUndefined();
    const invalidBody = { ...change, identifier: '1', nationality: 'XX' };
    const rejectedResponse = await send(secret, 'PATCH', '/customer', invalidBody);
    expect(
      rejectedResponse.body.details.errors.map((each: { field: string }) => each.field).sort(),
    ).toEqual(['identifier', 'nationality']);
  });

  it('reports why a document is rejected', async () => {
    const person = await createCustomer(app, platformOptions());
    const secret = secretOf(await createLink(person.id));
    const rejectedResponse = await send(
      secret,
      'POST',
      '/documents',
      passportForm(person.id, 'EXPIRED.pdf'),
    );
    expect(rejectedResponse).toMatchObject({ status: 400, body: { code: 'EXPIRED' } });
    expect((await send(secret, 'GET', '/state')).body.documents).toEqual([]);
  });

  it('accesses only the customer of its link', async () => {
    const ownCustomer = ok(await app.call('POST', '/customers', BUSINESS, platformOptions()), 201);
    const otherCustomer = ok(
      await app.call('POST', '/customers', BUSINESS, platformOptions()),
      201,
    );
    const secret = secretOf(await createLink(ownCustomer.id));
    const owner = { ...OWNER, customerId: otherCustomer.id };
    const foreignOwner = ok(
      await app.call('POST', '/beneficial-owners', owner, platformOptions()),
      201,
    );
    const document = ok(
      await app.call('POST', '/documents', passportForm(foreignOwner.id), platformOptions()),
      201,
    );
    const attempts = [
      await send(secret, 'PATCH', `/owners/${foreignOwner.id}`, { ownershipPercentage: 1 }),
      await send(secret, 'POST', '/documents', passportForm(foreignOwner.id)),
      await send(secret, 'POST', '/documents', passportForm(otherCustomer.id)),
      await send(secret, 'PUT', `/documents/${document.id}`, passportForm(foreignOwner.id)),
      await send(secret, 'DELETE', `/documents/${document.id}`),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await send(secret, 'POST', '/owners', OWNER)).status).toBe(204);
    const { body } = await app.call(
      'GET',
      `/customers/${ownCustomer.id}`,
      undefined,
      platformOptions(),
    );
    const [ownOwner] = body.beneficialOwners;
    const change = { ownershipPercentage: 70 };
    expect((await send(secret, 'PATCH', `/owners/${ownOwner.id}`, change)).status).toBe(204);
    const uploadedDocument = ok(
      await send(secret, 'POST', '/documents', passportForm(ownOwner.id)),
      201,
    );
    expect(
      (await send(secret, 'PUT', `/documents/${uploadedDocument.id}`, passportForm(ownOwner.id)))
        .status,
    ).toBe(200);
    expect((await send(secret, 'DELETE', `/documents/${uploadedDocument.id}`)).status).toBe(204);
    const state = await send(secret, 'GET', '/state');
    expect(state.body.owners).toMatchObject([{ ownershipPercentage: 70 }]);
    expect(JSON.stringify(state.body)).not.toMatch(/4321"/);
  });

  it('is invalid after its customer is deleted', async () => {
    const { person, secret } = await createReadyCustomer();
    ok(await app.call('DELETE', `/customers/${person.id}`, undefined, platformOptions()), 200);
    expect((await send(secret, 'GET', '/state')).body.code).toBe('LINK_ENDED');
  });
});

describe('requests with unknown secrets', () => {
  it('are rate limited without blocking valid links', async () => {
    const limitedApp = await startApp({ rateLimits: { requests: 0, quotes: 0, rejected: 1 } });
    try {
      const options = { platform: limitedApp.unregulated };
      const person = await createCustomer(limitedApp, options);
      const path = `/customers/${person.id}/kyc-link`;
      const link = ok(await limitedApp.call('POST', path, {}, options), 201);
      const validPathname = new URL(link.kycUrl).pathname;
      const statusOf = async (url: string) =>
        (await limitedApp.app.server.inject({ method: 'GET', url })).statusCode;
      expect(await statusOf(validPathname)).toBe(200);
      const statuses = [
        await statusOf('/verify/a'),
        await statusOf('/verify/b/state'),
        await statusOf('/verify/c'),
      ];
      expect(statuses).toEqual([410, 410, 429]);
      expect(await statusOf('/verify/c/state')).toBe(429);
      expect(await statusOf(`${validPathname}/state`)).toBe(200);
    } finally {
      await limitedApp.close();
    }
  });
});
