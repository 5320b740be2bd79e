// Customer imports of all platforms, with every failed row.
import { Type } from '@sinclair/typebox';
import {
  IMPORT_STATUSES,
  importDetails,
  MAX_ERROR_LINES,
  pageOfImportErrors,
  pageOfImports,
} from '../../features/customers/imports/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { PlatformFilter } from '../schemas.ts';

const TAG = 'Imports';
const params = Type.Object({ importId: text('ID of the import.') });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const Import = named(
  'Import',
  Type.Object(
    {
      importId: text('ID of the import.'),
      platformId: text('ID of the platform.'),
      status: oneOf(IMPORT_STATUSES, {
        description:
          'PENDING: not started. PROCESSING: rows are imported. COMPLETED: all rows are processed, and ' +
          'at least one became a customer. FAILED: no row became a customer, or the file was rejected or ' +
          'could not be read completely.',
      }),
      total: count('Number of rows.'),
      successful: count('Number of rows that became customers.'),
      failed: count('Number of rows with an error.'),
      problem: nullable(
        text('Reason for the rejection of the file, or null if it was not rejected.'),
      ),
      createdAt: time('Time of the upload.'),
      completedAt: nullable(
        text('Time at which the import completed or failed, or null until then.'),
      ),
    },
    { description: 'An import of customers from a file.' },
  ),
);

const list = operation({
  operationId: 'listImports',
  method: 'GET',
  path: '/imports',
  tag: TAG,
  summary: 'List customer imports',
  description: 'Returns the imports of one platform or of all, newest first.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  commands: ['imports list'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'ImportPage',
      page(Import, { description: 'A page of customer imports, newest first.' }),
    ),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const get = operation({
  operationId: 'getImport',
  method: 'GET',
  path: '/imports/{importId}',
  tag: TAG,
  summary: 'Get a customer import',
  description: 'Returns an import with its progress.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  commands: ['imports show'],
  params,
  replies: { 200: Import },
  errors: [],
  notFound: 'NOT_FOUND',
});

const listErrors = operation({
  operationId: 'listImportErrors',
  method: 'GET',
  path: '/imports/{importId}/errors',
  tag: TAG,
  summary: 'List the failed rows of an import',
  description:
    `Returns up to ${MAX_ERROR_LINES} failed rows after a row, in the order of the file. Repeat ` +
    'the request with the last row until `hasMore` is false.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  commands: ['imports show'],
  params,
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({ minimum: 0, default: 0, description: 'Number of the last row read.' }),
    ),
  }),
  replies: {
    200: Type.Object({
      importId: text('ID of the import.'),
      platformId: text('ID of the platform.'),
      rows: Type.Array(
        Type.Object({
          row: Type.Integer({
            description: 'Number of the row in the file. 1 is the first row below the header.',
          }),
          correlationId: text(
            '`platformCustomerId` of the row, or `row_<n>` if that ID is absent or longer than 255 ' +
              'characters, or if the row is malformed. `file` if the file could not be read from this ' +
              'row on.',
          ),
          code: text('Error code of the row, such as `INVALID_INPUT`.'),
          message: text('Description of the error, in English.'),
          errors: Type.Array(
            Type.Object({
              field: text('Name of the column.'),
              message: text('Description of the error in the value.'),
            }),
            { description: 'Columns with errors.' },
          ),
        }),
        { description: 'Failed rows.' },
      ),
      hasMore: Type.Boolean({ description: 'Whether there are more failed rows.' }),
    }),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const importOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfImports(installation.runtime, query),
  })),
  operatorHandle(get, async ({ installation }, { params: { importId } }) => ({
    status: 200,
    body: await importDetails(installation.runtime, importId),
  })),
  operatorHandle(listErrors, async ({ installation }, { params: { importId }, query }) => ({
    status: 200,
    body: await pageOfImportErrors(installation.runtime, importId, query.after ?? 0),
  })),
];
