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
const create = (body: unknown, as?: TestPlatform) => app.call('POST', '/customers', body, { as });
const fieldsOf = (response: { body: { details: { errors: { field: string }[] } } }) =>
  response.body.details.errors.map((error) => error.field).sort();

describe('listCustomers', () => {
  const list = async (query: string, as: TestPlatform) => {
    const { status, body } = await app.call('GET', `/customers?${query}`, undefined, { as });
    expect(status).toBe(200);
    return body.data.map((each: { platformCustomerId: string }) => each.platformCustomerId);
  };

  it('supports all filters and their combinations', async () => {
    const as = await app.newPlatform('Lists');
    const contact = { email: 'a@example.de', phoneNumber: '+4915112345678' };
    const created: Record<string, { id: string; umaAddress: string; createdAt: string }> = {};
    const add = async (body: object, platformCustomerId: string) => {
      const response = await create({ ...body, platformCustomerId }, as);
      expect(response.status).toBe(201);
      created[platformCustomerId] = response.body;
      await app.advance(60_000);
    };
    await add(individualBody(), 'ada');
    await add(individualBody({ currencies: ['USD'], region: 'US' }), 'grace');
    await add(individualBody({ region: 'DE', ...contact }), 'emmy');
    await add(businessBody({ currencies: ['USDT', 'MXN'], region: 'MX' }), 'acme');
    await app.call('DELETE', `/customers/${created.grace?.id}`, undefined, { as });

    expect(await list('', as)).toEqual(['acme', 'emmy', 'ada']);
    expect(await list('isIncludingDeleted=true', as)).toEqual(['acme', 'emmy', 'grace', 'ada']);
    expect(await list('platformCustomerId=ada&platformCustomerId=acme', as)).toEqual([
      'acme',
      'ada',
    ]);
    expect(await list('customerType=BUSINESS', as)).toEqual(['acme']);
    expect(await list('customerType=BUSINESS&customerType=INDIVIDUAL', as)).toHaveLength(3);
    expect(await list('region=MX&region=DE', as)).toEqual(['acme', 'emmy']);
    expect(await list('currency=USDT', as)).toEqual(['acme', 'ada']);
    expect(await list('currency=EUR', as)).toEqual(['emmy', 'ada']);
    expect(await list('currency=MXN&customerType=INDIVIDUAL', as)).toEqual(['emmy', 'ada']);
    expect(await list('currency=JPY', as)).toEqual([]);
    const uma = encodeURIComponent(created.emmy?.umaAddress.toUpperCase() ?? '');
    expect(await list(`umaAddress=${uma}`, as)).toEqual(['emmy']);
    const from = created.grace?.createdAt;
    expect(await list(`createdAfter=${from}`, as)).toEqual(['acme', 'emmy']);
    expect(await list(`createdBefore=${from}&isIncludingDeleted=true`, as)).toEqual([
      'grace',
      'ada',
    ]);
    expect(
      await list(`updatedAfter=${created.acme?.createdAt}&isIncludingDeleted=true`, as),
    ).toEqual(['acme', 'grace']);
    expect(await list(`updatedBefore=${created.ada?.createdAt}`, as)).toEqual(['ada']);
    const { body } = await app.call('GET', '/customers?limit=2', undefined, { as });
    expect(body).toMatchObject({ hasMore: true, totalCount: 3 });
    expect(await list(`limit=2&cursor=${body.nextCursor}`, as)).toEqual(['ada']);
  });

  it('reports all invalid filters at once', async () => {
    const query = 'limit=0&customerType=ROBOT&createdAfter=yesterday&isIncludingDeleted=maybe';
    const response = await app.call('GET', `/customers?${query}`);
    expect(response.status).toBe(400);
    expect(fieldsOf(response)).toEqual(
      expect.arrayContaining(['createdAfter', 'customerType', 'isIncludingDeleted', 'limit']),
    );
    expect((await app.call('GET', '/customers?cursor=nonsense')).status).toBe(400);
  });

  it('reads the owners of a page in one batch', async () => {
    const as = await app.newPlatform('Firms');
    const harness = ownerHarness(app);
    const [firstCompany, secondCompany] = [await harness.company(as), await harness.company(as)];
    const names = ['Hopper', 'Lamarr'];
    for (const { id } of [firstCompany, secondCompany]) {
      for (const lastName of names) {
        await app.advance(1_000);
        ok(await harness.add(ownerBody(id, {}, { lastName }), as), 201);
      }
    }
    ok(await create(individualBody(), as), 201);
    const { db } = app.runtime;
    const { find } = db;
    const ids: string[] = [];
    db.find = (table, where, options) => {
      ids.push(table.name);
      return find(table, where, options);
    };
    const { data } = (await app.call('GET', '/customers', undefined, { as })).body;
    db.find = find;
    expect(ids).not.toContain('beneficial_owners');
    expect(data.map((each: { id: string }) => each.id).slice(1)).toEqual([
      secondCompany.id,
      firstCompany.id,
    ]);
    for (const each of data.slice(1)) {
      expect(each).toEqual(
        (await app.call('GET', `/customers/${each.id}`, undefined, { as })).body,
      );
      const lasts = each.beneficialOwners.map(
        (owner: { personalInfo: { lastName: string } }) => owner.personalInfo.lastName,
      );
      expect(lasts).toEqual(names);
    }
    expect(data[0]).not.toHaveProperty('beneficialOwners');
  });
});

describe('getCustomerById', () => {
  it('returns 404 for malformed, unknown and foreign ids', async () => {
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
