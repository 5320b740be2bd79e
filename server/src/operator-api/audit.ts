// Audit records of operators: list, details with the changed values, verification, export.
import { Type } from '@sinclair/typebox';
import {
  auditLines,
  auditRecordById,
  changesOfRecord,
  pageOfRecords,
  presentRecord,
  verifyAudit,
} from '../features/staff/audit/index.ts';
import { operation } from '../kernel/contract/operation.ts';
import { named, oneOf, PageQuery, page, text, time } from '../kernel/schema.ts';
import { operatorHandle } from './handle.ts';
import { Changes, PlatformFilter } from './schemas.ts';

const TAG = 'Audit';

const RECORD = {
  id: text('ID of the record.'),
  number: Type.Integer({ description: 'Sequence number of the record, from 1 without gaps.' }),
  createdAt: time('Time of the change or access.'),
  actor: Type.Object(
    {
      kind: oneOf(['USER', 'TOKEN', 'COMMAND', 'SYSTEM'], {
        description:
          'USER: an operator user. TOKEN: an operator token. COMMAND: a command of `railhead-server` on ' +
          'the server machine. SYSTEM: the server, when it pauses or resumes a provider ' +
          'automatically.',
      }),
      id: text('ID of the operator.'),
      name: text('Name of the operator at that time.'),
      roles: Type.Array(Type.String(), { description: 'Roles of the operator at that time.' }),
    },
    { description: 'Operator who made the change or read the data.' },
  ),
  address: Type.Optional(text('IP address of the request. Absent for COMMAND and SYSTEM.')),
  requestId: Type.Optional(
    text('ID of the request, as in `X-Request-Id`. Absent for COMMAND and SYSTEM.'),
  ),
  operationId: text('ID of the operation, or the name of the command, such as `jobs retry`.'),
  subject: Type.Optional(
    text('ID of the resource that was changed or viewed. Absent if there is none.'),
  ),
  platformId: Type.Optional(text('Platform, if the record concerns a single platform.')),
  customerId: Type.Optional(text('Customer, if the record concerns a single customer.')),
  reason: Type.Optional(
    text(
      'Reason stated by the operator, or the reason for a rejected sign-in. Absent if there is ' +
        'none.',
    ),
  ),
  outcome: text(
    'SUCCEEDED, WAITING_FOR_APPROVAL, or the code of the error with which the request was rejected.',
  ),
  hasChanges: Type.Boolean({ description: 'Whether rows were changed.' }),
  previousHash: text('Hash of the previous record. Empty for the first record.'),
  hash: text('Keyed hash of the record and of `previousHash`.'),
};
const AuditRecord = named(
  'AuditRecord',
  Type.Object(RECORD, {
    description:
      'A request of an operator to change or search data, or an access to personal data, ' +
      'including rejected requests.',
  }),
);

const params = Type.Object({ auditRecordId: text('ID of the record.') });

const listRecords = operation({
  operationId: 'listAuditRecords',
  method: 'GET',
  path: '/audit-records',
  tag: TAG,
  summary: 'List audit records',
  description:
    'Returns the records that match every filter, newest first, without the changed values.',
  auth: 'operator',
  operatorPermission: 'audit.read',
  commands: [],
  query: Type.Object({
    actorId: Type.Optional(text('Return only records of this operator.')),
    operationId: Type.Optional(text('Return only records of this operation.')),
    subject: Type.Optional(text('Return only records about this resource.')),
    outcome: Type.Optional(
      text(
        'Return only records with this outcome: SUCCEEDED, WAITING_FOR_APPROVAL or an error code.',
      ),
    ),
    customerId: Type.Optional(text('Return only records about this customer.')),
    ...PlatformFilter,
    createdAfter: Type.Optional(time('Return only records at or after this time.')),
    createdBefore: Type.Optional(time('Return only records at or before this time.')),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'AuditRecordPage',
      page(AuditRecord, {
        description: 'A page of audit records without changed values, newest first.',
      }),
    ),
  },
  errors: [],
});

const getChanges = operation({
  operationId: 'getAuditRecordChanges',
  method: 'GET',
  path: '/audit-records/{auditRecordId}/changes',
  tag: TAG,
  summary: 'Get the changes of an audit record',
  description:
    'Returns a record with the values before and after. The values may be personal data, so this ' +
    'request is recorded as well.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: [],
  params,
  replies: { 200: Type.Object({ ...RECORD, changes: Type.Optional(Changes) }) },
  errors: [],
  notFound: 'NOT_FOUND',
});

const verify = operation({
  operationId: 'verifyAuditRecords',
  method: 'GET',
  path: '/audit-records/verification',
  tag: TAG,
  summary: 'Verify the audit records',
  description:
    'Reads every record and verifies numbers, hashes and the chain. Store the number and ' +
    'hash of the last record outside the system, and pass them to a later verification. The ' +
    'verification then also detects a chain that was truncated or rebuilt.',
  auth: 'operator',
  operatorPermission: 'audit.read',
  wholeInstallation: true,
  commands: ['audit verify'],
  query: Type.Object({
    number: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Number of a record from an earlier verification.' }),
    ),
    hash: Type.Optional(text('Hash of that record. Required with `number`.')),
  }),
  replies: {
    200: Type.Object({
      records: Type.Integer({ description: 'Number of records.' }),
      last: Type.Object(
        {
          number: Type.Integer({
            description: 'Number of the last record, or 0 if there is none.',
          }),
          hash: text('Hash of the last record. Empty if there is none.'),
        },
        { description: 'Number and hash of the last record, for a later verification.' },
      ),
      problems: Type.Array(Type.String(), {
        description:
          'Discrepancies of records, at most the first 100, and of the end of the chain. Empty if ' +
          'the records are intact.',
      }),
    }),
  },
  errors: [],
});

const MAX_LINES = 1_000;

const exportRecords = operation({
  operationId: 'exportAuditRecords',
  method: 'GET',
  path: '/audit-records/export',
  tag: TAG,
  summary: 'Export audit records',
  description:
    `Returns up to ${MAX_LINES} records after a number, oldest first, as JSON lines in one text. ` +
    'Repeat the request with `after` of the reply until `hasMore` is false.',
  auth: 'operator',
  operatorPermission: 'audit.read',
  commands: ['audit export'],
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: 0,
        description: 'Sequence number of the last record read. Defaults to 0.',
      }),
    ),
  }),
  replies: {
    200: Type.Object({
      lines: text('One JSON object per line.'),
      after: Type.Integer({ description: 'Value of `after` for the next request.' }),
      hasMore: Type.Boolean({ description: 'Whether there may be more records.' }),
    }),
  },
  errors: [],
});

export const auditOperations = [
  operatorHandle(listRecords, async ({ installation, operator }, { query }) => ({
    status: 200,
    body: await pageOfRecords(installation.runtime, operator, query),
  })),
  operatorHandle(verify, async ({ installation }, { query: { number, hash } }) => ({
    status: 200,
    body: await verifyAudit(
      installation.runtime,
      number === undefined ? undefined : { number, hash: hash ?? '' },
    ),
  })),
  operatorHandle(exportRecords, async ({ installation, operator }, { query }) => ({
    status: 200,
    body: await auditLines(installation.runtime, operator, query.after ?? 0, MAX_LINES),
  })),
  operatorHandle(getChanges, async ({ installation, operator }, { params: { auditRecordId } }) => {
    const row = await auditRecordById(installation.runtime, operator, auditRecordId);
    const changes = await changesOfRecord(installation.runtime, row);
    return { status: 200, body: { ...presentRecord(row), ...(changes ? { changes } : {}) } };
  }),
];
