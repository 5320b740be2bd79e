// A customer as replies and events show it.
import { type TSchema, Type } from '@sinclair/typebox';
import { Address, described, named, Timestamp, variant } from '../../../kernel/schema.ts';
import {
  ContactVerification,
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
import { BeneficialOwner } from './owner.ts';
import { umaAddress } from './requests.ts';

const maybe = Type.Optional;

const shown = <T extends TSchema>(schema: T, description: string) =>
  described({ ...schema, readOnly: true }, description);

const replyCommon = {
  id: text('Id of the customer.', { readOnly: true }),
  platformCustomerId: text('Your own id of the customer.'),
  region: maybe(text('Country whose law the customer is served under.')),
  currencies: Type.Array(Type.String(), { description: 'Currencies the customer may use.' }),
  ...contactFields,
  umaAddress: text(umaAddress),
  endUserTermsConsent: maybe(described(EndUserTermsConsent, 'There once it was recorded.')),
  contactVerification: maybe(
    described(ContactVerification, 'There where channels must be proved.'),
  ),
  createdAt: shown(Timestamp, 'When the customer was created.'),
  updatedAt: shown(Timestamp, 'When it was last changed.'),
  isDeleted: Type.Boolean({ readOnly: true, description: 'Whether it was deleted.' }),
};

const BusinessInfoResponse = object('BusinessInfoResponse', 'What is known about a business.', {
  ...Type.Partial(Type.Object(firmCore)).properties,
  legalName: firmCore.legalName,
  ...firmDetails,
});

/** As operations show a customer that is not what they are about; all of it comes along. */
export const CustomerSummary = object(
  'Customer',
  'What persons and businesses have in common. The fields of its type come along.',
  { ...replyCommon, customerType: CustomerType },
);

export const Customer = named(
  'CustomerOneOf',
  variant(
    'customerType',
    {
      INDIVIDUAL: object('IndividualCustomer', 'A person served by the platform.', {
        ...replyCommon,
        kycStatus: KycStatus,
        ...individualFields,
        identifier: maybe(Identifier),
      }),
      BUSINESS: object('BusinessCustomer', 'A business served by the platform.', {
        ...replyCommon,
        kybStatus: KybStatus,
        address: maybe(described(Address, 'Where the business sits.')),
        businessInfo: BusinessInfoResponse,
        beneficialOwners: maybe(
          Type.Array(BeneficialOwner, { description: 'Those who own or control it.' }),
        ),
      }),
    },
    { tagType: CustomerType },
  ),
);
