// Data required for an identity check: fields by path, document categories of a business, and
// additional requirements for high-risk countries. Pure data.
import type { FindingType } from '../../../catalog/identity/verification-errors.ts';

/** Paths in the API resource of an individual. `identifier` is the number of type `idType`. */
export const PERSON_FIELDS = [
  'fullName',
  'birthDate',
  'nationality',
  'idType',
  'identifier',
  'address',
] as const;

/**
 * Paths in the API resource of a business. The first four are always present, except for customers
 * of a file import.
 */
export const BUSINESS_FIELDS = [
  'businessInfo.legalName',
  'businessInfo.country',
  'businessInfo.taxId',
  'businessInfo.incorporatedOn',
  'businessInfo.registrationNumber',
  'businessInfo.entityType',
  'businessInfo.businessType',
  'businessInfo.countriesOfOperation',
  'businessInfo.purposeOfAccount',
  'businessInfo.sourceOfFunds',
  'address',
] as const;

/** Paths in the API resource of a beneficial owner. */
export const OWNER_FIELDS = [
  'personalInfo.firstName',
  'personalInfo.lastName',
  'personalInfo.birthDate',
  'personalInfo.nationality',
  'personalInfo.address',
  'personalInfo.idType',
  'personalInfo.identifier',
] as const;

/** Fields that are not required if `requiredTaxIdentifier` returns NONE. */
export const NUMBER_FIELDS = ['idType', 'identifier'] as const;

/** Required fields of every address. */
const ADDRESS_PARTS = ['line1', 'postalCode', 'country'] as const;

/** Required fields by country. US mail and US sanctions screening require city and state. */
const ADDRESS_PARTS_BY_COUNTRY: Readonly<Record<string, readonly string[]>> = {
  US: ['line1', 'city', 'state', 'postalCode', 'country'],
};

export const addressParts = (country: unknown): readonly string[] =>
  ADDRESS_PARTS_BY_COUNTRY[String(country)] ?? ADDRESS_PARTS;

/** A business must provide one document of each category. */
export const BUSINESS_DOCUMENTS = [
  'MISSING_LEGAL_PRESENCE_DOCUMENT',
  'MISSING_CONTROL_STRUCTURE_DOCUMENT',
  'MISSING_OWNERSHIP_STRUCTURE_DOCUMENT',
  'MISSING_PROOF_OF_ADDRESS_DOCUMENT',
] as const satisfies FindingType[];

interface EnhancedDueDiligence {
  /** Countries of residence or citizenship. */
  countries: readonly string[];
  fields: readonly string[];
  documents: readonly FindingType[];
}

// Enhanced due diligence and a proof of address apply to countries subject to a FATF call for
// action. Countries under increased monitoring have the standard requirements.
export const ENHANCED_DUE_DILIGENCE: readonly EnhancedDueDiligence[] = [
  {
    countries: ['IR', 'KP', 'MM'],
    fields: [
      'sourceOfFundsCategories',
      'sourceOfWealthCategories',
      'purposeOfAccount',
      'expectedMonthlyTransactionCount',
      'expectedMonthlyTransactionVolume',
      'pepStatus',
    ],
    documents: ['MISSING_PROOF_OF_ADDRESS_DOCUMENT'],
  },
];
