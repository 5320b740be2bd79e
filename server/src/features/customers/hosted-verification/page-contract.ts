// Contract of the operations that the hosted page calls under its link. Request bodies and rules
// are the same as in the API. Replies are internal to the page and can change with the page.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { CountryCode, oneOf, time } from '../../../kernel/schema.ts';
import { DocumentType, replaceDocument, uploadDocument } from '../documents/index.ts';
import { createBeneficialOwner, updateBeneficialOwner } from '../owners/index.ts';
import { BeneficialOwnerCreateRequest } from '../profiles/index.ts';
import { updateCustomerById } from '../registration/index.ts';
import { VERIFICATION_STATUSES } from '../verifications/index.ts';
import { VERIFY_PATH } from './links.ts';

const optional = Type.Optional;

/** Object without described properties, because the reply is internal to the page. */
const UncheckedObject = Type.Object({}, { additionalProperties: true });

const Gap = Type.Object({
  resourceId: Type.String(),
  type: Type.String(),
  reason: Type.String(),
  field: optional(Type.String()),
  acceptedDocumentTypes: optional(Type.Array(Type.String())),
});

const Document = Type.Object({
  id: Type.String(),
  documentHolder: Type.String(),
  documentType: DocumentType,
  side: optional(Type.String()),
  country: CountryCode,
  documentNumber: optional(Type.String()),
  issuingAuthority: optional(Type.String()),
  fileName: Type.String(),
});

const PageState = Type.Object({
  platformName: Type.String(),
  isTest: Type.Boolean(),
  expiresAt: time('Time at which the link expires.'),
  status: Type.String(),
  customer: UncheckedObject,
  hasIdentifier: Type.Boolean(),
  owners: Type.Array(UncheckedObject),
  documents: Type.Array(Document),
  /** All open requirements. `findings` are the requirements that a verifier reported. */
  gaps: Type.Array(Gap),
  findings: Type.Array(Gap),
  choices: Type.Record(Type.String(), Type.Array(Type.String())),
  maxFileBytes: Type.Integer(),
  /**
   * Redirect target, present after the final decision. The reply to a submission also contains it.
   */
  redirectUri: optional(Type.String()),
});

const Outcome = Type.Object({
  verificationStatus: oneOf(VERIFICATION_STATUSES),
  errors: Type.Array(Gap),
  redirectUri: optional(Type.String()),
});

const commonFields = { tag: 'Hosted Verification', auth: 'hosted' } as const;

const pagePath = (path: string) => `${VERIFY_PATH}/{secret}/${path}`;
const secret = Type.String();

export const readVerificationPage = operation({
  ...commonFields,
  operationId: 'readVerificationPage',
  method: 'GET',
  path: pagePath('state'),
  summary: 'Get the verification state',
  params: Type.Object({ secret }),
  replies: { 200: PageState },
  errors: [],
});

export const changeOnVerificationPage = operation({
  ...commonFields,
  operationId: 'changeOnVerificationPage',
  method: 'PATCH',
  path: pagePath('customer'),
  summary: 'Update the customer',
  params: Type.Object({ secret }),
  body: updateCustomerById.body,
  bodyRules: updateCustomerById.bodyRules,
  semanticValidation: true,
  replies: { 204: null },
  errors: [],
});

export const addOwnerOnVerificationPage = operation({
  ...commonFields,
  operationId: 'addOwnerOnVerificationPage',
  method: 'POST',
  path: pagePath('owners'),
  summary: 'Add a beneficial owner',
  params: Type.Object({ secret }),
  body: Type.Omit(BeneficialOwnerCreateRequest, ['customerId']),
  bodyRules: createBeneficialOwner.bodyRules,
  semanticValidation: true,
  replies: { 204: null },
  errors: [],
});

export const changeOwnerOnVerificationPage = operation({
  ...commonFields,
  operationId: 'changeOwnerOnVerificationPage',
  method: 'PATCH',
  path: pagePath('owners/{ownerId}'),
  summary: 'Update a beneficial owner',
  params: Type.Object({ secret, ownerId: Type.String() }),
  body: updateBeneficialOwner.body,
  bodyRules: updateBeneficialOwner.bodyRules,
  semanticValidation: true,
  replies: { 204: null },
  errors: ['NOT_FOUND'],
});

export const uploadOnVerificationPage = operation({
  ...commonFields,
  operationId: 'uploadOnVerificationPage',
  method: 'POST',
  path: pagePath('documents'),
  summary: 'Upload a document',
  params: Type.Object({ secret }),
  upload: uploadDocument.upload,
  body: uploadDocument.body,
  bodyRules: uploadDocument.bodyRules,
  replies: { 201: Document },
  errors: ['EXPIRED', 'DOCUMENT_HOLDER_NOT_FOUND'],
  callsExternal: true,
});

export const replaceOnVerificationPage = operation({
  ...commonFields,
  operationId: 'replaceOnVerificationPage',
  method: 'PUT',
  path: pagePath('documents/{documentId}'),
  summary: 'Replace a document',
  params: Type.Object({ secret, documentId: Type.String() }),
  upload: replaceDocument.upload,
  body: replaceDocument.body,
  bodyRules: replaceDocument.bodyRules,
  replies: { 200: Document },
  errors: ['NOT_FOUND'],
  callsExternal: true,
});

export const removeOnVerificationPage = operation({
  ...commonFields,
  operationId: 'removeOnVerificationPage',
  method: 'DELETE',
  path: pagePath('documents/{documentId}'),
  summary: 'Remove a document',
  params: Type.Object({ secret, documentId: Type.String() }),
  replies: { 204: null },
  errors: ['NOT_FOUND'],
});

export const submitVerificationPage = operation({
  ...commonFields,
  operationId: 'submitVerificationPage',
  method: 'POST',
  path: pagePath('submit'),
  summary: 'Submit for verification',
  params: Type.Object({ secret }),
  replies: { 200: Outcome },
  errors: ['CONFLICT'],
  callsExternal: true,
});
