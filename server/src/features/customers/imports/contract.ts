// Imports of customers as the API shows them, and the operations on them.
import { type Static, Type } from '@sinclair/typebox';
import {
  defineEvent,
  type EventDefinition,
  type WebhookContract,
} from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { FilePart } from '../../../kernel/contract/upload.ts';
import { described, named, oneOf, Timestamp } from '../../../kernel/schema.ts';
import { inspectCsv, MOST_ROWS } from './scan.ts';
import type { ImportEnd } from './states.ts';

const TAG = 'Customers';
const MOST_BYTES = 100 * 1024 * 1024;
/** Errors that a reply and an event show; an operator can see them all. */
export const MOST_ERRORS = 1_000;

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const ServiceError = named(
  'ServiceError',
  Type.Object(
    {
      code: Type.Optional(text('What went wrong, for a program.')),
      message: Type.Optional(text('What went wrong, for a person.')),
      reason: Type.Optional(text('The same as `message`.')),
      details: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              '`errors` lists what is wrong with each column, by the name of the column.',
          },
        ),
      ),
    },
    { description: 'An error that is told of and was not answered.' },
  ),
);

const BulkCustomerImportErrorEntry = named(
  'BulkCustomerImportErrorEntry',
  Type.Intersect(
    [
      ServiceError,
      Type.Object({
        correlationId: text(
          'The `platformCustomerId` of the row; `row_1` for the first row below the head, and so on, ' +
            'where it has none; `file` for what is wrong with the whole file.',
        ),
      }),
    ],
    { description: 'A row that became no customer, and why.' },
  ),
);

const BulkCustomerImportJob = named(
  'BulkCustomerImportJob',
  Type.Object(
    {
      id: text('Id of the import.'),
      status: oneOf(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'], {
        description:
          'COMPLETED when every row was tried and at least one became a customer. FAILED when none did, ' +
          'or the file as such cannot be read.',
      }),
      progress: Type.Object(
        {
          total: count('Rows of the file.'),
          processed: count('Rows that were tried.'),
          successful: count('Rows that became customers.'),
          failed: count('Rows that did not.'),
        },
        { description: 'How far it has come.' },
      ),
      errors: Type.Optional(
        Type.Array(BulkCustomerImportErrorEntry, {
          description: `Rows that failed, in the order of the file; the first ${MOST_ERRORS} at most.`,
        }),
      ),
      completedAt: Type.Optional(described(Timestamp, 'When it ended; absent before.')),
    },
    { description: 'An import of customers from a file.' },
  ),
);

export type ImportView = Static<typeof BulkCustomerImportJob>;

const BulkCustomerImportJobAccepted = named(
  'BulkCustomerImportJobAccepted',
  Type.Object(
    {
      jobId: text('Id of the import.'),
      status: oneOf(['PENDING', 'PROCESSING'], { description: 'It has not ended yet.' }),
    },
    { description: 'The file is here and will be worked through.' },
  ),
);

export const uploadCustomersCsv = operation({
  operationId: 'uploadCustomersCsv',
  method: 'POST',
  path: '/customers/bulk/csv',
  tag: TAG,
  summary: 'Register customers from a CSV file',
  description:
    `Text in UTF-8, at most 100 MB and ${MOST_ROWS} rows; the first row names the columns.\n\n` +
    '- Every row: `umaAddress` (with or without `$`), `platformCustomerId`, `customerType`, ' +
    '`addressLine1`, `city`, `state`, `postalCode`, `country`.\n' +
    '- `INDIVIDUAL`: `fullName`, `birthDate`. `BUSINESS`: `businessLegalName`.\n' +
    '- Optional: `addressLine2`, `email`, `phoneNumber`, `businessRegistrationNumber`, `businessTaxId`, ' +
    'and of an `INDIVIDUAL` `nationality`, `idType`, `identifier`, `countryOfIssuance`. The country ' +
    'of a business is also where it is registered. The cell of `state` may be empty outside the US.\n' +
    '- `platformAccountId`, `description` and columns of other names are read over.\n\n' +
    'Rows follow the rules of `POST /customers`, save that a business may come without a tax number and ' +
    'a day of incorporation. Each row is registered by itself: those that fail are listed and hold up no ' +
    'other, so the corrected file can be sent again whole; customers that are there already are then ' +
    'listed as `CONFLICT`. Where the file as such is wrong, the import fails before any customer is ' +
    'registered. The file is deleted when the import has ended.',
  permission: 'MANAGE',
  rateClass: 'quotes',
  upload: { maxBytes: MOST_BYTES, inspect: inspectCsv },
  body: Type.Object({ file: FilePart }),
  replies: { 202: BulkCustomerImportJobAccepted },
  errors: [],
});

export const getBulkCustomerImportJob = operation({
  operationId: 'getBulkCustomerImportJob',
  method: 'GET',
  path: '/customers/bulk/jobs/{jobId}',
  tag: TAG,
  summary: 'Get an import of customers',
  permission: 'VIEW',
  params: Type.Object({ jobId: text('Id of the import.') }),
  replies: { 200: BulkCustomerImportJob },
  errors: [],
  notFound: 'BULK_UPLOAD_JOB_NOT_FOUND',
});

/** The event about the end of an import, by the transition that ends it. */
export const importEvents = {
  complete: defineEvent('BULK_UPLOAD.COMPLETED', BulkCustomerImportJob),
  fail: defineEvent('BULK_UPLOAD.FAILED', BulkCustomerImportJob),
} as const satisfies Record<ImportEnd, EventDefinition>;

export const importWebhooks: readonly WebhookContract[] = [
  {
    name: 'bulk-upload',
    summary: 'An import of customers has ended',
    description: `Sent once, when an import ends. It lists the first ${MOST_ERRORS} errors at most.`,
    events: [importEvents.complete, importEvents.fail],
  },
];
