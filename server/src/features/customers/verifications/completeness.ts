// Completeness check: a pure function from the known data to all gaps, with one verification error
// each. It checks presence, and values that no reviewer could accept. The verifier checks whether
// the data is true.
import { requiredTaxIdentifier } from '../../../catalog/identity/tax-identifiers.ts';
import { type FindingType, findingKind } from '../../../catalog/identity/verification-errors.ts';
import { type DocumentType, IDENTITY_TYPES, TWO_SIDED_TYPES } from '../documents/index.ts';
import type { VerificationError } from './contract.ts';
import {
  addressParts,
  BUSINESS_DOCUMENTS,
  BUSINESS_FIELDS,
  ENHANCED_DUE_DILIGENCE,
  NUMBER_FIELDS,
  OWNER_FIELDS,
  PERSON_FIELDS,
} from './required.ts';

type Json = Readonly<Record<string, unknown>>;

/** Properties of a document that the completeness check uses. */
export interface KnownDocument {
  id: string;
  /** Identifier of the customer or owner. */
  holder: string;
  type: DocumentType;
  side: 'FRONT' | 'BACK' | null;
}

export interface KnownOwner {
  id: string;
  roles: readonly string[];
  ownershipPercentage: number;
  personalInfo: Json;
}

export interface KnownCustomer {
  customerId: string;
  type: 'INDIVIDUAL' | 'BUSINESS';
  /** Fields of the customer type, named as in the API, and the `identifier` of an individual. */
  fields: Json;
  owners: readonly KnownOwner[];
  documents: readonly KnownDocument[];
}

/** Verification error with the default reason of its type. */
export function errorOf(
  resourceId: string,
  type: FindingType,
  overrides: { field?: string | undefined; reason?: string | undefined } = {},
): VerificationError {
  const { acceptedDocuments, reason } = findingKind(type);
  return {
    resourceId,
    type,
    ...(overrides.field === undefined ? {} : { field: overrides.field }),
    ...(acceptedDocuments ? { acceptedDocumentTypes: [...acceptedDocuments] } : {}),
    reason: overrides.reason ?? reason,
  };
}

const valueAt = (root: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Json | null | undefined)?.[name], root);

const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0);

/** Paths with an empty value. For a present address, the paths of its missing fields. */
function missingPaths(root: Json, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const value = valueAt(root, path);
    if (isBlank(value)) return [path];
    if (path.split('.').at(-1) !== 'address') return [];
    return addressParts(valueAt(value, 'country'))
      .filter((addressField) => isBlank(valueAt(value, addressField)))
      .map((addressField) => `${path}.${addressField}`);
  });
}

const missingFields = (id: string, root: Json, paths: readonly string[], prefix = '') =>
  missingPaths(root, paths).map((path) => errorOf(id, 'MISSING_FIELD', { field: prefix + path }));

/** Whether the documents of one type show all of its sides. */
function isComplete(type: DocumentType, documents: readonly KnownDocument[]): boolean {
  if (!TWO_SIDED_TYPES.includes(type)) return documents.length > 0;
  // A file without a side counts as the front.
  return (
    documents.some((each) => each.side !== 'BACK') && documents.some((each) => each.side === 'BACK')
  );
}

/** Requires one identity document, with both sides of a two-sided document. */
function identityGaps(holder: string, allDocuments: readonly KnownDocument[]): VerificationError[] {
  const knownDocuments = allDocuments.filter((each) => each.holder === holder);
  const documentsByType = IDENTITY_TYPES.map(
    (type) => [type, knownDocuments.filter((each) => each.type === type)] as const,
  );
  if (documentsByType.some(([type, documents]) => isComplete(type, documents))) return [];
  const incompleteDocuments = documentsByType.flatMap(([, [firstDocument]]) => firstDocument ?? []);
  if (!incompleteDocuments.length) return [errorOf(holder, 'MISSING_IDENTITY_DOCUMENT')];
  return incompleteDocuments.map(({ id, side }) =>
    errorOf(id, 'INCOMPLETE_DOCUMENT', {
      reason: `The ${side === 'BACK' ? 'front' : 'back'} of the document is missing.`,
    }),
  );
}

function categoryGaps(
  holder: string,
  allDocuments: readonly KnownDocument[],
  categories: readonly FindingType[],
): VerificationError[] {
  const types: readonly string[] = allDocuments
    .filter((each) => each.holder === holder)
    .map((each) => each.type);
  return categories
    .filter(
      (category) => !findingKind(category).acceptedDocuments?.some((type) => types.includes(type)),
    )
    .map((category) => errorOf(holder, category));
}

function nameGaps(id: string, fullName: unknown): VerificationError[] {
  if (isBlank(fullName) || String(fullName).trim().split(/\s+/).length >= 2) return [];
  const reason = 'A given name and a family name are required.';
  return [errorOf(id, 'INVALID_FIELD', { field: 'fullName', reason })];
}

const US_PERSON_REASON = 'Citizens and residents of the US must provide an SSN or ITIN.';

const requiredIdentifier = (person: Json) =>
  requiredTaxIdentifier({
    nationality: person.nationality,
    residence: valueAt(person, 'address.country'),
  });

/**
 * Required paths of a person. The identity number is not required if `requiredTaxIdentifier`
 * returns NONE.
 */
function requiredPaths(person: Json, paths: readonly string[]): string[] {
  if (requiredIdentifier(person) !== 'NONE') return [...paths];
  return paths.filter((path) => !NUMBER_FIELDS.some((name) => path.split('.').at(-1) === name));
}

/**
 * Errors of a NON_US_TAX_ID: a missing country of issuance, or a person who requires a US number.
 */
function identifierGaps(id: string, person: Json, prefix = ''): VerificationError[] {
  if (person.idType !== 'NON_US_TAX_ID') return [];
  if (requiredIdentifier(person) !== 'US')
    return missingFields(id, person, ['countryOfIssuance'], prefix);
  return [errorOf(id, 'INVALID_FIELD', { field: `${prefix}idType`, reason: US_PERSON_REASON })];
}

function personGaps({ customerId: id, fields, documents }: KnownCustomer): VerificationError[] {
  const countries = [valueAt(fields, 'nationality'), valueAt(fields, 'address.country')];
  const requirements = ENHANCED_DUE_DILIGENCE.filter((each) =>
    each.countries.some((country) => countries.includes(country)),
  );
  return [
    ...missingFields(id, fields, [
      ...new Set([
        ...requiredPaths(fields, PERSON_FIELDS),
        ...requirements.flatMap((each) => each.fields),
      ]),
    ]),
    ...identifierGaps(id, fields),
    ...nameGaps(id, fields.fullName),
    ...identityGaps(id, documents),
    ...categoryGaps(id, documents, [...new Set(requirements.flatMap((each) => each.documents))]),
  ];
}

function shareGaps(owners: readonly KnownOwner[]): VerificationError[] {
  const ubos = owners.filter((each) => each.roles.includes('UBO'));
  const total = ubos.reduce((sum, each) => sum + each.ownershipPercentage, 0);
  if (total <= 100) return [];
  const reason = 'The ownership shares of all beneficial owners exceed 100 percent in total.';
  return ubos.map(({ id }) =>
    errorOf(id, 'INVALID_FIELD', { field: 'ownershipPercentage', reason }),
  );
}

function ownerGaps({ customerId: id, owners, documents }: KnownCustomer): VerificationError[] {
  const hasControlPerson = owners.some((each) => each.roles.includes('CONTROL_PERSON'));
  return [
    ...(owners.length ? [] : [errorOf(id, 'MISSING_BENEFICIAL_OWNER')]),
    ...(hasControlPerson ? [] : [errorOf(id, 'MISSING_CONTROL_PERSON')]),
    ...owners.flatMap(({ id: ownerId, personalInfo }) => [
      ...missingFields(ownerId, { personalInfo }, requiredPaths(personalInfo, OWNER_FIELDS)),
      ...identifierGaps(ownerId, personalInfo, 'personalInfo.'),
      ...identityGaps(ownerId, documents),
    ]),
    ...shareGaps(owners),
  ];
}

function businessGaps(customer: KnownCustomer): VerificationError[] {
  const { customerId: id, fields, documents } = customer;
  return [
    ...missingFields(id, fields, BUSINESS_FIELDS, 'customer.'),
    ...ownerGaps(customer),
    ...categoryGaps(id, documents, BUSINESS_DOCUMENTS),
  ];
}

/** All gaps that block the verification of this customer. */
export const gapsIn = (customer: KnownCustomer): VerificationError[] =>
  customer.type === 'INDIVIDUAL' ? personGaps(customer) : businessGaps(customer);
