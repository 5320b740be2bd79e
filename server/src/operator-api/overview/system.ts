// The installation: versions, the process that replies, the database and the settings of the operator API.
import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { iso } from '../../kernel/effects.ts';
import { nullable, text, time } from '../../kernel/schema.ts';
import { installedVersion } from '../../runtime/config/version.ts';
import { databaseState } from '../../runtime/db/database-state.ts';
import { eventLoopDelay } from '../../runtime/observability/metrics.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const ms = (description: string) => Type.Number({ minimum: 0, description });
const bytes = (description: string) => Type.Integer({ format: 'int64', minimum: 0, description });

const Process = Type.Object(
  {
    number: nullable(
      Type.Integer({
        description:
          'Number of the process among those that share a port, or null if it is the only process.',
      }),
    ),
    roles: Type.Array(Type.String(), {
      description:
        'Roles of the process. api: serves the API. jobs: runs jobs. deliver: sends webhooks.',
    }),
    nodeVersion: text('Version of Node.js.'),
    uptimeSeconds: count('Time since the start of the process, in seconds.'),
    memoryBytes: bytes('Resident memory, in bytes.'),
    eventLoopDelayMs: Type.Object(
      {
        p50: ms('Median, in milliseconds.'),
        p99: ms('99th percentile, in milliseconds.'),
        max: ms('Maximum, in milliseconds.'),
      },
      { description: 'Event loop delay since the last read of the metrics.' },
    ),
    committer: Type.Object(
      {
        lanes: count('Database connections for writes.'),
        waiting: count('Writes that are waiting for a connection.'),
      },
      { description: 'The part of the process that writes changes to the database.' },
    ),
  },
  { description: 'The process that replied. `/metrics` covers all processes.' },
);

const State = Type.Object(
  {
    version: text('Version of PostgreSQL.'),
    maxConnections: count('Maximum number of connections.'),
    sizeBytes: bytes('Size of the database, in bytes.'),
    connections: Type.Array(
      Type.Object({
        name: text('Application name of the connections.'),
        count: count('Number of connections.'),
        active: count('Connections that are executing a statement.'),
      }),
      { description: 'Connections of all processes, by application name.' },
    ),
    migrations: Type.Object(
      {
        count: count('Number of applied migrations.'),
        latest: Type.Optional(text('Name of the latest migration. Absent if there is none.')),
        latestAt: Type.Optional(
          time('Time at which the latest migration was applied. Absent if there is none.'),
        ),
      },
      { description: 'Applied migrations, which determine the version of the schema.' },
    ),
    tables: Type.Array(
      Type.Object({
        name: text('Name of the table.'),
        rows: count('Estimated number of rows.'),
        sizeBytes: bytes('Size with indexes, in bytes.'),
      }),
      { description: 'The ten largest tables.' },
    ),
  },
  { description: 'Version, connections and sizes of the database.' },
);

const get = operation({
  operationId: 'getSystem',
  method: 'GET',
  path: '/system',
  tag: 'System',
  summary: 'Get the state of the installation',
  description: 'Returns versions, the state of process and database, and settings without secrets.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  wholeInstallation: true,
  commands: [],
  replies: {
    200: Type.Object({
      version: text('Version of the server.'),
      at: time('Time of the reply.'),
      process: Process,
      database: State,
      settings: Type.Object(
        {
          operatorUrl: nullable(text('URL of the sign-in page, or null if it is not configured.')),
          hasIdentityProvider: Type.Boolean({
            description: 'Whether operators can sign in at an identity provider.',
          }),
          walletRecoveryHours: nullable(
            Type.Number({
              description:
                'Waiting period of a wallet recovery, in hours, or null if recovery is disabled.',
            }),
          ),
        },
        { description: 'Settings that concern operators.' },
      ),
    }),
  },
  errors: [],
});

const HOUR_MS = 3_600_000;

function processState({ process: ownProcess }: OperatorCall) {
  const { lanes, waiting } = ownProcess.committer();
  return {
    number: ownProcess.number ?? null,
    roles: [...ownProcess.roles],
    nodeVersion: process.versions.node,
    uptimeSeconds: Math.round(process.uptime()),
    memoryBytes: process.memoryUsage.rss(),
    eventLoopDelayMs: eventLoopDelay(),
    committer: { lanes, waiting },
  };
}

export const systemOperations = [
  operatorHandle(get, async (call) => {
    const { installation, operatorUrl, identityProvider } = call;
    const { runtime, walletRecoveryMs } = installation;
    const body = {
      version: installedVersion(),
      at: iso(runtime.effects.now()),
      process: processState(call),
      database: await databaseState(runtime.db),
      settings: {
        operatorUrl: operatorUrl ?? null,
        hasIdentityProvider: identityProvider !== undefined,
        walletRecoveryHours: walletRecoveryMs === undefined ? null : walletRecoveryMs / HOUR_MS,
      },
    };
    return { status: 200, body };
  }),
];
