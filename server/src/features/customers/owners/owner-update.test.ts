// Updates of beneficial owners, sequentially and concurrently.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { fieldsOf, ownerBody, ownerHarness } from '../../../../test/kit/customers/owners.ts';

const app = testApp();
const harness = ownerHarness(app);

describe('updateBeneficialOwner', () => {
  it('changes only the specified fields', async () => {
    const previousOwner = await harness.create({}, { middleName: 'B', email: 'grace@example.com' });
    await app.advance(60_000);
    const newAddress = { line1: '2 Elm St', postalCode: '10001', country: 'US' };
    const updatedOwner = ok(
      await harness.change(previousOwner.id, {
        ownershipPercentage: 25,
        personalInfo: { lastName: 'Murray', middleName: null, email: null, address: newAddress },
      }),
      200,
    );
    const { middleName: _, email: __, ...storedInfo } = previousOwner.personalInfo;
    expect(updatedOwner).toEqual({
      ...previousOwner,
      ownershipPercentage: 25,
      personalInfo: { ...storedInfo, lastName: 'Murray', address: newAddress },
      updatedAt: updatedOwner.updatedAt,
    });
    expect(updatedOwner.updatedAt > previousOwner.updatedAt).toBe(true);
    expect((await harness.show(previousOwner.id)).body).toEqual(updatedOwner);
    const trustee = ok(
      await harness.change(previousOwner.id, { roles: ['TRUSTEE', 'TRUSTEE'] }),
      200,
    );
    expect(trustee.roles).toEqual(['TRUSTEE']);
  });

  it('keeps updatedAt if all values are equal, and leaves the business unchanged', async () => {
    const previousOwner = await harness.create();
    const business = (await app.call('GET', `/customers/${previousOwner.customerId}`)).body;
    const emittedEventsBefore = await app.events();
    await app.advance(60_000);
    for (const body of [
      {},
      { personalInfo: {} },
      { roles: previousOwner.roles, ownershipPercentage: 10 },
    ]) {
      expect(ok(await harness.change(previousOwner.id, body), 200)).toEqual(previousOwner);
    }
    await harness.change(previousOwner.id, { ownershipPercentage: 11 });
    const customerAfter = (await app.call('GET', `/customers/${previousOwner.customerId}`)).body;
    expect(customerAfter.updatedAt).toBe(business.updatedAt);
    expect(await app.events()).toEqual(emittedEventsBefore);
  });

  it('requires a new number with a new type or issuer', async () => {
    const previousOwner = await harness.create();
    const incompleteResponse = await harness.change(previousOwner.id, {
      personalInfo: { idType: 'EIN', firstName: 'x  y' },
    });
    expect(fieldsOf(incompleteResponse)).toEqual([
      'personalInfo.firstName',
      'personalInfo.identifier',
    ]);
    expect(
      fieldsOf(await harness.change(previousOwner.id, { personalInfo: { idType: 'EIN' } })),
    ).toEqual(['personalInfo.identifier']);
    const number = { idType: 'NON_US_TAX_ID', identifier: '86 095 742 719' };
    expect(fieldsOf(await harness.change(previousOwner.id, { personalInfo: number }))).toEqual([
      'personalInfo.countryOfIssuance',
    ]);
    const germanNumber = { ...number, countryOfIssuance: 'DE' };
    const germanOwner = ok(
      await harness.change(previousOwner.id, { personalInfo: germanNumber }),
      200,
    );
    expect(germanOwner.personalInfo).toMatchObject({
      ...germanNumber,
      identifier: '** *** *** 719',
    });
    const issuerResponse = await harness.change(previousOwner.id, {
      personalInfo: { countryOfIssuance: 'AT' },
    });
    expect(fieldsOf(issuerResponse)).toEqual(['personalInfo.identifier']);
    const maskedResponse = await harness.change(previousOwner.id, {
      personalInfo: germanOwner.personalInfo,
    });
    expect(fieldsOf(maskedResponse)).toEqual(['personalInfo.identifier']);
  });

  it('reports all invalid fields together', async () => {
    const previousOwner = await harness.create();
    const rejectedResponse = await harness.change(previousOwner.id, {
      roles: [],
      ownershipPercentage: null,
      personalInfo: {
        firstName: null,
        birthDate: 'x',
        identifier: '1',
        nationality: 'ZZZ',
        email: 'x',
      },
    });
    expect(fieldsOf(rejectedResponse)).toEqual([
      'ownershipPercentage',
      'personalInfo.birthDate',
      'personalInfo.email',
      'personalInfo.firstName',
      'personalInfo.identifier',
      'personalInfo.nationality',
      'roles',
    ]);
    const invalidResponse = await harness.change(previousOwner.id, {
      roles: ['UBO'],
      personalInfo: { identifier: '12-3456789', birthDate: '2026-01-06' },
    });
    expect([invalidResponse.status, fieldsOf(invalidResponse)]).toEqual([
      400,
      ['personalInfo.birthDate', 'personalInfo.identifier'],
    ]);
  });

  it('limits the total share of UBOs to 100 percent', async () => {
    const firstOwner = await harness.create({ roles: ['UBO'], ownershipPercentage: 60 });
    const secondOwner = ok(
      await harness.add(
        ownerBody(firstOwner.customerId, { roles: ['UBO'], ownershipPercentage: 30 }),
      ),
      201,
    );
    expect(fieldsOf(await harness.change(secondOwner.id, { ownershipPercentage: 41 }))).toEqual([
      'ownershipPercentage',
    ]);
    const concurrentResponses = await Promise.all([
      harness.change(firstOwner.id, { ownershipPercentage: 70 }),
      harness.change(secondOwner.id, { ownershipPercentage: 40 }),
    ]);
    expect(concurrentResponses.map((each) => each.status).sort()).toEqual([200, 400]);
    const director = ok(
      await harness.add(ownerBody(firstOwner.customerId, { ownershipPercentage: 80 })),
      201,
    );
    expect(fieldsOf(await harness.change(director.id, { roles: ['UBO'] }))).toEqual([
      'ownershipPercentage',
    ]);
  });

  it('merges concurrent updates', async () => {
    const previousOwner = await harness.create();
    const changes = [{ nationality: 'GB' }, { middleName: 'B' }, { phoneNumber: '+15125550100' }];
    const responses = await Promise.all(
      changes.map((personalInfo) => harness.change(previousOwner.id, { personalInfo })),
    );
    expect(responses.map((each) => each.status)).toEqual([200, 200, 200]);
    expect((await harness.show(previousOwner.id)).body.personalInfo).toMatchObject(
      Object.assign({}, ...changes),
    );
  });

  it('rejects updates after a final status of business or owner', async () => {
    const previousOwner = await harness.create();
    await harness.setStatus(previousOwner.customerId, 'APPROVED');
    const lateResponse = await harness.change(previousOwner.id, { ownershipPercentage: 1 });
    expect([lateResponse.status, lateResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    const otherOwner = await harness.create();
    const sql = `update beneficial_owners set status = 'REJECTED', version = version + 1 where id = $1`;
    await app.runtime.db.query(sql, [otherOwner.id]);
    expect((await harness.change(otherOwner.id, { ownershipPercentage: 1 })).status).toBe(400);
  });
});
