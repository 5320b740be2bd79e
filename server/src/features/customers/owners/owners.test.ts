import { describe, expect, it } from 'vitest';
import { customer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  fieldsOf,
  ownerBody,
  ownerDesk,
  ownerPerson,
} from '../../../../test/kit/customers/owners.ts';
import { masked } from './owners.ts';

const app = testApp();
const desk = ownerDesk(app);

const UNKNOWN = '00000000-0000-7000-8000-000000000000';

describe('createBeneficialOwner', () => {
  it('keeps everything, shows the end of the number only, and tells nobody', async () => {
    const business = await desk.firm();
    const info = {
      middleName: 'Brewster',
      email: 'grace@example.com',
      phoneNumber: '+15125550100',
    };
    const before = await app.events();
    const roles = ['UBO', 'DIRECTOR', 'UBO'];
    const body = ownerBody(business.id, { roles, ownershipPercentage: 100, likes: 'ships' }, info);
    const owner = ok(await desk.add(body), 201);
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
    expect((await desk.show(owner.id)).body).toEqual(owner);
    expect(await app.events()).toEqual(before);
    const after = (await app.call('GET', `/customers/${business.id}`)).body;
    expect(after).toEqual({ ...business, beneficialOwners: [owner] });
    const rows = await app.runtime.db.query('select * from beneficial_owners where id = $1', [
      owner.id,
    ]);
    // Long enough to be in no sealed text by chance.
    for (const word of ['Hopper', '45-6789', '1970-12', 'grace@', '1 Main']) {
      expect(JSON.stringify(rows)).not.toContain(word);
      expect(app.log.join('')).not.toContain(word);
    }
  });

  it.each([
    [{ idType: 'ITIN', identifier: '912-70-1234' }],
    [{ idType: 'EIN', identifier: '12-3456789', countryOfIssuance: 'US' }],
    [{ idType: 'NON_US_TAX_ID', identifier: 'X1234567-L', countryOfIssuance: 'ES' }],
    [{ idType: 'NON_US_TAX_ID', identifier: '86 095 742 719', countryOfIssuance: 'DE' }],
    [{ idType: 'NON_US_TAX_ID', identifier: 'NG-777', countryOfIssuance: 'NG' }],
  ])('takes %j', async (info) => {
    const owner = ok(await desk.add(ownerBody((await desk.firm()).id, {}, info)), 201);
    expect(owner.personalInfo).toMatchObject({ ...info, identifier: masked(info.identifier) });
  });

  it('names every bad field at once, rules beside schema', async () => {
    const refused = await desk.add({
      customerId: (await desk.firm()).id,
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
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(refused)).toEqual([
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
    expect(fieldsOf(await desk.add({}))).toEqual([
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
  ])('refuses %j', async (info, field) => {
    const refused = await desk.add(ownerBody((await desk.firm()).id, {}, info));
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(refused)).toEqual([`personalInfo.${field}`]);
  });

  it.each([
    [{ roles: ['OWNER'] }, 'roles.0'],
    [{ ownershipPercentage: -1 }, 'ownershipPercentage'],
    [{ ownershipPercentage: 12.5 }, 'ownershipPercentage'],
  ])('refuses %j beside it', async (more, field) => {
    expect(fieldsOf(await desk.add(ownerBody((await desk.firm()).id, more)))).toEqual([field]);
  });

  it('gives owners to a business only, whose check is not over', async () => {
    const individual = await customer(app);
    expect(fieldsOf(await desk.add(ownerBody(individual.id)))).toEqual(['customerId']);
    const business = await desk.firm();
    for (const status of ['APPROVED', 'REJECTED']) {
      await desk.setStatus(business.id, status);
      const late = await desk.add(ownerBody(business.id));
      expect([late.status, late.body.code]).toEqual([400, 'INVALID_INPUT']);
      expect(fieldsOf(late)).toEqual(['customerId']);
    }
    for (const status of ['PENDING', 'HOLD']) {
      await desk.setStatus(business.id, status);
      expect((await desk.add(ownerBody(business.id))).status).toBe(201);
    }
  });

  it('answers for customers that are unknown, foreign or deleted', async () => {
    const foreign = await desk.firm(app.other);
    for (const id of [foreign.id, `Customer:${UNKNOWN}`, 'x']) {
      const answer = await desk.add(ownerBody(id));
      expect([answer.status, answer.body.code]).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    const business = await desk.firm();
    const owner = ok(await desk.add(ownerBody(business.id)), 201);
    await app.call('DELETE', `/customers/${business.id}`);
    for (const answer of [
      await desk.add(ownerBody(business.id)),
      await desk.change(owner.id, { roles: ['UBO'] }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([410, 'CUSTOMER_DELETED']);
    }
    expect((await desk.show(owner.id)).body).toEqual(owner);
  });

  it('takes twenty directors that are named at the same moment', async () => {
    const { id } = await desk.firm();
    const many = await Promise.all(Array.from({ length: 20 }, () => desk.add(ownerBody(id))));
    expect(many.map((answer) => answer.status)).toEqual(many.map(() => 201));
    expect((await desk.list(`?customerId=${id}`)).body.totalCount).toBe(20);
  });

  it('hands out no more than the whole, also to many at once', async () => {
    const business = await desk.firm();
    const ubo = (share: number) =>
      ownerBody(business.id, { roles: ['UBO'], ownershipPercentage: share });
    const many = await Promise.all(Array.from({ length: 6 }, () => desk.add(ubo(40))));
    expect(many.map((each) => each.status).sort()).toEqual([201, 201, 400, 400, 400, 400]);
    const over = await desk.add(ubo(21));
    expect(fieldsOf(over)).toEqual(['ownershipPercentage']);
    expect(over.body.details.errors[0].message).toContain('20 percent');
    expect((await desk.add(ubo(20))).status).toBe(201);
    expect((await desk.add(ownerBody(business.id, { ownershipPercentage: 90 }))).status).toBe(201);
  });

  it('has room for a hundred', async () => {
    const business = await desk.firm();
    const first = ok(await desk.add(ownerBody(business.id)), 201);
    const sql = `insert into beneficial_owners (id, platform_id, customer_id, roles, share, status,
        personal, created_at, updated_at)
      select 'BeneficialOwner:' || n, platform_id, customer_id, roles, 0, status, null, created_at,
        updated_at from beneficial_owners, generate_series(1, 98) n where id = $1`;
    await app.runtime.db.query(sql, [first.id]);
    expect((await desk.add(ownerBody(business.id))).status).toBe(201);
    expect(fieldsOf(await desk.add(ownerBody(business.id)))).toEqual(['customerId']);
  });
});

describe('listBeneficialOwners', () => {
  it('pages, newest first, and only over one business', async () => {
    const [business, neighbour] = [await desk.firm(), await desk.firm()];
    await desk.add(ownerBody(neighbour.id));
    const ids: string[] = [];
    for (const lastName of ['A', 'B', 'C']) {
      await app.advance(1_000);
      ids.unshift(ok(await desk.add(ownerBody(business.id, {}, { lastName })), 201).id);
    }
    const first = ok(await desk.list(`?customerId=${business.id}&limit=2`), 200);
    expect(first).toMatchObject({ hasMore: true, totalCount: 3 });
    const second = ok(
      await desk.list(`?customerId=${business.id}&limit=2&cursor=${first.nextCursor}`),
      200,
    );
    expect(second).toMatchObject({ hasMore: false });
    const seen = [...first.data, ...second.data];
    expect(seen.map((each: { id: string }) => each.id)).toEqual(ids);
    expect(seen[0].personalInfo.identifier).toBe('***-**-6789');
  });

  it('lists nothing of a customer that is unknown, foreign or a person', async () => {
    const foreign = await desk.firm(app.other);
    ok(await desk.add(ownerBody(foreign.id), app.other), 201);
    const individual = await customer(app);
    for (const id of [foreign.id, `Customer:${UNKNOWN}`, 'x', individual.id]) {
      const { body } = await desk.list(`?customerId=${encodeURIComponent(id)}`);
      expect(body).toEqual({ data: [], hasMore: false, totalCount: 0 });
    }
    expect((await desk.list(`?customerId=${foreign.id}`, app.other)).body.data).toHaveLength(1);
  });

  it.each([
    ['', 'customerId'],
    ['?customerId=x&limit=0', 'limit'],
    ['?customerId=x&limit=101', 'limit'],
    ['?customerId=x&cursor=nonsense', 'cursor'],
  ])('refuses "%s"', async (query, field) => {
    const refused = await desk.list(query);
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(refused)).toEqual([field]);
  });
});

describe('getBeneficialOwner', () => {
  it('answers for unknown, malformed and foreign ids the same', async () => {
    const foreign = ok(await desk.add(ownerBody((await desk.firm(app.other)).id), app.other), 201);
    for (const id of [foreign.id, `BeneficialOwner:${UNKNOWN}`, 'x', `Customer:${UNKNOWN}`]) {
      for (const answer of [await desk.show(id), await desk.change(id, {})]) {
        expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
      }
    }
    expect((await desk.show(foreign.id, app.other)).body).toEqual(foreign);
  });
});

describe('masked', () => {
  it.each([
    ['123-45-6789', '***-**-6789'],
    ['1234', '**34'],
    ['7', '*'],
    ['X1234567-L', '******67-L'],
  ])('shows the end of %s only', (identifier, shown) => {
    expect(masked(identifier)).toBe(shown);
  });
});
