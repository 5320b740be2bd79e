// What must be known about somebody before they can be checked, as data: fields by path, the documents of
// a business by category, and what is asked beyond that where law is stricter. Pure.
import type { FindingType } from '../../../catalog/identity/verification-errors.ts';

/** Paths into what the API shows of a person; `identifier` is the number of its `idType`. */
export const PERSON_FIELDS = [
  'fullName',
  'birthDate',
  'nationality',
  'idType',
  'identifier',
  'address',
] as const;

/** Paths into what the API shows of a business. The first four are there unless a file was imported. */
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

/** Paths into an owner. */
export const OWNER_FIELDS = [
  'personalInfo.firstName',
  'personalInfo.lastName',
  'personalInfo.birthDate',
  'personalInfo.nationality',
  'personalInfo.address',
  'personalInfo.idType',
  'personalInfo.identifier',
] as const;

/** Fields that a person has no value for where the country of residence issues no number. */
export const NUMBER_FIELDS = ['idType', 'identifier'] as const;

/** Parts of every address. */
const ADDRESS_PARTS = ['line1', 'postalCode', 'country'] as const;

/** Parts of an address by its country; US mail and US sanctions screening need city and state. */
const MORE_OF_ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  US: ['line1', 'city', 'state', 'postalCode', 'country'],
};

export const addressParts = (country: unknown): readonly string[] =>
  MORE_OF_ADDRESSES[String(country)] ?? ADDRESS_PARTS;

/** One document of each category is asked of a business. */
export const BUSINESS_DOCUMENTS = [
  'MISSING_LEGAL_PRESENCE_DOCUMENT',
  'MISSING_CONTROL_STRUCTURE_DOCUMENT',
  'MISSING_OWNERSHIP_STRUCTURE_DOCUMENT',
  'MISSING_PROOF_OF_ADDRESS_DOCUMENT',
] as const satisfies FindingType[];

interface More {
  /** Persons who live there or are citizens. */
  countries: readonly string[];
  fields: readonly string[];
  documents: readonly FindingType[];
}

// Enhanced due diligence and a proof of address are owed where the Financial Action Task Force calls for
// action. Countries that it merely watches stay with the ordinary check.
export const MORE_OF_PERSONS: readonly More[] = [
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
