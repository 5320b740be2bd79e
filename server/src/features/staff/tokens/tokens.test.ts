// Operator tokens: creation, rights, revocation, expiry, and protection against guessing.
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../../test/kit/operator/client.ts';

const app = testApp({ rateLimits: { rejected: 5 } });
const client = operatorClient(app);
const TOKEN_BODY = { name: 'Script', roles: ['viewer'], expiresInDays: 7 };

describe('operator tokens', () => {
  it('are returned once and stored as a hash', async () => {
    const headers = { 'Idempotency-Key': 'create' };
    const createResponse = await client.call('POST', '/operator-tokens', {
      body: TOKEN_BODY,
      headers,
    });
    expect(createResponse.status).toBe(201);
    expect(createResponse.body).toMatchObject({
      roles: ['viewer'],
      platformIds: null,
      status: 'ACTIVE',
    });
    const { id, secret } = createResponse.body;
    expect(secret).toMatch(/^rho_[\w-]{43}$/);
    const repeatedReply = await client.call('POST', '/operator-tokens', {
      body: TOKEN_BODY,
      headers,
    });
    expect(repeatedReply.status).toBe(201);
    expect(repeatedReply.headers['idempotency-replayed']).toBe('true');
    expect(repeatedReply.body).toMatchObject({ id });
    expect(repeatedReply.body.secret).toBeUndefined();
    const list = await client.call('GET', '/operator-tokens');
    expect(list.body.data.filter((each: { id: string }) => each.id === id)).toHaveLength(1);
    expect(JSON.stringify(list.body)).not.toContain(secret);
    const rows = await app.runtime.db.query('select * from operator_tokens');
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(app.log.join('\n')).not.toContain(secret);
    const audit = await app.runtime.db.query('select * from operator_audit');
    expect(JSON.stringify(audit, (_, value) => String(value))).not.toContain(secret);
  });

  it('report every invalid field of a creation request', async () => {
    const body = { name: '', roles: ['owner'], expiresInDays: 0 };
    const { status, body: error } = await client.call('POST', '/operator-tokens', { body });
    expect(status).toBe(400);
    const fields = error.details.errors.map((each: { field: string }) => each.field);
    expect(fields.sort()).toEqual(['expiresInDays', 'name', 'roles.0']);
  });

  it('cannot have more rights than their creator', async () => {
    const { id: ownPlatformId } = app.platform;
    const limitedSecret = await client.secretOf({ platformIds: [ownPlatformId] });
    const create = (body: object) =>
      client.call('POST', '/operator-tokens', {
        body: { ...TOKEN_BODY, ...body },
        secret: limitedSecret,
      });
    expect((await create({})).status).toBe(403);
    expect((await create({ platformIds: [app.other.id] })).status).toBe(403);
    expect((await create({ platformIds: [ownPlatformId] })).status).toBe(201);
    const { body } = await client.call('POST', '/operator-tokens', {
      body: { ...TOKEN_BODY, platformIds: ['PlatformConfig:none'] },
    });
    expect(body.code).toBe('PLATFORM_NOT_FOUND');
  });

  it('are rejected after revocation or expiry', async () => {
    const { body: token } = await client.call('POST', '/operator-tokens', { body: TOKEN_BODY });
    const { body: expiringToken } = await client.call('POST', '/operator-tokens', {
      body: { ...TOKEN_BODY, roles: ['administrator'], expiresInDays: 1 },
    });
    const readRoles = (secret: string) => client.call('GET', '/roles', { secret });
    expect((await readRoles(expiringToken.secret)).status).toBe(200);
    expect((await readRoles(token.secret)).status).toBe(403);
    const revokeResponse = await client.call(
      'DELETE',
      `/operator-tokens/${token.id}?reason=Not+used`,
    );
    expect(revokeResponse.body).toMatchObject({ id: token.id, status: 'REVOKED' });
    expect((await readRoles(token.secret)).status).toBe(401);
    const [record] = await client.recordsOf('revokeOperatorToken');
    expect(record).toMatchObject({ subject: token.id, reason: 'Not used' });
    const selfRevocation = await client.call('DELETE', `/operator-tokens/${expiringToken.id}`, {
      secret: expiringToken.secret,
    });
    expect(selfRevocation.status).toBe(400);
    await app.advance(86_400_000);
    expect((await readRoles(expiringToken.secret)).status).toBe(401);
  });

  it('are rejected by the platform API, like platform credentials by the operator API', async () => {
    const secret = await client.secretOf();
    const headers = { authorization: `Bearer ${secret}` };
    expect((await app.call('GET', '/config', undefined, { platform: null, headers })).status).toBe(
      401,
    );
    const { clientId, clientSecret } = app.platform;
    const encodedCredentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const reply = await app.server.inject({
      url: '/operator/v1/roles',
      headers: { authorization: `Basic ${encodedCredentials}` },
    });
    expect(reply.statusCode).toBe(401);
  });

  it('are subject to the limit of rejected requests per IP address', async () => {
    const guess = async (index: number) =>
      (await client.call('GET', '/roles', { secret: `rho_${String(index).padStart(43, '0')}` }))
        .status;
    const statuses = [];
    for (let index = 0; index < 14; index++) statuses.push(await guess(index));
    expect(statuses.filter((each) => each === 401).length).toBeLessThanOrEqual(10);
    expect(statuses.at(-1)).toBe(429);
    app.effects.set(app.effects.now() + 60_000);
  });
});
