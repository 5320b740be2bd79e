// The operations on persons who own or control a business.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, PageQuery, page } from '../../../kernel/schema.ts';
import {
  BeneficialOwner,
  BeneficialOwnerCreateRequest,
  BeneficialOwnerUpdateRequest,
  ownerBodyErrors,
  wholeOwnerErrors,
} from '../profiles/index.ts';

const TAG = 'KYC/KYB Verifications';
const params = Type.Object({ beneficialOwnerId: Type.String({ description: 'Id of the owner.' }) });

export const createBeneficialOwner = operation({
  operationId: 'createBeneficialOwner',
  method: 'POST',
  path: '/beneficial-owners',
  tag: TAG,
  summary: 'Name an owner of a business',
  description:
    'Directors and officers are named here too. They are checked together with the business, and no ' +
    'longer named or changed once its check is over.',
  permission: 'MANAGE',
  body: BeneficialOwnerCreateRequest,
  bodyRules: wholeOwnerErrors,
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
  summary: 'List the owners of a business',
  description: 'Newest first; none of a customer that is not known.',
  permission: 'VIEW',
  query: Type.Object({ customerId: Type.String({ description: 'The business.' }), ...PageQuery }),
  replies: { 200: named('BeneficialOwnerListResponse', page(BeneficialOwner)) },
  errors: [],
});

export const getBeneficialOwner = operation({
  operationId: 'getBeneficialOwner',
  method: 'GET',
  path: '/beneficial-owners/{beneficialOwnerId}',
  tag: TAG,
  summary: 'Show an owner of a business',
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
  summary: 'Change an owner of a business',
  description:
    'Changes what the body names. `personalInfo` changes field by field, null empties an optional ' +
    'one; a new `idType` needs its `identifier` with it.',
  permission: 'MANAGE',
  params,
  body: BeneficialOwnerUpdateRequest,
  bodyRules: ownerBodyErrors,
  semanticValidation: true,
  replies: { 200: BeneficialOwner },
  errors: ['CUSTOMER_DELETED'],
  notFound: 'NOT_FOUND',
});
