// Customers outside the United States from registration to the outcome of their verification, over the
// API.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import { openOnboarding } from '../../../../test/kit/customers/onboarding.ts';

const harness = openForFile(openOnboarding);
let platform: TestPlatform;
beforeAll(async () => {
  platform = await harness.createPlatform('default');
});

const GERMANY = { line1: 'Heidestr. 17', city: 'Köln', postalCode: '51147', country: 'DE' };
const DUBAI = { line1: '1 Sheikh Zayed Rd', city: 'Dubai', postalCode: '00000', country: 'AE' };
const NO_NUMBER = { idType: undefined, identifier: undefined, countryOfIssuance: undefined };
const GERMAN_PERSON = {
  ...{ nationality: 'DE', address: GERMANY },
  ...{ idType: 'NON_US_TAX_ID', identifier: '65 929 970 489', countryOfIssuance: 'DE' },
};
const EMIRATI_PERSON = { nationality: 'AE', address: DUBAI, ...NO_NUMBER };
const CONTACTS = { email: 'erika@example.com', phoneNumber: '+4915123456789' };

/** The EU requires verification of both contacts before the identity check. */
async function verifyContacts(id: string) {
  for (const channel of ['email', 'phone']) {
    const path = `/customers/${id}/verify-${channel}`;
    await harness.app.call('POST', path, undefined, { platform });
    ok(await harness.app.call('POST', `${path}/confirm`, { code: '123456' }, { platform }), 200);
  }
}

const submitCustomer = async (id: string) =>
  ok(await harness.submitVerification(platform, id), 200);
const errorFieldsOf = (body: { errors: { type: string; field?: string }[] }) =>
  body.errors.map(({ type, field }) => [type, field ?? '']);

describe('an individual', () => {
  it.each([
    ['Erika Mustermann', 'APPROVED'],
    ['Erika Mustermann 001', 'PENDING_MANUAL_REVIEW'],
    ['Erika Mustermann 002', 'REJECTED'],
    ['Erika Mustermann 003', 'RESOLVE_ERRORS'],
  ])('in Germany with a German number, %s, becomes %s', async (fullName, outcome) => {
    const { id } = await harness.createPerson(platform, fullName, {
      ...GERMAN_PERSON,
      ...CONTACTS,
    });
    await verifyContacts(id);
    await harness.addDocument(platform, id, 'PASSPORT', { country: 'DE' });
    expect((await submitCustomer(id)).verificationStatus).toBe(outcome);
  });

  it('in Germany requires an identity number', async () => {
    const { id } = await harness.createPerson(platform, 'Erika Muster', {
      ...GERMAN_PERSON,
      ...NO_NUMBER,
      ...CONTACTS,
    });
    await verifyContacts(id);
    await harness.addDocument(platform, id, 'PASSPORT', { country: 'DE' });
    const incompleteResponse = await submitCustomer(id);
    expect(errorFieldsOf(incompleteResponse)).toEqual([
      ['MISSING_FIELD', 'idType'],
      ['MISSING_FIELD', 'identifier'],
    ]);
    const { idType, identifier, countryOfIssuance } = GERMAN_PERSON;
    const change = { customerType: 'INDIVIDUAL', idType, identifier, countryOfIssuance };
    ok(await harness.app.call('PATCH', `/customers/${id}`, change, { platform }), 200);
    expect((await submitCustomer(id)).verificationStatus).toBe('APPROVED');
  });

  it('in the Emirates requires a document and no number', async () => {
    const { id } = await harness.createPerson(platform, 'Amna Al Suwaidi', EMIRATI_PERSON);
    expect(errorFieldsOf(await submitCustomer(id))).toEqual([['MISSING_IDENTITY_DOCUMENT', '']]);
    await harness.addDocument(platform, id, 'PASSPORT', { country: 'AE' });
    expect((await submitCustomer(id)).verificationStatus).toBe('APPROVED');
    expect(await harness.readStatuses(platform, id)).toEqual(['APPROVED']);
  });

  it('in the US requires a US number, city and state', async () => {
    const address = { line1: '1 Main St', postalCode: '78701', country: 'US' };
    const { id } = await harness.createPerson(platform, 'Erika Austin', {
      ...GERMAN_PERSON,
      address,
    });
    await harness.addDocument(platform, id, 'PASSPORT', { country: 'DE' });
    const { errors } = await submitCustomer(id);
    expect(errorFieldsOf({ errors })).toEqual([
      ['MISSING_FIELD', 'address.city'],
      ['MISSING_FIELD', 'address.state'],
      ['INVALID_FIELD', 'idType'],
    ]);
    expect(errors.at(-1).reason).toBe(
      'Citizens and residents of the US must provide an SSN or ITIN.',
    );
  });
});

describe('a business', () => {
  it('is approved with owners in Germany and the Emirates', async () => {
    const { id } = await harness.createBusiness(platform, 'REG-1000');
    await harness.completeBusiness(platform, id, ['Hopper']);
    for (const [lastName, person] of [
      ['Mustermann', GERMAN_PERSON],
      ['Suwaidi', EMIRATI_PERSON],
    ] as const) {
      const owner = await harness.addOwner(platform, id, lastName, 30, person);
      const { errors } = await submitCustomer(id);
      expect(errors).toMatchObject([{ resourceId: owner.id, type: 'MISSING_IDENTITY_DOCUMENT' }]);
      await harness.addDocument(platform, owner.id, 'PASSPORT', { country: person.nationality });
    }
    expect((await submitCustomer(id)).verificationStatus).toBe('APPROVED');
    expect(await harness.readStatuses(platform, id)).toEqual(Array(4).fill('APPROVED'));
  });
});
