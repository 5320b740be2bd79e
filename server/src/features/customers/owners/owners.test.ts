// Creation, lists and retrieval of beneficial owners, and the mask of their identifiers.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  fieldsOf,
  ownerBody,
  ownerHarness,
  ownerPerson,
} from '../../../../test/kit/customers/owners.ts';
import { maskIdentifier } from './owners.ts';

const app = testApp();
const harness = ownerHarness(app);

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';

describe('createBeneficialOwner', () => {
  it('stores all fields, masks the number and emits no event', async () => {
    const business = await harness.company();
    const info = {
      middleName: 'Brewster',
      email: 'grace@example.com',
      phoneNumber: '+15125550100',
    };
    const emittedEventsBefore = await app.events();
    const roles = ['UBO', 'DIRECTOR', 'UBO'];
    const body = ownerBody(business.id, { roles, ownershipPercentage: 100, likes: 'ships' }, info);
    const owner = ok(await harness.add(body), 201);
    expect(owner.id).toMatch(/^BeneficialOwner:/);
    expect(owner).toEqual({
      id: owner.id,
      customerId: business.id,
      roles: ['UBO', 'DIRECTOR'],
      ownershipPercentage: 100,
      kycStatus: 'UNVERIFIED',
      personalInfo: { ...ownerPerson(info), identifier: '***-**-6789', countryOfIssuance: 'US' },
      createdAt: owner.createdAt,
      updatedAt: owner.createdAt,
    });
    expect((await harness.show(owner.id)).body).toEqual(owner);
    expect(await app.events()).toEqual(emittedEventsBefore);
    const customerAfter = (await app.call('GET', `/customers/${business.id}`)).body;
    expect(customerAfter).toEqual({ ...business, beneficialOwners: [owner] });
    const rows = await app.runtime.db.query('select * from beneficial_owners where id = $1', [
      owner.id,
    ]);
    // Texts of this length practically never occur in encrypted text.
    for (const term of ['Hopper', '45-6789', '1970-12', 'grace@', '1 Main']) {
      expect(JSON.stringify(rows)).not.toContain(term);
      expect(app.log.join('')).not.toContain(term);
    }
  });

  it.each([
    [{ idType: 'ITIN', identifier: '912-70-1234' }],
    [{ idType: 'EIN', identifier: '12-3456789', countryOfIssuance: 'US' }],
    [{ idType: 'NON_US_TAX_ID', identifier: 'X1234567-L', countryOfIssuance: 'ES' }],
    [{ idType: 'NON_US_TAX_ID', identifier: '86 095 742 719', countryOfIssuance: 'DE' }],
    [{ idType: 'NON_US_TAX_ID', identifier: 'NG-777', countryOfIssuance: 'NG' }],
  ])('accepts the identity number %j', async (info) => {
    const owner = ok(await harness.add(ownerBody((await harness.company()).id, {}, info)), 201);
    expect(owner.personalInfo).toMatchObject({
      ...info,
      identifier: maskIdentifier(info.identifier),
    });
  });

  it('reports all invalid fields of rules and schema together', async () => {
    const rejectedResponse = await harness.add({
      customerId: (await harness.company()).id,
      roles: [],
      ownershipPercentage: 101,
      personalInfo: {
        firstName: 'Grace  B',
        middleName: ' ',
        birthDate: '1970-02-30',
        nationality: 'XX',
        email: 'grace',
        phoneNumber: '0512',
        address: { line1: '', postalCode: '1', country: 'UK' },
        idType: 'SSN',
        identifier: '1',
        countryOfIssuance: 'DE',
      },
    });
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(rejectedResponse)).toEqual([
      'ownershipPercentage',
      'personalInfo.address.country',
      'personalInfo.address.line1',
      'personalInfo.birthDate',
      'personalInfo.countryOfIssuance',
      'personalInfo.email',
      'personalInfo.firstName',
      'personalInfo.identifier',
      'personalInfo.lastName',
      'personalInfo.middleName',
      'personalInfo.nationality',
      'personalInfo.phoneNumber',
      'roles',
    ]);
    expect(fieldsOf(await harness.add({}))).toEqual([
      'customerId',
      'ownershipPercentage',
      'personalInfo',
      'roles',
    ]);
  });

  it.each([
    [{ firstName: 'x'.repeat(251) }, 'firstName'],
    [{ lastName: 'Hopper <b>' }, 'lastName'],
    [{ lastName: '' }, 'lastName'],
    [{ birthDate: '2026-01-05' }, 'birthDate'],
    [{ birthDate: '2999-01-01' }, 'birthDate'],
    [{ idType: 'PASSPORT' }, 'idType'],
    [{ idType: 'ITIN', identifier: '123-45-6789' }, 'identifier'],
    [{ idType: 'EIN' }, 'identifier'],
    [{ idType: 'EIN', identifier: '12-3456789', countryOfIssuance: 'GB' }, 'countryOfIssuance'],
    [{ idType: 'NON_US_TAX_ID' }, 'countryOfIssuance'],
    [{ idType: 'NON_US_TAX_ID', identifier: '****1234', countryOfIssuance: 'NG' }, 'identifier'],
    [
      { idType: 'NON_US_TAX_ID', identifier: '1'.repeat(65), countryOfIssuance: 'NG' },
      'identifier',
    ],
    [{ idType: 'NON_US_TAX_ID', identifier: '7', countryOfIssuance: 'DE' }, 'identifier'],
    [{ idType: 'NON_US_TAX_ID', countryOfIssuance: 'PR' }, 'countryOfIssuance'],
    [{ identifier: undefined }, 'identifier'],
    [{ idType: undefined }, 'idType'],
    [{ idType: 'NON_US_TAX_ID', countryOfIssuance: 'US' }, 'countryOfIssuance'],
    [{ idType: 'NON_US_TAX_ID', countryOfIssuance: 'Spain' }, 'countryOfIssuance'],
    [{ middleName: null }, 'middleName'],
    [{ address: { line1: 'x'.repeat(256), postalCode: '1', country: 'US' } }, 'address.line1'],
  ])('rejects the personal information %j', async (info, field) => {
    const rejectedResponse = await harness.add(ownerBody((await harness.company()).id, {}, info));
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(rejectedResponse)).toEqual([`personalInfo.${field}`]);
  });

  it.each([
    [{ roles: ['OWNER'] }, 'roles.0'],
    [{ ownershipPercentage: -1 }, 'ownershipPercentage'],
    [{ ownershipPercentage: 12.5 }, 'ownershipPercentage'],
  ])('rejects the owner field %j', async (invalidFields, field) => {
    expect(
      fieldsOf(await harness.add(ownerBody((await harness.company()).id, invalidFields))),
    ).toEqual([field]);
  });

  it('accepts owners only of a business whose status is not final', async () => {
    const individual = await createCustomer(app);
    expect(fieldsOf(await harness.add(ownerBody(individual.id)))).toEqual(['customerId']);
    const business = await harness.company();
    for (const status of ['APPROVED', 'REJECTED']) {
      await harness.setStatus(business.id, status);
      const rejectedResponse = await harness.add(ownerBody(business.id));
      expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
      expect(fieldsOf(rejectedResponse)).toEqual(['customerId']);
    }
    for (const status of ['PENDING', 'HOLD']) {
      await harness.setStatus(business.id, status);
      expect((await harness.add(ownerBody(business.id))).status).toBe(201);
    }
  });

  it('rejects customers that are unknown, deleted or of another platform', async () => {
    const foreignCompany = await harness.company(app.other);
    for (const id of [foreignCompany.id, `Customer:${UNKNOWN_ID}`, 'x']) {
      const response = await harness.add(ownerBody(id));
      expect([response.status, response.body.code]).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    const business = await harness.company();
    const owner = ok(await harness.add(ownerBody(business.id)), 201);
    await app.call('DELETE', `/customers/${business.id}`);
    for (const response of [
      await harness.add(ownerBody(business.id)),
      await harness.change(owner.id, { roles: ['UBO'] }),
    ]) {
      expect([response.status, response.body.code]).toEqual([410, 'CUSTOMER_DELETED']);
    }
    expect((await harness.show(owner.id)).body).toEqual(owner);
  });

  it('accepts twenty concurrent directors', async () => {
    const { id } = await harness.company();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => harness.add(ownerBody(id))),
    );
    expect(responses.map((response) => response.status)).toEqual(responses.map(() => 201));
    expect((await harness.list(`?customerId=${id}`)).body.totalCount).toBe(20);
  });

  it('limits the total share of UBOs to 100 percent, including concurrent requests', async () => {
    const business = await harness.company();
    const uboBody = (share: number) =>
      ownerBody(business.id, { roles: ['UBO'], ownershipPercentage: share });
    const responses = await Promise.all(Array.from({ length: 6 }, () => harness.add(uboBody(40))));
    expect(responses.map((each) => each.status).sort()).toEqual([201, 201, 400, 400, 400, 400]);
    const exceedingResponse = await harness.add(uboBody(21));
    expect(fieldsOf(exceedingResponse)).toEqual(['ownershipPercentage']);
    expect(exceedingResponse.body.details.errors[0].message).toContain('must not exceed 20,');
    expect((await harness.add(uboBody(20))).status).toBe(201);
    expect((await harness.add(ownerBody(business.id, { ownershipPercentage: 90 }))).status).toBe(
      201,
    );
  });

  it('limits a business to 100 owners', async () => {
    const business = await harness.company();
    const firstOwner = ok(await harness.add(ownerBody(business.id)), 201);
    const sql = `insert into beneficial_owners (id, platform_id, customer_id, roles, share, status,
        personal, created_at, updated_at)
      select 'BeneficialOwner:' || n, platform_id, customer_id, roles, 0, status, null, created_at,
        updated_at from beneficial_owners, generate_series(1, 98) n where id = $1`;
    await app.runtime.db.query(sql, [firstOwner.id]);
    expect((await harness.add(ownerBody(business.id))).status).toBe(201);
    expect(fieldsOf(await harness.add(ownerBody(business.id)))).toEqual(['customerId']);
  });
});

describe('listBeneficialOwners', () => {
  it('pages owners of one business, newest first', async () => {
    const [business, otherBusiness] = [await harness.company(), await harness.company()];
    await harness.add(ownerBody(otherBusiness.id));
    const ids: string[] = [];
    for (const lastName of ['A', 'B', 'C']) {
      await app.advance(1_000);
      ids.unshift(ok(await harness.add(ownerBody(business.id, {}, { lastName })), 201).id);
    }
    const firstPage = ok(await harness.list(`?customerId=${business.id}&limit=2`), 200);
    expect(firstPage).toMatchObject({ hasMore: true, totalCount: 3 });
    const secondPage = ok(
      await harness.list(`?customerId=${business.id}&limit=2&cursor=${firstPage.nextCursor}`),
      200,
    );
    expect(secondPage).toMatchObject({ hasMore: false });
    const listedOwners = [...firstPage.data, ...secondPage.data];
    expect(listedOwners.map((each: { id: string }) => each.id)).toEqual(ids);
    expect(listedOwners[0].personalInfo.identifier).toBe('***-**-6789');
  });

  it('returns an empty list for other customers', async () => {
    const foreignCompany = await harness.company(app.other);
    ok(await harness.add(ownerBody(foreignCompany.id), app.other), 201);
    const individual = await createCustomer(app);
    for (const id of [foreignCompany.id, `Customer:${UNKNOWN_ID}`, 'x', individual.id]) {
      const { body } = await harness.list(`?customerId=${encodeURIComponent(id)}`);
      expect(body).toEqual({ data: [], hasMore: false, totalCount: 0 });
    }
    expect(
      (await harness.list(`?customerId=${foreignCompany.id}`, app.other)).body.data,
    ).toHaveLength(1);
  });

  it.each([
    ['', 'customerId'],
    ['?customerId=x&limit=0', 'limit'],
    ['?customerId=x&limit=101', 'limit'],
    ['?customerId=x&cursor=nonsense', 'cursor'],
  ])('rejects the query "%s"', async (query, field) => {
    const rejectedResponse = await harness.list(query);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(rejectedResponse)).toEqual([field]);
  });
});

describe('getBeneficialOwner', () => {
  it('returns 404 for malformed and unknown IDs and IDs of other platforms', async () => {
    const foreignOwner = ok(
      await harness.add(ownerBody((await harness.company(app.other)).id), app.other),
      201,
    );
    for (const id of [
      foreignOwner.id,
      `BeneficialOwner:${UNKNOWN_ID}`,
      'x',
      `Customer:${UNKNOWN_ID}`,
    ]) {
      for (const response of [await harness.show(id), await harness.change(id, {})]) {
        expect([response.status, response.body.code]).toEqual([404, 'NOT_FOUND']);
      }
    }
    expect((await harness.show(foreignOwner.id, app.other)).body).toEqual(foreignOwner);
  });
});

describe('maskIdentifier', () => {
  it.each([
    ['123-45-6789', '***-**-6789'],
    ['1234', '**34'],
    ['7', '*'],
    ['X1234567-L', '******67-L'],
  ])('masks %s', (identifier, maskedIdentifier) => {
    expect(maskIdentifier(identifier)).toBe(maskedIdentifier);
  });
});
