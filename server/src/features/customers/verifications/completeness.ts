// Whether there is enough to check somebody: a pure function from what is known to what stands in the way,
// one finding for each gap, all at once. It judges presence and what no reviewer could accept; whether it
// is true is for whoever checks.
import { neededIdentifier } from '../../../catalog/identity/tax-identifiers.ts';
import { type FindingType, findingKind } from '../../../catalog/identity/verification-errors.ts';
import { type DocumentType, IDENTITY_TYPES, TWO_SIDED_TYPES } from '../documents/index.ts';
import type { VerificationError } from './contract.ts';
import {
  addressParts,
  BUSINESS_DOCUMENTS,
  BUSINESS_FIELDS,
  MORE_OF_PERSONS,
  NUMBER_FIELDS,
  OWNER_FIELDS,
  PERSON_FIELDS,
} from './required.ts';

type Json = Readonly<Record<string, unknown>>;

/** A document as far as completeness goes. */
export interface KnownDocument {
  id: string;
  /** The customer or the owner. */
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

/** All that is known of a customer. */
export interface Known {
  customerId: string;
  type: 'INDIVIDUAL' | 'BUSINESS';
  /** The fields of its type as the API names them, and a person's `identifier`. */
  fields: Json;
  owners: readonly KnownOwner[];
  documents: readonly KnownDocument[];
}

/** A finding in the words of its type. */
export function errorOf(
  resourceId: string,
  type: FindingType,
  more: { field?: string | undefined; reason?: string | undefined } = {},
): VerificationError {
  const { accepted, reason } = findingKind(type);
  return {
    resourceId,
    type,
    ...(more.field === undefined ? {} : { field: more.field }),
    ...(accepted ? { acceptedDocumentTypes: [...accepted] } : {}),
    reason: more.reason ?? reason,
  };
}

const at = (root: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Json | null | undefined)?.[name], root);

const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0);

/** Which of `paths` are empty; of an address that is there, which of its parts. */
function blanks(root: Json, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const value = at(root, path);
    if (isBlank(value)) return [path];
    if (path.split('.').at(-1) !== 'address') return [];
    return addressParts(at(value, 'country'))
      .filter((part) => isBlank(at(value, part)))
      .map((part) => `${path}.${part}`);
  });
}

const missingFields = (id: string, root: Json, paths: readonly string[], prefix = '') =>
  blanks(root, paths).map((path) => errorOf(id, 'MISSING_FIELD', { field: prefix + path }));

/** Whether the documents of one type show all of it. */
function isWhole(type: DocumentType, of: readonly KnownDocument[]): boolean {
  if (!TWO_SIDED_TYPES.includes(type)) return of.length > 0;
  // A file without a side is taken for the front.
  return of.some((each) => each.side !== 'BACK') && of.some((each) => each.side === 'BACK');
}

/** One identity document, both sides of it where it has two. */
function identityGaps(holder: string, all: readonly KnownDocument[]): VerificationError[] {
  const papers = all.filter((each) => each.holder === holder);
  const byType = IDENTITY_TYPES.map(
    (type) => [type, papers.filter((each) => each.type === type)] as const,
  );
  if (byType.some(([type, of]) => isWhole(type, of))) return [];
  const halves = byType.flatMap(([, [first]]) => first ?? []);
  if (!halves.length) return [errorOf(holder, 'MISSING_IDENTITY_DOCUMENT')];
  return halves.map(({ id, side }) =>
    errorOf(id, 'INCOMPLETE_DOCUMENT', {
      reason: `The ${side === 'BACK' ? 'front' : 'back'} of the document is missing.`,
    }),
  );
}

function categoryGaps(
  holder: string,
  all: readonly KnownDocument[],
  categories: readonly FindingType[],
): VerificationError[] {
  const types: readonly string[] = all.filter((each) => each.holder === holder).map((d) => d.type);
  return categories
    .filter((category) => !findingKind(category).accepted?.some((type) => types.includes(type)))
    .map((category) => errorOf(holder, category));
}

function nameGaps(id: string, fullName: unknown): VerificationError[] {
  if (isBlank(fullName) || String(fullName).trim().split(/\s+/).length >= 2) return [];
  const reason = 'A given and a family name are needed.';
  return [errorOf(id, 'INVALID_FIELD', { field: 'fullName', reason })];
}

const US_PERSON = 'A citizen or resident of the US gives an SSN or ITIN.';

const neededOf = (person: Json) =>
  neededIdentifier({
    nationality: person.nationality,
    residence: at(person, 'address.country'),
  });

/** Which of `paths` a person has to fill: none of the number where the country issues none. */
function askedOf(person: Json, paths: readonly string[]): string[] {
  if (neededOf(person) !== 'NONE') return [...paths];
  return paths.filter((path) => !NUMBER_FIELDS.some((name) => path.split('.').at(-1) === name));
}

/** What is wrong with the number that a person gave. */
function numberGaps(id: string, person: Json, prefix = ''): VerificationError[] {
  if (person.idType !== 'NON_US_TAX_ID') return [];
  if (neededOf(person) !== 'US') return missingFields(id, person, ['countryOfIssuance'], prefix);
  return [errorOf(id, 'INVALID_FIELD', { field: `${prefix}idType`, reason: US_PERSON })];
}

function personGaps({ customerId: id, fields, documents }: Known): VerificationError[] {
  const countries = [at(fields, 'nationality'), at(fields, 'address.country')];
  const more = MORE_OF_PERSONS.filter((each) =>
    each.countries.some((country) => countries.includes(country)),
  );
  return [
    ...missingFields(id, fields, [
      ...new Set([...askedOf(fields, PERSON_FIELDS), ...more.flatMap((m) => m.fields)]),
    ]),
    ...numberGaps(id, fields),
    ...nameGaps(id, fields.fullName),
    ...identityGaps(id, documents),
    ...categoryGaps(id, documents, [...new Set(more.flatMap((each) => each.documents))]),
  ];
}

function shareGaps(owners: readonly KnownOwner[]): VerificationError[] {
  const holding = owners.filter((each) => each.roles.includes('UBO'));
  const total = holding.reduce((sum, each) => sum + each.ownershipPercentage, 0);
  if (total <= 100) return [];
  const reason = 'The shares of all beneficial owners are more than 100 percent together.';
  return holding.map(({ id }) =>
    errorOf(id, 'INVALID_FIELD', { field: 'ownershipPercentage', reason }),
  );
}

function ownerGaps({ customerId: id, owners, documents }: Known): VerificationError[] {
  const controls = owners.some((each) => each.roles.includes('CONTROL_PERSON'));
  return [
    ...(owners.length ? [] : [errorOf(id, 'MISSING_BENEFICIAL_OWNER')]),
    ...(controls ? [] : [errorOf(id, 'MISSING_CONTROL_PERSON')]),
    ...owners.flatMap(({ id: ownerId, personalInfo }) => [
      ...missingFields(ownerId, { personalInfo }, askedOf(personalInfo, OWNER_FIELDS)),
      ...numberGaps(ownerId, personalInfo, 'personalInfo.'),
      ...identityGaps(ownerId, documents),
    ]),
    ...shareGaps(owners),
  ];
}

function businessGaps(known: Known): VerificationError[] {
  const { customerId: id, fields, documents } = known;
  return [
    ...missingFields(id, fields, BUSINESS_FIELDS, 'customer.'),
    ...ownerGaps(known),
    ...categoryGaps(id, documents, BUSINESS_DOCUMENTS),
  ];
}

/** Everything that stands in the way of checking this customer. */
export const gapsIn = (known: Known): VerificationError[] =>
  known.type === 'INDIVIDUAL' ? personGaps(known) : businessGaps(known);
