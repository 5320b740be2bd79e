// Operations on jobs: pages by state, retries, and a cancellation that is recorded with its reason.
import { Type } from '@sinclair/typebox';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { createDeadJob } from '../../../test/kit/operator/dead-jobs.ts';
import { defineJob } from '../../kernel/contract/job.ts';

const app = testApp();
const client = operatorClient(app);
afterEach(() => app.runtime.db.query('delete from jobs', []));
// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

const input = { transactionId: 'Transaction:018f0000-0000-7000-8000-000000000001', name: 'Ada' };

const stageJobs = (kind: string, count: number, platform = app.platform) =>
  app.operate(async (ctx) => {
    for (let index = 0; index < count; index++) ctx.later(defineJob(kind, Type.Object({})), input);
  }, platform);

interface Row {
  jobId: string;
  kind: string;
}

/** All jobs of a list, read in pages of one. */
async function readAll(query: string): Promise<Row[]> {
  const jobs: Row[] = [];
  let cursor: string | undefined;
  do {
    const cursorParameter = cursor === undefined ? '' : `&cursor=${cursor}`;
    const { data, nextCursor } = ok(
      await client.call('GET', `/jobs?${query}&limit=1${cursorParameter}`),
      200,
    );
    jobs.push(...data);
    cursor = nextCursor;
  } while (cursor);
  return jobs;
}

async function createDeadJobs(kind: string, count = 1): Promise<Row[]> {
  for (let index = 0; index < count; index++)
    await createDeadJob(app, kind, input, 'the bank is closed');
  return readAll(`state=dead&kind=${kind}`);
}

describe('jobs', () => {
  it('are listed in pages, by state, kind and platform', async () => {
    await createDeadJobs('payout.send', 3);
    await stageJobs('messages.send', 2, app.other);
    const readKinds = async (query: string) => (await readAll(query)).map(({ kind }) => kind);
    expect(await readKinds('')).toHaveLength(5);
    expect(await readKinds('state=dead')).toEqual(['payout.send', 'payout.send', 'payout.send']);
    expect(await readKinds('kind=messages.send')).toHaveLength(2);
    expect(await readKinds(`platformId=${app.other.id}`)).toEqual([
      'messages.send',
      'messages.send',
    ]);
    expect((await client.call('GET', '/jobs?platformId=none')).status).toBe(404);
    expect((await client.call('GET', '/jobs?cursor=x')).status).toBe(400);
  });

  it('are shown with the IDs of their input, and retried', async () => {
    const [{ jobId } = { jobId: '' }] = await createDeadJobs('payout.send');
    const reply = ok(await client.call('GET', `/jobs/${jobId}`), 200);
    expect(reply).toMatchObject({ state: 'dead', lastError: 'the bank is closed' });
    expect(reply.about).toEqual({ transactionId: input.transactionId });
    const path = `/jobs/${jobId}/retry`;
    expect(ok(await client.call('POST', path), 200)).toMatchObject({
      state: 'queued',
      attempts: 0,
    });
    expect(await client.recordsOf('retryJob')).toMatchObject([
      { subject: jobId, platformId: app.platform.id },
    ]);
    await app.runtime.db.query('update jobs set failed_at = null');
    const conflictReply = await client.call('POST', path);
    expect([conflictReply.status, conflictReply.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('of one kind are retried together', async () => {
    await createDeadJobs('payout.check', 2);
    const body = { kind: 'payout.check' };
    expect(ok(await client.call('POST', '/jobs/retry', { body }), 200)).toEqual({
      ...{ kind: 'payout.check', retried: 2 },
    });
    expect(await readAll('state=dead')).toEqual([]);
  });

  it('are canceled with a reason', async () => {
    const [{ jobId } = { jobId: '' }] = await createDeadJobs('payout.send');
    const path = `/jobs/${jobId}/cancel`;
    expect((await client.call('POST', path, { body: {} })).status).toBe(400);
    const body = { reason: 'Settled manually' };
    const cancelledReply = ok(await client.call('POST', path, { body }), 200);
    expect(cancelledReply).toMatchObject({ jobId, state: 'cancelled', ...body });
    expect(ok(await client.call('GET', `/jobs/${jobId}`), 200)).toEqual(cancelledReply);
    expect((await readAll('state=cancelled')).map((each) => each.jobId)).toEqual([jobId]);
    expect(await client.recordsOf('cancelJob')).toMatchObject([{ subject: jobId, ...body }]);
    expect((await client.call('POST', path, { body })).status).toBe(404);
  });

  it('of other platforms and of the installation are hidden', async () => {
    await stageJobs('payout.send', 1);
    const [{ jobId } = { jobId: '' }] = await readAll('kind=payout.send');
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    for (const platform of [app.platform.id, '']) {
      await app.runtime.db.query('update jobs set platform_id = $1', [platform]);
      for (const [method, suffix, body] of [
        ['GET', '', undefined],
        ['POST', '/retry', undefined],
        ['POST', '/cancel', { reason: 'None' }],
      ] as const) {
        const { status } = await client.call(method, `/jobs/${jobId}${suffix}`, { secret, body });
        expect([suffix, status]).toEqual([suffix, 404]);
      }
      expect(ok(await client.call('GET', '/jobs', { secret }), 200).data).toEqual([]);
    }
  });
});
