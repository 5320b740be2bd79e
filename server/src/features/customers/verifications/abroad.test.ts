// People outside the United States from registration to the outcome of their check, over the API.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { opened } from '../../../../test/kit/app/test-app.ts';
import { openDesk } from '../../../../test/kit/customers/onboarding.ts';

const desk = opened(openDesk);
let as: TestPlatform;
beforeAll(async () => {
  as = await desk.platformOf('default');
});

const GERMANY = { line1: 'Heidestr. 17', city: 'Köln', postalCode: '51147', country: 'DE' };
const DUBAI = { line1: '1 Sheikh Zayed Rd', city: 'Dubai', postalCode: '00000', country: 'AE' };
const NO_NUMBER = { idType: undefined, identifier: undefined, countryOfIssuance: undefined };
const GERMAN = {
  ...{ nationality: 'DE', address: GERMANY },
  ...{ idType: 'NON_US_TAX_ID', identifier: '65 929 970 489', countryOfIssuance: 'DE' },
};
const EMIRATI = { nationality: 'AE', address: DUBAI, ...NO_NUMBER };
const CONTACTS = { email: 'erika@example.com', phoneNumber: '+4915123456789' };

/** The EU wants both contacts proved before the check. */
async function proveContacts(id: string) {
  for (const channel of ['email', 'phone']) {
    const path = `/customers/${id}/verify-${channel}`;
    await desk.app.call('POST', path, undefined, { as });
    ok(await desk.app.call('POST', `${path}/confirm`, { code: '123456' }, { as }), 200);
  }
}

const submitted = async (id: string) => ok(await desk.submit(as, id), 200);
const gapsOf = (body: { errors: { type: string; field?: string }[] }) =>
  body.errors.map(({ type, field }) => [type, field ?? '']);

describe('an individual', () => {
  it.each([
    ['Erika Mustermann', 'APPROVED'],
    ['Erika Mustermann 001', 'PENDING_MANUAL_REVIEW'],
    ['Erika Mustermann 002', 'REJECTED'],
    ['Erika Mustermann 003', 'RESOLVE_ERRORS'],
  ])('who lives in Germany, %s, is %s with a German number', async (fullName, outcome) => {
    const { id } = await desk.person(as, fullName, { ...GERMAN, ...CONTACTS });
    await proveContacts(id);
    await desk.paper(as, id, 'PASSPORT', { country: 'DE' });
    expect((await submitted(id)).verificationStatus).toBe(outcome);
  });

  it('who lives in Germany is asked for a number', async () => {
    const { id } = await desk.person(as, 'Erika Muster', { ...GERMAN, ...NO_NUMBER, ...CONTACTS });
    await proveContacts(id);
    await desk.paper(as, id, 'PASSPORT', { country: 'DE' });
    const lacking = await submitted(id);
    expect(gapsOf(lacking)).toEqual([
      ['MISSING_FIELD', 'idType'],
      ['MISSING_FIELD', 'identifier'],
    ]);
    const { idType, identifier, countryOfIssuance } = GERMAN;
    const change = { customerType: 'INDIVIDUAL', idType, identifier, countryOfIssuance };
    ok(await desk.app.call('PATCH', `/customers/${id}`, change, { as }), 200);
    expect((await submitted(id)).verificationStatus).toBe('APPROVED');
  });

  it('who lives in the Emirates needs a document and no number', async () => {
    const { id } = await desk.person(as, 'Amna Al Suwaidi', EMIRATI);
    expect(gapsOf(await submitted(id))).toEqual([['MISSING_IDENTITY_DOCUMENT', '']]);
    await desk.paper(as, id, 'PASSPORT', { country: 'AE' });
    expect((await submitted(id)).verificationStatus).toBe('APPROVED');
    expect(await desk.statuses(as, id)).toEqual(['APPROVED']);
  });

  it('of the US is asked for a US number, and for city and state', async () => {
    const address = { line1: '1 Main St', postalCode: '78701', country: 'US' };
    const { id } = await desk.person(as, 'Erika Austin', { ...GERMAN, address });
    await desk.paper(as, id, 'PASSPORT', { country: 'DE' });
    const { errors } = await submitted(id);
    expect(gapsOf({ errors })).toEqual([
      ['MISSING_FIELD', 'address.city'],
      ['MISSING_FIELD', 'address.state'],
      ['INVALID_FIELD', 'idType'],
    ]);
    expect(errors.at(-1).reason).toBe('A citizen or resident of the US gives an SSN or ITIN.');
  });
});

describe('a business', () => {
  it('is approved with owners from Germany and from the Emirates', async () => {
    const { id } = await desk.firm(as, 'REG-1000');
    await desk.packet(as, id, ['Hopper']);
    for (const [lastName, person] of [
      ['Mustermann', GERMAN],
      ['Suwaidi', EMIRATI],
    ] as const) {
      const owner = await desk.owner(as, id, lastName, 30, person);
      const { errors } = await submitted(id);
      expect(errors).toMatchObject([{ resourceId: owner.id, type: 'MISSING_IDENTITY_DOCUMENT' }]);
      await desk.paper(as, owner.id, 'PASSPORT', { country: person.nationality });
    }
    expect((await submitted(id)).verificationStatus).toBe('APPROVED');
    expect(await desk.statuses(as, id)).toEqual(Array(4).fill('APPROVED'));
  });
});
