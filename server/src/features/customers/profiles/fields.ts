// What is known about customers, as schemas: words that may be chosen from, and the fields of persons and
// of businesses. Requests, replies and stored rows are all built from the property maps here, so a field
// is described once.
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import {
  Address,
  CountryCode,
  DateOnly,
  described,
  Email,
  named,
  oneOf,
  Phone,
  Timestamp,
} from '../../../kernel/schema.ts';

const maybe = Type.Optional;

export const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });

export const object = <P extends TProperties>(name: string, description: string, properties: P) =>
  named(name, Type.Object(properties, { description }));

const words = <const V extends string>(name: string, description: string, values: readonly V[]) =>
  named(name, oneOf(values, { description }));

const country = (description: string) => described(CountryCode, description);

const countries = (description: string) => Type.Array(CountryCode, { description, maxItems: 250 });

export const CustomerType = words('CustomerType', 'Whether the customer is a person or a firm.', [
  'INDIVIDUAL',
  'BUSINESS',
]);

const CHECK_STATUSES = ['UNVERIFIED', 'PENDING', 'APPROVED', 'REJECTED', 'HOLD'] as const;

export const KycStatus = words(
  'KycStatus',
  'How far the check of a person has come. HOLD means that more information is wanted.',
  CHECK_STATUSES,
);

export const KybStatus = words(
  'KybStatus',
  'How far the check of a business has come. HOLD means that more information is wanted.',
  CHECK_STATUSES,
);

/** Numbers that an individual is identified by: of the United States, or of another country. */
export const PERSONAL_ID_TYPES = ['SSN', 'ITIN', 'NON_US_TAX_ID'] as const;

export const IdentificationType = words('IdentificationType', 'Kind of tax or identity number.', [
  'SSN',
  'ITIN',
  'EIN',
  'NON_US_TAX_ID',
]);

const OTHER = 'In your own words; needed when OTHER was chosen.';

const purposes = {
  purposeOfAccount: maybe(
    words('PurposeOfAccount', 'What the account will mainly be used for.', [
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
  purposeOfAccountOtherDescription: maybe(text(OTHER, { minLength: 1, maxLength: 500 })),
  sourceOfFundsOtherDescription: maybe(text(OTHER, { minLength: 1, maxLength: 500 })),
  expectedMonthlyTransactionCount: maybe(
    words('ExpectedMonthlyTransactionCount', 'Payments expected in a month.', [
      'COUNT_UNDER_10',
      'COUNT_10_TO_100',
      'COUNT_100_TO_500',
      'COUNT_500_TO_1000',
      'COUNT_OVER_1000',
    ]),
  ),
  expectedMonthlyTransactionVolume: maybe(
    words('ExpectedMonthlyTransactionVolume', 'Volume expected in a month, in US dollars.', [
      'VOLUME_UNDER_10K',
      'VOLUME_10K_TO_100K',
      'VOLUME_100K_TO_1M',
      'VOLUME_1M_TO_10M',
      'VOLUME_OVER_10M',
    ]),
  ),
};

const IndividualSourceOfFundsCategory = words(
  'IndividualSourceOfFundsCategory',
  'Where the money that moves through the account comes from.',
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

const SourceOfWealthCategory = words('SourceOfWealthCategory', 'How a person became wealthy.', [
  'SALARY',
  'BUSINESS_INCOME',
  'INVESTMENTS',
  'INHERITANCE',
  'PROPERTY_SALE',
  'GIFT',
  'RETIREMENT',
  'SAVINGS',
  'OTHER',
]);

/** What is asked about persons where the ordinary check is not enough. */
const diligence = {
  ...purposes,
  sourceOfFundsCategories: maybe(
    Type.Array(IndividualSourceOfFundsCategory, { description: 'Sources of funds.', maxItems: 20 }),
  ),
  sourceOfWealthCategories: maybe(
    Type.Array(SourceOfWealthCategory, { description: 'Sources of wealth.', maxItems: 20 }),
  ),
  sourceOfWealthOtherDescription: maybe(text(OTHER, { minLength: 1, maxLength: 500 })),
  annualIncomeRange: maybe(
    words('AnnualIncomeRange', 'Income in a year, in US dollars.', [
      'UNDER_50K',
      'RANGE_50K_100K',
      'RANGE_100K_250K',
      'RANGE_250K_1M',
      'OVER_1M',
    ]),
  ),
  netWorthRange: maybe(
    words('NetWorthRange', 'Everything owned less everything owed, in US dollars.', [
      'UNDER_100K',
      'RANGE_100K_500K',
      'RANGE_500K_1M',
      'RANGE_1M_5M',
      'RANGE_5M_25M',
      'OVER_25M',
    ]),
  ),
  pepStatus: maybe(
    words('PepStatus', 'Whether the person holds or is close to a prominent public office.', [
      'NONE',
      'DOMESTIC',
      'FOREIGN',
      'HIO',
      'FAMILY_OR_ASSOCIATE',
    ]),
  ),
};

/** Fields of a person that may be read back. */
export const individualFields = {
  fullName: maybe(text('Given and family names.', { minLength: 1, maxLength: 250 })),
  birthDate: maybe(described(DateOnly, 'Day of birth.')),
  nationality: maybe(country('Country of citizenship, ISO 3166-1 alpha-2.')),
  address: maybe(described(Address, 'Where the person lives.')),
  idType: maybe(
    described(
      IdentificationType,
      'Kind of `identifier`: SSN or ITIN for citizens and residents of the US, NON_US_TAX_ID for ' +
        'other persons. Not needed where the country of residence issues no number to persons.',
    ),
  ),
  countryOfIssuance: maybe(
    country(
      'Country that issued `identifier`, ISO 3166-1 alpha-2. Required with NON_US_TAX_ID; US with ' +
        'SSN and ITIN, also when left out.',
    ),
  ),
  ...diligence,
};

export const Identifier = text(
  'The number of type `idType`, in the form of the country that issued it. Never returned.',
  {
    writeOnly: true,
    minLength: 1,
    maxLength: 64,
  },
);

const SourceOfFundsCategory = words(
  'SourceOfFundsCategory',
  'Where the money of a business comes from.',
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

const EntityType = words('EntityType', 'Legal form of the business.', [
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

const BusinessType = words('BusinessType', 'Sector, after the top level of NAICS.', [
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
]);

/** The four that a business cannot be created without and cannot lose. */
export const firmCore = {
  legalName: text('Name in the register.', { minLength: 1, maxLength: 250 }),
  country: country('Country of registration, ISO 3166-1 alpha-2.'),
  taxId: text('Tax number; for the US an EIN or SSN with its hyphens.', {
    minLength: 1,
    maxLength: 64,
  }),
  incorporatedOn: described(DateOnly, 'Day the business was founded.'),
};

export const firmDetails = {
  doingBusinessAs: maybe(text('Name it trades under.', { maxLength: 250 })),
  registrationNumber: maybe(text('Number in the register.', { maxLength: 100 })),
  entityType: maybe(EntityType),
  businessType: maybe(BusinessType),
  naicsCode: maybe(text('NAICS code, two to six digits.', { pattern: '^\\d{2,6}$' })),
  countriesOfOperation: maybe(countries('Where the business is active.')),
  expectedRecipientJurisdictions: maybe(countries('Where its payments will go.')),
  expectedCounterpartyCountries: maybe(countries('Where those it deals with are.')),
  sourceOfFunds: maybe(text('Where its money comes from, in words.', { maxLength: 500 })),
  sourceOfFundsCategories: maybe(
    Type.Array(SourceOfFundsCategory, { description: 'Where its money comes from.', maxItems: 20 }),
  ),
  ...purposes,
  primaryContactFirstName: maybe(
    text('Given name of the person to ask; `email` and `phoneNumber` are theirs.', {
      maxLength: 250,
    }),
  ),
  primaryContactLastName: maybe(text('Family name of the person to ask.', { maxLength: 250 })),
};

export const EndUserTermsConsent = named(
  'EndUserTermsConsent',
  Type.Object(
    {
      acceptedAt: described(Timestamp, 'When the customer accepted.'),
      ipAddress: text('Address the customer accepted from, IPv4 or IPv6.', { maxLength: 45 }),
      termsVersion: text('Version that was shown, such as `V1`.'),
      acceptanceMethod: words('EndUserTermsAcceptanceMethod', 'What the customer did to accept.', [
        'CHECKBOX',
        'CLICK_TO_ACCEPT',
      ]),
    },
    { description: 'Proof that the customer accepted the end-user terms.' },
  ),
);

export const ContactVerification = named(
  'ContactVerification',
  (() => {
    const status = words('ContactVerificationStatus', 'Whether the channel was proved.', [
      'PENDING',
      'VERIFIED',
    ]);
    return Type.Object(
      { email: maybe(status), phone: maybe(status) },
      { description: 'Channels that must be proved before the identity check, where law asks it.' },
    );
  })(),
);

/** What every customer may have, in requests and replies alike. */
export const contactFields = {
  email: maybe(described(Email, 'E-mail address of the customer, or of its primary contact.')),
  phoneNumber: maybe(described(Phone, 'Telephone number in E.164 form.')),
};

const Person = Type.Object({ ...individualFields });
const Firm = Type.Object({ ...firmCore, ...firmDetails });

type IndividualDetails = Static<typeof Person>;
export type BusinessInfo = Static<typeof Firm>;

/** What a row keeps beside its columns: the fields of its type, named as the API names them. */
export type CustomerDetails = IndividualDetails & { businessInfo?: BusinessInfo };

export type TermsConsent = Static<typeof EndUserTermsConsent>;
