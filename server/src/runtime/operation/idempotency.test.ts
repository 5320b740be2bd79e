// Stored replies: replay, expiry, keys and omitted secrets.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { BASE_PATH } from '../../http/server.ts';

const app = testApp();

const DAY_MS = 24 * 3_600_000;

describe('stored replies', () => {
  const create = (key: string, platformCustomerId: string) =>
    app.call(
      'POST',
      '/customers',
      { customerType: 'INDIVIDUAL', platformCustomerId },
      { headers: { 'idempotency-key': key } },
    );

  const STORED_SQL = 'select body_hash from idempotency where id like $1';
  /** The format of an older version. */
  const plainHash = (platformCustomerId: string) =>
    createHash('sha256')
      .update(`{}\n${JSON.stringify({ customerType: 'INDIVIDUAL', platformCustomerId })}`)
      .digest('hex');

  it('are replayed for a week and then deleted', async () => {
    const firstResponse = await create('a', 'kept');
    await app.advance(6 * DAY_MS);
    const secondResponse = await create('a', 'kept');
    expect(secondResponse.body).toEqual(firstResponse.body);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    await app.advance(2 * DAY_MS);
    const laterResponse = await create('a', 'kept');
    expect([laterResponse.status, laterResponse.body.code]).toEqual([409, 'CONFLICT']);
    expect(laterResponse.headers['idempotency-replayed']).toBeUndefined();
  });

  it('are separate by platform and by path', async () => {
    const headers = { 'idempotency-key': 'shared' };
    const body = { customerType: 'INDIVIDUAL' };
    const ownResponse = await app.call('POST', '/customers', body, { headers });
    const otherResponse = await app.call('POST', '/customers', body, {
      headers,
      platform: app.other,
    });
    expect(otherResponse.status).toBe(201);
    expect(otherResponse.body.id).not.toBe(ownResponse.body.id);
    const tokenBody = { name: 'x', permissions: ['VIEW'] };
    expect((await app.call('POST', '/tokens', tokenBody, { headers })).status).toBe(201);
  });

  it('omit secrets', async () => {
    const headers = { 'idempotency-key': 'token' };
    const tokenBody = { name: 'x', permissions: ['VIEW'] };
    const firstResponse = await app.call('POST', '/tokens', tokenBody, { headers });
    expect(firstResponse.body.clientSecret).toMatch(/^rhs_/);
    const rows = await app.runtime.db.query('select reply from idempotency', []);
    expect(JSON.stringify(rows)).not.toContain(firstResponse.body.clientSecret);
  });

  it('are identified by a keyed hash that cannot be guessed', async () => {
    await create('hash', 'hashed');
    const [row] = await app.runtime.db.query(STORED_SQL, ['% hash']);
    expect(row?.body_hash).toMatch(/^k[0-9a-f]{64}$/);
    expect(row?.body_hash).not.toContain(plainHash('hashed'));
    const secondResponse = await create('hash', 'hashed');
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    expect((await create('hash', 'other')).body.code).toBe('CONFLICT');
  });

  it('are the same for equal JSON with different formatting', async () => {
    const firstResponse = await create('spaced', 'written');
    const body = { platformCustomerId: 'written', customerType: 'INDIVIDUAL' };
    const { clientId, clientSecret } = app.platform;
    const reply = await app.server.inject({
      method: 'POST',
      url: `${BASE_PATH}/customers`,
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
        'content-type': 'application/json',
        'idempotency-key': 'spaced',
      },
      payload: JSON.stringify(body, null, 2),
    });
    expect(reply.headers['idempotency-replayed']).toBe('true');
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.json()).toEqual(firstResponse.body);
  });

  it('of an older version are identified by their plain hash', async () => {
    const firstResponse = await create('old', 'of-old');
    const olderFormatSql = 'update idempotency set body_hash = $2 where id like $1';
    await app.runtime.db.query(olderFormatSql, ['% old', plainHash('of-old')]);
    const secondResponse = await create('old', 'of-old');
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    expect(secondResponse.body).toEqual(firstResponse.body);
    expect((await create('old', 'other')).body.code).toBe('CONFLICT');
  });

  it('store only IDs of a path in clear text', async () => {
    const execute = (id: string) =>
      app.call('POST', `/quotes/${id}/execute`, undefined, {
        headers: { 'idempotency-key': 'at' },
      });
    const unknownId = 'Quote:00000000-0000-7000-8000-000000000000';
    const firstResponse = await execute('in-the-wrong-place');
    const secondResponse = await execute('in%2Dthe%2Dwrong%2Dplace');
    expect([firstResponse.status, secondResponse.status, secondResponse.body]).toEqual([
      404,
      404,
      firstResponse.body,
    ]);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    const otherReplies = [await execute('in-another-place'), await execute(unknownId)];
    expect(otherReplies.map(({ headers }) => headers['idempotency-replayed'])).toEqual([
      undefined,
      undefined,
    ]);
    const rows = await app.runtime.db.query<{ id: string }>('select id from idempotency', []);
    const paths = rows.flatMap(({ id }) => / POST \/quotes\/(.*)\/execute at$/.exec(id)?.[1] ?? []);
    const redactedPaths = paths.map((path) => path.replace(/^[0-9a-f]{64}$/, 'a hash'));
    expect(redactedPaths.sort()).toEqual([unknownId, 'a hash', 'a hash']);
  });

  it('reject a key that is too long', async () => {
    const response = await create('k'.repeat(256), 'long');
    expect(response.status).toBe(400);
    expect(response.body.details.errors[0].field).toBe('Idempotency-Key');
  });
});
