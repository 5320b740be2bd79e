// Retention by the operator API: settings, application, and the content of an archive in parts.
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { eventIdSql } from '../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { RETENTION_LOCK } from '../../features/retention/store.ts';
import { createPartitions, onClient } from '../../runtime/db/partitions/partitions.ts';

const WEEK_MS = 7 * 86_400_000;

const app = testApp();
const client = operatorClient(app);

interface Archive {
  id: string;
  partition: string;
  rows: number;
}

const apply = async (body?: object) =>
  ok(await client.call('POST', '/retention/apply', body ? { body } : {}), 200);

describe('getRetention', () => {
  it('returns periods and partitions', async () => {
    const { archiveDays, histories } = ok(await client.call('GET', '/retention'), 200);
    expect(archiveDays).toBe(2_555);
    expect(histories.map(({ history }: { history: string }) => history).sort()).toEqual([
      ...['api_request_bodies', 'api_request_reads', 'api_requests', 'events', 'webhook_attempts'],
    ]);
    expect(histories[0].partitions.length).toBeGreaterThan(3);
  });
});

describe('applyRetention', () => {
  it('returns the planned changes in a dry run, and applies them without a dry run', async () => {
    // The events have an earlier time, because the token of an operator expires.
    const oldEventId = eventIdSql(app.effects.now() - 6 * WEEK_MS, 'n');
    await app.runtime.db.query(`insert into events (id, platform_id, type, subject, data, created_at)
      select ${oldEventId}, '${app.platform.id}', 'TEST', 's', '{}', now() from generate_series(1, 20) n`);
    expect((await apply({ dryRun: true })).partitions).toEqual([]);
    const connection = new pg.Client({ connectionString: app.databaseUrl });
    await connection.connect();
    await createPartitions(onClient(connection), app.effects.now());
    await connection.end();
    const plannedReply = await apply({ dryRun: true });
    expect(plannedReply).toMatchObject({ dryRun: true, partitionsCreated: 0 });
    expect(plannedReply.partitions.length).toBeGreaterThan(0);
    const appliedReply = await apply();
    expect(appliedReply.dryRun).toBe(false);
    expect(appliedReply.partitions).toMatchObject([{ result: 'ARCHIVED', rows: 20 }]);
    expect((await apply()).partitions).toEqual([]);
  });

  it('returns CONFLICT while another process applies the retention', async () => {
    const otherProcess = new pg.Client({ connectionString: app.databaseUrl });
    await otherProcess.connect();
    await otherProcess.query(`select pg_advisory_lock(${RETENTION_LOCK})`);
    const rejectedReply = await client.call('POST', '/retention/apply');
    await otherProcess.end();
    expect([rejectedReply.status, rejectedReply.body.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('getArchiveContent', () => {
  it('returns a gzip file in parts', async () => {
    const { archives } = ok(await client.call('GET', '/retention'), 200);
    const archive = archives.find((each: Archive) =>
      each.partition.startsWith('events'),
    ) as Archive;
    const path = `/retention/archives/${archive.id}/content`;
    const completeReply = ok(await client.call('GET', path), 200);
    expect(completeReply.next).toBeNull();
    const bytes = Buffer.from(completeReply.content, 'base64');
    expect(bytes).toHaveLength(completeReply.bytes);
    const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
    expect(lines).toHaveLength(archive.rows);
    const partialReply = ok(await client.call('GET', `${path}?from=10`), 200);
    expect(Buffer.from(partialReply.content, 'base64')).toEqual(bytes.subarray(10));
    const rejectedReply = await client.call('GET', `${path}?from=${completeReply.bytes + 1}`);
    expect(rejectedReply.status).toBe(400);
  });

  it('returns CONFLICT while the archive has no file', async () => {
    await app.runtime.db.query(`insert into archives
        (id, history, partition, until_time, state, created_at)
      values ('Archive:removed', 'events', 'none', now(), 'REMOVED', now())`);
    const path = '/retention/archives/Archive:removed/content';
    const { status, body } = await client.call('GET', path);
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
  });

  it('returns NOT_FOUND for an unknown archive', async () => {
    const { status } = await client.call('GET', '/retention/archives/Archive:none/content');
    expect(status).toBe(404);
  });
});
