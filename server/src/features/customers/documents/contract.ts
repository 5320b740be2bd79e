// Documents as the API shows and takes them, and the operations on them. A file goes in and never comes out:
// what was handed in is for whoever checks it.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { FilePart } from '../../../kernel/contract/upload.ts';
import { described, named, oneOf, PageQuery, page, Timestamp } from '../../../kernel/schema.ts';
import { documentInspector } from './inspect.ts';
import { documentErrors } from './rules.ts';
import { DOCUMENT_SIDES, DOCUMENT_TYPES, MAX_FILE_BYTES } from './types.ts';

const TAG = 'Documents';
const maybe = Type.Optional;
const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });

/** The schema, and the type of its values. */
export type DocumentType = (typeof DOCUMENT_TYPES)[number];
export const DocumentType = named(
  'DocumentType',
  oneOf(DOCUMENT_TYPES, { description: 'What kind of paper it is.' }),
);

const about = {
  documentType: DocumentType,
  side: maybe(
    oneOf(DOCUMENT_SIDES, {
      description: 'Which side the file shows, of a driving licence or a national id.',
    }),
  ),
  country: text('Country that issued it, ISO 3166-1 alpha-2.'),
  documentNumber: maybe(
    text('Number on the document; passports, driving licences and national ids need it.', {
      maxLength: 255,
    }),
  ),
  issuingAuthority: maybe(
    text('Who issued it; passports, driving licences and national ids need it.', {
      maxLength: 255,
    }),
  ),
};

const Document = named(
  'Document',
  Type.Object(
    {
      id: text('Document:<uuid>'),
      documentHolder: text('The customer or beneficial owner that it is about.'),
      ...about,
      fileName: text('Name of the file, as it was sent.'),
      createdAt: described(Timestamp, 'When it was first uploaded.'),
      updatedAt: maybe(described(Timestamp, 'When it was last replaced.')),
    },
    { description: 'A paper that shows who somebody is, or what belongs to whom.' },
  ),
);

const BaseDocumentRequest = named(
  'BaseDocumentRequest',
  Type.Object(
    { file: described(FilePart, 'PDF, JPEG or PNG, up to 10 MB.'), ...about },
    { description: 'A file, and what it shows.' },
  ),
);

const DocumentUploadRequest = named(
  'DocumentUploadRequest',
  Type.Intersect(
    [
      BaseDocumentRequest,
      Type.Object({
        documentHolder: text('The customer or beneficial owner that the document is about.'),
      }),
    ],
    { description: 'A document to be added.' },
  ),
);

const DocumentReplaceRequest = named(
  'DocumentReplaceRequest',
  Type.Object(BaseDocumentRequest.properties, {
    description: 'What takes the place of a document.',
  }),
);

const params = Type.Object({ documentId: text('Id of the document.') });
const upload = { maxBytes: MAX_FILE_BYTES, inspect: documentInspector };

export const uploadDocument = operation({
  operationId: 'uploadDocument',
  method: 'POST',
  path: '/documents',
  tag: TAG,
  summary: 'Upload a document',
  description:
    'Adds a paper about a customer or a beneficial owner. Each holder has one of a type; driving ' +
    'licences and national ids have one for each side. What the file is shows in its first bytes; ' +
    'its name and its declared type do not count.',
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
  description: 'Documents of the platform, or of one holder, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    documentHolder: maybe(text('Only those of this customer or beneficial owner.')),
    ...PageQuery,
  }),
  replies: { 200: named('DocumentListResponse', page(Document)) },
  errors: [],
});

export const getDocument = operation({
  operationId: 'getDocument',
  method: 'GET',
  path: '/documents/{documentId}',
  tag: TAG,
  summary: 'Show a document',
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
    'Puts another file in the place of a document, with all that is said about it; the id stays. Once ' +
    'the check that it was a part of has ended, it stays as it is.',
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
  description: 'Removes a document and its file. Not once it was part of an identity check.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});
