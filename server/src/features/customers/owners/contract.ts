// Contract of the operations on beneficial owners.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, PageQuery, page } from '../../../kernel/schema.ts';
import {
  BeneficialOwner,
  BeneficialOwnerCreateRequest,
  BeneficialOwnerUpdateRequest,
  ownerBodyErrors,
  ownerErrors,
} from '../profiles/index.ts';

const TAG = 'KYC/KYB Verifications';
const params = Type.Object({
  beneficialOwnerId: Type.String({ description: 'ID of the beneficial owner.' }),
});

export const createBeneficialOwner = operation({
  operationId: 'createBeneficialOwner',
  method: 'POST',
  path: '/beneficial-owners',
  tag: TAG,
  summary: 'Create a beneficial owner',
  description:
    'Adds a beneficial owner, director, officer or control person to a business ' +
    'customer. A business has at most 100 of these persons. The person is verified together ' +
    'with the business. Owners cannot be added or changed after the verification of the ' +
    'business is complete. Upload the identity documents with `uploadDocument`, then submit the ' +
    'business with `createVerification`.',
  permission: 'MANAGE',
  body: BeneficialOwnerCreateRequest,
  bodyRules: ownerErrors,
  semanticValidation: true,
  replies: { 201: BeneficialOwner },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED'],
  sealed: true,
});

export const listBeneficialOwners = operation({
  operationId: 'listBeneficialOwners',
  method: 'GET',
  path: '/beneficial-owners',
  tag: TAG,
  summary: 'List beneficial owners',
  description:
    'Returns the beneficial owners of a business customer, newest first. The list is ' +
    'empty for an unknown customer.',
  permission: 'VIEW',
  query: Type.Object({
    customerId: Type.String({ description: 'ID of the business customer.' }),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'BeneficialOwnerListResponse',
      page(BeneficialOwner, { description: 'A page of beneficial owners.' }),
    ),
  },
  errors: [],
});

export const getBeneficialOwner = operation({
  operationId: 'getBeneficialOwner',
  method: 'GET',
  path: '/beneficial-owners/{beneficialOwnerId}',
  tag: TAG,
  summary: 'Get a beneficial owner',
  description:
    'Returns one beneficial owner of a business customer with the status of the verification.',
  permission: 'VIEW',
  params,
  replies: { 200: BeneficialOwner },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const updateBeneficialOwner = operation({
  operationId: 'updateBeneficialOwner',
  method: 'PATCH',
  path: '/beneficial-owners/{beneficialOwnerId}',
  tag: TAG,
  summary: 'Update a beneficial owner',
  description:
    'Changes the fields that the request contains. `personalInfo` is merged field by ' +
    'field. Null clears an optional field. A new `idType` or `countryOfIssuance` requires ' +
    'an `identifier`. After a change that resolves verification errors, submit the ' +
    'business again with `createVerification`.',
  permission: 'MANAGE',
  params,
  body: BeneficialOwnerUpdateRequest,
  bodyRules: ownerBodyErrors,
  semanticValidation: true,
  replies: { 200: BeneficialOwner },
  errors: ['CUSTOMER_DELETED'],
  notFound: 'NOT_FOUND',
});
