// Request schemas to create and update customers. In an update null clears an optional field.
import {
  type Static,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from '@sinclair/typebox';
import {
  Address,
  Email,
  named,
  nullable,
  Phone,
  text,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import {
  businessCore,
  businessDetails,
  CustomerType,
  contactFields,
  EndUserTermsConsent,
  Identifier,
  individualFields,
  KybStatus,
  KycStatus,
  object,
} from './fields.ts';

const optional = Type.Optional;

const Currencies = Type.Array(Type.String({ minLength: 1, maxLength: 10 }), {
  minItems: 1,
  maxItems: 200,
  uniqueItems: true,
  description:
    'Codes of the currencies that the customer can use. Default: all currencies of the ' +
    'platform that are offered in the region.',
});

const ignoredField = <T extends TSchema>(schema: T) =>
  optional(withDescription(schema, 'Set by the server. A value in the request is ignored.'));

export const umaAddress =
  'UMA address, `$name@domain`, in the domain of the platform. The part before the @ has at most ' +
  '64 characters. Case-insensitive.';

const commonCreateFields = {
  platformCustomerId: optional(
    text(
      'ID of the customer at the platform, unique among customers that are not ' +
        'deleted. 1 to 255 characters. Generated if absent.',
      {
        minLength: 1,
        maxLength: 255,
      },
    ),
  ),
  region: optional(
    text(
      'Country under whose law the customer is served, ISO 3166-1 alpha-2, or EU. ' +
        'Determines the available currencies and whether strong customer authentication is ' +
        'required. Cannot be changed.',
      { pattern: '^[A-Z]{2}$' },
    ),
  ),
  currencies: optional(Currencies),
  ...contactFields,
  umaAddress: optional(
    text(`${umaAddress} Generated if absent.`, { minLength: 1, maxLength: 320 }),
  ),
  endUserTermsConsent: optional(EndUserTermsConsent),
};

const BusinessInfo = object('BusinessInfo', 'Data of a business.', {
  ...businessCore,
  ...businessDetails,
});

export const CustomerCreateRequest = named(
  'CustomerCreateRequestOneOf',
  variant(
    'customerType',
    {
      INDIVIDUAL: object('IndividualCustomerCreateRequest', 'The individual to register.', {
        ...commonCreateFields,
        ...individualFields,
        identifier: optional(Identifier),
        kycStatus: ignoredField(KycStatus),
      }),
      BUSINESS: named(
        'BusinessCustomerCreateRequest',
        Type.Intersect(
          [
            Type.Object({
              ...commonCreateFields,
              address: optional(
                withDescription(
                  Address,
                  'Registered address of the business. Each field has at most 255 characters.',
                ),
              ),
              businessInfo: optional(Type.Partial(BusinessInfo)),
              kybStatus: ignoredField(KybStatus),
            }),
            Type.Object({ businessInfo: BusinessInfo }),
          ],
          { description: 'The business to register.' },
        ),
      ),
    },
    { tagType: CustomerType, description: 'The customer to register.' },
  ),
);

type Clearable<P extends TProperties> = {
  [K in keyof P]: TOptional<TUnsafe<Static<P[K]> | null>>;
};

/** Makes all fields optional and nullable. Null clears a field. */
export const clearableFields = <P extends TProperties>(properties: P): Clearable<P> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, optional(nullable(schema))]),
  ) as Clearable<P>;

const commonUpdateFields = {
  currencies: optional(
    withDescription(Currencies, 'Complete list of currencies. It replaces the current list.'),
  ),
  ...clearableFields({
    email: withDescription(
      Email,
      'New e-mail address. Null clears it. Cannot be changed together with `phoneNumber`.',
    ),
    phoneNumber: withDescription(
      Phone,
      'New telephone number in E.164 format. Null clears it. Cannot be changed together ' +
        'with `email`.',
    ),
  }),
  umaAddress: optional(text(umaAddress, { minLength: 1, maxLength: 320 })),
  endUserTermsConsent: optional(EndUserTermsConsent),
};

const { $id: _, ...PlainAddress } = Address;
const clearableAddress = clearableFields({
  address: {
    ...(PlainAddress as typeof Address),
    description:
      'Complete address. It replaces the current address. Each field has at most 255 characters. ' +
      'Null clears it.',
  },
});

const BusinessInfoUpdate = object(
  'BusinessInfoUpdate',
  'Fields of the business to change. Absent fields are unchanged. Null clears an ' +
    'optional field.',
  { ...Type.Partial(Type.Object(businessCore)).properties, ...clearableFields(businessDetails) },
);

export const CustomerUpdateRequest = named(
  'CustomerUpdateRequestOneOf',
  variant(
    'customerType',
    {
      INDIVIDUAL: object(
        'IndividualCustomerUpdateRequest',
        'Fields of the individual to change. Absent fields are unchanged.',
        {
          ...commonUpdateFields,
          ...clearableFields(individualFields),
          ...clearableAddress,
          ...clearableFields({ identifier: Identifier }),
          kycStatus: ignoredField(KycStatus),
        },
      ),
      BUSINESS: object(
        'BusinessCustomerUpdateRequest',
        'Fields of the business customer to change. Absent fields are unchanged.',
        {
          ...commonUpdateFields,
          ...clearableAddress,
          businessInfo: optional(BusinessInfoUpdate),
          kybStatus: ignoredField(KybStatus),
        },
      ),
    },
    { tagType: CustomerType, description: 'Fields of the customer to change.' },
  ),
);
