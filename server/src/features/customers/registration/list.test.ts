// Lists of customers with every filter, and reading one customer.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { ownerBody, ownerHarness } from '../../../../test/kit/customers/owners.ts';

const app = testApp();

const individualBody = (overrides: object = {}) => ({
  customerType: 'INDIVIDUAL',
  fullName: 'Ada Lovelace',
  ...overrides,
});
const businessInfo = {
  legalName: 'Acme & Sons LLC',
  country: 'US',
  taxId: '12-3456789',
  incorporatedOn: '2020-02-29',
};
const businessBody = (overrides: object = {}) => ({
  customerType: 'BUSINESS',
  businessInfo,
  ...overrides,
});
const create = (body: unknown, platform?: TestPlatform) =>
  app.call('POST', '/customers', body, { platform });
const fieldsOf = (response: { body: { details: { errors: { field: string }[] } } }) =>
  response.body.details.errors.map((error) => error.field).sort();

describe('listCustomers', () => {
  const list = async (query: string, platform: TestPlatform) => {
    const { status, body } = await app.call('GET', `/customers?${query}`, undefined, {
      platform,
    });
    expect(status).toBe(200);
    return body.data.map((each: { platformCustomerId: string }) => each.platformCustomerId);
  };

  it('supports all filters and their combinations', async () => {
    const platform = await app.newPlatform('Lists');
    const contact = { email: 'a@example.de', phoneNumber: '+4915112345678' };
    const createdCustomers: Record<string, { id: string; umaAddress: string; createdAt: string }> =
      {};
    const add = async (body: object, platformCustomerId: string) => {
      const response = await create({ ...body, platformCustomerId }, platform);
      expect(response.status).toBe(201);
      createdCustomers[platformCustomerId] = response.body;
      await app.advance(60_000);
    };
    await add(individualBody(), 'ada');
    await add(individualBody({ currencies: ['USD'], region: 'US' }), 'grace');
    await add(individualBody({ region: 'DE', ...contact }), 'emmy');
    await add(businessBody({ currencies: ['USDT', 'MXN'], region: 'MX' }), 'acme');
    await app.call('DELETE', `/customers/${createdCustomers.grace?.id}`, undefined, {
      platform,
    });

    expect(await list('', platform)).toEqual(['acme', 'emmy', 'ada']);
    expect(await list('isIncludingDeleted=true', platform)).toEqual([
      'acme',
      'emmy',
      'grace',
      'ada',
    ]);
    expect(await list('platformCustomerId=ada&platformCustomerId=acme', platform)).toEqual([
      'acme',
      'ada',
    ]);
    expect(await list('customerType=BUSINESS', platform)).toEqual(['acme']);
    expect(await list('customerType=BUSINESS&customerType=INDIVIDUAL', platform)).toHaveLength(3);
    expect(await list('region=MX&region=DE', platform)).toEqual(['acme', 'emmy']);
    expect(await list('currency=USDT', platform)).toEqual(['acme', 'ada']);
    expect(await list('currency=EUR', platform)).toEqual(['emmy', 'ada']);
    expect(await list('currency=MXN&customerType=INDIVIDUAL', platform)).toEqual(['emmy', 'ada']);
    expect(await list('currency=JPY', platform)).toEqual([]);
    const uma = encodeURIComponent(createdCustomers.emmy?.umaAddress.toUpperCase() ?? '');
    expect(await list(`umaAddress=${uma}`, platform)).toEqual(['emmy']);
    const createdAfter = createdCustomers.grace?.createdAt;
    expect(await list(`createdAfter=${createdAfter}`, platform)).toEqual(['acme', 'emmy']);
    expect(await list(`createdBefore=${createdAfter}&isIncludingDeleted=true`, platform)).toEqual([
      'grace',
      'ada',
    ]);
    expect(
      await list(
        `updatedAfter=${createdCustomers.acme?.createdAt}&isIncludingDeleted=true`,
        platform,
      ),
    ).toEqual(['acme', 'grace']);
    expect(await list(`updatedBefore=${createdCustomers.ada?.createdAt}`, platform)).toEqual([
      'ada',
    ]);
    const { body } = await app.call('GET', '/customers?limit=2', undefined, { platform });
    expect(body).toMatchObject({ hasMore: true, totalCount: 3 });
    expect(await list(`limit=2&cursor=${body.nextCursor}`, platform)).toEqual(['ada']);
  });

  it('reports all invalid filters together', async () => {
    const query = 'limit=0&customerType=ROBOT&createdAfter=yesterday&isIncludingDeleted=maybe';
    const response = await app.call('GET', `/customers?${query}`);
    expect(response.status).toBe(400);
    expect(fieldsOf(response)).toEqual(
      expect.arrayContaining(['createdAfter', 'customerType', 'isIncludingDeleted', 'limit']),
    );
    expect((await app.call('GET', '/customers?cursor=nonsense')).status).toBe(400);
  });

  it('includes the owners of each business without a query for each business', async () => {
    const platform = await app.newPlatform('Firms');
    const harness = ownerHarness(app);
    const [firstCompany, secondCompany] = [
      await harness.company(platform),
      await harness.company(platform),
    ];
    const expectedNames = ['Hopper', 'Lamarr'];
    for (const { id } of [firstCompany, secondCompany]) {
      for (const lastName of expectedNames) {
        await app.advance(1_000);
        ok(await harness.add(ownerBody(id, {}, { lastName }), platform), 201);
      }
    }
    ok(await create(individualBody(), platform), 201);
    const { db } = app.runtime;
    const { find } = db;
    const tableNames: string[] = [];
    db.find = (table, filter, options) => {
      tableNames.push(table.name);
      return find(table, filter, options);
    };
    const { data } = (await app.call('GET', '/customers', undefined, { platform })).body;
    db.find = find;
    expect(tableNames).not.toContain('beneficial_owners');
    expect(data.map((each: { id: string }) => each.id).slice(1)).toEqual([
      secondCompany.id,
      firstCompany.id,
    ]);
    for (const each of data.slice(1)) {
      expect(each).toEqual(
        (await app.call('GET', `/customers/${each.id}`, undefined, { platform })).body,
      );
      const lastNames = each.beneficialOwners.map(
        (owner: { personalInfo: { lastName: string } }) => owner.personalInfo.lastName,
      );
      expect(lastNames).toEqual(expectedNames);
    }
    expect(data[0]).not.toHaveProperty('beneficialOwners');
  });
});

describe('getCustomerById', () => {
  it('returns 404 for malformed and unknown IDs and IDs of other platforms', async () => {
    const foreignId = (await create(individualBody(), app.other)).body.id as string;
    const ids = [foreignId, 'Customer:00000000-0000-7000-8000-000000000000', 'Customer:x', 'x'];
    for (const id of ids) {
      const { status, body } = await app.call('GET', `/customers/${id}`);
      expect([status, body.code, body.reason]).toEqual([
        404,
        'CUSTOMER_NOT_FOUND',
        'Customer not found.',
      ]);
    }
  });
});
