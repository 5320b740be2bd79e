// People who own or control a business, as the API shows them.
import { Type } from '@sinclair/typebox';
import { Address, DateOnly, described, named, oneOf, Timestamp } from '../../kernel/schema.ts';
import { contactFields, IdentificationType, KycStatus, object, text } from './fields.ts';

const maybe = Type.Optional;

const BeneficialOwnerRole = named(
  'BeneficialOwnerRole',
  oneOf(['UBO', 'DIRECTOR', 'COMPANY_OFFICER', 'CONTROL_PERSON', 'TRUSTEE', 'GENERAL_PARTNER'], {
    description: 'What the person is to the business.',
  }),
);

export const BeneficialOwnerPersonalInfo = object(
  'BeneficialOwnerPersonalInfo',
  'Who the person is.',
  {
    firstName: text('Given name.'),
    middleName: maybe(text('Middle name.')),
    lastName: text('Family name.'),
    birthDate: described(DateOnly, 'Day of birth.'),
    nationality: text('Country of citizenship.'),
    ...contactFields,
    address: Address,
    idType: IdentificationType,
    identifier: text('The number, of which only the end is shown.'),
    countryOfIssuance: maybe(text('Country that issued it.')),
  },
);

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
