// Creation of individuals and businesses, with defaults and with all errors in one reply, and the terms
// for end users.
import { describe, expect, it } from 'vitest';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { FIRST_CURRENCIES } from '../../../bootstrap.ts';
import { personalOf } from '../records/personal.ts';
import { customers } from '../records/store.ts';

const app = testApp();

const individualBody = (overrides: object = {}) => ({
  customerType: 'INDIVIDUAL',
  fullName: 'Ada Lovelace',
  ...overrides,
});
const info = {
  legalName: 'Acme & Sons LLC',
  country: 'US',
  taxId: '12-3456789',
  incorporatedOn: '2020-02-29',
};
const businessBody = (overrides: object = {}, infoOverrides: object = {}) => ({
  customerType: 'BUSINESS',
  businessInfo: { ...info, ...infoOverrides },
  ...overrides,
});
const create = (body: unknown, platform?: TestPlatform) =>
  app.call('POST', '/customers', body, { platform });
const fieldsOf = (response: { body: { details: { errors: { field: string }[] } } }) =>
  response.body.details.errors.map((error) => error.field).sort();
const domainOf = async (platform?: TestPlatform) =>
  (await app.call('GET', '/config', undefined, { platform })).body.umaDomain as string;
const readEventsAbout = async (id: string) =>
  (await app.events()).filter((event) => event.subject === id);
const accountsOf = async (id: string, platform?: TestPlatform): Promise<string[]> => {
  const path = `/customers/internal-accounts?customerId=${id}&limit=100`;
  const { body } = await app.call('GET', path, undefined, { platform });
  return body.data.map(
    (each: { balance: { currency: { code: string } } }) => each.balance.currency.code,
  );
};
const termsConsent = (overrides: object = {}) => ({
  acceptedAt: '2026-01-05T08:00:00Z',
  ipAddress: '203.0.113.7',
  termsVersion: 'V1',
  acceptanceMethod: 'CHECKBOX',
  ...overrides,
});

const allFields = {
  birthDate: '1990-12-10',
  nationality: 'GB',
  address: { line1: '1 Main St', city: 'Austin', state: 'TX', postalCode: '78701', country: 'US' },
  idType: 'SSN',
  sourceOfFundsCategories: ['SALARY', 'OTHER'],
  sourceOfFundsOtherDescription: 'Royalties',
  sourceOfWealthCategories: ['OTHER'],
  sourceOfWealthOtherDescription: 'Patents',
  purposeOfAccount: 'OTHER',
  purposeOfAccountOtherDescription: 'Engines',
  expectedMonthlyTransactionCount: 'COUNT_10_TO_100',
  expectedMonthlyTransactionVolume: 'VOLUME_UNDER_10K',
  annualIncomeRange: 'RANGE_100K_250K',
  netWorthRange: 'RANGE_500K_1M',
  pepStatus: 'NONE',
};

describe('createCustomer', () => {
  it('applies defaults to a minimal request', async () => {
    const { status, body } = await create(individualBody());
    expect(status).toBe(201);
    expect(body).toMatchObject({
      customerType: 'INDIVIDUAL',
      kycStatus: 'APPROVED',
      fullName: 'Ada Lovelace',
      currencies: [...FIRST_CURRENCIES],
      isDeleted: false,
      createdAt: '2026-01-05T09:00:00.000Z',
      updatedAt: '2026-01-05T09:00:00.000Z',
    });
    expect(body.id).toMatch(/^Customer:[0-9a-f-]{36}$/);
    expect(body.platformCustomerId).not.toBe('');
    expect(body.umaAddress).toMatch(/^\$[a-z0-9]{16}@/);
    expect(body.umaAddress.endsWith(`@${await domainOf()}`)).toBe(true);
    for (const absentField of ['email', 'contactVerification', 'endUserTermsConsent', 'region']) {
      expect(body).not.toHaveProperty(absentField);
    }
    expect((await accountsOf(body.id)).sort()).toEqual([...FIRST_CURRENCIES, 'USDB'].sort());
  });

  it('stores all fields of an individual, with the number encrypted', async () => {
    const contact = { email: 'ada@example.com', phoneNumber: '+15125550100', region: 'US' };
    const request = {
      ...allFields,
      ...contact,
      platformCustomerId: 'ada-1',
      currencies: ['USD', 'EUR'],
      umaAddress: `$Ada.L@${(await domainOf()).toUpperCase()}`,
      endUserTermsConsent: termsConsent(),
      kycStatus: 'REJECTED',
      stray: 'ignored',
    };
    const { status, body } = await create(
      individualBody({ ...request, identifier: '123-45-6789' }),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...allFields,
      ...contact,
      platformCustomerId: 'ada-1',
      currencies: ['USD', 'EUR'],
      umaAddress: `$ada.l@${await domainOf()}`,
      countryOfIssuance: 'US',
      endUserTermsConsent: termsConsent(),
      kycStatus: 'APPROVED',
    });
    expect(body).not.toHaveProperty('stray');
    expect(JSON.stringify(body)).not.toContain('123-45-6789');
    expect((await accountsOf(body.id)).sort()).toEqual(['EUR', 'USD']);
    const row = await app.runtime.db.read(customers, body.id);
    expect(JSON.stringify({ ...row, created_at: 0 })).not.toContain('123-45-6789');
    expect(row && personalOf(app.runtime.vault, row).identifier).toBe('123-45-6789');
    expect(JSON.stringify({ ...row, created_at: 0 })).not.toContain('1990-12-10');
    expect((await app.call('GET', `/customers/${body.id}`)).body).toEqual(body);
    expect(JSON.stringify(await readEventsAbout(body.id))).not.toContain('123-45-6789');
  });

  it('stores all fields of a business', async () => {
    const details = {
      doingBusinessAs: 'Acme',
      registrationNumber: 'REG-004',
      entityType: 'LLC',
      businessType: 'INFORMATION',
      naicsCode: '511210',
      countriesOfOperation: ['US', 'MX'],
      expectedRecipientJurisdictions: ['MX'],
      expectedCounterpartyCountries: ['BR'],
      purposeOfAccount: 'CROSS_BORDER_B2B',
      sourceOfFunds: 'Sales',
      sourceOfFundsCategories: ['OPERATING_REVENUE'],
      expectedMonthlyTransactionCount: 'COUNT_OVER_1000',
      expectedMonthlyTransactionVolume: 'VOLUME_OVER_10M',
      primaryContactFirstName: 'Ada',
      primaryContactLastName: 'Lovelace',
    };
    const { status, body } = await create(businessBody({ address: allFields.address }, details));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      customerType: 'BUSINESS',
      kybStatus: 'UNVERIFIED',
      address: allFields.address,
      businessInfo: { ...info, ...details },
      beneficialOwners: [],
    });
    expect(body).not.toHaveProperty('kycStatus');
    expect(await readEventsAbout(body.id)).toEqual([]);
  });

  it.each([
    ['Ada 001', 'PENDING', ['CUSTOMER.KYC_PENDING']],
    ['Ada 002', 'REJECTED', ['CUSTOMER.KYC_REJECTED']],
    ['Ada 003', 'UNVERIFIED', []],
    ['Ada 004', 'APPROVED', ['CUSTOMER.KYC_APPROVED']],
  ])('creates %s as %s with its events', async (fullName, kycStatus, types) => {
    const { body } = await create(individualBody({ fullName }));
    expect(body.kycStatus).toBe(kycStatus);
    const events = await readEventsAbout(body.id);
    expect(events.map((event) => event.type)).toEqual(types);
    for (const event of events) expect(event.data).toEqual(body);
  });

  it('creates unverified customers if verification is required', async () => {
    for (const platform of [app.unregulated, app.production]) {
      const { body } = await create(individualBody({ fullName: 'Ada 002' }), platform);
      expect(body.kycStatus).toBe('UNVERIFIED');
      expect(await readEventsAbout(body.id)).toEqual([]);
    }
  });

  it('approves customers of a regulated platform in production', async () => {
    const platform = await app.newPlatform('Bank', { environment: 'production' });
    const { body } = await create(individualBody({ fullName: 'Ada 002' }), platform);
    expect(body.kycStatus).toBe('APPROVED');
    const [event] = await readEventsAbout(body.id);
    expect(event).toMatchObject({ type: 'CUSTOMER.KYC_APPROVED', data: body });
  });

  it('reports all invalid fields of rules and schema together', async () => {
    const response = await create({
      customerType: 'INDIVIDUAL',
      fullName: 'Ada  Lovelace',
      email: 'invalid',
      phoneNumber: '0151',
      birthDate: '1990-02-30',
      nationality: 'XX',
      address: { line1: '', country: 'usa' },
      idType: 'EIN',
      pepStatus: 'MAYBE',
      purposeOfAccount: 'OTHER',
      endUserTermsConsent: { acceptanceMethod: 'UNKNOWN' },
    });
    expect(response.status).toBe(400);
    expect(response.body.code).toBe('INVALID_INPUT');
    expect(fieldsOf(response)).toEqual([
      'address.country',
      'address.line1',
      'address.postalCode',
      'birthDate',
      'email',
      'endUserTermsConsent.acceptanceMethod',
      'endUserTermsConsent.acceptedAt',
      'endUserTermsConsent.ipAddress',
      'endUserTermsConsent.termsVersion',
      'fullName',
      'idType',
      'identifier',
      'nationality',
      'pepStatus',
      'phoneNumber',
      'purposeOfAccountOtherDescription',
    ]);
  });

  it('reports all violations of platform rules together', async () => {
    const response = await create(
      individualBody({
        region: 'ZZ',
        birthDate: '2030-01-01',
        currencies: ['USD', 'JPY', 'QQQ'],
        umaAddress: '$ada@elsewhere.example',
        endUserTermsConsent: termsConsent({
          acceptedAt: '2026-01-05T10:00:00Z',
          ipAddress: '1',
          termsVersion: 'V9',
        }),
      }),
    );
    expect(response.status).toBe(400);
    expect(response.body.code).toBe('INVALID_INPUT');
    expect(fieldsOf(response)).toEqual([
      'birthDate',
      'currencies',
      'endUserTermsConsent.acceptedAt',
      'endUserTermsConsent.ipAddress',
      'endUserTermsConsent.termsVersion',
      'region',
      'umaAddress',
    ]);
  });

  it('requires the customer type and the required business fields', async () => {
    expect(fieldsOf(await create({ fullName: 'Ada Lovelace' }))).toEqual(['customerType']);
    expect(fieldsOf(await create({ customerType: 'ROBOT' }))).toEqual(['customerType']);
    expect(fieldsOf(await create({ customerType: 'BUSINESS' }))).toEqual(['businessInfo']);
    const incompleteResponse = await create({
      customerType: 'BUSINESS',
      businessInfo: { naicsCode: '1' },
    });
    expect(fieldsOf(incompleteResponse)).toEqual([
      'businessInfo.country',
      'businessInfo.incorporatedOn',
      'businessInfo.legalName',
      'businessInfo.naicsCode',
      'businessInfo.taxId',
    ]);
  });

  it.each(['toString', '__proto__', 'usd', ' USD', '💶'])(
    'rejects the currency %j',
    async (code) => {
      expect(fieldsOf(await create(individualBody({ currencies: [code] })))).toEqual([
        'currencies',
      ]);
    },
  );

  it('has specific error codes for UMA addresses and terms', async () => {
    const umaResponse = await create(individualBody({ umaAddress: 'ada@example.com' }));
    expect([umaResponse.status, umaResponse.body.code]).toEqual([400, 'INVALID_UMA_ADDRESS']);
    const termsResponse = await create(
      individualBody({ endUserTermsConsent: termsConsent({ termsVersion: 'V0' }) }),
    );
    expect([termsResponse.status, termsResponse.body.code]).toEqual([
      400,
      'END_USER_TERMS_VERSION_NOT_FOUND',
    ]);
  });

  it('requires the customer data of the selected currencies only', async () => {
    const namelessBody = { customerType: 'INDIVIDUAL' };
    const { status, body } = await create({ ...namelessBody, currencies: ['USD', 'INR', 'NGN'] });
    expect([status, body.code]).toEqual([400, 'MISSING_MANDATORY_USER_INFO']);
    expect(body.details.errors).toEqual([
      { field: 'fullName', message: 'is required for INR, NGN' },
    ]);
    expect((await create({ ...namelessBody, currencies: ['USD'] })).status).toBe(201);
    expect((await create(namelessBody)).status).toBe(201);
    expect((await create(businessBody({ currencies: ['INR'] }))).status).toBe(201);
  });

  it('returns 501 for a currency that is not offered in the region', async () => {
    const { status, body } = await create(individualBody({ region: 'SG', currencies: ['USDT'] }));
    expect(status).toBe(201);
    expect(body.region).toBe('SG');
    const contact = { email: 'ada@example.com', phoneNumber: '+4915112345678' };
    const rejectedResponse = await create(
      individualBody({ region: 'DE', currencies: ['EUR', 'USDT'], ...contact }),
    );
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
    expect(rejectedResponse.body.details).toEqual({ region: 'DE', currencies: ['USDT'] });
    expect((await create(individualBody({ region: 'KP' }))).status).toBe(501);
    const germanResponse = await create(individualBody({ region: 'DE', ...contact }));
    expect(germanResponse.status).toBe(201);
    expect(germanResponse.body.currencies).not.toContain('USDT');
    expect(germanResponse.body.currencies).toContain('USDC');
    expect(await accountsOf(germanResponse.body.id)).not.toContain('USDT');
  });

  it('rejects a platformCustomerId or UMA address in use', async () => {
    const umaAddress = `$twice@${await domainOf()}`;
    expect((await create(individualBody({ platformCustomerId: 'twice', umaAddress }))).status).toBe(
      201,
    );
    const idResponse = await create(individualBody({ platformCustomerId: 'twice' }));
    expect([idResponse.status, idResponse.body.code]).toEqual([409, 'CONFLICT']);
    const umaResponse = await create(individualBody({ umaAddress: umaAddress.toUpperCase() }));
    expect([umaResponse.status, umaResponse.body.code]).toEqual([409, 'UMA_ADDRESS_EXISTS']);
    expect((await create(individualBody({ platformCustomerId: 'twice' }), app.other)).status).toBe(
      201,
    );
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => create(individualBody({ platformCustomerId: 'raced' }))),
    );
    expect(responses.map((each) => each.status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it('replays the first reply for a repeated Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'create-once' };
    const body = individualBody({ platformCustomerId: 'once' });
    const firstResponse = await app.call('POST', '/customers', body, { headers });
    const secondResponse = await app.call('POST', '/customers', body, { headers });
    expect(secondResponse.status).toBe(201);
    expect(secondResponse.body).toEqual(firstResponse.body);
    const otherResponse = await app.call('POST', '/customers', individualBody(), { headers });
    expect([otherResponse.status, otherResponse.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('requires MANAGE and POST', async () => {
    const viewToken = await app.tokenWith(['VIEW', 'TRANSACT']);
    const rejectedResponse = await app.call('POST', '/customers', individualBody(), {
      platform: viewToken,
    });
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([403, 'FORBIDDEN']);
    const putResponse = await app.call('PUT', '/customers', individualBody());
    expect([putResponse.status, putResponse.body.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });
});

describe('createCustomer in a region that requires contact verification', () => {
  const contact = { email: 'ada@example.de', phoneNumber: '+4915112345678' };
  const berlinAddress = { line1: 'Weg 1', city: 'Berlin', postalCode: '10115', country: 'DE' };

  it('requires both contacts, and a contact person of a business', async () => {
    expect(fieldsOf(await create(individualBody({ region: 'EU' })))).toEqual([
      'email',
      'phoneNumber',
    ]);
    const addressResponse = await create(
      individualBody({ address: berlinAddress, email: 'a@b.example' }),
    );
    expect(fieldsOf(addressResponse)).toEqual(['phoneNumber']);
    const businessResponse = await create(businessBody(contact, { country: 'FR', taxId: 'FR123' }));
    expect(fieldsOf(businessResponse)).toEqual([
      'businessInfo.primaryContactFirstName',
      'businessInfo.primaryContactLastName',
    ]);
  });

  it('creates both channels as PENDING', async () => {
    const { status, body } = await create(individualBody({ address: berlinAddress, ...contact }));
    expect(status).toBe(201);
    expect(body.contactVerification).toEqual({ email: 'PENDING', phone: 'PENDING' });
    const otherRegionResponse = await create(
      individualBody({ address: berlinAddress, region: 'US' }),
    );
    expect(otherRegionResponse.status).toBe(201);
    expect(otherRegionResponse.body).not.toHaveProperty('contactVerification');
  });

  it('requires no contacts if SCA is disabled for the platform', async () => {
    const platform = await app.newPlatform('No SCA');
    await app.runtime.db.query('update platforms set sca = false where id = $1', [platform.id]);
    const { status, body } = await create(individualBody({ address: berlinAddress }), platform);
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('contactVerification');
  });
});

describe('getEndUserTerms', () => {
  it('returns the current version and its URL', async () => {
    const { status, body } = await app.call('GET', '/customers/end-user-terms');
    expect(status).toBe(200);
    expect(body.version).toBe('V1');
    expect(new URL(body.url).pathname).toContain('V1');
  });
});

describe('mandatory terms', () => {
  it('delay the opening of accounts until acceptance', async () => {
    const platform = await app.newPlatform('Terms', { regulated: false });
    await app.runtime.db.query('update platforms set terms_required = true where id = $1', [
      platform.id,
    ]);
    const { body } = await create(individualBody({ currencies: ['USD', 'EUR'] }), platform);
    expect(await accountsOf(body.id, platform)).toEqual([]);
    const change = { customerType: 'INDIVIDUAL', endUserTermsConsent: termsConsent() };
    const updatedCustomer = await app.call('PATCH', `/customers/${body.id}`, change, {
      platform,
    });
    expect(updatedCustomer.body.endUserTermsConsent).toEqual(termsConsent());
    expect((await accountsOf(body.id, platform)).sort()).toEqual(['EUR', 'USD']);
    const customerWithConsent = await create(
      individualBody({ currencies: ['USD'], endUserTermsConsent: termsConsent() }),
      platform,
    );
    expect(await accountsOf(customerWithConsent.body.id, platform)).toEqual(['USD']);
  });
});
