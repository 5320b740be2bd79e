// Operations on API tokens of platforms.
import { afterAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { createPlatformToken } from '../../features/tenancy/tokens/index.ts';
import { Fault } from '../../kernel/fault.ts';

const app = testApp();
const client = operatorClient(app);
const TOKEN_INPUT = { name: 'Script', permissions: ['VIEW'] };

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

const create = (options: object = {}) =>
  client.call('POST', `/platforms/${app.platform.id}/tokens`, { body: TOKEN_INPUT, ...options });

describe('tokens', () => {
  it('are created, shown once, and revoked', async () => {
    const headers = { 'Idempotency-Key': 'create' };
    const createdReply = ok(await create({ headers }), 201);
    const { clientSecret, ...token } = createdReply;
    expect(token).toMatchObject({ ...TOKEN_INPUT, platformId: app.platform.id });
    expect(ok(await create({ headers }), 201)).toEqual(token);
    const caller = { clientId: token.clientId, clientSecret };
    ok(await app.call('GET', '/config', undefined, { platform: caller }), 200);
    const revokedReply = ok(await client.call('DELETE', `/tokens/${token.tokenId}`), 200);
    expect(revokedReply).toEqual(token);
    const records = [{ subject: token.tokenId, platformId: app.platform.id }];
    expect(await client.recordsOf('revokePlatformToken')).toMatchObject(records);
    expect(await client.recordsOf('createPlatformToken')).toHaveLength(1);
    const repeatedReply = await client.call('DELETE', `/tokens/${token.tokenId}`);
    expect([repeatedReply.status, repeatedReply.body.code]).toEqual([404, 'TOKEN_NOT_FOUND']);
  });

  it('are not created while the database is unavailable, without a conflict', async () => {
    const unavailableFault = new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable.');
    const commit = () => Promise.reject(unavailableFault);
    const runtime = { ...app.runtime, committer: { commit } };
    const input = { platformId: app.platform.id, name: 'Script', permissions: ['VIEW'] as const };
    await expect(createPlatformToken(runtime, input)).rejects.toBe(unavailableFault);
  });

  it('are listed in pages, of one platform or of all', async () => {
    ok(await create(), 201);
    const path = `/tokens?platformId=${app.platform.id}`;
    const allTokens = ok(await client.call('GET', path), 200);
    expect(allTokens.data.length).toBeGreaterThan(1);
    const firstPage = ok(await client.call('GET', `${path}&limit=1`), 200);
    const nextPage = ok(await client.call('GET', `${path}&cursor=${firstPage.nextCursor}`), 200);
    expect([...firstPage.data, ...nextPage.data]).toEqual(allTokens.data);
    const platformIds = ok(await client.call('GET', '/tokens?limit=100'), 200).data.map(
      (each: { platformId: string }) => each.platformId,
    );
    expect(platformIds).toEqual(expect.arrayContaining([app.platform.id, app.other.id]));
    expect((await client.call('GET', '/tokens?platformId=none')).status).toBe(404);
  });

  it('of other platforms are hidden', async () => {
    const { tokenId } = ok(await create(), 201);
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    expect((await create({ secret })).status).toBe(404);
    expect((await client.call('DELETE', `/tokens/${tokenId}`, { secret })).status).toBe(404);
    const path = `/tokens?platformId=${app.platform.id}`;
    expect((await client.call('GET', path, { secret })).status).toBe(404);
    const { data } = ok(await client.call('GET', '/tokens', { secret }), 200);
    expect(new Set(data.map((each: { platformId: string }) => each.platformId))).toEqual(
      new Set([app.other.id]),
    );
  });
});
