// A desk for tests of onboarding: platforms of each kind, people and businesses with everything an identity
// check asks for, and the events about one customer in their order.

import { platforms } from '../../../src/features/tenancy/platform/store.ts';
import type { Mode } from '../../../src/kernel/mode.ts';
import { ok } from '../app/fixtures.ts';
import { type Answer, startApp, type TestPlatform } from '../app/harness.ts';
import { paperForm, pdfFile } from '../http/documents.ts';

const address = {
  line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  postalCode: '78701',
  country: 'US',
};

/** Everything that is asked of a person but a document. */
export const PERSON = {
  customerType: 'INDIVIDUAL',
  birthDate: '1990-01-15',
  nationality: 'US',
  idType: 'SSN',
  identifier: '123-45-6789',
  address,
};

/** Everything that is asked of a business but owners and documents. */
const FIRM = {
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

const FIRM_DOCUMENTS = [
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

export const KINDS = ['default', 'regulated', 'skip-paperwork'] as const;
export type Kind = (typeof KINDS)[number];

export async function openDesk(options: Parameters<typeof startApp>[0] = {}) {
  const app = await startApp(options);

  async function platformOf(kind: Kind, environment: Mode = 'sandbox') {
    const made = await app.newPlatform(`${kind} ${environment}`, {
      environment,
      regulated: kind === 'regulated',
    });
    if (kind !== 'skip-paperwork') return made;
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, made.id);
      if (row) ctx.update(platforms, row, { skip_paperwork: true });
    }, made);
    return made;
  }

  const create = async (as: TestPlatform, body: object) =>
    ok(await app.call('POST', '/customers', body, { as }), 201);

  async function paper(as: TestPlatform, holder: string, documentType: string, more = {}) {
    const identity = { documentNumber: 'X-100', issuingAuthority: 'Department of State' };
    const fields = { documentHolder: holder, documentType, country: 'US', ...identity, ...more };
    const form = paperForm(fields, { bytes: pdfFile() });
    return ok(await app.call('POST', '/documents', form, { as }), 201) as { id: string };
  }

  async function owner(
    as: TestPlatform,
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
    return ok(await app.call('POST', '/beneficial-owners', body, { as }), 201);
  }

  return {
    app,
    close: app.close,
    platformOf,
    create,
    paper,
    owner,
    person: (as: TestPlatform, fullName: string, more: object = {}) =>
      create(as, { ...PERSON, fullName, ...more }),
    firm: (as: TestPlatform, registrationNumber?: string, more: object = {}) =>
      create(as, {
        customerType: 'BUSINESS',
        address,
        businessInfo: { ...FIRM, registrationNumber, ...more },
      }),
    /** Owners and documents that make a business complete; the owners, in the order of their names. */
    async packet(as: TestPlatform, customerId: string, lastNames: readonly string[] = ['Hopper']) {
      const owners: { id: string }[] = [];
      for (const lastName of lastNames) owners.push(await owner(as, customerId, lastName));
      for (const { id } of owners) await paper(as, id, 'PASSPORT');
      for (const type of FIRM_DOCUMENTS) await paper(as, customerId, type);
      return owners;
    },
    submit: (as: TestPlatform, customerId: string): Promise<Answer> =>
      app.call('POST', '/verifications', { customerId }, { as }),
    /** `kycStatus` or `kybStatus`, and those of the owners. */
    async statuses(as: TestPlatform, customerId: string) {
      const body = ok(await app.call('GET', `/customers/${customerId}`, undefined, { as }), 200);
      const owners: { kycStatus: string }[] = body.beneficialOwners ?? [];
      return [body.kycStatus ?? body.kybStatus, ...owners.map((each) => each.kycStatus)];
    },
    /** Types of all events about a customer and its verifications, in the order they are told. */
    async told(customerId: string): Promise<string[]> {
      const all = await app.events();
      return all
        .filter(({ data }) => data?.id === customerId || data?.customerId === customerId)
        .map((each) => each.type)
        .filter((type) => /^(CUSTOMER|VERIFICATION)\./.test(type));
    },
  };
}
