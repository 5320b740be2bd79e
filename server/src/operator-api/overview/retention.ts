// Retention of events, deliveries and recorded requests: partitions and archives.
import { Type } from '@sinclair/typebox';
import {
  applyRetention,
  archivePart,
  HISTORIES,
  retentionOverview,
} from '../../features/retention/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason } from '../schemas.ts';

const TAG = 'System';
const count = (description: string) => Type.Integer({ minimum: 0, description });
const bytes = (description: string) => Type.Integer({ format: 'int64', minimum: 0, description });
const history = oneOf(HISTORIES, { description: 'Table of the rows.' });
const partition = text('Name of the partition.');
const from = nullable(
  text('Lower bound of the times of the rows, inclusive, or null if there is none.'),
);

const Partition = named(
  'Partition',
  Type.Object(
    {
      partition,
      from,
      until: nullable(
        text('Upper bound of the times of the rows, exclusive, or null if there is none.'),
      ),
      rows: count('Estimated number of rows.'),
      bytes: bytes('Size with indexes, in bytes.'),
      removedFrom: nullable(
        text('Time from which the partition is removed, or null if it is kept.'),
      ),
    },
    {
      description:
        'The rows of a week. Rows that an earlier version of the server wrote are in one partition.',
    },
  ),
);

const Archive = named(
  'Archive',
  Type.Object(
    {
      id: text('ID of the archive.'),
      history,
      partition,
      from,
      until: time('Upper bound of the times of the rows, exclusive.'),
      state: oneOf(['DETACHED', 'STORED', 'REMOVED'], {
        description:
          'DETACHED: the rows are still in the database. STORED: they are in the file. REMOVED: the ' +
          'file was removed at the end of its retention period.',
      }),
      rows: nullable(
        Type.Integer({ description: 'Number of lines, or null before they are stored.' }),
      ),
      bytes: nullable(
        Type.Integer({
          format: 'int64',
          description: 'Size of the compressed lines in bytes, or null before they are stored.',
        }),
      ),
      sha256: nullable(
        text('SHA-256 of the compressed lines, hexadecimal, or null before they are stored.'),
      ),
      createdAt: time('Time at which the rows were removed from their table.'),
      storedAt: nullable(text('Time at which the file was complete, or null until then.')),
      removedAt: nullable(text('Time at which the file was removed, or null until then.')),
    },
    { description: 'A file with the rows of a removed partition.' },
  ),
);

const get = operation({
  operationId: 'getRetention',
  method: 'GET',
  path: '/retention',
  tag: TAG,
  summary: 'Get retention periods, partitions and archives',
  description:
    'Returns the retention period and the partitions of each table, and the 500 latest archives.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  wholeInstallation: true,
  commands: ['retention show'],
  replies: {
    200: Type.Object({
      archiveDays: count(
        'Days for which archives are kept. 0: no archives are created, and existing archives are kept.',
      ),
      histories: Type.Array(
        Type.Object({
          history,
          days: count('Days for which rows are kept at least.'),
          partitions: Type.Array(Partition, { description: 'Partitions of the table.' }),
        }),
        { description: 'Tables whose rows are removed by week.' },
      ),
      archives: Type.Array(Archive, { description: 'Latest archives first.' }),
    }),
  },
  errors: [],
});

const apply = operation({
  operationId: 'applyRetention',
  method: 'POST',
  path: '/retention/apply',
  tag: TAG,
  summary: 'Apply the retention',
  description:
    'Archives and removes partitions after their retention period, as the server does every hour. ' +
    'Returns CONFLICT while another process applies the retention.',
  auth: 'operator',
  operatorPermission: 'jobs.manage',
  wholeInstallation: true,
  commands: ['retention apply'],
  // Archives are files, so the changes cannot wait for an approval.
  callsExternal: true,
  body: Type.Object({
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Return the changes without applying them. Defaults to false.' }),
    ),
    ...OptionalReason,
  }),
  bodyOptional: true,
  replies: {
    200: Type.Object({
      dryRun: Type.Boolean({ description: 'Whether the changes were planned and not applied.' }),
      partitionsCreated: count('Number of partitions that were created.'),
      partitions: Type.Array(
        Type.Object({
          history: text('Table of the rows.'),
          partition,
          result: oneOf(['ARCHIVED', 'DROPPED', 'WAITING'], {
            description:
              'ARCHIVED: the rows are in a file. DROPPED: there were no rows, or archives are ' +
              'disabled. WAITING: deliveries are pending, or the table is in use. The ' +
              'partition is removed later.',
          }),
          rows: count('Number of lines in the archive, or an estimate if no archive was written.'),
        }),
        { description: 'Partitions whose retention period has expired.' },
      ),
      archivesRemoved: count('Number of archives whose files were removed.'),
    }),
  },
  errors: ['CONFLICT'],
});

const content = operation({
  operationId: 'getArchiveContent',
  method: 'GET',
  path: '/retention/archives/{archiveId}/content',
  tag: TAG,
  summary: 'Get the content of an archive',
  description:
    'Returns a part of the compressed lines of an archive, at most 1 MiB. All parts together are ' +
    'a gzip file with one JSON object per line. Personal data in the file is encrypted with the ' +
    'key of its customer. ' +
    'Returns CONFLICT for an archive without a file.',
  auth: 'operator',
  operatorPermission: 'audit.read',
  wholeInstallation: true,
  commands: ['retention read'],
  params: Type.Object({ archiveId: text('ID of the archive.') }),
  query: Type.Object({
    from: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Position of the first byte. Defaults to 0.' }),
    ),
  }),
  replies: {
    200: Type.Object({
      content: text('Bytes of this part, in base64.', { contentEncoding: 'base64' }),
      bytes: bytes('Size of the complete content, in bytes.'),
      next: nullable(
        Type.Integer({
          format: 'int64',
          description: 'Position of the next part, or null for the last part.',
        }),
      ),
    }),
  },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

export const retentionOperations = [
  operatorHandle(get, async ({ installation: { retention } }) => ({
    status: 200,
    body: await retentionOverview(retention),
  })),
  operatorHandle(apply, async ({ installation: { retention } }, { body }) => ({
    status: 200,
    body: await applyRetention(retention, body?.dryRun),
  })),
  operatorHandle(content, async ({ installation: { retention } }, { params, query }) => {
    const requestedPart = await archivePart(retention, params.archiveId, query.from ?? 0);
    return {
      status: 200,
      body: { ...requestedPart, content: requestedPart.content.toString('base64') },
    };
  }),
];
