// Contract of documents: the API resource and its operations. Files can be uploaded but not
// downloaded. They are for review only.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { FilePart } from '../../../kernel/contract/upload.ts';
import {
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
  text,
  withDescription,
} from '../../../kernel/schema.ts';
import { documentInspector } from './inspect.ts';
import { documentErrors } from './rules.ts';
import { DOCUMENT_SIDES, DOCUMENT_TYPES, MAX_FILE_BYTES } from './types.ts';

const TAG = 'Documents';
const optional = Type.Optional;

/** Schema, and the type of its values. */
export type DocumentType = (typeof DOCUMENT_TYPES)[number];
export const DocumentType = named(
  'DocumentType',
  oneOf(DOCUMENT_TYPES, { description: 'Type of the document.' }),
);

const documentFields = {
  documentType: DocumentType,
  side: optional(
    oneOf(DOCUMENT_SIDES, {
      description:
        'Side of the document that the file shows. For driver licenses and national ' +
        'identity cards only. Absent for all other types.',
    }),
  ),
  country: text('Issuing country, ISO 3166-1 alpha-2.'),
  documentNumber: optional(
    text(
      'Document number, at most 255 characters. Required for passports, driver licenses ' +
        'and national identity cards.',
      {
        maxLength: 255,
      },
    ),
  ),
  issuingAuthority: optional(
    text(
      'Issuing authority, at most 255 characters. Required for passports, driver ' +
        'licenses and national identity cards.',
      {
        maxLength: 255,
      },
    ),
  ),
};

const Document = named(
  'Document',
  Type.Object(
    {
      id: text('ID of the document, `Document:<uuid>`.'),
      documentHolder: text('ID of the customer or beneficial owner to whom the document belongs.'),
      ...documentFields,
      fileName: text('Name of the uploaded file.'),
      createdAt: withDescription(Timestamp, 'Time of the first upload.'),
      updatedAt: optional(
        withDescription(
          Timestamp,
          'Time of the last replacement, or of the upload if the document was never replaced.',
        ),
      ),
    },
    {
      description:
        'A document that is evidence of the identity, address or ownership of a customer ' +
        'or beneficial owner.',
    },
  ),
);

const BaseDocumentRequest = named(
  'BaseDocumentRequest',
  Type.Object(
    {
      file: withDescription(
        FilePart,
        'File in PDF, JPEG or PNG format, at most 10 MB. The format is detected from the ' +
          'content of the file. The name of the file has at most 255 characters.',
      ),
      ...documentFields,
    },
    { description: 'A file and the properties of the document that it shows.' },
  ),
);

const DocumentUploadRequest = named(
  'DocumentUploadRequest',
  Type.Intersect(
    [
      BaseDocumentRequest,
      Type.Object({
        documentHolder: text(
          'ID of the customer or beneficial owner to whom the document belongs.',
        ),
      }),
    ],
    { description: 'The document to add.' },
  ),
);

const DocumentReplaceRequest = named(
  'DocumentReplaceRequest',
  Type.Object(BaseDocumentRequest.properties, {
    description: 'The replacement of the document.',
  }),
);

const params = Type.Object({ documentId: text('ID of the document.') });
const upload = { maxBytes: MAX_FILE_BYTES, inspect: documentInspector };

export const uploadDocument = operation({
  operationId: 'uploadDocument',
  method: 'POST',
  path: '/documents',
  tag: TAG,
  summary: 'Upload a document',
  description:
    'Uploads a document of a customer or beneficial owner as evidence for the ' +
    'verification. Each holder has at most one document of a type. Driver licenses and ' +
    'national identity cards have one for each side. The format is detected from the ' +
    'content of the file. The detection ignores the name and the declared type. When all ' +
    'documents are uploaded, submit the customer with `createVerification`.',
  permission: 'MANAGE',
  upload,
  body: DocumentUploadRequest,
  bodyRules: documentErrors,
  replies: { 201: Document },
  errors: [
    'LOW_QUALITY',
    'DATA_MISMATCH',
    'EXPIRED',
    'SUSPECTED_FRAUD',
    'UNSUITABLE_DOCUMENT',
    'INCOMPLETE',
    'DOCUMENT_HOLDER_NOT_FOUND',
    'DOCUMENT_ALREADY_EXISTS',
    'CUSTOMER_DELETED',
  ],
  callsExternal: true,
  sealed: true,
});

export const listDocuments = operation({
  operationId: 'listDocuments',
  method: 'GET',
  path: '/documents',
  tag: TAG,
  summary: 'List documents',
  description:
    'Returns the documents of the platform, or of one holder, newest first. The files cannot be ' +
    'downloaded.',
  permission: 'VIEW',
  query: Type.Object({
    documentHolder: optional(text('Return only documents of this customer or beneficial owner.')),
    ...PageQuery,
  }),
  replies: {
    200: named('DocumentListResponse', page(Document, { description: 'A page of documents.' })),
  },
  errors: [],
});

export const getDocument = operation({
  operationId: 'getDocument',
  method: 'GET',
  path: '/documents/{documentId}',
  tag: TAG,
  summary: 'Get a document',
  description: 'Returns the properties of one document. The file cannot be downloaded.',
  permission: 'VIEW',
  params,
  replies: { 200: Document },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const replaceDocument = operation({
  operationId: 'replaceDocument',
  method: 'PUT',
  path: '/documents/{documentId}',
  tag: TAG,
  summary: 'Replace a document',
  description:
    'Replaces the file and all properties of a document. Its identifier is unchanged. Use ' +
    'this operation when a verification reports the document as invalid. Then submit the ' +
    'customer again with `createVerification`. A document cannot be replaced after the ' +
    'verification that used it is complete.',
  permission: 'MANAGE',
  params,
  upload,
  body: DocumentReplaceRequest,
  bodyRules: documentErrors,
  replies: { 200: Document },
  errors: [
    'LOW_QUALITY',
    'DATA_MISMATCH',
    'EXPIRED',
    'SUSPECTED_FRAUD',
    'UNSUITABLE_DOCUMENT',
    'INCOMPLETE',
    'DOCUMENT_ALREADY_EXISTS',
    'CUSTOMER_DELETED',
  ],
  notFound: 'NOT_FOUND',
  callsExternal: true,
});

export const deleteDocument = operation({
  operationId: 'deleteDocument',
  method: 'DELETE',
  path: '/documents/{documentId}',
  tag: TAG,
  summary: 'Delete a document',
  description:
    'Deletes a document and its file permanently. A document that was part of a ' +
    'verification cannot be deleted. Replace it with `replaceDocument` while the ' +
    'verification is open.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});
