// Schemas of beneficial owners in requests and replies.
import { type Static, Type } from '@sinclair/typebox';
import {
  Address,
  DateOnly,
  Email,
  named,
  oneOf,
  text,
  time,
  withDescription,
} from '../../../kernel/schema.ts';
import { contactFields, IdentificationType, KycStatus, NAME_CHARACTERS, object } from './fields.ts';
import { clearableFields } from './requests.ts';

const optional = Type.Optional;

const BeneficialOwnerRole = named(
  'BeneficialOwnerRole',
  oneOf(['UBO', 'DIRECTOR', 'COMPANY_OFFICER', 'CONTROL_PERSON', 'TRUSTEE', 'GENERAL_PARTNER'], {
    description:
      'Role of the person in the business. UBO: ultimate beneficial owner. ' +
      'CONTROL_PERSON: directs the business.',
  }),
);

const nameField = (label: string) => text(`${label}, at most 250 characters: ${NAME_CHARACTERS}.`);

const requiredFields = {
  firstName: nameField('Given name'),
  lastName: nameField('Family name'),
  birthDate: withDescription(DateOnly, 'Date of birth. Must be in the past.'),
  nationality: text('Country of citizenship, ISO 3166-1 alpha-2.'),
  address: withDescription(Address, 'Residential address. Each field has at most 255 characters.'),
};

const identifierFields = {
  idType: withDescription(
    IdentificationType,
    'Type of `identifier`: SSN or ITIN for citizens and residents of the US, ' +
      'NON_US_TAX_ID for other persons.',
  ),
  identifier: text(
    'Tax or identity number, at most 64 characters, in the format of the issuing country. ' +
      'Replies show at most its last four characters, or an empty string if the person has ' +
      'no number.',
  ),
};

const optionalFields = {
  middleName: optional(nameField('Middle name')),
  email: optional(withDescription(Email, 'E-mail address of the beneficial owner.')),
  phoneNumber: contactFields.phoneNumber,
  countryOfIssuance: optional(
    text(
      'Country that issued `identifier`, ISO 3166-1 alpha-2. Required with ' +
        'NON_US_TAX_ID, and then neither the US nor a US territory. Must be US or absent with ' +
        'other types.',
    ),
  ),
};

const BeneficialOwnerPersonalInfo = object(
  'BeneficialOwnerPersonalInfo',
  'Personal data of the beneficial owner.',
  {
    ...requiredFields,
    ...identifierFields,
    ...optionalFields,
  },
);

const BeneficialOwnerPersonalInfoCreate = object(
  'BeneficialOwnerPersonalInfoCreateRequest',
  'Personal data. `idType` and `identifier` are required unless the country of ' +
    'residence issues no such number to individuals.',
  {
    ...requiredFields,
    idType: optional(identifierFields.idType),
    identifier: optional(identifierFields.identifier),
    ...optionalFields,
  },
);

/** Personal data of an owner as stored. */
export type OwnerPersonal = Static<typeof BeneficialOwnerPersonalInfoCreate>;

const BeneficialOwnerPersonalInfoUpdate = object(
  'BeneficialOwnerPersonalInfoUpdate',
  'Personal data to change. Absent fields are unchanged. Null clears an optional ' +
    'field. An address is replaced completely.',
  {
    ...Type.Partial(Type.Object(requiredFields)).properties,
    ...clearableFields({ ...identifierFields, ...optionalFields }),
  },
);

const roles = Type.Array(BeneficialOwnerRole, {
  minItems: 1,
  maxItems: 20,
  description: 'Roles of the person in the business.',
});

const share = Type.Integer({
  minimum: 0,
  maximum: 100,
  description:
    'Ownership share in percent, 0 to 100. The shares of all UBOs of a business must not ' +
    'exceed 100 in total.',
});

export const BeneficialOwner = object(
  'BeneficialOwner',
  'A person who owns or controls a business customer.',
  {
    id: text('ID of the beneficial owner.'),
    customerId: text('ID of the business customer.'),
    roles: Type.Array(BeneficialOwnerRole, { description: 'Roles of the person in the business.' }),
    ownershipPercentage: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Ownership share in percent.',
    }),
    personalInfo: BeneficialOwnerPersonalInfo,
    kycStatus: KycStatus,
    createdAt: time('Time at which the beneficial owner was added.'),
    updatedAt: optional(time('Time of the last change, or of the creation.')),
  },
);

export const BeneficialOwnerCreateRequest = object(
  'BeneficialOwnerCreateRequest',
  'The beneficial owner to create.',
  {
    customerId: text('ID of the business customer.'),
    roles,
    ownershipPercentage: share,
    personalInfo: BeneficialOwnerPersonalInfoCreate,
  },
);

export const BeneficialOwnerUpdateRequest = object(
  'BeneficialOwnerUpdateRequest',
  'Fields to change. Absent fields are unchanged.',
  {
    roles: optional(roles),
    ownershipPercentage: optional(share),
    personalInfo: optional(BeneficialOwnerPersonalInfoUpdate),
  },
);
