// Contract of bulk imports: the API resource and its operations.
import { type Static, Type } from '@sinclair/typebox';
import {
  defineEvent,
  type EventDefinition,
  type WebhookContract,
} from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { FilePart } from '../../../kernel/contract/upload.ts';
import { named, oneOf, Timestamp, text, withDescription } from '../../../kernel/schema.ts';
import { inspectCsv, MAX_ROW_BYTES, MAX_ROWS } from './scan.ts';
import type { ImportOutcome } from './states.ts';

const TAG = 'Customers';
const MAX_BYTES = 100 * 1024 * 1024;
/** Maximum number of errors in replies and events. Operators can read all errors. */
export const MAX_ERRORS = 1_000;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const ServiceError = named(
  'ServiceError',
  Type.Object(
    {
      code: Type.Optional(text('Machine-readable error code.')),
      message: Type.Optional(text('Human-readable description of the error.')),
      reason: Type.Optional(text('Same text as `message`.')),
      details: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description: 'Additional data. `errors` lists the errors of the row by column name.',
          },
        ),
      ),
    },
    { description: 'An error in an asynchronous result.' },
  ),
);

const BulkCustomerImportErrorEntry = named(
  'BulkCustomerImportErrorEntry',
  Type.Intersect(
    [
      ServiceError,
      Type.Object({
        correlationId: text(
          '`platformCustomerId` of the row, or `row_<n>` if that ID is absent or longer than ' +
            '255 characters, or if the row is malformed. `row_1` is the first row below the ' +
            'header. `file` for an error of the complete file.',
        ),
      }),
    ],
    { description: 'A row of the file that was not imported, with its error.' },
  ),
);

const BulkCustomerImportJob = named(
  'BulkCustomerImportJob',
  Type.Object(
    {
      id: text('ID of the import.'),
      status: oneOf(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'], {
        description:
          'Status of the import. PENDING: queued. PROCESSING: rows are being imported. ' +
          'COMPLETED: all rows were processed and at least one customer was created. ' +
          'FAILED: no customer was created, or the file is invalid or could not be read.',
      }),
      progress: Type.Object(
        {
          total: count('Number of rows in the file, without the header.'),
          processed: count('Number of processed rows.'),
          successful: count('Number of customers created.'),
          failed: count('Number of rows that failed.'),
        },
        { description: 'Progress of the import.' },
      ),
      errors: Type.Optional(
        Type.Array(BulkCustomerImportErrorEntry, {
          description:
            `Failed rows in the order of the file, or an error of the complete file. At most ` +
            `${MAX_ERRORS} errors. Absent if there are none.`,
        }),
      ),
      completedAt: Type.Optional(
        withDescription(
          Timestamp,
          'Time at which the import completed or failed. Absent while it is in progress.',
        ),
      ),
    },
    { description: 'An import of customers from a CSV file.' },
  ),
);

export type ImportView = Static<typeof BulkCustomerImportJob>;

const BulkCustomerImportJobAccepted = named(
  'BulkCustomerImportJobAccepted',
  Type.Object(
    {
      jobId: text('ID of the import.'),
      status: oneOf(['PENDING', 'PROCESSING'], {
        description: 'PENDING: queued. PROCESSING: rows are being imported.',
      }),
    },
    { description: 'The file was received and is queued for import.' },
  ),
);

export const uploadCustomersCsv = operation({
  operationId: 'uploadCustomersCsv',
  method: 'POST',
  path: '/customers/bulk/csv',
  tag: TAG,
  summary: 'Import customers from CSV',
  description:
    'Creates customers from a CSV file in the background. Poll `getBulkCustomerImportJob`. The ' +
    `file is UTF-8 text of at most 100 MB and ${MAX_ROWS} rows. A row has at most ` +
    `${MAX_ROW_BYTES} bytes. The first row contains the ` +
    'column names.\n\n- All rows: `umaAddress` (with or without `$`), `platformCustomerId`, ' +
    '`customerType`, `addressLine1`, `city`, `state`, `postalCode`, `country`.\n- `INDIVIDUAL`: ' +
    '`fullName`, `birthDate`. `BUSINESS`: `businessLegalName`.\n- Optional: `addressLine2`, ' +
    '`email`, `phoneNumber`, `businessRegistrationNumber`, `businessTaxId`, and for an ' +
    '`INDIVIDUAL` `nationality`, `idType`, `identifier`, `countryOfIssuance`. The country of a ' +
    'business is also its country of registration. `state` is optional outside the US.\n- ' +
    '`platformAccountId`, `description` and unknown columns are ignored.\n\nRows follow the ' +
    'rules of `createCustomer`, except that a business does not need a tax number or date of ' +
    'incorporation. Rows are imported independently. A failed row is listed and does not ' +
    'affect other rows. To correct failed rows, upload the complete corrected file again. ' +
    'Customers that already exist are then listed as `CONFLICT`. If the file is invalid, the ' +
    'import fails before any customer is created. The file is deleted after the import.',
  permission: 'MANAGE',
  rateClass: 'quotes',
  upload: { maxBytes: MAX_BYTES, inspect: inspectCsv },
  body: Type.Object({
    file: withDescription(FilePart, 'CSV file to import, in UTF-8, at most 100 MB.'),
  }),
  replies: { 202: BulkCustomerImportJobAccepted },
  errors: [],
});

export const getBulkCustomerImportJob = operation({
  operationId: 'getBulkCustomerImportJob',
  method: 'GET',
  path: '/customers/bulk/jobs/{jobId}',
  tag: TAG,
  summary: 'Get a customer import',
  description:
    'Returns the status, the progress and the failed rows of a customer import. Poll the ' +
    'operation until the status is COMPLETED or FAILED, or wait for the webhook.',
  permission: 'VIEW',
  params: Type.Object({ jobId: text('ID of the import.') }),
  replies: { 200: BulkCustomerImportJob },
  errors: [],
  notFound: 'BULK_UPLOAD_JOB_NOT_FOUND',
});

/** Event after an import, by outcome. */
export const importEvents = {
  complete: defineEvent('BULK_UPLOAD.COMPLETED', BulkCustomerImportJob),
  fail: defineEvent('BULK_UPLOAD.FAILED', BulkCustomerImportJob),
} as const satisfies Record<ImportOutcome, EventDefinition>;

export const importWebhooks: readonly WebhookContract[] = [
  {
    name: 'bulk-upload',
    summary: 'Customer import completed or failed',
    description:
      'Sent once, when an import completes or fails. The event contains at most ' +
      `${MAX_ERRORS} errors.`,
    events: [importEvents.complete, importEvents.fail],
  },
];
