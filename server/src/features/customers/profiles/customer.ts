// Schemas of a customer in replies and events.
import { type TSchema, Type } from '@sinclair/typebox';
import {
  Address,
  named,
  Timestamp,
  text,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import {
  businessCore,
  businessDetails,
  ContactVerification,
  CustomerType,
  contactFields,
  EndUserTermsConsent,
  Identifier,
  individualFields,
  KybStatus,
  KycStatus,
  object,
} from './fields.ts';
import { BeneficialOwner } from './owner.ts';
import { umaAddress } from './requests.ts';

const optional = Type.Optional;

const readOnly = <T extends TSchema>(schema: T, description: string) =>
  withDescription({ ...schema, readOnly: true }, description);

const commonReplyFields = {
  id: text('ID of the customer.', { readOnly: true }),
  platformCustomerId: text('ID of the customer at the platform.'),
  region: optional(
    text(
      'Country under whose law the customer is served, or EU. Absent if no region was specified.',
    ),
  ),
  currencies: Type.Array(Type.String(), {
    description: 'Codes of the currencies that the customer can use.',
  }),
  ...contactFields,
  umaAddress: text(umaAddress),
  endUserTermsConsent: optional(
    withDescription(
      EndUserTermsConsent,
      'Acceptance of the end-user terms. Absent until it is recorded.',
    ),
  ),
  contactVerification: optional(
    withDescription(
      ContactVerification,
      'Verification of contact channels. Absent if no channel must be verified.',
    ),
  ),
  createdAt: readOnly(Timestamp, 'Time at which the customer was created.'),
  updatedAt: readOnly(Timestamp, 'Time of the last change.'),
  isDeleted: Type.Boolean({ readOnly: true, description: 'Whether the customer was deleted.' }),
};

const BusinessInfoResponse = object('BusinessInfoResponse', 'Data of a business.', {
  ...Type.Partial(Type.Object(businessCore)).properties,
  legalName: businessCore.legalName,
  ...businessDetails,
});

/**
 * Schema of a customer in operations on other resources. All properties of the customer are
 * included.
 */
export const CustomerSummary = object(
  'Customer',
  'A customer: the properties of every customer, and the fields of the customer type.',
  { ...commonReplyFields, customerType: CustomerType },
);

export const Customer = named(
  'CustomerOneOf',
  variant(
    'customerType',
    {
      INDIVIDUAL: object(
        'IndividualCustomer',
        'A natural person who is a customer of the platform.',
        {
          ...commonReplyFields,
          kycStatus: KycStatus,
          ...individualFields,
          identifier: optional(Identifier),
        },
      ),
      BUSINESS: object('BusinessCustomer', 'A legal entity that is a customer of the platform.', {
        ...commonReplyFields,
        kybStatus: KybStatus,
        address: optional(withDescription(Address, 'Registered address of the business.')),
        businessInfo: BusinessInfoResponse,
        beneficialOwners: optional(
          Type.Array(BeneficialOwner, {
            description: 'Beneficial owners, directors and control persons of the business.',
          }),
        ),
      }),
    },
    { tagType: CustomerType, description: 'A customer: an individual or a business.' },
  ),
);
