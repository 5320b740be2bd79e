// Identity numbers of individuals and owners outside the United States, in the sandbox and in production.
// Owners that were stored without a country of issuance remain valid.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { fieldsOf, ownerBody, ownerHarness } from '../../../../test/kit/customers/owners.ts';
import { beneficialOwners, ownerPersonal, sealOwner } from '../owners/owners.ts';
import { dataKeyOf, personalOf } from '../records/personal.ts';
import { customers } from '../records/store.ts';

const app = testApp();
const harness = ownerHarness(app);

const GERMAN_NUMBER = {
  idType: 'NON_US_TAX_ID',
  identifier: '65 929 970 489',
  countryOfIssuance: 'DE',
};
/** Valid format. The correct last digit is 9. */
const WRONG_CHECK_DIGIT = { ...GERMAN_NUMBER, identifier: '65 929 970 480' };

const RESIDENT = {
  customerType: 'INDIVIDUAL',
  fullName: 'Erika Mustermann',
  nationality: 'DE',
  email: 'erika@example.com',
  phoneNumber: '+4915123456789',
  address: { line1: 'Heidestr. 17', city: 'Köln', postalCode: '51147', country: 'DE' },
};
const DUBAI = { line1: '1 Sheikh Zayed Rd', city: 'Dubai', postalCode: '00000', country: 'AE' };

const create = (body: object, platform?: TestPlatform) =>
  app.call('POST', '/customers', body, { platform });
const patchCustomer = (id: string, change: object) =>
  app.call('PATCH', `/customers/${id}`, { customerType: 'INDIVIDUAL', ...change });
const readPersonal = async (id: string) => {
  const row = await app.runtime.db.read(customers, id);
  return row && personalOf(app.runtime.vault, row);
};

describe('createCustomer', () => {
  it('encrypts the number of a German resident and never returns it', async () => {
    const body = ok(await create({ ...RESIDENT, ...GERMAN_NUMBER }), 201);
    expect(body).toMatchObject({ idType: 'NON_US_TAX_ID', countryOfIssuance: 'DE' });
    expect(body).not.toHaveProperty('identifier');
    expect(await readPersonal(body.id)).toMatchObject({ identifier: '65 929 970 489' });
    const rows = await app.runtime.db.query('select * from customers where id = $1', [body.id]);
    const outputs = JSON.stringify([rows, await app.events(), app.log]);
    for (const text of ['65 929 970 489', '65929970489']) expect(outputs).not.toContain(text);
  });

  it.each([
    [{ countryOfIssuance: undefined }, ['countryOfIssuance']],
    [{ countryOfIssuance: 'US' }, ['countryOfIssuance']],
    [{ identifier: '123-45-6789' }, ['identifier']],
    [{ identifier: undefined }, ['identifier']],
    [{ idType: undefined }, ['idType']],
    [{ idType: 'EIN' }, ['idType']],
    [{ idType: 'SSN', identifier: '123-45-6789' }, ['countryOfIssuance']],
  ])('rejects a German number with %j', async (change, fields) => {
    const rejectedResponse = await create({ ...RESIDENT, ...GERMAN_NUMBER, ...change });
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(rejectedResponse)).toEqual(fields);
    expect(JSON.stringify(rejectedResponse.body)).not.toContain('970 489');
  });

  it('validates check digits in production only', async () => {
    expect((await create({ ...RESIDENT, ...WRONG_CHECK_DIGIT })).status).toBe(201);
    const rejectedResponse = await create({ ...RESIDENT, ...WRONG_CHECK_DIGIT }, app.production);
    expect([rejectedResponse.status, fieldsOf(rejectedResponse)]).toEqual([400, ['identifier']]);
    expect((await create({ ...RESIDENT, ...GERMAN_NUMBER }, app.production)).status).toBe(201);
  });
});

describe('updateCustomerById', () => {
  it('requires the country with a number and clears both with the type', async () => {
    const { id } = ok(await create(RESIDENT), 201);
    expect(
      fieldsOf(await patchCustomer(id, { ...GERMAN_NUMBER, countryOfIssuance: undefined })),
    ).toEqual(['countryOfIssuance']);
    expect(ok(await patchCustomer(id, GERMAN_NUMBER), 200)).toMatchObject({
      countryOfIssuance: 'DE',
    });
    ok(await patchCustomer(id, { fullName: 'Erika Musterfrau' }), 200);
    expect(await readPersonal(id)).toMatchObject({ identifier: GERMAN_NUMBER.identifier });
    expect(fieldsOf(await patchCustomer(id, { countryOfIssuance: 'AT' }))).toEqual(['identifier']);
    const itin = { idType: 'ITIN', identifier: '912-70-1234' };
    expect(ok(await patchCustomer(id, itin), 200)).toMatchObject({ countryOfIssuance: 'US' });
    ok(await patchCustomer(id, GERMAN_NUMBER), 200);
    const clearedCustomer = ok(await patchCustomer(id, { idType: null }), 200);
    expect(clearedCustomer).not.toHaveProperty('countryOfIssuance');
    expect(await readPersonal(id)).toMatchObject({ identifier: null });
  });
});

describe('owners', () => {
  it('need no number in a country that issues none', async () => {
    const info = { nationality: 'AE', address: DUBAI, idType: undefined, identifier: undefined };
    const owner = await harness.create({}, info);
    expect(owner.personalInfo).toMatchObject({ idType: 'NON_US_TAX_ID', identifier: '' });
    expect(owner.personalInfo).not.toHaveProperty('countryOfIssuance');
    const row = await app.runtime.db.read(beneficialOwners, owner.id);
    const business = await app.runtime.db.read(customers, owner.customerId);
    const personal = row && business && ownerPersonal(app.runtime.vault, business, row);
    expect(Object.keys(personal ?? {})).not.toContain('idType');
    expect(row?.identifier_digest).toBeNull();
    const resubmittedResponse = await harness.change(owner.id, {
      personalInfo: owner.personalInfo,
    });
    expect(fieldsOf(resubmittedResponse)).toEqual([
      'personalInfo.countryOfIssuance',
      'personalInfo.identifier',
    ]);
  });

  it('require a number after a move to a country that issues such numbers', async () => {
    const info = { nationality: 'FR', address: DUBAI, idType: undefined, identifier: undefined };
    const owner = await harness.create({}, info);
    const rejectedResponse = await harness.change(owner.id, {
      personalInfo: { address: RESIDENT.address },
    });
    expect(fieldsOf(rejectedResponse)).toEqual(['personalInfo.idType', 'personalInfo.identifier']);
    const change = { address: RESIDENT.address, ...GERMAN_NUMBER };
    ok(await harness.change(owner.id, { personalInfo: change }), 200);
    const withoutIdentifier = { personalInfo: { idType: null } };
    expect(fieldsOf(await harness.change(owner.id, withoutIdentifier))).toEqual([
      'personalInfo.idType',
      'personalInfo.identifier',
    ]);
    const restoredResponse = await harness.change(owner.id, {
      personalInfo: { address: DUBAI, idType: null },
    });
    expect(ok(restoredResponse, 200).personalInfo).toMatchObject({ identifier: '' });
  });

  it('with US citizenship require a number even in a country that issues none', async () => {
    const info = { nationality: 'US', address: DUBAI, idType: undefined, identifier: undefined };
    const rejectedResponse = await harness.add(ownerBody((await harness.company()).id, {}, info));
    expect(fieldsOf(rejectedResponse)).toEqual(['personalInfo.idType', 'personalInfo.identifier']);
  });

  it('must have valid check digits in production only', async () => {
    ok(await harness.add(ownerBody((await harness.company()).id, {}, WRONG_CHECK_DIGIT)), 201);
    const platform = await app.newPlatform('Firm bank', {
      environment: 'production',
      regulated: false,
    });
    const { id } = await harness.company(platform);
    expect(fieldsOf(await harness.add(ownerBody(id, {}, WRONG_CHECK_DIGIT), platform))).toEqual([
      'personalInfo.identifier',
    ]);
    ok(await harness.add(ownerBody(id, {}, GERMAN_NUMBER), platform), 201);
  });

  it('stored without a country remain valid until the number changes', async () => {
    const owner = await harness.create();
    await app.operate(async (ctx) => {
      const row = await ctx.read(beneficialOwners, owner.id);
      const business = await ctx.read(customers, owner.customerId);
      const key = business && dataKeyOf(business);
      const previousPersonal = row && business && ownerPersonal(ctx.vault, business, row);
      if (!row || !key || !previousPersonal) throw new Error('The owner was not found.');
      const { countryOfIssuance: _, ...rest } = previousPersonal;
      const identityWithoutCountry = { ...rest, idType: 'NON_US_TAX_ID', identifier: '7' } as const;
      ctx.update(beneficialOwners, row, {
        personal: sealOwner(ctx.vault, key, row.id, identityWithoutCountry),
      });
    });
    const renamedOwner = ok(
      await harness.change(owner.id, { personalInfo: { lastName: 'Murray' } }),
      200,
    );
    expect(renamedOwner.personalInfo).toMatchObject({ lastName: 'Murray', identifier: '*' });
    const rejectedResponse = await harness.change(owner.id, { personalInfo: { identifier: '8' } });
    expect(fieldsOf(rejectedResponse)).toEqual([
      'personalInfo.countryOfIssuance',
      'personalInfo.identifier',
    ]);
    ok(await harness.change(owner.id, { personalInfo: GERMAN_NUMBER }), 200);
  });
});
