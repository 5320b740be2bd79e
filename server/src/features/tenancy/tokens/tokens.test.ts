// API tokens: creation, permissions, maximum number, lists and deletion.
import { describe, expect, it } from 'vitest';
import { commandRunner } from '../../../../test/kit/app/production.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { systemCaller } from '../platform/index.ts';
import { authenticator } from './index.ts';
import { tokens } from './store.ts';

const app = testApp();

interface Token {
  id: string;
  clientId: string;
  clientSecret: string;
}

async function createNamedToken(
  name: string,
  permissions: string[],
  platform = app.platform,
): Promise<Token> {
  const { status, body } = await app.call('POST', '/tokens', { name, permissions }, { platform });
  expect(status).toBe(201);
  return body;
}

const remove = (id: string, caller: Caller = app.platform) =>
  app.call('DELETE', `/tokens/${id}`, undefined, { platform: caller });

type Caller = { clientId: string; clientSecret: string };

const getStatusAs = async (caller: Caller | null, headers: Record<string, string> = {}) =>
  (await app.call('GET', '/config', undefined, { platform: caller, headers })).status;

const basicHeader = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('createToken', () => {
  it('returns the secret once, and stores only a hash', async () => {
    const { status, body } = await app.call('POST', '/tokens', {
      name: 'Reader',
      permissions: ['VIEW', 'VIEW'],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'Reader', permissions: ['VIEW'] });
    expect(body.clientSecret).toMatch(/^rhs_[A-Za-z0-9_-]{43}$/);
    expect(await getStatusAs(body)).toBe(200);
    const { clientSecret, ...view } = body;
    expect((await app.call('GET', `/tokens/${body.id}`)).body).toEqual(view);
    const rows = await app.runtime.db.find(tokens, { id: body.id });
    expect(JSON.stringify(rows)).not.toContain(clientSecret);
    expect(app.log.join('')).not.toContain(clientSecret);
  });

  it('omits the secret from the stored reply', async () => {
    const request = { name: 'Keyed', permissions: ['VIEW'] };
    const headers = { 'idempotency-key': 'one token' };
    const firstResponse = await app.call('POST', '/tokens', request, { headers });
    const secondResponse = await app.call('POST', '/tokens', request, { headers });
    const { clientSecret, ...view } = firstResponse.body;
    expect(clientSecret).toBeDefined();
    expect(secondResponse.body).toEqual(view);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    const storedReplies = await app.runtime.db.query('select reply from idempotency');
    expect(JSON.stringify(storedReplies)).not.toContain(clientSecret);
  });

  it.each([
    [{ permissions: ['VIEW'] }, ['name']],
    [{ name: '', permissions: ['VIEW'] }, ['name']],
    [{ name: 'x'.repeat(256), permissions: [] }, ['name', 'permissions']],
    [{ name: 'x', permissions: ['ALL'] }, ['permissions.0']],
    [{ name: 'x', permissions: 'VIEW' }, ['permissions']],
  ])('rejects %j', async (request, fields) => {
    const { status, body } = await app.call('POST', '/tokens', request);
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(body.details.errors.map((each: { field: string }) => each.field)).toEqual(fields);
  });

  it('grants only permissions of the caller', async () => {
    const manager = await createNamedToken('Manager', ['MANAGE']);
    const request = { name: 'More', permissions: ['MANAGE', 'TRANSACT', 'VIEW'] };
    const { status, body } = await app.call('POST', '/tokens', request, { platform: manager });
    expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
    expect(body.reason).toContain('TRANSACT, VIEW');
    const viewer = await createNamedToken('Viewer', ['VIEW']);
    const rejection = await app.call('POST', '/tokens', request, { platform: viewer });
    expect([rejection.status, rejection.body.code]).toEqual([403, 'FORBIDDEN']);
  });
});

describe('the maximum number of tokens', () => {
  const invalidInput = [400, 'INVALID_INPUT'];

  it('is 100 under concurrency and excludes deleted tokens', async () => {
    const platform = await app.newPlatform('Many');
    const requestToken = () =>
      app.call('POST', '/tokens', { name: 'One of many', permissions: ['MANAGE'] }, { platform });
    const allResponses = [];
    for (let round = 0; round < 6; round++) {
      allResponses.push(...(await Promise.all(Array.from({ length: 20 }, requestToken))));
    }
    expect(allResponses.filter(({ status }) => status === 201)).toHaveLength(99);
    const rejections = allResponses.filter(({ status }) => status !== 201);
    expect(rejections.map(({ status, body }) => [status, body.code])).toEqual(
      Array(21).fill(invalidInput),
    );
    expect(rejections[0]?.body.reason).toContain('100 tokens');
    const [firstToken, secondToken] = allResponses as { body: Token }[];
    for (const token of [firstToken, secondToken])
      expect((await remove(`${token?.body.id}`, platform)).status).toBe(204);
    const secondResponses = await Promise.all(Array.from({ length: 20 }, requestToken));
    expect(secondResponses.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(
      (await app.call('GET', '/tokens?limit=1', undefined, { platform })).body.totalCount,
    ).toBe(100);
    expect((await createNamedToken('Elsewhere', ['VIEW'])).id).toBeDefined();
  });

  /** Adds tokens of an earlier version, which have no number and no maximum. */
  const addEarlierTokens = ({ id }: { id: string }, count: number) =>
    app.runtime.db.query(
      `insert into tokens (id, platform_id, name, permissions, client_id, secret_hash, created_at,
         updated_at)
       select 'Token:' || platform_id || n, platform_id, 'Old', permissions, platform_id || n,
         secret_hash, created_at, updated_at
       from tokens, generate_series(1, $2) n where platform_id = $1`,
      [id, count],
    );

  it('applies to the operator', async () => {
    const platform = await app.newPlatform('Operated');
    await addEarlierTokens(platform, 98);
    const runCreateCommand = () =>
      commandRunner(app)(['token', 'create', '--platform', platform.id, '--permissions', 'VIEW']);
    expect(await runCreateCommand()).toMatchObject({ code: 0 });
    expect(await runCreateCommand()).toMatchObject({
      code: 1,
      err: expect.stringContaining('100 tokens'),
    });
  });

  it('keeps excess tokens of an earlier version valid, and prevents further tokens', async () => {
    const platform = await app.newPlatform('Old');
    await addEarlierTokens(platform, 120);
    expect(await getStatusAs(platform)).toBe(200);
    const body = { name: 'x', permissions: ['VIEW'] };
    const response = await app.call('POST', '/tokens', body, { platform });
    expect([response.status, response.body.code]).toEqual(invalidInput);
  });
});

describe('createToken during a deletion', () => {
  it('succeeds only before the concurrent deletion of the calling token', async () => {
    for (let round = 0; round < 5; round++) {
      const parentToken = await createNamedToken('Parent', ['MANAGE', 'VIEW']);
      const request = { name: `Child ${round}`, permissions: ['MANAGE'] };
      const [creation, deletion] = await Promise.all([
        app.call('POST', '/tokens', request, { platform: parentToken }),
        remove(parentToken.id),
      ]);
      expect(deletion.status).toBe(204);
      expect([201, 401]).toContain(creation.status);
      const { body } = await app.call('GET', `/tokens?name=Child%20${round}`);
      expect(body.totalCount).toBe(creation.status === 201 ? 1 : 0);
    }
    const lastToken = await createNamedToken('Last', ['MANAGE']);
    await app.operate(async (ctx) => {
      const row = await ctx.read(tokens, lastToken.id);
      if (row) ctx.remove(tokens, row);
    });
    const lateResponse = await app.call(
      'POST',
      '/tokens',
      { name: 'x', permissions: ['MANAGE'] },
      {
        platform: lastToken,
      },
    );
    expect([lateResponse.status, lateResponse.body.code]).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('listTokens', () => {
  it('filters by the exact name, which several tokens can have', async () => {
    const platform = await app.newPlatform('Names');
    const longestName = 'n'.repeat(255);
    for (const name of ['Shop', 'Shop', 'shop', 'Shop 2', 'S%', longestName, '💶']) {
      await createNamedToken(name, ['VIEW'], platform);
    }
    const findNames = async (name: string) => {
      const path = `/tokens?name=${encodeURIComponent(name)}`;
      const { body } = await app.call('GET', path, undefined, { platform });
      return body.data.map((each: { name: string }) => each.name);
    };
    expect(await findNames('Shop')).toEqual(['Shop', 'Shop']);
    expect(await findNames('S%')).toEqual(['S%']);
    expect(await findNames(longestName)).toEqual([longestName]);
    expect(await findNames('sho')).toEqual([]);
    expect(await findNames('')).toEqual([]);
    expect(await findNames('💶')).toEqual(['💶']);
  });

  it('returns pages of the calling platform, newest first', async () => {
    const platform = await app.newPlatform('Lists');
    const tokenIds: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      app.effects.set(app.effects.now() + 1_000);
      tokenIds.unshift((await createNamedToken(name, ['VIEW'], platform)).id);
    }
    const list = (query: string) => app.call('GET', `/tokens?${query}`, undefined, { platform });
    const { body: firstPage } = await list('limit=2');
    expect(firstPage.data.map((each: Token) => each.id)).toEqual(tokenIds.slice(0, 2));
    expect(firstPage).toMatchObject({ hasMore: true, totalCount: 4 });
    expect(JSON.stringify(firstPage)).not.toContain('clientSecret');
    const { body: secondPage } = await list(`limit=2&cursor=${firstPage.nextCursor}`);
    expect(secondPage.data[0].id).toBe(tokenIds[2]);
    expect(secondPage.data).toHaveLength(2);
    expect(secondPage).toMatchObject({ hasMore: false });
    expect(secondPage).not.toHaveProperty('nextCursor');
    const filteredResponse = await list('name=b');
    expect(filteredResponse.body.data.map((each: Token) => each.id)).toEqual([tokenIds[1]]);
  });

  it('filters by time, bounds included', async () => {
    const platform = await app.newPlatform('Times');
    const createTokenAt = async (name: string, time: string) => {
      app.effects.set(Date.parse(time));
      await createNamedToken(name, ['VIEW'], platform);
    };
    const year = new Date(app.effects.now()).getUTCFullYear() + 1;
    await createTokenAt('one', `${year}-01-01T00:00:00Z`);
    await createTokenAt('two', `${year}-01-02T00:00:00Z`);
    await createTokenAt('three', `${year}-01-03T00:00:00Z`);
    const listTokenNames = async (query: Record<string, string>) => {
      const text = new URLSearchParams(query).toString();
      const { body } = await app.call('GET', `/tokens?${text}`, undefined, { platform });
      return body.data.map((each: { name: string }) => each.name);
    };
    const bound = `${year}-01-02T00:00:00Z`;
    expect(await listTokenNames({ createdAfter: bound })).toEqual(['three', 'two']);
    expect(await listTokenNames({ updatedAfter: bound })).toEqual(['three', 'two']);
    expect(await listTokenNames({ createdBefore: bound, name: 'two' })).toEqual(['two']);
    expect(await listTokenNames({ createdAfter: bound, updatedBefore: bound })).toEqual(['two']);
    expect(await listTokenNames({ createdAfter: `${year}-01-02T01:00:00+01:00` })).toEqual([
      'three',
      'two',
    ]);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'createdAfter=yesterday', 'cursor=nonsense'])(
    'rejects %s',
    async (query) => {
      const { status, body } = await app.call('GET', `/tokens?${query}`);
      expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    },
  );
});

describe('getTokenById', () => {
  it('returns the same reply for malformed and unknown IDs and those of other platforms', async () => {
    const otherPlatformToken = await createNamedToken('Foreign', ['VIEW'], app.other);
    const ids = [
      'Token:018f0000-0000-7000-8000-000000000000',
      'x',
      'Customer:1',
      otherPlatformToken.id,
    ];
    const bodies = await Promise.all(
      ids.map(async (id) => (await app.call('GET', `/tokens/${id}`)).body),
    );
    for (const body of bodies) expect(body).toEqual(bodies[0]);
    expect(bodies[0]).toMatchObject({ status: 404, code: 'TOKEN_NOT_FOUND' });
  });
});

describe('deleteTokenById', () => {
  it('takes effect immediately', async () => {
    const token = await createNamedToken('Short-lived', ['VIEW']);
    expect(await getStatusAs(token)).toBe(200);
    const { status, body } = await remove(token.id);
    expect([status, body]).toEqual([204, '']);
    expect(await getStatusAs(token)).toBe(401);
    expect((await remove(token.id)).status).toBe(404);
    expect((await app.call('GET', `/tokens/${token.id}`)).status).toBe(404);
  });

  it('takes effect immediately under load', async () => {
    const token = await createNamedToken('Busy', ['VIEW']);
    let isDeleted = false;
    const requests = Array.from({ length: 8 }, async () => {
      const statusesAfterDeletion: number[] = [];
      while (statusesAfterDeletion.length < 5) {
        const isSentAfterDeletion = isDeleted;
        const status = await getStatusAs(token);
        if (isSentAfterDeletion) statusesAfterDeletion.push(status);
      }
      return statusesAfterDeletion;
    });
    expect((await remove(token.id)).status).toBe(204);
    isDeleted = true;
    expect(new Set((await Promise.all(requests)).flat())).toEqual(new Set([401]));
  });

  it('rejects the deletion of the token of the caller', async () => {
    const token = await createNamedToken('Self', ['MANAGE']);
    const { status, body } = await remove(token.id, token);
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await getStatusAs(token)).toBe(403);
  });

  it('keeps one of two tokens that delete each other', async () => {
    const [firstToken, secondToken] = [
      await createNamedToken('One', ['MANAGE']),
      await createNamedToken('Two', ['MANAGE']),
    ];
    const statuses = await Promise.all([
      remove(secondToken.id, firstToken).then((reply) => reply.status),
      remove(firstToken.id, secondToken).then((reply) => reply.status),
    ]);
    expect(statuses.sort()).toEqual([204, 401]);
  });

  it('requires MANAGE for any ID', async () => {
    const callerToken = await app.tokenWith(['VIEW', 'TRANSACT']);
    expect((await remove('x', callerToken)).status).toBe(403);
  });

  it('returns 404 for a token of another platform', async () => {
    const otherPlatformToken = await createNamedToken('Foreign', ['VIEW'], app.other);
    expect((await remove(otherPlatformToken.id)).body.code).toBe('TOKEN_NOT_FOUND');
    expect(await getStatusAs(otherPlatformToken)).toBe(200);
  });
});

describe('authentication', () => {
  it('rejects every invalid header with the same error', async () => {
    const { clientId, clientSecret } = app.platform;
    const headers = [
      '',
      'Basic',
      'Bearer abc',
      basicHeader(clientId),
      basicHeader(`${clientId}:`),
      basicHeader(`${clientId}:${clientSecret}x`),
      basicHeader(`unknown:${clientSecret}`),
      basicHeader(`${clientId} :${clientSecret}`),
      basicHeader(`a\0b:${clientSecret}`),
    ];
    const replies = await Promise.all(
      headers.map((authorization) =>
        app.call('GET', '/config', undefined, { platform: null, headers: { authorization } }),
      ),
    );
    const unauthorizedResponse = await app.call('GET', '/config', undefined, { platform: null });
    for (const { status, body } of [...replies, unauthorizedResponse]) {
      expect(status).toBe(401);
      expect(body).toEqual(unauthorizedResponse.body);
    }
    expect(unauthorizedResponse.body.code).toBe('UNAUTHORIZED');
  });

  it('caches valid credentials for two seconds', async () => {
    const { db } = app.runtime;
    let now = 1_000;
    const authentication = authenticator(db, () => now);
    const token = await createNamedToken('Remembered', ['VIEW']);
    const header = basicHeader(`${token.clientId}:${token.clientSecret}`);
    const caller = await authentication.authenticate(header);
    expect(caller).toEqual({
      platformId: app.platform.id,
      environment: 'sandbox',
      tokenId: token.id,
      permissions: ['VIEW'],
      tokenName: 'Remembered',
      requestBodiesUntil: null,
    });
    await operate(app.runtime, systemCaller(app.platform.id, 'sandbox'), async (ctx) => {
      const row = await ctx.read(tokens, token.id);
      if (row) ctx.remove(tokens, row);
    });
    now += 1_999;
    expect(await authentication.authenticate(header)).toEqual(caller);
    now += 1;
    await expect(authentication.authenticate(header)).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    });
  });

  it('returns the environment of the platform', async () => {
    const authentication = authenticator(app.runtime.db, () => 0);
    const { clientId, clientSecret } = app.production;
    const caller = await authentication.authenticate(basicHeader(`${clientId}:${clientSecret}`));
    expect(caller.environment).toBe('production');
  });
});
