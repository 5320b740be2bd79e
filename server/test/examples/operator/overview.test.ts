// Examples of the operator API: payments and quotes of all platforms, search, open work and balances,
// the stream of changes, the state of the installation, and retention.

import pg from 'pg';
import { describe } from 'vitest';
import { createPartitions, onClient } from '../../../src/runtime/db/partitions/partitions.ts';
import { DAY } from '../../kit/app/production.ts';
import { eventIdSql } from '../../kit/app/query-plans.ts';
import { listedEvents } from '../../kit/operator/events.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';
import { openStream } from '../../kit/operator/streams.ts';

async function recordPayments(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const { id: platformId } = service.platform;
  const { id: transactionId, quote } = await service.createPayment();
  await listedEvents(recorder, platformId);
  await record('listPayments', 'of-platform', {
    summary: 'The latest payments of a platform',
    query: { platformId, limit: '2' },
  });
  await record('getPayment', 'payout', {
    summary: 'A payout with its postings and events',
    params: { transactionId },
  });
  await record('listQuotesOfPlatforms', 'of-platform', {
    summary: 'The latest quotes of a platform',
    query: { platformId, limit: '2' },
  });
  await record('searchResources', 'id', {
    summary: 'Search by the ID of a quote',
    body: { query: quote.id },
  });
  await record('searchResources', 'name', {
    summary: 'Search by the name of a customer',
    body: { query: 'Ada Lovelace' },
  });
  await record('getOverview', 'production', {
    summary: 'Open work and balances in production',
    query: { mode: 'production' },
  });
}

/** Records the first change of a stream, as text of the protocol. */
async function recordStream({ service, client, add }: OperatorRecorder) {
  const { app, platform } = service;
  await app.server.listen({ port: 0, host: '127.0.0.1' });
  const secret = await client.secretOf({ name: 'Back office' });
  const stream = await openStream(app, { authorization: `Bearer ${secret}` });
  try {
    const ready = await stream.waitFor(({ event }) => event === 'ready');
    const body = { hourlyPayments: 500 };
    await client.call('PATCH', `/platforms/${platform.id}`, { body });
    const change = await stream.waitFor(({ event }) => event === 'change');
    // IDs of events contain the IDs of database transactions, so they are replaced.
    const textOf = ({ event, data }: typeof ready, id: string) =>
      `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    add({
      operationId: 'followChanges',
      name: 'change',
      summary: 'The start of a stream, and a change by an operator',
      status: stream.status,
      reply: textOf(ready, 'MTIwMCA1IA') + textOf(change, 'MTIwMyA2IA'),
    });
  } finally {
    await stream.close();
  }
}

const PROCESS = {
  nodeVersion: '24.11.1',
  uptimeSeconds: 86_400,
  memoryBytes: 195_035_136,
  eventLoopDelayMs: { p50: 1.2, p99: 4.8, max: 21.4 },
};
const DATABASE = {
  version: '17.6',
  maxConnections: 200,
  sizeBytes: 48_234_496,
  connections: [{ name: 'railhead', count: 12, active: 1 }],
  migrations: {
    count: 96,
    latest: '0096_example.sql',
    latestAt: '2026-01-05T09:00:00.000Z',
  },
  tables: [
    { name: 'ledger_transfers', rows: 12_480, sizeBytes: 9_437_184 },
    { name: 'transactions', rows: 4_160, sizeBytes: 6_291_456 },
  ],
};

async function recordSystem({ record }: OperatorRecorder) {
  await record('getSystem', 'one-process', {
    summary: 'An installation with one process',
    stable: (reply) => ({
      ...reply,
      version: '0.1.0',
      process: { ...reply.process, ...PROCESS },
      database: { ...reply.database, ...DATABASE },
    }),
  });
}

/** Inserts events of six weeks ago, and creates the partitions of all weeks. */
async function createOldEvents({ service: { app } }: OperatorRecorder): Promise<void> {
  const id = eventIdSql(app.effects.now() - 42 * DAY, 'n');
  await app.runtime.db.query(`insert into events (id, platform_id, type, subject, data, created_at)
    select ${id}, '${app.platform.id}', 'TEST', 's', '{}', now() from generate_series(1, 20) n`);
  const connection = new pg.Client({ connectionString: app.databaseUrl });
  await connection.connect();
  await createPartitions(onClient(connection), app.effects.now());
  await connection.end();
}

interface Archive {
  bytes: number | null;
}
interface History {
  partitions: object[];
}
/** Number of rows and bytes of a partition, which depend on the database. */
const PARTITION_SIZE = { rows: 1_240, bytes: 491_520 };

async function recordRetention(recorder: OperatorRecorder) {
  const { record } = recorder;
  await createOldEvents(recorder);
  await record('applyRetention', 'dry-run', {
    summary: 'Dry run: the changes are returned and not applied',
    body: { dryRun: true },
  });
  await record('applyRetention', 'applied', {
    summary: 'Archive and remove old data',
    body: { reason: 'Before the upgrade' },
  });
  // The number of bytes depends on random IDs.
  const ARCHIVE_BYTES = 412;
  const { archives } = await record('getRetention', 'one-archive', {
    summary: 'Periods, partitions and an archive',
    stable: ({ archives, histories, ...reply }) => ({
      ...reply,
      histories: histories.map(({ partitions, ...history }: History) => ({
        ...history,
        partitions: partitions.slice(0, 2).map((each) => ({ ...each, ...PARTITION_SIZE })),
      })),
      archives: archives.map((each: Archive) => ({ ...each, bytes: ARCHIVE_BYTES })),
    }),
  });
  await record('getArchiveContent', 'complete', {
    summary: 'A gzip file with one JSON object per line, encoded as base64',
    params: { archiveId: archives[0].id },
    stable: (reply) => ({ ...reply, bytes: ARCHIVE_BYTES }),
  });
}

describe('examples of the operator API: overview', () => {
  operatorExamples('overview', {
    recordPayments,
    recordStream,
    recordSystem,
    recordRetention,
  });
});
