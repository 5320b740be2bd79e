// Fields of individuals and businesses with their enumerations. Requests, replies and stored rows
// are built from these property maps, so that each field is described once.
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import {
  Address,
  CountryCode,
  DateOnly,
  Email,
  named,
  oneOf,
  Phone,
  Timestamp,
  text,
  withDescription,
} from '../../../kernel/schema.ts';

const optional = Type.Optional;

export const object = <P extends TProperties>(name: string, description: string, properties: P) =>
  named(name, Type.Object(properties, { description }));

const describedEnum = <const V extends string>(
  name: string,
  description: string,
  values: readonly V[],
) => named(name, oneOf(values, { description }));

const countryField = (description: string) => withDescription(CountryCode, description);

const countriesField = (description: string) =>
  Type.Array(CountryCode, { description, maxItems: 250 });

export const CustomerType = describedEnum(
  'CustomerType',
  'INDIVIDUAL: a natural person. BUSINESS: a legal entity.',
  ['INDIVIDUAL', 'BUSINESS'],
);

const CHECK_STATUSES = ['UNVERIFIED', 'PENDING', 'APPROVED', 'REJECTED', 'HOLD'] as const;

export const KycStatus = describedEnum(
  'KycStatus',
  'KYC verification status of an individual. UNVERIFIED: not submitted, or submitted with errors ' +
    'to resolve. PENDING: under review. APPROVED: verified. REJECTED: verification failed ' +
    'permanently. HOLD: more information is required.',
  CHECK_STATUSES,
);

export const KybStatus = describedEnum(
  'KybStatus',
  'KYB verification status of a business. UNVERIFIED: not submitted, or submitted with errors ' +
    'to resolve. PENDING: under review. APPROVED: verified. REJECTED: verification failed ' +
    'permanently. HOLD: more information is required.',
  CHECK_STATUSES,
);

/**
 * Types of identity number for individuals: two types of the US, and a type for all other
 * countries.
 */
export const PERSONAL_ID_TYPES = ['SSN', 'ITIN', 'NON_US_TAX_ID'] as const;

export const IdentificationType = describedEnum(
  'IdentificationType',
  'Type of tax or identity number. SSN, ITIN and EIN are issued by the US, NON_US_TAX_ID ' +
    'by any other country.',
  ['SSN', 'ITIN', 'EIN', 'NON_US_TAX_ID'],
);

const DESCRIPTION_LENGTH = { minLength: 1, maxLength: 500 };

const purposeFields = {
  purposeOfAccount: optional(
    describedEnum('PurposeOfAccount', 'Main purpose of the account.', [
      'CONTRACTOR_PAYOUTS',
      'CREATOR_PAYOUTS',
      'EMPLOYEE_PAYOUTS',
      'MARKETPLACE_SELLER_PAYOUTS',
      'SUPPLIER_PAYMENTS',
      'CROSS_BORDER_B2B',
      'AR_AUTOMATION',
      'AP_AUTOMATION',
      'EMBEDDED_PAYMENTS',
      'PLATFORM_FEE_COLLECTION',
      'P2P_TRANSFERS',
      'CHARITABLE_DONATIONS',
      'OTHER',
    ]),
  ),
  purposeOfAccountOtherDescription: optional(
    text(
      'Purpose in free text, 1 to 500 characters. Required if `purposeOfAccount` is OTHER.',
      DESCRIPTION_LENGTH,
    ),
  ),
  sourceOfFundsOtherDescription: optional(
    text(
      'Source of funds in free text, 1 to 500 characters. Required if ' +
        '`sourceOfFundsCategories` contains OTHER.',
      DESCRIPTION_LENGTH,
    ),
  ),
  expectedMonthlyTransactionCount: optional(
    describedEnum('ExpectedMonthlyTransactionCount', 'Expected number of payments per month.', [
      'COUNT_UNDER_10',
      'COUNT_10_TO_100',
      'COUNT_100_TO_500',
      'COUNT_500_TO_1000',
      'COUNT_OVER_1000',
    ]),
  ),
  expectedMonthlyTransactionVolume: optional(
    describedEnum(
      'ExpectedMonthlyTransactionVolume',
      'Expected payment volume per month, in US dollars.',
      [
        'VOLUME_UNDER_10K',
        'VOLUME_10K_TO_100K',
        'VOLUME_100K_TO_1M',
        'VOLUME_1M_TO_10M',
        'VOLUME_OVER_10M',
      ],
    ),
  ),
};

const IndividualSourceOfFundsCategory = describedEnum(
  'IndividualSourceOfFundsCategory',
  'Source of the funds that are paid through the account.',
  [
    'SALARY',
    'SELF_EMPLOYMENT_INCOME',
    'INVESTMENT_INCOME',
    'PENSION',
    'RENTAL_INCOME',
    'GIFT',
    'INHERITANCE',
    'LOAN',
    'SAVINGS',
    'SALE_OF_ASSETS',
    'OTHER',
  ],
);

const SourceOfWealthCategory = describedEnum(
  'SourceOfWealthCategory',
  'Source of the wealth of an individual.',
  [
    'SALARY',
    'BUSINESS_INCOME',
    'INVESTMENTS',
    'INHERITANCE',
    'PROPERTY_SALE',
    'GIFT',
    'RETIREMENT',
    'SAVINGS',
    'OTHER',
  ],
);

/** Fields of enhanced due diligence. */
const dueDiligenceFields = {
  ...purposeFields,
  sourceOfFundsCategories: optional(
    Type.Array(IndividualSourceOfFundsCategory, {
      description: 'Sources of funds, at most 20.',
      maxItems: 20,
    }),
  ),
  sourceOfWealthCategories: optional(
    Type.Array(SourceOfWealthCategory, {
      description: 'Sources of wealth, at most 20.',
      maxItems: 20,
    }),
  ),
  sourceOfWealthOtherDescription: optional(
    text(
      'Source of wealth in free text, 1 to 500 characters. Required if ' +
        '`sourceOfWealthCategories` contains OTHER.',
      DESCRIPTION_LENGTH,
    ),
  ),
  annualIncomeRange: optional(
    describedEnum('AnnualIncomeRange', 'Annual income, in US dollars.', [
      'UNDER_50K',
      'RANGE_50K_100K',
      'RANGE_100K_250K',
      'RANGE_250K_1M',
      'OVER_1M',
    ]),
  ),
  netWorthRange: optional(
    describedEnum('NetWorthRange', 'Net worth (assets minus liabilities), in US dollars.', [
      'UNDER_100K',
      'RANGE_100K_500K',
      'RANGE_500K_1M',
      'RANGE_1M_5M',
      'RANGE_5M_25M',
      'OVER_25M',
    ]),
  ),
  pepStatus: optional(
    describedEnum(
      'PepStatus',
      'Politically exposed person (PEP) status. DOMESTIC and FOREIGN: public office in ' +
        'the country of residence or another country. HIO: office in an international ' +
        'organization. FAMILY_OR_ASSOCIATE: family member or close associate of such a person.',
      ['NONE', 'DOMESTIC', 'FOREIGN', 'HIO', 'FAMILY_OR_ASSOCIATE'],
    ),
  ),
};

/** Characters of a name, for descriptions and messages. */
export const NAME_CHARACTERS =
  'letters, digits, single spaces, apostrophes, hyphens, periods and commas';

/** Fields of an individual that replies contain. */
export const individualFields = {
  fullName: optional(
    text(`Full name: given and family names, with ${NAME_CHARACTERS}.`, {
      minLength: 1,
      maxLength: 250,
    }),
  ),
  birthDate: optional(withDescription(DateOnly, 'Date of birth. Must not be in the future.')),
  nationality: optional(countryField('Country of citizenship, ISO 3166-1 alpha-2.')),
  address: optional(
    withDescription(Address, 'Residential address. Each field has at most 255 characters.'),
  ),
  idType: optional(
    withDescription(
      IdentificationType,
      'Type of `identifier`: SSN or ITIN for citizens and residents of the US, ' +
        'NON_US_TAX_ID for other persons. Not required if the country of residence ' +
        'issues no such number to individuals.',
    ),
  ),
  countryOfIssuance: optional(
    countryField(
      'Country that issued `identifier`, ISO 3166-1 alpha-2. Required with ' +
        'NON_US_TAX_ID, and then neither the US nor a US territory. Must be US or absent with ' +
        'SSN and ITIN.',
    ),
  ),
  ...dueDiligenceFields,
};

export const Identifier = text(
  'Tax or identity number of type `idType`, in the format of the issuing country. ' +
    'Write-only: never returned.',
  {
    writeOnly: true,
    minLength: 1,
    maxLength: 64,
  },
);

const SourceOfFundsCategory = describedEnum(
  'SourceOfFundsCategory',
  'Source of the funds of a business.',
  [
    'OPERATING_REVENUE',
    'INVESTMENT_INCOME',
    'LOANS',
    'VENTURE_CAPITAL',
    'PERSONAL_SAVINGS',
    'DONATIONS',
    'OTHER',
  ],
);

const EntityType = describedEnum('EntityType', 'Legal form of the business.', [
  'SOLE_PROPRIETORSHIP',
  'PARTNERSHIP',
  'LLC',
  'CORPORATION',
  'S_CORPORATION',
  'NON_PROFIT',
  'PUBLICLY_LISTED_COMPANY',
  'TRUST',
  'PRIVATE_FOUNDATION',
  'CHARITY',
  'OTHER',
]);

const BusinessType = describedEnum(
  'BusinessType',
  'Business sector, according to the top level of NAICS.',
  [
    'AGRICULTURE_FORESTRY_FISHING_AND_HUNTING',
    'MINING_QUARRYING_AND_OIL_AND_GAS_EXTRACTION',
    'UTILITIES',
    'CONSTRUCTION',
    'MANUFACTURING',
    'WHOLESALE_TRADE',
    'RETAIL_TRADE',
    'TRANSPORTATION_AND_WAREHOUSING',
    'INFORMATION',
    'FINANCE_AND_INSURANCE',
    'REAL_ESTATE_AND_RENTAL_AND_LEASING',
    'PROFESSIONAL_SCIENTIFIC_AND_TECHNICAL_SERVICES',
    'MANAGEMENT_OF_COMPANIES_AND_ENTERPRISES',
    'ADMINISTRATIVE_AND_SUPPORT_AND_WASTE_MANAGEMENT_AND_REMEDIATION_SERVICES',
    'EDUCATIONAL_SERVICES',
    'HEALTH_CARE_AND_SOCIAL_ASSISTANCE',
    'ARTS_ENTERTAINMENT_AND_RECREATION',
    'ACCOMMODATION_AND_FOOD_SERVICES',
    'OTHER_SERVICES',
    'PUBLIC_ADMINISTRATION',
  ],
);

/** Fields that are required to create a business and cannot be cleared. */
export const businessCore = {
  legalName: text('Legal name, as registered.', { minLength: 1, maxLength: 250 }),
  country: countryField('Country of registration, ISO 3166-1 alpha-2.'),
  taxId: text('Tax identification number. For the US an EIN or SSN with hyphens.', {
    minLength: 1,
    maxLength: 64,
  }),
  incorporatedOn: withDescription(DateOnly, 'Date of incorporation. Must not be in the future.'),
};

export const businessDetails = {
  doingBusinessAs: optional(
    text('Trading name, if different from the legal name.', { maxLength: 250 }),
  ),
  registrationNumber: optional(
    text('Registration number in the business register.', { maxLength: 100 }),
  ),
  entityType: optional(EntityType),
  businessType: optional(BusinessType),
  naicsCode: optional(text('NAICS code, 2 to 6 digits.', { pattern: '^\\d{2,6}$' })),
  countriesOfOperation: optional(
    countriesField('Countries in which the business operates, ISO 3166-1 alpha-2.'),
  ),
  expectedRecipientJurisdictions: optional(
    countriesField('Countries to which the business expects to pay, ISO 3166-1 alpha-2.'),
  ),
  expectedCounterpartyCountries: optional(
    countriesField('Countries of the expected counterparties of the business, ISO 3166-1 alpha-2.'),
  ),
  sourceOfFunds: optional(
    text('Source of funds in free text, at most 500 characters.', { maxLength: 500 }),
  ),
  sourceOfFundsCategories: optional(
    Type.Array(SourceOfFundsCategory, {
      description: 'Sources of funds, at most 20.',
      maxItems: 20,
    }),
  ),
  ...purposeFields,
  primaryContactFirstName: optional(
    text(
      'Given name of the primary contact. `email` and `phoneNumber` of the customer ' +
        'belong to this person.',
      {
        maxLength: 250,
      },
    ),
  ),
  primaryContactLastName: optional(text('Family name of the primary contact.', { maxLength: 250 })),
};

export const EndUserTermsConsent = named(
  'EndUserTermsConsent',
  Type.Object(
    {
      acceptedAt: withDescription(Timestamp, 'Time of acceptance. Must not be in the future.'),
      ipAddress: text('IP address from which the customer accepted, IPv4 or IPv6.', {
        maxLength: 45,
      }),
      termsVersion: text('Accepted version of the terms, such as `V1`.'),
      acceptanceMethod: describedEnum(
        'EndUserTermsAcceptanceMethod',
        'Method of acceptance. CHECKBOX: a selected checkbox. CLICK_TO_ACCEPT: a pressed button.',
        ['CHECKBOX', 'CLICK_TO_ACCEPT'],
      ),
    },
    { description: 'Record of the acceptance of the end-user terms by the customer.' },
  ),
);

export const ContactVerification = named(
  'ContactVerification',
  (() => {
    const status = describedEnum(
      'ContactVerificationStatus',
      'Verification status of the channel.',
      ['PENDING', 'VERIFIED'],
    );
    return Type.Object(
      { email: optional(status), phone: optional(status) },
      {
        description:
          'Contact channels that regulation requires to be verified before the identity ' +
          'verification.',
      },
    );
  })(),
);

/** Contact fields of every customer, in requests and replies. */
export const contactFields = {
  email: optional(
    withDescription(Email, 'E-mail address of the customer, or of its primary contact.'),
  ),
  phoneNumber: optional(withDescription(Phone, 'Telephone number in E.164 format.')),
};

const Person = Type.Object({ ...individualFields });
const Business = Type.Object({ ...businessCore, ...businessDetails });

type IndividualDetails = Static<typeof Person>;
export type BusinessInfo = Static<typeof Business>;

/** Fields of the customer type as stored, named as in the API. */
export type CustomerDetails = IndividualDetails & { businessInfo?: BusinessInfo };

export type TermsConsent = Static<typeof EndUserTermsConsent>;
