// Persons who own or control a business, as requests and replies describe them.
import { type Static, Type } from '@sinclair/typebox';
import { Address, DateOnly, described, named, oneOf, Timestamp } from '../../../kernel/schema.ts';
import { contactFields, IdentificationType, KycStatus, object, text } from './fields.ts';
import { clearable } from './requests.ts';

const maybe = Type.Optional;

const BeneficialOwnerRole = named(
  'BeneficialOwnerRole',
  oneOf(['UBO', 'DIRECTOR', 'COMPANY_OFFICER', 'CONTROL_PERSON', 'TRUSTEE', 'GENERAL_PARTNER'], {
    description: 'What the person is to the business.',
  }),
);

const needed = {
  firstName: text('Given name.'),
  lastName: text('Family name.'),
  birthDate: described(DateOnly, 'Day of birth.'),
  nationality: text('Country of citizenship, ISO 3166-1 alpha-2.'),
  address: Address,
};

const number = {
  idType: described(
    IdentificationType,
    'Kind of `identifier`: SSN or ITIN for citizens and residents of the US, NON_US_TAX_ID for ' +
      'other persons.',
  ),
  identifier: text(
    'The number, in the form of the country that issued it. Replies show its last characters only, ' +
      'and an empty text where the person has none.',
  ),
};

const optional = {
  middleName: maybe(text('Middle name.')),
  ...contactFields,
  countryOfIssuance: maybe(
    text(
      'Country that issued `identifier`, ISO 3166-1 alpha-2. Required with NON_US_TAX_ID; US with ' +
        'other types, also when left out.',
    ),
  ),
};

const BeneficialOwnerPersonalInfo = object('BeneficialOwnerPersonalInfo', 'Who the person is.', {
  ...needed,
  ...number,
  ...optional,
});

const BeneficialOwnerPersonalInfoCreate = object(
  'BeneficialOwnerPersonalInfoCreateRequest',
  'Who the person is. `idType` and `identifier` are required unless the country of residence issues ' +
    'no number to persons.',
  { ...needed, idType: maybe(number.idType), identifier: maybe(number.identifier), ...optional },
);

/** What is stored of a person. */
export type OwnerPersonal = Static<typeof BeneficialOwnerPersonalInfoCreate>;

const BeneficialOwnerPersonalInfoUpdate = object(
  'BeneficialOwnerPersonalInfoUpdate',
  'What changes about the person; what is left out stays, null empties, an address is replaced whole.',
  { ...Type.Partial(Type.Object(needed)).properties, ...clearable({ ...number, ...optional }) },
);

const roles = Type.Array(BeneficialOwnerRole, {
  minItems: 1,
  maxItems: 20,
  description: 'What the person is to the business.',
});

const share = Type.Integer({
  minimum: 0,
  maximum: 100,
  description: 'Percent of the business; those of all UBOs together are 100 at most.',
});

export const BeneficialOwner = object(
  'BeneficialOwner',
  'A person who owns or controls a part of a business.',
  {
    id: text('Id of the owner.'),
    customerId: text('The business.'),
    roles: Type.Array(BeneficialOwnerRole, { description: 'What the person is to the business.' }),
    ownershipPercentage: Type.Integer({ minimum: 0, maximum: 100, description: 'Share held.' }),
    personalInfo: BeneficialOwnerPersonalInfo,
    kycStatus: KycStatus,
    createdAt: Timestamp,
    updatedAt: maybe(Timestamp),
  },
);

export const BeneficialOwnerCreateRequest = object(
  'BeneficialOwnerCreateRequest',
  'Somebody who owns or controls a business.',
  {
    customerId: text('The business.'),
    roles,
    ownershipPercentage: share,
    personalInfo: BeneficialOwnerPersonalInfoCreate,
  },
);

export const BeneficialOwnerUpdateRequest = object(
  'BeneficialOwnerUpdateRequest',
  'What changes about an owner; what is left out stays.',
  {
    roles: maybe(roles),
    ownershipPercentage: maybe(share),
    personalInfo: maybe(BeneficialOwnerPersonalInfoUpdate),
  },
);
