// Beneficiary of an external account: an individual or a business. It is required for bank accounts
// and mobile wallets, and optional for blockchain wallets. Some currencies require additional
// fields of an individual. Recommended fields are required only with `strictBeneficiary`.
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
import { beneficiaryDescription } from './account-descriptions.ts';
import type { AccountTypeRow } from './account-type-row.ts';

const text = (description: string) => Type.String({ minLength: 1, description });
const optional = Type.Optional;

const RESIDENCE = { ...CountryCode, description: 'Country of residence, ISO 3166-1 alpha-2.' };

const PERSON_PROPERTIES = {
  fullName: text('Full name as registered with the bank.'),
  birthDate: { ...DateOnly, description: 'Date of birth, YYYY-MM-DD.' },
  nationality: { ...CountryCode, description: 'Nationality, ISO 3166-1 alpha-2.' },
  email: Email,
  phoneNumber: Phone,
  countryOfResidence: RESIDENCE,
  address: Address,
};

const IndividualBeneficiary = named('IndividualBeneficiary', personSchema([], {}));

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
    { title: 'Business', description: 'Business that owns the account.' },
  ),
);

const WalletIndividualBeneficiary = named(
  'WalletIndividualBeneficiary',
  Type.Object(
    { fullName: text('Full name of the owner of the wallet.'), countryOfResidence: RESIDENCE },
    { title: 'Individual with a wallet', description: 'Individual who owns the wallet.' },
  ),
);

function personSchema(
  requiredFields: readonly string[],
  additionalFields: Readonly<Record<string, TSchema>>,
  description = 'Individual who owns the account.',
) {
  const { fullName, ...otherProperties } = PERSON_PROPERTIES;
  const properties = Object.entries({ ...otherProperties, ...additionalFields }).map(
    ([name, schema]) => [name, requiredFields.includes(name) ? schema : optional(schema)],
  );
  return Type.Object(
    { fullName, ...(Object.fromEntries(properties) as Record<string, TSchema>) },
    { title: 'Individual', description },
  );
}

/**
 * Beneficiary of an account type, as a union on `beneficiaryType`. `name` is the prefix of the
 * component names.
 */
export function beneficiarySchema(row: AccountTypeRow, name: string) {
  const { required: requiredFields = [], extra: additionalFields = {} } = row.individual ?? {};
  const hasOwnFields = requiredFields.length > 0 || Object.keys(additionalFields).length > 0;
  const INDIVIDUAL =
    row.kind === 'wallet'
      ? WalletIndividualBeneficiary
      : hasOwnFields
        ? named(
            `${name}IndividualBeneficiary`,
            personSchema(requiredFields, additionalFields, beneficiaryDescription(row)),
          )
        : IndividualBeneficiary;
  return variant(
    'beneficiaryType',
    { INDIVIDUAL, BUSINESS: BusinessBeneficiary },
    {
      description: 'Beneficiary: the owner of the account.',
      tagDescription: 'Type of the beneficiary.',
    },
  );
}

/** Beneficiary in validated account details. */
export type Beneficiary = Static<typeof BusinessBeneficiary> &
  Partial<Static<typeof WalletIndividualBeneficiary>> & {
    beneficiaryType: 'INDIVIDUAL' | 'BUSINESS';
  };

const ADDRESS_CURRENCIES = 'USD MXN GBP INR BRL DKK PHP HKD IDR MYR SGD THB VND AED EUR'.split(' ');
const REGISTRATION_CURRENCIES = 'NGN ZAR KES TZS RWF ZMW UGX BWP MWK XOF XAF'.split(' ');

const RECOMMENDED_OF_BUSINESS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(ADDRESS_CURRENCIES.map((currency) => [currency, ['address']])),
  ...Object.fromEntries(
    REGISTRATION_CURRENCIES.map((currency) => [currency, ['registrationNumber', 'taxId']]),
  ),
  EUR: ['address', 'registrationNumber'],
};

const ADDRESS_PARTS = ['line1', 'city', 'postalCode', 'country'];

/**
 * Recommended fields that are absent, as paths below the beneficiary. An individual needs an
 * address for EUR and GBP. The fields of a business depend on the currency.
 */
export function missingRecommendedFields(
  beneficiary: Record<string, unknown>,
  currency: string,
): string[] {
  const recommendedOfIndividual = ['EUR', 'GBP'].includes(currency) ? ['address'] : [];
  const recommendedFields =
    beneficiary.beneficiaryType === 'BUSINESS'
      ? (RECOMMENDED_OF_BUSINESS[currency] ?? [])
      : recommendedOfIndividual;
  const missingFields = recommendedFields.filter((name) => beneficiary[name] === undefined);
  const address = beneficiary.address as Record<string, unknown> | undefined;
  if (address && recommendedFields.includes('address')) {
    missingFields.push(
      ...ADDRESS_PARTS.filter((part) => !address[part]).map((part) => `address.${part}`),
    );
  }
  return missingFields;
}
