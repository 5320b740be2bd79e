// What a client says of a customer: registering one, and changing one. A change takes null where a field
// may be emptied.
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
  described,
  Email,
  named,
  nullable,
  Phone,
  variant,
} from '../../../kernel/schema.ts';
import {
  CustomerType,
  contactFields,
  EndUserTermsConsent,
  firmCore,
  firmDetails,
  Identifier,
  individualFields,
  KybStatus,
  KycStatus,
  object,
  text,
} from './fields.ts';

const maybe = Type.Optional;

const Currencies = Type.Array(Type.String({ minLength: 1, maxLength: 10 }), {
  minItems: 1,
  maxItems: 200,
  uniqueItems: true,
  description: 'Codes of the currencies the customer may use; those of the platform unless named.',
});

const ignored = <T extends TSchema>(schema: T) =>
  maybe(described(schema, 'Set by the server; a value given here is ignored.'));

export const umaAddress =
  'UMA address, `$name@domain` in the domain of the platform. Capitals mean nothing.';

const createCommon = {
  platformCustomerId: maybe(
    text('Your own id of the customer, unique among those not deleted. Drawn when left out.', {
      minLength: 1,
      maxLength: 255,
    }),
  ),
  region: maybe(
    text(
      'Country whose law the customer is served under, or EU. Settles which offer is meant where ' +
        'several regions have one. Cannot be changed.',
      { pattern: '^[A-Z]{2}$' },
    ),
  ),
  currencies: maybe(Currencies),
  ...contactFields,
  umaAddress: maybe(text(`${umaAddress} Drawn when left out.`, { minLength: 1, maxLength: 320 })),
  endUserTermsConsent: maybe(EndUserTermsConsent),
};

const BusinessInfo = object('BusinessInfo', 'What is known about a business.', {
  ...firmCore,
  ...firmDetails,
});

export const CustomerCreateRequest = named(
  'CustomerCreateRequestOneOf',
  variant(
    'customerType',
    {
      INDIVIDUAL: object('IndividualCustomerCreateRequest', 'A person to be registered.', {
        ...createCommon,
        ...individualFields,
        identifier: maybe(Identifier),
        kycStatus: ignored(KycStatus),
      }),
      BUSINESS: named(
        'BusinessCustomerCreateRequest',
        Type.Intersect(
          [
            Type.Object({
              ...createCommon,
              address: maybe(described(Address, 'Where the business sits.')),
              businessInfo: maybe(Type.Partial(BusinessInfo)),
              kybStatus: ignored(KybStatus),
            }),
            Type.Object({ businessInfo: BusinessInfo }),
          ],
          { description: 'A business to be registered.' },
        ),
      ),
    },
    { tagType: CustomerType },
  ),
);

type Clearable<P extends TProperties> = {
  [K in keyof P]: TOptional<TUnsafe<Static<P[K]> | null>>;
};

/** The same fields, each of which null empties. */
export const clearable = <P extends TProperties>(properties: P): Clearable<P> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, maybe(nullable(schema))]),
  ) as Clearable<P>;

const updateCommon = {
  currencies: maybe(described(Currencies, 'The whole list, in place of the one there is.')),
  ...clearable({
    email: described(Email, 'New e-mail address. Not together with `phoneNumber`.'),
    phoneNumber: described(Phone, 'New telephone number. Not together with `email`.'),
  }),
  umaAddress: maybe(text(umaAddress, { minLength: 1, maxLength: 320 })),
  endUserTermsConsent: maybe(EndUserTermsConsent),
};

const { $id: _, ...PlainAddress } = Address;
const clearableAddress = clearable({
  address: { ...(PlainAddress as typeof Address), description: 'The whole address anew.' },
});

const BusinessInfoUpdate = object(
  'BusinessInfoUpdate',
  'What changes about a business; what is left out stays, null empties.',
  { ...Type.Partial(Type.Object(firmCore)).properties, ...clearable(firmDetails) },
);

export const CustomerUpdateRequest = named(
  'CustomerUpdateRequestOneOf',
  variant(
    'customerType',
    {
      INDIVIDUAL: object('IndividualCustomerUpdateRequest', 'What changes about a person.', {
        ...updateCommon,
        ...clearable(individualFields),
        ...clearableAddress,
        ...clearable({ identifier: Identifier }),
        kycStatus: ignored(KycStatus),
      }),
      BUSINESS: object('BusinessCustomerUpdateRequest', 'What changes about a business.', {
        ...updateCommon,
        ...clearableAddress,
        businessInfo: maybe(BusinessInfoUpdate),
        kybStatus: ignored(KybStatus),
      }),
    },
    { tagType: CustomerType },
  ),
);
