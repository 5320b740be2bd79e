// Missing data of individuals and businesses, with one error for each gap.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINDING_TYPES, findingKind } from '../../../catalog/identity/verification-errors.ts';
import { DOCUMENT_TYPES } from '../documents/types.ts';
import { gapsIn, type KnownCustomer, type KnownDocument } from './completeness.ts';
import { BUSINESS_FIELDS, OWNER_FIELDS, PERSON_FIELDS } from './required.ts';

type Json = Record<string, unknown>;

const address = {
  line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  postalCode: '78701',
  country: 'US',
};
const PASSPORT = { id: 'Document:p', holder: 'Customer:1', type: 'PASSPORT', side: null } as const;

const PERSON: KnownCustomer = {
  customerId: 'Customer:1',
  type: 'INDIVIDUAL',
  fields: {
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-15',
    nationality: 'US',
    idType: 'SSN',
    identifier: '123-45-6789',
    address,
  },
  owners: [],
  documents: [PASSPORT],
};

const OWNER = {
  id: 'BeneficialOwner:1',
  roles: ['UBO', 'CONTROL_PERSON'],
  ownershipPercentage: 60,
  personalInfo: {
    firstName: 'Grace',
    lastName: 'Hopper',
    birthDate: '1970-12-09',
    nationality: 'US',
    address,
    idType: 'SSN',
    identifier: '987-65-4321',
  },
};

const documentOf = (
  type: KnownDocument['type'],
  overrides: Partial<KnownDocument> = {},
): KnownDocument => ({
  ...{ id: `Document:${type}`, holder: 'Customer:1', type, side: null },
  ...overrides,
});

const BUSINESS: KnownCustomer = {
  customerId: 'Customer:1',
  type: 'BUSINESS',
  fields: {
    address,
    businessInfo: {
      legalName: 'Acme Inc',
      country: 'US',
      taxId: '12-3456789',
      incorporatedOn: '2020-01-15',
      registrationNumber: 'REG-1',
      entityType: 'LLC',
      businessType: 'INFORMATION',
      countriesOfOperation: ['US'],
      purposeOfAccount: 'SUPPLIER_PAYMENTS',
      sourceOfFunds: 'Sales',
    },
  },
  owners: [OWNER],
  documents: [
    ...(['STATE_REGISTRY_EXCERPT', 'TRUST_AGREEMENT', 'TAX_RETURN'] as const).map((type) =>
      documentOf(type),
    ),
    documentOf('PASSPORT', { id: 'Document:o', holder: OWNER.id }),
  ],
};

/** Copy without the value at `path`, or with another value. */
function copyWithout<T>(source: T, path: string, value?: unknown): T {
  const copy = structuredClone(source) as Json;
  const names = path.split('.');
  const lastName = names.pop() as string;
  const parent = names.reduce<Json>((each, name) => each[name] as Json, copy);
  if (value === undefined) delete parent[lastName];
  else parent[lastName] = value;
  return copy as T;
}

const summarizeGaps = (facts: KnownCustomer) =>
  gapsIn(facts).map(({ resourceId, type, field }) => [resourceId, type, field ?? '']);

describe('an individual', () => {
  it('with complete data has no gaps', () => expect(gapsIn(PERSON)).toEqual([]));

  it.each(PERSON_FIELDS)('requires %s', (field) => {
    const gaps = [['Customer:1', 'MISSING_FIELD', field]];
    expect(summarizeGaps({ ...PERSON, fields: copyWithout(PERSON.fields, field) })).toEqual(gaps);
    expect(summarizeGaps({ ...PERSON, fields: copyWithout(PERSON.fields, field, ' ') })).toEqual(
      gaps,
    );
    expect(summarizeGaps({ ...PERSON, fields: { ...PERSON.fields, [field]: null } })).toEqual(gaps);
  });

  it('requires two names and all required parts of an address', () => {
    expect(
      summarizeGaps({ ...PERSON, fields: { ...PERSON.fields, fullName: ' Ada001 ' } }),
    ).toEqual([['Customer:1', 'INVALID_FIELD', 'fullName']]);
    const emptyAddress = { ...address, line1: ' ', postalCode: undefined };
    expect(
      summarizeGaps({ ...PERSON, fields: { ...PERSON.fields, address: emptyAddress } }),
    ).toEqual([
      ['Customer:1', 'MISSING_FIELD', 'address.line1'],
      ['Customer:1', 'MISSING_FIELD', 'address.postalCode'],
    ]);
  });

  it('requires city and state only for an address in the US', () => {
    const usAddress = { line1: '1 Main St', city: ' ', postalCode: '78701', country: 'US' };
    expect(summarizeGaps({ ...PERSON, fields: { ...PERSON.fields, address: usAddress } })).toEqual([
      ['Customer:1', 'MISSING_FIELD', 'address.city'],
      ['Customer:1', 'MISSING_FIELD', 'address.state'],
    ]);
    expect(
      summarizeGaps({ ...BUSINESS, fields: { ...BUSINESS.fields, address: usAddress } }),
    ).toEqual([
      ['Customer:1', 'MISSING_FIELD', 'customer.address.city'],
      ['Customer:1', 'MISSING_FIELD', 'customer.address.state'],
    ]);
    const owners = [{ ...OWNER, personalInfo: { ...OWNER.personalInfo, address: usAddress } }];
    expect(summarizeGaps({ ...BUSINESS, owners })).toEqual([
      [OWNER.id, 'MISSING_FIELD', 'personalInfo.address.city'],
      [OWNER.id, 'MISSING_FIELD', 'personalInfo.address.state'],
    ]);
    const foreignAddress = { ...usAddress, country: 'GB' };
    expect(
      summarizeGaps({ ...PERSON, fields: { ...PERSON.fields, address: foreignAddress } }),
    ).toEqual([]);
  });

  const germanFields = {
    ...{ nationality: 'DE', address: { ...address, country: 'DE' } },
    ...{ idType: 'NON_US_TAX_ID', identifier: '86095742719', countryOfIssuance: 'DE' },
  };
  const noIdentifier = { idType: undefined, identifier: undefined, countryOfIssuance: undefined };
  const gapsWith = (overrides: object) => [
    summarizeGaps({ ...PERSON, fields: { ...PERSON.fields, ...overrides } }),
    summarizeGaps({
      ...BUSINESS,
      owners: [{ ...OWNER, personalInfo: { ...OWNER.personalInfo, ...overrides } }],
    }),
  ];
  const expectedGapsOf = (type: string, ...fields: string[]) => [
    fields.map((field) => ['Customer:1', type, field]),
    fields.map((field) => [OWNER.id, type, `personalInfo.${field}`]),
  ];

  it('outside the US requires a national number with its country', () => {
    expect(gapsWith(germanFields)).toEqual([[], []]);
    const withoutCountry = { ...germanFields, countryOfIssuance: undefined };
    expect(gapsWith(withoutCountry)).toEqual(expectedGapsOf('MISSING_FIELD', 'countryOfIssuance'));
    expect(gapsWith({ ...germanFields, ...noIdentifier })).toEqual(
      expectedGapsOf('MISSING_FIELD', 'idType', 'identifier'),
    );
    expect(gapsWith({ ...germanFields, idType: 'ITIN', countryOfIssuance: 'US' })).toEqual([
      [],
      [],
    ]);
  });

  it.each([{ nationality: 'US' }, { address }])('of the US requires a US number: %j', (usField) => {
    expect(gapsWith({ ...germanFields, ...usField })).toEqual(
      expectedGapsOf('INVALID_FIELD', 'idType'),
    );
    expect(gapsWith({ ...germanFields, ...usField, ...noIdentifier })).toEqual(
      expectedGapsOf('MISSING_FIELD', 'idType', 'identifier'),
    );
  });

  it('in a country without numbers requires a document only', () => {
    const emiratiFields = {
      ...germanFields,
      ...noIdentifier,
      address: { ...address, country: 'AE' },
    };
    expect(gapsWith(emiratiFields)).toEqual([[], []]);
    expect(gapsWith({ ...emiratiFields, nationality: 'US' })).toEqual(
      expectedGapsOf('MISSING_FIELD', 'idType', 'identifier'),
    );
    const fields = { ...PERSON.fields, ...emiratiFields };
    expect(summarizeGaps({ ...PERSON, fields, documents: [] })).toEqual([
      ['Customer:1', 'MISSING_IDENTITY_DOCUMENT', ''],
    ]);
  });

  const frontSide = documentOf('DRIVERS_LICENSE', { id: 'Document:f', side: 'FRONT' });
  const backSide = documentOf('DRIVERS_LICENSE', { id: 'Document:b', side: 'BACK' });
  const withoutSide = documentOf('DRIVERS_LICENSE', { id: 'Document:s' });
  const expectedGaps = [['Customer:1', 'MISSING_IDENTITY_DOCUMENT', '']];
  it.each<[string, KnownDocument[], unknown[]]>([
    ['no document', [], expectedGaps],
    ['a passport', [PASSPORT], []],
    ['both sides of a license', [frontSide, backSide], []],
    ['a file of a license without a side and its back', [withoutSide, backSide], []],
    ['only the front of a license', [frontSide], [['Document:f', 'INCOMPLETE_DOCUMENT', '']]],
    ['only the back of a license', [backSide], [['Document:b', 'INCOMPLETE_DOCUMENT', '']]],
    [
      'only a file of a license without a side',
      [withoutSide],
      [['Document:s', 'INCOMPLETE_DOCUMENT', '']],
    ],
    [
      'one side each of two document types',
      [frontSide, documentOf('NATIONAL_ID', { side: 'BACK' })],
      [
        ['Document:f', 'INCOMPLETE_DOCUMENT', ''],
        ['Document:NATIONAL_ID', 'INCOMPLETE_DOCUMENT', ''],
      ],
    ],
    ['one side of a license and a passport', [frontSide, PASSPORT], []],
    ['a passport of another customer', [{ ...PASSPORT, holder: 'Customer:2' }], expectedGaps],
    ['documents of other types', [documentOf('SELFIE'), documentOf('UTILITY_BILL')], expectedGaps],
  ])('has the expected identity gaps with %s', (_, documents, gaps) => {
    expect(summarizeGaps({ ...PERSON, documents })).toEqual(gaps);
  });

  it('reports the missing side, or the accepted document types', () => {
    expect(gapsIn({ ...PERSON, documents: [backSide] })[0]?.reason).toContain('front');
    expect(gapsIn({ ...PERSON, documents: [frontSide] })[0]?.reason).toContain('back');
    expect(gapsIn({ ...PERSON, documents: [] })[0]?.acceptedDocumentTypes).toEqual([
      ...['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'],
    ]);
  });

  it.each(['nationality', 'address.country'])(
    'requires enhanced due diligence in high-risk countries: %s',
    (country) => {
      const highRiskPerson = { ...PERSON, fields: copyWithout(PERSON.fields, country, 'MM') };
      expect(summarizeGaps(highRiskPerson)).toEqual([
        ...[
          'sourceOfFundsCategories',
          'sourceOfWealthCategories',
          'purposeOfAccount',
          'expectedMonthlyTransactionCount',
          'expectedMonthlyTransactionVolume',
          'pepStatus',
        ].map((field) => ['Customer:1', 'MISSING_FIELD', field]),
        ['Customer:1', 'MISSING_PROOF_OF_ADDRESS_DOCUMENT', ''],
      ]);
      const withProof = {
        ...highRiskPerson,
        documents: [PASSPORT, documentOf('PROOF_OF_ADDRESS')],
      };
      expect(summarizeGaps(withProof).map(([, type]) => type)).not.toContain(
        'MISSING_PROOF_OF_ADDRESS_DOCUMENT',
      );
    },
  );
});

describe('a business', () => {
  it('with complete data has no gaps', () => expect(gapsIn(BUSINESS)).toEqual([]));

  it.each(BUSINESS_FIELDS)('requires %s', (field) => {
    const gaps = [['Customer:1', 'MISSING_FIELD', `customer.${field}`]];
    expect(summarizeGaps({ ...BUSINESS, fields: copyWithout(BUSINESS.fields, field) })).toEqual(
      gaps,
    );
    expect(summarizeGaps({ ...BUSINESS, fields: copyWithout(BUSINESS.fields, field, []) })).toEqual(
      gaps,
    );
  });

  it.each(OWNER_FIELDS)('requires %s of each owner', (field) => {
    const owners = [copyWithout(OWNER, field)];
    expect(summarizeGaps({ ...BUSINESS, owners })).toEqual([[OWNER.id, 'MISSING_FIELD', field]]);
  });

  it('requires a beneficial owner and a control person', () => {
    expect(summarizeGaps({ ...BUSINESS, owners: [] })).toEqual([
      ['Customer:1', 'MISSING_BENEFICIAL_OWNER', ''],
      ['Customer:1', 'MISSING_CONTROL_PERSON', ''],
    ]);
    expect(summarizeGaps({ ...BUSINESS, owners: [{ ...OWNER, roles: ['UBO'] }] })).toEqual([
      ['Customer:1', 'MISSING_CONTROL_PERSON', ''],
    ]);
  });

  it('requires an identity document of each owner', () => {
    const secondOwner = { ...OWNER, id: 'BeneficialOwner:2', ownershipPercentage: 40 };
    expect(summarizeGaps({ ...BUSINESS, owners: [OWNER, secondOwner] })).toEqual([
      [secondOwner.id, 'MISSING_IDENTITY_DOCUMENT', ''],
    ]);
  });

  it('reports shares above 100 percent in total', () => {
    const secondOwner = { ...OWNER, id: 'BeneficialOwner:2', ownershipPercentage: 41 };
    const documents = [...BUSINESS.documents, documentOf('PASSPORT', { holder: secondOwner.id })];
    expect(summarizeGaps({ ...BUSINESS, owners: [OWNER, secondOwner], documents })).toEqual([
      [OWNER.id, 'INVALID_FIELD', 'ownershipPercentage'],
      [secondOwner.id, 'INVALID_FIELD', 'ownershipPercentage'],
    ]);
    const director = { ...secondOwner, roles: ['DIRECTOR'] };
    expect(summarizeGaps({ ...BUSINESS, owners: [OWNER, director], documents })).toEqual([]);
  });

  it('requires one document of each category, of any accepted type', () => {
    const categories = [
      'MISSING_LEGAL_PRESENCE_DOCUMENT',
      'MISSING_CONTROL_STRUCTURE_DOCUMENT',
      'MISSING_OWNERSHIP_STRUCTURE_DOCUMENT',
      'MISSING_PROOF_OF_ADDRESS_DOCUMENT',
    ] as const;
    const passport = BUSINESS.documents.filter((each) => each.holder === OWNER.id);
    const gapTypesWith = (documents: KnownDocument[]) =>
      gapsIn({ ...BUSINESS, documents: [...passport, ...documents] }).map((each) => each.type);
    expect(gapTypesWith([])).toEqual(categories);
    for (const category of categories) {
      for (const type of DOCUMENT_TYPES) {
        const acceptedTypes = findingKind(category).acceptedDocuments ?? [];
        const isAccepted = acceptedTypes.some((each) => each === type);
        expect([type, gapTypesWith([documentOf(type)]).includes(category)]).toEqual([
          type,
          !isAccepted,
        ]);
      }
    }
  });
});

describe('gaps', () => {
  const documentLists = fc.array(
    fc.record({
      id: fc.uuid().map((id) => `Document:${id}`),
      holder: fc.constantFrom('Customer:1', OWNER.id, 'Customer:2'),
      type: fc.constantFrom(...DOCUMENT_TYPES),
      side: fc.constantFrom('FRONT' as const, 'BACK' as const, null),
    }),
    { maxLength: 8 },
  );
  const samples = fc.record({
    base: fc.constantFrom(PERSON, BUSINESS),
    missingFields: fc.subarray([...PERSON_FIELDS, ...BUSINESS_FIELDS]),
    hasOwners: fc.boolean(),
    documents: documentLists,
  });
  type Sample = typeof samples extends fc.Arbitrary<infer T> ? T : never;
  const createKnownCustomer = ({
    base,
    missingFields,
    hasOwners,
    documents,
  }: Sample): KnownCustomer => ({
    ...base,
    fields: missingFields
      .filter((path) => !path.includes('.') || base.type === 'BUSINESS')
      .reduce((fields, path) => copyWithout(fields, path), base.fields),
    owners: hasOwners ? base.owners : [],
    documents,
  });

  it('are reported once each, with the properties of their type', () => {
    fc.assert(
      fc.property(samples, (sample) => {
        const facts = createKnownCustomer(sample);
        const gaps = gapsIn(facts);
        const keys = gaps.map((each) => `${each.resourceId} ${each.type} ${each.field}`);
        expect(new Set(keys).size).toBe(keys.length);
        const ids = [facts.customerId, ...facts.owners, ...facts.documents].map((each) =>
          typeof each === 'string' ? each : each.id,
        );
        for (const { resourceId, type, field, reason, acceptedDocumentTypes } of gaps) {
          expect(ids).toContain(resourceId);
          expect(FINDING_TYPES).toContain(type);
          expect(field !== undefined).toBe(findingKind(type).subject === 'field');
          expect(acceptedDocumentTypes).toEqual(findingKind(type).acceptedDocuments);
          expect(reason).not.toBe('');
        }
      }),
    );
  });

  it('other than incomplete documents do not increase when more data is known', () => {
    fc.assert(
      fc.property(samples, documentLists, (sample, extraDocuments) => {
        const knownFacts = createKnownCustomer(sample);
        const gapKeysOf = (facts: KnownCustomer) =>
          new Set(
            gapsIn(facts)
              .filter((each) => each.type !== 'INCOMPLETE_DOCUMENT')
              .map((each) => `${each.resourceId} ${each.type} ${each.field}`),
          );
        const gapKeysBefore = gapKeysOf(knownFacts);
        const gapKeysAfter = gapKeysOf({
          ...knownFacts,
          documents: [...knownFacts.documents, ...extraDocuments],
        });
        for (const each of gapKeysAfter) expect(gapKeysBefore).toContain(each);
        expect(gapsIn({ ...knownFacts, ...sample.base, documents: sample.base.documents })).toEqual(
          [],
        );
      }),
    );
  });
});
