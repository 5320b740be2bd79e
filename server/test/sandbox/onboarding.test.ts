// Every cell of the sandbox's tables of identity checks: status after creation and submission,
// missing requirements, outcome of owners, and all events in order. The suffixes are the data of
// the sandbox, so a suffix without a row here fails.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  BUSINESS_SUFFIXES,
  OWNER_OUTCOMES,
  PERSON_SUFFIXES,
  SCRIPTED_FINDINGS,
  STATUS_BY_SUFFIX,
} from '../../src/connectors/sandbox/identity/identity.ts';
import { ok } from '../kit/app/fixtures.ts';
import type { TestPlatform } from '../kit/app/harness.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { KINDS, type Kind, openOnboarding } from '../kit/customers/onboarding.ts';

const fixture = openForFile(openOnboarding);
const platforms = new Map<Kind, TestPlatform>();
const platformOf = (kind: Kind) => platforms.get(kind) as TestPlatform;

beforeAll(async () => {
  for (const kind of KINDS) platforms.set(kind, await fixture.createPlatform(kind));
});

/** Represents all suffixes that no table names. */
const OTHER_SUFFIX = '004';
const addOtherSuffix = (...tables: object[]) => [
  ...new Set([...tables.flatMap(Object.keys), OTHER_SUFFIX]),
];

interface Outcome {
  verification: string;
  customer: string;
  errors?: string[];
}

const PERSONS: Record<string, { liteStatus: string; outcome: Outcome }> = {
  '001': {
    liteStatus: 'PENDING',
    outcome: { verification: 'PENDING_MANUAL_REVIEW', customer: 'PENDING' },
  },
  '002': { liteStatus: 'REJECTED', outcome: { verification: 'REJECTED', customer: 'REJECTED' } },
  '003': {
    liteStatus: 'UNVERIFIED',
    outcome: {
      verification: 'RESOLVE_ERRORS',
      customer: 'UNVERIFIED',
      errors: ['POOR_QUALITY_DOCUMENT'],
    },
  },
  [OTHER_SUFFIX]: {
    liteStatus: 'APPROVED',
    outcome: { verification: 'APPROVED', customer: 'APPROVED' },
  },
};

const BUSINESSES: Record<string, Outcome> = {
  '001': { verification: 'PENDING_MANUAL_REVIEW', customer: 'PENDING' },
  '002': { verification: 'REJECTED', customer: 'REJECTED' },
  '003': { verification: 'PENDING_MANUAL_REVIEW', customer: 'PENDING' },
  [OTHER_SUFFIX]: { verification: 'APPROVED', customer: 'APPROVED' },
};

const OWNERS: Record<string, string> = {
  '001': 'PENDING',
  '002': 'REJECTED',
  [OTHER_SUFFIX]: 'APPROVED',
};

const isFinal = (status: string) => status === 'APPROVED' || status === 'REJECTED';
const customerEvent = (check: string, status: string) =>
  status === 'UNVERIFIED' ? [] : [`CUSTOMER.${check}_${status}`];

async function expectFinal(platform: TestPlatform, customerId: string) {
  const typesBefore = await fixture.readEventTypes(customerId);
  const response = await fixture.submitVerification(platform, customerId);
  expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
  expect(await fixture.readEventTypes(customerId)).toEqual(typesBefore);
}

const typesOf = (body: { errors: { type: string }[] }) => body.errors.map((error) => error.type);

describe.each(KINDS)('a person of a %s platform', (kind) => {
  const isLite = kind !== 'default';

  it.each(addOtherSuffix(STATUS_BY_SUFFIX, PERSON_SUFFIXES))(
    'has the expected outcome if the name ends with %s',
    async (suffix) => {
      const row = PERSONS[suffix];
      if (!row) throw new Error(`the table has no row for the suffix ${suffix}`);
      const platform = platformOf(kind);
      const initialStatus = isLite ? row.liteStatus : 'UNVERIFIED';
      const { id } = await fixture.createPerson(platform, `Ada Lovelace${suffix}`);
      expect(await fixture.readStatuses(platform, id)).toEqual([initialStatus]);
      const events = customerEvent('KYC', initialStatus);
      expect(await fixture.readEventTypes(id)).toEqual(events);
      if (isFinal(initialStatus)) return expectFinal(platform, id);

      const incompleteCheck = ok(await fixture.submitVerification(platform, id), 200);
      expect(incompleteCheck).toMatchObject({
        customerId: id,
        verificationStatus: 'RESOLVE_ERRORS',
        errors: [
          {
            resourceId: id,
            type: 'MISSING_IDENTITY_DOCUMENT',
            acceptedDocumentTypes: ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'],
          },
        ],
      });
      events.push('VERIFICATION.RESOLVE_ERRORS');
      expect(await fixture.readStatuses(platform, id)).toEqual([initialStatus]);
      expect(await fixture.readEventTypes(id)).toEqual(events);

      const passport = await fixture.addDocument(platform, id, 'PASSPORT');
      const completeCheck = ok(await fixture.submitVerification(platform, id), 200);
      const { verification, customer, errors = [] } = row.outcome;
      expect(completeCheck.verificationStatus).toBe(verification);
      expect(typesOf(completeCheck)).toEqual(errors);
      for (const error of completeCheck.errors) expect(error.resourceId).toBe(passport.id);
      expect(await fixture.readStatuses(platform, id)).toEqual([customer]);
      events.push(`VERIFICATION.${verification}`);
      if (customer !== initialStatus) events.push(...customerEvent('KYC', customer));
      expect(await fixture.readEventTypes(id)).toEqual(events);
      if (isFinal(customer)) return expectFinal(platform, id);

      const repeatedCheck = ok(await fixture.submitVerification(platform, id), 200);
      expect(repeatedCheck.id).not.toBe(completeCheck.id);
      expect(repeatedCheck.verificationStatus).toBe(verification);
      expect(await fixture.readEventTypes(id)).toEqual([...events, `VERIFICATION.${verification}`]);
    },
  );
});

describe.each(KINDS)('a business of a %s platform', (kind) => {
  const isLite = kind !== 'default';
  const OWNER_SUFFIXES = addOtherSuffix(OWNER_OUTCOMES);

  /** Status of owners by the status of the business. */
  const ownersAt = (customer: string) =>
    OWNER_SUFFIXES.map((suffix) => (isFinal(customer) ? OWNERS[suffix] : 'PENDING'));

  it.each([...addOtherSuffix(BUSINESS_SUFFIXES)])(
    'has the expected outcome if the registration number ends with %s',
    async (suffix) => {
      const row = BUSINESSES[suffix];
      if (!row) throw new Error(`the table has no row for the suffix ${suffix}`);
      const platform = platformOf(kind);
      const { id } = await fixture.createBusiness(platform, `REG-1${suffix}`);
      expect(await fixture.readStatuses(platform, id)).toEqual(['UNVERIFIED']);
      expect(await fixture.readEventTypes(id)).toEqual([]);

      const firstCheck = ok(await fixture.submitVerification(platform, id), 200);
      const events: string[] = [];
      if (isLite && isFinal(row.customer)) {
        // No further data is required, because validation is skipped.
        expect([firstCheck.verificationStatus, firstCheck.errors]).toEqual([row.verification, []]);
        expect(await fixture.readStatuses(platform, id)).toEqual([row.customer]);
        events.push(`VERIFICATION.${row.verification}`, `CUSTOMER.KYB_${row.customer}`);
        expect(await fixture.readEventTypes(id)).toEqual(events);
        return expectFinal(platform, id);
      }
      expect(firstCheck.verificationStatus).toBe('RESOLVE_ERRORS');
      expect(typesOf(firstCheck)).toEqual([
        'MISSING_BENEFICIAL_OWNER',
        'MISSING_CONTROL_PERSON',
        'MISSING_LEGAL_PRESENCE_DOCUMENT',
        'MISSING_CONTROL_STRUCTURE_DOCUMENT',
        'MISSING_OWNERSHIP_STRUCTURE_DOCUMENT',
        'MISSING_PROOF_OF_ADDRESS_DOCUMENT',
      ]);
      events.push('VERIFICATION.RESOLVE_ERRORS');
      expect(await fixture.readEventTypes(id)).toEqual(events);

      await fixture.completeBusiness(
        platform,
        id,
        OWNER_SUFFIXES.map((lastName) => `Hopper${lastName}`),
      );
      expect(await fixture.readStatuses(platform, id)).toEqual([
        'UNVERIFIED',
        ...OWNER_SUFFIXES.map(() => 'UNVERIFIED'),
      ]);
      const completeCheck = ok(await fixture.submitVerification(platform, id), 200);
      expect([completeCheck.verificationStatus, completeCheck.errors]).toEqual([
        row.verification,
        [],
      ]);
      expect(await fixture.readStatuses(platform, id)).toEqual([
        row.customer,
        ...ownersAt(row.customer),
      ]);
      events.push(`VERIFICATION.${row.verification}`, `CUSTOMER.KYB_${row.customer}`);
      expect(await fixture.readEventTypes(id)).toEqual(events);
      // The customer in the event contains its owners in their current status.
      const lastEvent = (await fixture.app.events()).findLast(({ data }) => data?.id === id);
      expect(
        lastEvent?.data.beneficialOwners.map(
          (beneficialOwner: { kycStatus: string }) => beneficialOwner.kycStatus,
        ),
      ).toEqual(ownersAt(row.customer));
      if (isFinal(row.customer)) return expectFinal(platform, id);
      const repeatedCheck = ok(await fixture.submitVerification(platform, id), 200);
      expect(repeatedCheck.verificationStatus).toBe(row.verification);
      expect(await fixture.readEventTypes(id)).toEqual([
        ...events,
        `VERIFICATION.${row.verification}`,
      ]);
    },
  );

  it('requires a registration number unless validation is skipped', async () => {
    const platform = platformOf(kind);
    const { id } = await fixture.createBusiness(platform, undefined);
    const body = ok(await fixture.submitVerification(platform, id), 200);
    if (isLite) {
      expect([body.verificationStatus, body.errors]).toEqual(['APPROVED', []]);
      expect(await fixture.readStatuses(platform, id)).toEqual(['APPROVED']);
    } else {
      expect(body.errors[0]).toMatchObject({
        ...{ resourceId: id, type: 'MISSING_FIELD' },
        field: 'customer.businessInfo.registrationNumber',
      });
    }
  });

  it('sets the status of existing owners if no further data is required', async () => {
    if (!isLite) return;
    const platform = platformOf(kind);
    const { id } = await fixture.createBusiness(platform, 'REG-1002');
    for (const lastName of OWNER_SUFFIXES)
      await fixture.addOwner(platform, id, `Hopper${lastName}`);
    ok(await fixture.submitVerification(platform, id), 200);
    expect(await fixture.readStatuses(platform, id)).toEqual(['REJECTED', ...ownersAt('REJECTED')]);
  });
});

describe('a document whose number selects a finding', () => {
  it.each(Object.entries(SCRIPTED_FINDINGS))(
    'has the finding %s about the %s',
    async (type, description) => {
      const platform = platformOf('default');
      const { id } = await fixture.createPerson(platform, 'Ada Lovelace');
      const passport = await fixture.addDocument(platform, id, 'PASSPORT', {
        documentNumber: type,
      });
      const body = ok(await fixture.submitVerification(platform, id), 200);
      expect(body.verificationStatus).toBe('RESOLVE_ERRORS');
      expect(body.errors).toMatchObject([
        {
          type,
          resourceId: description === 'document' ? passport.id : id,
          reason: expect.any(String),
        },
      ]);
      expect(await fixture.readStatuses(platform, id)).toEqual(['UNVERIFIED']);
    },
  );
});
