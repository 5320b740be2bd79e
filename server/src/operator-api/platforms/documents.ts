// Documents that were submitted about a customer, and their files, for the reviewer.
import { Type } from '@sinclair/typebox';
import { DOCUMENT_FORMATS } from '../../connectors/ports/documents.ts';
import {
  documentLists,
  openDocument,
  uploadDocument,
} from '../../features/customers/documents/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, PageQuery, page, text } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';

const TAG = 'Documents';
const platformId = text('ID of the platform.');

const ReviewDocument = named(
  'ReviewDocument',
  Type.Intersect(
    [
      uploadDocument.replies[201],
      Type.Object({
        customerId: text(
          'ID of the customer. For a document of a beneficial owner, the ID of the business.',
        ),
        format: oneOf(DOCUMENT_FORMATS, { description: 'Format of the file.' }),
        submittedAt: nullable(
          text('Time of the first submission to an identity check, or null until then.'),
        ),
      }),
    ],
    { description: 'A document of a customer or beneficial owner, for review.' },
  ),
);

async function bytesOf(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const list = operation({
  operationId: 'listDocumentsForReview',
  method: 'GET',
  path: '/customers/{customerId}/documents',
  tag: TAG,
  summary: 'List the documents of a customer',
  description:
    'Returns the documents of a customer and its beneficial owners, or of one holder, oldest first.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: ['documents list'],
  params: Type.Object({ customerId: text('ID of the customer.') }),
  query: Type.Object({
    holderId: Type.Optional(text('Return only documents of this customer or beneficial owner.')),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'ReviewDocumentPage',
      Type.Intersect(
        [
          Type.Object({ platformId, customerId: text('ID of the customer.') }),
          page(ReviewDocument),
        ],
        {
          description: 'A page of documents of a customer and its beneficial owners, oldest first.',
        },
      ),
    ),
  },
  errors: ['NOT_FOUND'],
  notFound: 'CUSTOMER_NOT_FOUND',
});

const getContent = operation({
  operationId: 'getDocumentContent',
  method: 'GET',
  path: '/documents/{documentId}/content',
  tag: TAG,
  summary: 'Get the file of a document',
  description: 'Returns a document with its file, at most 10 MB.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: ['documents save'],
  params: Type.Object({ documentId: text('ID of the document.') }),
  replies: {
    200: Type.Intersect([
      ReviewDocument,
      Type.Object({
        platformId,
        content: text('The file, base64.', { contentEncoding: 'base64' }),
      }),
    ]),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const documentOperations = [
  operatorHandle(list, async ({ installation }, { params: { customerId }, query }) => ({
    status: 200,
    body: await documentLists.page(installation.runtime, customerId, query),
  })),
  operatorHandle(getContent, async ({ installation }, { params: { documentId } }) => {
    const { document, platformId: owner, content } = await openDocument(installation, documentId);
    const file = { platformId: owner, content: (await bytesOf(content)).toString('base64') };
    return { status: 200, body: { ...document, ...file } };
  }),
];
