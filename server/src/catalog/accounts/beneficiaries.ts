// The beneficiary of an external account. Every bank account has one, an individual or a business;
// a wallet can have one. A few currencies require more fields of an individual. The additional
// fields of a business are data, and required only if the operator enables them.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import {
  Address,
  CountryCode,
  DateOnly,
  Email,
  named,
  Phone,
  variant,
} from '../../kernel/schema.ts';
import type { AccountTypeRow } from './account-type-row.ts';

const text = (description: string) => Type.String({ minLength: 1, description });
const optional = Type.Optional;

const RESIDENCE = { ...CountryCode, description: 'Country of residence, ISO 3166-1 alpha-2.' };

const PERSON = {
  fullName: text('Full name as registered with the bank.'),
  birthDate: { ...DateOnly, description: 'Date of birth, YYYY-MM-DD.' },
  nationality: { ...CountryCode, description: 'Nationality, ISO 3166-1 alpha-2.' },
  email: Email,
  phoneNumber: Phone,
  countryOfResidence: RESIDENCE,
  address: Address,
};

const IndividualBeneficiary = named('IndividualBeneficiary', person([], {}));

const BusinessBeneficiary = named(
  'BusinessBeneficiary',
  Type.Object(
    {
      legalName: text('Registered legal name of the business.'),
      registrationNumber: optional(text('Company registration number.')),
      taxId: optional(text('Tax identification number.')),
      email: optional(Email),
      phoneNumber: optional(Phone),
      countryOfResidence: optional(RESIDENCE),
      address: optional(Address),
    },
    { title: 'Firm', description: 'Business that owns the account.' },
  ),
);

const WalletIndividualBeneficiary = named(
  'WalletIndividualBeneficiary',
  Type.Object(
    { fullName: text('Full name.'), countryOfResidence: RESIDENCE },
    { title: 'Person with a wallet', description: 'Individual who owns the wallet.' },
  ),
);

function person(required: readonly string[], extra: Readonly<Record<string, TSchema>>) {
  const { fullName, ...rest } = PERSON;
  const others = Object.entries({ ...rest, ...extra }).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : optional(schema),
  ]);
  return Type.Object(
    { fullName, ...(Object.fromEntries(others) as Record<string, TSchema>) },
    { title: 'Person', description: 'Individual who owns the account.' },
  );
}

/**
 * The beneficiary of an account type, as a union on `beneficiaryType`. `name` prefixes components.
 */
export function beneficiarySchema(row: AccountTypeRow, name: string) {
  const { required = [], extra = {} } = row.individual ?? {};
  const special = required.length > 0 || Object.keys(extra).length > 0;
  const INDIVIDUAL =
    row.kind === 'wallet'
      ? WalletIndividualBeneficiary
      : special
        ? named(`${name}IndividualBeneficiary`, person(required, extra))
        : IndividualBeneficiary;
  return variant(
    'beneficiaryType',
    { INDIVIDUAL, BUSINESS: BusinessBeneficiary },
    { description: 'Beneficiary: the owner of the account.' },
  );
}

/** The beneficiary of validated account details. */
export type Beneficiary = Static<typeof BusinessBeneficiary> &
  Partial<Static<typeof WalletIndividualBeneficiary>> & {
    beneficiaryType: 'INDIVIDUAL' | 'BUSINESS';
  };

const ADDRESS_WANTED = 'USD MXN GBP INR BRL DKK PHP HKD IDR MYR SGD THB VND AED EUR'.split(' ');
const NUMBERS_WANTED = 'NGN ZAR KES TZS RWF ZMW UGX BWP MWK XOF XAF'.split(' ');

const BUSINESS_WANTED: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(ADDRESS_WANTED.map((currency) => [currency, ['address']])),
  ...Object.fromEntries(NUMBERS_WANTED.map((each) => [each, ['registrationNumber', 'taxId']])),
  EUR: ['address', 'registrationNumber'],
};

const ADDRESS_PARTS = ['line1', 'city', 'postalCode', 'country'];

/**
 * Missing fields that banks of this corridor recommend and the schema does not require, as paths
 * below the beneficiary: the address of an individual paid in EUR or GBP, and the listed fields of
 * a business.
 */
export function missingByGuide(beneficiary: Record<string, unknown>, currency: string): string[] {
  const individual = ['EUR', 'GBP'].includes(currency) ? ['address'] : [];
  const wanted =
    beneficiary.beneficiaryType === 'BUSINESS' ? (BUSINESS_WANTED[currency] ?? []) : individual;
  const missing = wanted.filter((name) => beneficiary[name] === undefined);
  const address = beneficiary.address as Record<string, unknown> | undefined;
  if (address && wanted.includes('address')) {
    missing.push(
      ...ADDRESS_PARTS.filter((part) => !address[part]).map((part) => `address.${part}`),
    );
  }
  return missing;
}
