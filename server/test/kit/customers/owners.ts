// Test harness for beneficial owners: a business, an owner, and the requests.
import { ok } from '../app/fixtures.ts';
import type { TestApp, TestPlatform } from '../app/harness.ts';

export const ownerPerson = (overrides: object = {}) => ({
  firstName: 'Grace',
  lastName: 'Hopper',
  birthDate: '1970-12-09',
  nationality: 'US',
  address: { line1: '1 Main St', city: 'Austin', state: 'TX', postalCode: '78701', country: 'US' },
  idType: 'SSN',
  identifier: '123-45-6789',
  ...overrides,
});

export const ownerBody = (
  customerId: string,
  overrides: object = {},
  personOverrides: object = {},
) => ({
  customerId,
  roles: ['DIRECTOR'],
  ownershipPercentage: 10,
  personalInfo: ownerPerson(personOverrides),
  ...overrides,
});

const BUSINESS = {
  customerType: 'BUSINESS',
  businessInfo: {
    legalName: 'Acme',
    country: 'US',
    taxId: '12-3456789',
    incorporatedOn: '2020-02-29',
  },
};

export function ownerHarness(app: TestApp) {
  const pathOf = (id: string) => `/beneficial-owners/${id}`;
  const add = (body: unknown, platform?: TestPlatform) =>
    app.call('POST', '/beneficial-owners', body, { platform });
  const createBusiness = async (platform?: TestPlatform) =>
    ok(await app.call('POST', '/customers', BUSINESS, { platform }), 201);
  return {
    company: createBusiness,
    add,
    /** Creates a business with an owner. */
    create: async (overrides: object = {}, personOverrides: object = {}, platform?: TestPlatform) =>
      ok(
        await add(
          ownerBody((await createBusiness(platform)).id, overrides, personOverrides),
          platform,
        ),
        201,
      ),
    change: (id: string, body: unknown, platform?: TestPlatform) =>
      app.call('PATCH', pathOf(id), body, { platform }),
    show: (id: string, platform?: TestPlatform) =>
      app.call('GET', pathOf(id), undefined, { platform }),
    list: (query: string, platform?: TestPlatform) =>
      app.call('GET', `/beneficial-owners${query}`, undefined, { platform }),
    /** Sets the status of a business without other effects. */
    setStatus: (id: string, status: string) =>
      app.runtime.db.query(
        'update customers set status = $2, version = version + 1 where id = $1',
        [id, status],
      ),
  };
}

export const fieldsOf = (response: { body: { details: { errors: { field: string }[] } } }) =>
  response.body.details.errors.map((error) => error.field).sort();
