import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/harness.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const DAY = 24 * 3_600_000;

describe('stored replies', () => {
  const create = (key: string, platformCustomerId: string) =>
    app.call(
      'POST',
      '/customers',
      { customerType: 'INDIVIDUAL', platformCustomerId },
      { headers: { 'idempotency-key': key } },
    );

  it('are replayed for a week and then forgotten', async () => {
    const first = await create('a', 'kept');
    await app.advance(6 * DAY);
    const again = await create('a', 'kept');
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotency-replayed']).toBe('true');
    await app.advance(2 * DAY);
    const later = await create('a', 'kept');
    expect([later.status, later.body.code]).toEqual([409, 'CONFLICT']);
    expect(later.headers['idempotency-replayed']).toBeUndefined();
  });

  it('are kept apart by platform and by path', async () => {
    const headers = { 'idempotency-key': 'shared' };
    const body = { customerType: 'INDIVIDUAL' };
    const mine = await app.call('POST', '/customers', body, { headers });
    const theirs = await app.call('POST', '/customers', body, { headers, as: app.other });
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(mine.body.id);
    const token = { name: 'x', permissions: ['VIEW'] };
    expect((await app.call('POST', '/tokens', token, { headers })).status).toBe(201);
  });

  it('of secrets leave the secret out', async () => {
    const headers = { 'idempotency-key': 'token' };
    const token = { name: 'x', permissions: ['VIEW'] };
    const first = await app.call('POST', '/tokens', token, { headers });
    expect(first.body.clientSecret).toMatch(/^rhs_/);
    const rows = await app.runtime.db.query('select reply from idempotency', []);
    expect(JSON.stringify(rows)).not.toContain(first.body.clientSecret);
  });

  it('refuse a key that is too long', async () => {
    const answer = await create('k'.repeat(256), 'long');
    expect(answer.status).toBe(400);
    expect(answer.body.details.errors[0].field).toBe('Idempotency-Key');
  });
});
