// Updates of customers, their effects and errors, and the deletion of customers.
import { describe, expect, it } from 'vitest';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { personalOf } from '../records/personal.ts';
import { customers } from '../records/store.ts';
import type { ContactChange } from './deps.ts';
import { customerOperations } from './operations.ts';

const app = testApp();

const address = { line1: '1 Main St', city: 'Austin', postalCode: '78701', country: 'US' };
const individualBody = (overrides: object = {}) => ({
  customerType: 'INDIVIDUAL',
  fullName: 'Ada Lovelace',
  ...overrides,
});
const businessBody = (overrides: object = {}) => ({
  customerType: 'BUSINESS',
  businessInfo: {
    legalName: 'Acme',
    country: 'US',
    taxId: '12-3456789',
    incorporatedOn: '2020-02-29',
    ...overrides,
  },
});

async function createCustomer(body: object, platform?: TestPlatform) {
  const response = await app.call('POST', '/customers', body, { platform });
  expect(response.status).toBe(201);
  await app.advance(60_000);
  return response.body;
}

const patchCustomer = (id: string, change: object, type = 'INDIVIDUAL', platform?: TestPlatform) =>
  app.call('PATCH', `/customers/${id}`, { customerType: type, ...change }, { platform });
const fieldsOf = (response: { body: { details: { errors: { field: string }[] } } }) =>
  response.body.details.errors.map((error) => error.field).sort();
const identifierOf = async (id: string) => {
  const row = await app.runtime.db.read(customers, id);
  return row ? personalOf(app.runtime.vault, row).identifier : null;
};

describe('updateCustomerById', () => {
  it('limits the length of lists and addresses', async () => {
    const { id } = await createCustomer(individualBody());
    const change = {
      sourceOfWealthCategories: Array(21).fill('GIFT'),
      address: { ...address, line2: 'x'.repeat(256) },
    };
    expect(fieldsOf(await patchCustomer(id, change))).toEqual([
      ...['address.line2', 'sourceOfWealthCategories'],
    ]);
  });

  it('changes only the specified fields', async () => {
    const customer = await createCustomer(
      individualBody({ nationality: 'GB', address, email: 'ada@example.com' }),
    );
    const { status, body } = await patchCustomer(customer.id, {
      fullName: 'Ada King',
      birthDate: '1990-12-10',
    });
    expect(status).toBe(200);
    const { updatedAt, ...rest } = body;
    expect(rest).toEqual({
      ...customer,
      updatedAt: undefined,
      fullName: 'Ada King',
      birthDate: '1990-12-10',
    });
    expect(updatedAt > customer.updatedAt).toBe(true);
    expect((await app.call('GET', `/customers/${customer.id}`)).body).toEqual(body);
  });

  it('replaces an address completely and clears fields with null', async () => {
    const customer = await createCustomer(
      individualBody({ nationality: 'GB', address, phoneNumber: '+15125550100' }),
    );
    const newAddress = { line1: '2 Elm St', postalCode: '10001', country: 'US' };
    const { body } = await patchCustomer(customer.id, {
      address: newAddress,
      nationality: null,
      phoneNumber: null,
    });
    expect(body.address).toEqual(newAddress);
    expect(body).not.toHaveProperty('nationality');
    expect(body).not.toHaveProperty('phoneNumber');
    expect((await patchCustomer(customer.id, { address: null })).body).not.toHaveProperty(
      'address',
    );
  });

  it('merges businessInfo field by field', async () => {
    const customer = await createCustomer(
      businessBody({ doingBusinessAs: 'A', registrationNumber: 'R1' }),
    );
    const change = { businessInfo: { doingBusinessAs: null, naicsCode: '5112', country: 'DE' } };
    const rejectedResponse = await patchCustomer(customer.id, change, 'BUSINESS');
    expect(fieldsOf(rejectedResponse)).toEqual([
      'businessInfo.primaryContactFirstName',
      'businessInfo.primaryContactLastName',
      'email',
      'phoneNumber',
    ]);
    const { status, body } = await patchCustomer(
      customer.id,
      { businessInfo: { doingBusinessAs: null, naicsCode: '5112', country: 'MX' } },
      'BUSINESS',
    );
    expect(status).toBe(200);
    const { doingBusinessAs: _, ...storedInfo } = customer.businessInfo;
    expect(body.businessInfo).toEqual({ ...storedInfo, naicsCode: '5112', country: 'MX' });
    const namelessResponse = await patchCustomer(
      customer.id,
      { businessInfo: { legalName: null } },
      'BUSINESS',
    );
    expect(fieldsOf(namelessResponse)).toEqual(['businessInfo.legalName']);
    const usBusiness = { businessInfo: { country: 'US', taxId: 'x' } };
    const invalidTaxIdResponse = await patchCustomer(customer.id, usBusiness, 'BUSINESS');
    expect(fieldsOf(invalidTaxIdResponse)).toEqual(['businessInfo.taxId']);
  });

  it('keeps the identity number consistent with its type', async () => {
    const customer = await createCustomer(
      individualBody({ idType: 'SSN', identifier: '123-45-6789' }),
    );
    await patchCustomer(customer.id, { fullName: 'Ada King' });
    expect(await identifierOf(customer.id)).toBe('123-45-6789');
    expect((await patchCustomer(customer.id, { identifier: '987-65-4321' })).status).toBe(200);
    expect(await identifierOf(customer.id)).toBe('987-65-4321');
    expect(fieldsOf(await patchCustomer(customer.id, { identifier: '987654321' }))).toEqual([
      'identifier',
    ]);
    expect(fieldsOf(await patchCustomer(customer.id, { idType: 'ITIN' }))).toEqual(['identifier']);
    const itinResponse = await patchCustomer(customer.id, {
      idType: 'ITIN',
      identifier: '912-70-1234',
    });
    expect(itinResponse.body).toMatchObject({ idType: 'ITIN', countryOfIssuance: 'US' });
    expect(itinResponse.body).not.toHaveProperty('identifier');
    expect(fieldsOf(await patchCustomer(customer.id, { identifier: null }))).toEqual([
      'identifier',
    ]);
    const clearedResponse = await patchCustomer(customer.id, { idType: null });
    expect(clearedResponse.status).toBe(200);
    expect(await identifierOf(customer.id)).toBeNull();
    const customerWithoutIdentifier = await createCustomer(individualBody());
    expect(
      fieldsOf(await patchCustomer(customerWithoutIdentifier.id, { identifier: '123-45-6789' })),
    ).toEqual(['idType']);
  });

  it('rejects another type, a change of two contacts and invalid fields', async () => {
    const customer = await createCustomer(individualBody({ sourceOfWealthCategories: ['SALARY'] }));
    expect(fieldsOf(await patchCustomer(customer.id, {}, 'BUSINESS'))).toEqual(['customerType']);
    expect(fieldsOf(await app.call('PATCH', `/customers/${customer.id}`, {}))).toEqual([
      'customerType',
    ]);
    const contactsResponse = await patchCustomer(customer.id, {
      email: 'a@b.example',
      phoneNumber: '+15125550100',
    });
    expect([contactsResponse.status, contactsResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(contactsResponse)).toEqual(['email', 'phoneNumber']);
    const invalidResponse = await patchCustomer(customer.id, {
      fullName: 'Ada  King',
      email: 'invalid',
      nationality: 'XX',
      pepStatus: 'MAYBE',
      currencies: [],
    });
    expect(fieldsOf(invalidResponse)).toEqual([
      'currencies',
      'email',
      'fullName',
      'nationality',
      'pepStatus',
    ]);
    const otherResponse = await patchCustomer(customer.id, { sourceOfWealthCategories: ['OTHER'] });
    expect(fieldsOf(otherResponse)).toEqual(['sourceOfWealthOtherDescription']);
    const termsResponse = await patchCustomer(customer.id, {
      endUserTermsConsent: {
        acceptedAt: '2026-01-05T08:00:00Z',
        ipAddress: '2001:db8::1',
        termsVersion: 'V7',
        acceptanceMethod: 'CLICK_TO_ACCEPT',
      },
    });
    expect(termsResponse.body.code).toBe('END_USER_TERMS_VERSION_NOT_FOUND');
  });

  it('ignores immutable fields', async () => {
    const customer = await createCustomer(
      individualBody({ region: 'US', platformCustomerId: 'fixed' }),
    );
    const change = {
      region: 'MX',
      platformCustomerId: 'other',
      kycStatus: 'REJECTED',
      isDeleted: true,
    };
    const { status, body } = await patchCustomer(customer.id, change);
    expect(status).toBe(200);
    expect(body).toEqual(customer);
  });

  it('derives no status from a new name', async () => {
    const customer = await createCustomer(individualBody());
    const eventCountBefore = (await app.events()).length;
    const { body } = await patchCustomer(customer.id, { fullName: 'Ada 002' });
    expect(body.kycStatus).toBe('APPROVED');
    expect((await app.events()).length).toBe(eventCountBefore);
  });

  it('replaces the currencies and opens missing accounts', async () => {
    const customer = await createCustomer(individualBody({ currencies: ['USD', 'EUR'] }));
    const { body } = await patchCustomer(customer.id, { currencies: ['EUR', 'MXN'] });
    expect(body.currencies).toEqual(['EUR', 'MXN']);
    const secondResponse = await patchCustomer(customer.id, { currencies: ['USD', 'MXN'] });
    expect(secondResponse.status).toBe(200);
    const path = `/customers/internal-accounts?customerId=${customer.id}`;
    const accounts = await app.call('GET', path);
    const codes = accounts.body.data.map(
      (each: { balance: { currency: { code: string } } }) => each.balance.currency.code,
    );
    expect(codes.sort()).toEqual(['EUR', 'MXN', 'USD']);
    expect(fieldsOf(await patchCustomer(customer.id, { currencies: ['JPY'] }))).toEqual([
      'currencies',
    ]);
    const namelessCustomer = await createCustomer({ customerType: 'INDIVIDUAL' });
    const incompleteResponse = await patchCustomer(namelessCustomer.id, { currencies: ['INR'] });
    expect(incompleteResponse.body.code).toBe('MISSING_MANDATORY_USER_INFO');
    expect(
      (await patchCustomer(namelessCustomer.id, { currencies: ['INR'], fullName: 'Ada' })).status,
    ).toBe(200);
  });

  it('returns 501 for a currency that is not offered in the region', async () => {
    const contact = { email: 'ada@example.de', phoneNumber: '+4915112345678' };
    const customer = await createCustomer(
      individualBody({ region: 'DE', currencies: ['EUR'], ...contact }),
    );
    const rejectedResponse = await patchCustomer(customer.id, { currencies: ['EUR', 'USDT'] });
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
    expect(rejectedResponse.body.details).toEqual({ region: 'DE', currencies: ['USDT'] });
    expect((await app.call('GET', `/customers/${customer.id}`)).body).toEqual(customer);
  });

  it('stores the latest consent and validates it', async () => {
    const customer = await createCustomer(individualBody());
    const consent = {
      acceptedAt: '2026-01-05T08:00:00Z',
      ipAddress: '192.0.2.1',
      termsVersion: 'V1',
      acceptanceMethod: 'CHECKBOX',
    };
    const firstResponse = await patchCustomer(customer.id, { endUserTermsConsent: consent });
    expect(firstResponse.body.endUserTermsConsent).toEqual(consent);
    const laterConsent = {
      ...consent,
      ipAddress: '2001:db8::1',
      acceptanceMethod: 'CLICK_TO_ACCEPT',
    };
    const secondResponse = await patchCustomer(customer.id, {
      endUserTermsConsent: laterConsent,
    });
    expect(secondResponse.body.endUserTermsConsent).toEqual(laterConsent);
    const invalidConsent = {
      ...consent,
      acceptedAt: new Date(app.effects.now() + 3_600_000).toISOString(),
      ipAddress: '300.1.1.1',
    };
    expect(
      fieldsOf(await patchCustomer(customer.id, { endUserTermsConsent: invalidConsent })),
    ).toEqual(['endUserTermsConsent.acceptedAt', 'endUserTermsConsent.ipAddress']);
    expect(fieldsOf(await patchCustomer(customer.id, { endUserTermsConsent: null }))).toEqual([
      'endUserTermsConsent',
    ]);
  });

  it('changes to an unused UMA address', async () => {
    const [firstCustomer, secondCustomer] = [
      await createCustomer(individualBody()),
      await createCustomer(individualBody()),
    ];
    const domain = firstCustomer.umaAddress.split('@')[1];
    const updatedResponse = await patchCustomer(firstCustomer.id, {
      umaAddress: `$Moved@${domain}`,
    });
    expect(updatedResponse.body.umaAddress).toBe(`$moved@${domain}`);
    expect((await patchCustomer(firstCustomer.id, { umaAddress: `$MOVED@${domain}` })).status).toBe(
      200,
    );
    const response = await patchCustomer(secondCustomer.id, { umaAddress: `$moved@${domain}` });
    expect([response.status, response.body.code]).toEqual([409, 'UMA_ADDRESS_EXISTS']);
    const foreignResponse = await patchCustomer(secondCustomer.id, {
      umaAddress: '$two@elsewhere.example',
    });
    const { status, body } = foreignResponse;
    expect([status, body.code]).toEqual([400, 'INVALID_UMA_ADDRESS']);
  });

  it('resets the verification of a changed contact', async () => {
    const contact = { email: 'ada@example.de', phoneNumber: '+4915112345678' };
    // Without a wallet, because codes of a wallet would also be sent to the contact.
    const customer = await createCustomer(
      individualBody({ region: 'DE', currencies: ['USD'], ...contact }),
    );
    const verifiedJson = JSON.stringify({ email: 'VERIFIED', phone: 'VERIFIED' });
    const sql =
      'update customers set contact_verification = $2, version = version + 1 where id = $1';
    await app.runtime.db.query(sql, [customer.id, verifiedJson]);
    const { body } = await patchCustomer(customer.id, { email: 'new@example.de' });
    expect(body.contactVerification).toEqual({ email: 'PENDING', phone: 'VERIFIED' });
    const unchangedResponse = await patchCustomer(customer.id, {
      phoneNumber: contact.phoneNumber,
    });
    expect(unchangedResponse.body.contactVerification).toEqual({
      email: 'PENDING',
      phone: 'VERIFIED',
    });
    expect(fieldsOf(await patchCustomer(customer.id, { email: null }))).toEqual(['email']);
  });

  it('accepts updates that are unrelated to a later rule', async () => {
    const platform = await app.newPlatform('Later');
    const setSca = (isEnabled: boolean) =>
      app.runtime.db.query('update platforms set sca = $2 where id = $1', [platform.id, isEnabled]);
    await setSca(false);
    const customer = await createCustomer(
      individualBody({ address: { ...address, country: 'DE' } }),
      platform,
    );
    await setSca(true);
    const { status, body } = await patchCustomer(
      customer.id,
      { fullName: 'Ada King' },
      'INDIVIDUAL',
      platform,
    );
    expect(status).toBe(200);
    expect(body.contactVerification).toEqual({ email: 'PENDING', phone: 'PENDING' });
  });

  it('merges concurrent updates', async () => {
    const customer = await createCustomer(individualBody());
    const changes = [
      { nationality: 'GB' },
      { pepStatus: 'NONE' },
      { birthDate: '1990-12-10' },
      { email: 'ada@example.com' },
      { address },
    ];
    const responses = await Promise.all(
      changes.map((change) => patchCustomer(customer.id, change)),
    );
    expect(responses.map((each) => each.status)).toEqual(changes.map(() => 200));
    const { body } = await app.call('GET', `/customers/${customer.id}`);
    expect(body).toMatchObject(Object.assign({}, ...changes));
  });

  it('returns 404 for malformed and unknown IDs and IDs of other platforms', async () => {
    const otherPlatformCustomer = await createCustomer(individualBody(), app.other);
    for (const id of [
      otherPlatformCustomer.id,
      'Customer:00000000-0000-7000-8000-000000000000',
      'x',
    ]) {
      for (const [method, body] of [
        ['PATCH', individualBody()],
        ['DELETE', undefined],
      ] as const) {
        const response = await app.call(method, `/customers/${id}`, body);
        expect([response.status, response.body.code]).toEqual([404, 'CUSTOMER_NOT_FOUND']);
      }
    }
  });
});

describe('updateCustomerById with wallet credentials that depend on a contact', () => {
  const challenge = {
    payloadToSign: '{}',
    requestId: 'Request:1',
    expiresAt: '2026-01-05T10:00:00.000Z',
  };

  it('requires a signature only if the contact changes', async () => {
    const changes: ContactChange[] = [];
    const operations = customerOperations({
      connectors: () => ({}),
      openWallets: async () => undefined,
      isCustomerPaying: async () => false,
      authorizeContactChange: async (_ctx, change) => {
        changes.push(change);
        const isUnchanged = change.value === change.customer.email;
        return isUnchanged || change.headers['request-id'] ? undefined : challenge;
      },
    });
    const operation = operations.find((each) => each.contract.method === 'PATCH');
    const customer = await createCustomer(individualBody({ email: 'ada@example.com' }));
    const requestUpdate = (change: object, headers = {}) =>
      app.operate(async (ctx) =>
        operation?.run(ctx, {
          params: { customerId: customer.id },
          query: {},
          headers,
          body: { customerType: 'INDIVIDUAL', ...change },
        }),
      );
    expect(await requestUpdate({ email: 'new@example.com' })).toEqual({
      status: 202,
      body: challenge,
    });
    expect((await app.call('GET', `/customers/${customer.id}`)).body).toEqual(customer);
    const signedResponse = await requestUpdate(
      { email: 'new@example.com' },
      { 'request-id': 'Request:1' },
    );
    expect(signedResponse).toMatchObject({ status: 200, body: { email: 'new@example.com' } });
    expect(await requestUpdate({ email: 'new@example.com' })).toMatchObject({ status: 200 });
    expect(await requestUpdate({ fullName: 'Ada King' })).toMatchObject({ status: 200 });
    expect(await requestUpdate({ phoneNumber: '+15125550100' })).toMatchObject({ status: 202 });
    expect(changes.map(({ channel, value }) => [channel, value])).toEqual([
      ['email', 'new@example.com'],
      ['email', 'new@example.com'],
      ['email', 'new@example.com'],
      ['phoneNumber', '+15125550100'],
    ]);
  });
});

describe('deleteCustomerById', () => {
  const remove = (id: string) => app.call('DELETE', `/customers/${id}`);

  it('deletes the customer permanently and keeps the record', async () => {
    const customer = await createCustomer(individualBody({ platformCustomerId: 'gone' }));
    const eventCountBefore = (await app.events()).length;
    const { status, body } = await remove(customer.id);
    expect(status).toBe(200);
    expect(body).toEqual({ ...customer, isDeleted: true, updatedAt: body.updatedAt });
    expect((await app.events()).length).toBe(eventCountBefore);
    expect((await app.call('GET', `/customers/${customer.id}`)).body).toEqual(body);
    const secondResponse = await remove(customer.id);
    expect([secondResponse.status, secondResponse.body.code]).toEqual([410, 'CUSTOMER_DELETED']);
    const updateResponse = await patchCustomer(customer.id, { fullName: 'Ada King' });
    expect([updateResponse.status, updateResponse.body.code]).toEqual([410, 'CUSTOMER_DELETED']);
  });

  it('releases only the platformCustomerId, and keeps the UMA address reserved', async () => {
    const customer = await createCustomer(individualBody({ platformCustomerId: 'reborn' }));
    await remove(customer.id);
    await createCustomer(individualBody({ platformCustomerId: 'reborn' }));
    const response = await app.call(
      'POST',
      '/customers',
      individualBody({ umaAddress: customer.umaAddress }),
    );
    expect([response.status, response.body.code]).toEqual([409, 'UMA_ADDRESS_EXISTS']);
  });

  it('rejects the deletion while an account has a balance', async () => {
    const customer = await createCustomer(individualBody({ currencies: ['USD', 'EUR'] }));
    const path = `/customers/internal-accounts?customerId=${customer.id}`;
    const accounts = await app.call('GET', path);
    const account = accounts.body.data[0].id;
    const fundPath = `/sandbox/internal-accounts/${account}/fund`;
    expect((await app.call('POST', fundPath, { amount: 500 })).status).toBe(200);
    const rejectedResponse = await remove(customer.id);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([409, 'CONFLICT']);
    expect(rejectedResponse.headers['x-should-retry']).toBe('false');
    expect(rejectedResponse.body.details).toEqual({ accountIds: [account] });
    expect((await app.call('GET', `/customers/${customer.id}`)).body.isDeleted).toBe(false);
  });

  it('rejects the deletion while a payment is in progress', async () => {
    const customer = await createCustomer(individualBody());
    const sql = `insert into transactions (id, platform_id, customer_id, platform_customer_id, type,
        direction, status, funds, source, destination, destination_account, sent_amount,
        sent_currency, received_amount, received_currency, fees, platform_fees, exchange_rate,
        created_at, updated_at)
      values ($1, $2, $3, 'x', 'OUTGOING', 'DEBIT', $4, $5, '{}', '{}', 'ExternalAccount:0', 1, 'USD',
        1, 'USD', 0, 0, '1', $6, $6)`;
    const now = new Date(app.effects.now());
    const insert = (id: string, status: string, funds: string) =>
      app.runtime.db.query(sql, [id, app.platform.id, customer.id, status, funds, now]);
    await insert('Transaction:0', 'PENDING', 'NONE');
    await insert('Transaction:1', 'PROCESSING', 'SUBMITTED');
    const rejectedResponse = await remove(customer.id);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([409, 'CONFLICT']);
    expect(rejectedResponse.headers['x-should-retry']).toBe('true');
    const settleSql = `update transactions set funds = 'SETTLED' where id = 'Transaction:1'`;
    await app.runtime.db.query(settleSql, []);
    expect((await remove(customer.id)).status).toBe(200);
  });
});
