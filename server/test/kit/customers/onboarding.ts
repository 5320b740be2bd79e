// Test harness for onboarding: platforms of each kind, individuals and businesses with complete
// data for an identity check, and the events about a customer in order.

import { platforms } from '../../../src/features/tenancy/platform/store.ts';
import type { Mode } from '../../../src/kernel/mode.ts';
import { ok } from '../app/fixtures.ts';
import { type ApiResponse, startApp, type TestPlatform } from '../app/harness.ts';
import { documentForm, pdfFile } from '../http/documents.ts';

const address = {
  line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  postalCode: '78701',
  country: 'US',
};

/** Complete data of an individual, without a document. */
export const PERSON = {
  customerType: 'INDIVIDUAL',
  birthDate: '1990-01-15',
  nationality: 'US',
  idType: 'SSN',
  identifier: '123-45-6789',
  address,
};

/** Complete data of a business, without owners and documents. */
const BUSINESS_INFO = {
  legalName: 'Acme Inc',
  country: 'US',
  taxId: '12-3456789',
  incorporatedOn: '2020-01-15',
  registrationNumber: 'REG-1000',
  entityType: 'LLC',
  businessType: 'INFORMATION',
  countriesOfOperation: ['US'],
  purposeOfAccount: 'SUPPLIER_PAYMENTS',
  sourceOfFunds: 'Sales',
};

const BUSINESS_DOCUMENTS = [
  'CERTIFICATE_OF_INCORPORATION',
  'DIRECTOR_REGISTRY',
  'SHAREHOLDER_REGISTER',
  'UTILITY_BILL',
];

const personalInfo = (lastName: string) => ({
  firstName: 'Grace',
  lastName,
  birthDate: '1970-12-09',
  nationality: 'US',
  address,
  idType: 'SSN',
  identifier: '987-65-4321',
});

export const KINDS = ['default', 'regulated', 'documents-optional'] as const;
export type Kind = (typeof KINDS)[number];

export async function openOnboarding(options: Parameters<typeof startApp>[0] = {}) {
  const app = await startApp(options);

  async function createPlatform(kind: Kind, environment: Mode = 'sandbox') {
    const createdPlatform = await app.newPlatform(`${kind} ${environment}`, {
      environment,
      regulated: kind === 'regulated',
    });
    if (kind !== 'documents-optional') return createdPlatform;
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, createdPlatform.id);
      if (row) ctx.update(platforms, row, { documents_optional: true });
    }, createdPlatform);
    return createdPlatform;
  }

  const registerCustomer = async (platform: TestPlatform, body: object) =>
    ok(await app.call('POST', '/customers', body, { platform }), 201);

  async function addDocument(
    platform: TestPlatform,
    holder: string,
    documentType: string,
    overrides = {},
  ) {
    const identity = { documentNumber: 'X-100', issuingAuthority: 'Department of State' };
    const fields = {
      documentHolder: holder,
      documentType,
      country: 'US',
      ...identity,
      ...overrides,
    };
    const form = documentForm(fields, { bytes: pdfFile() });
    return ok(await app.call('POST', '/documents', form, { platform }), 201) as { id: string };
  }

  async function addOwner(
    platform: TestPlatform,
    customerId: string,
    lastName: string,
    share = 30,
    person: object = {},
  ) {
    const body = {
      customerId,
      roles: ['UBO', 'CONTROL_PERSON'],
      ownershipPercentage: share,
      personalInfo: { ...personalInfo(lastName), ...person },
    };
    return ok(await app.call('POST', '/beneficial-owners', body, { platform }), 201);
  }

  return {
    app,
    close: app.close,
    createPlatform,
    registerCustomer,
    addDocument,
    addOwner,
    createPerson: (platform: TestPlatform, fullName: string, overrides: object = {}) =>
      registerCustomer(platform, { ...PERSON, fullName, ...overrides }),
    createBusiness: (platform: TestPlatform, registrationNumber?: string, overrides: object = {}) =>
      registerCustomer(platform, {
        customerType: 'BUSINESS',
        address,
        businessInfo: { ...BUSINESS_INFO, registrationNumber, ...overrides },
      }),
    /**
     * Adds the owners and documents that complete a business. Returns the owners in the order of
     * `lastNames`.
     */
    async completeBusiness(
      platform: TestPlatform,
      customerId: string,
      lastNames: readonly string[] = ['Hopper'],
    ) {
      const owners: { id: string }[] = [];
      for (const lastName of lastNames) owners.push(await addOwner(platform, customerId, lastName));
      for (const { id } of owners) await addDocument(platform, id, 'PASSPORT');
      for (const type of BUSINESS_DOCUMENTS) await addDocument(platform, customerId, type);
      return owners;
    },
    submitVerification: (platform: TestPlatform, customerId: string): Promise<ApiResponse> =>
      app.call('POST', '/verifications', { customerId }, { platform }),
    /** `kycStatus` or `kybStatus`, followed by the statuses of the owners. */
    async readStatuses(platform: TestPlatform, customerId: string) {
      const body = ok(
        await app.call('GET', `/customers/${customerId}`, undefined, { platform }),
        200,
      );
      const owners: { kycStatus: string }[] = body.beneficialOwners ?? [];
      return [body.kycStatus ?? body.kybStatus, ...owners.map((owner) => owner.kycStatus)];
    },
    /** Types of all events about a customer and its verifications, oldest first. */
    async readEventTypes(customerId: string): Promise<string[]> {
      const allEvents = await app.events();
      return allEvents
        .filter(({ data }) => data?.id === customerId || data?.customerId === customerId)
        .map((event) => event.type)
        .filter((type) => /^(CUSTOMER|VERIFICATION)\./.test(type));
    },
  };
}
