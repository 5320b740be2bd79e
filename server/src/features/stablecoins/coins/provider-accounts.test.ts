// Linking accounts at a stablecoin provider: sandbox results by the suffix of the secret, storage of
// the secret, and idempotency keys.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { stablecoinFixture } from '../../../../test/kit/payments/stablecoins.ts';

const PATH = '/stablecoin-provider-accounts';

const app = testApp();
const fixture = stablecoinFixture(app);

const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body.code,
];

const rowsOf = (platform: TestPlatform) =>
  app.runtime.db.query<{ id: string; credentials: string }>(
    'select id, credentials from stablecoin_provider_accounts where platform_id = $1 order by id',
    [platform.id],
  );

describe('linkStablecoinProviderAccount', () => {
  it('links the only account of the credentials', async () => {
    const linkedAccount = ok(await fixture.linkAccount(), 201);
    expect(linkedAccount).toEqual({
      id: expect.stringMatching(/^StablecoinProviderAccount:[0-9a-f-]{36}$/),
      provider: 'BRALE',
      providerAccountId: expect.stringMatching(/^account_[0-9a-f]{20}$/),
      providerEnvironment: 'SANDBOX',
      status: 'ACTIVE',
      lastVerifiedAt: linkedAccount.createdAt,
      createdAt: expect.any(String),
      updatedAt: linkedAccount.createdAt,
    });
    expect(ok(await fixture.read(`${PATH}/${linkedAccount.id}`), 200)).toEqual(linkedAccount);
  });

  it('rejects credentials that the provider rejects', async () => {
    const response = await fixture.linkAccount({ apiClientSecret: 'x-002' });
    expect(codeOf(response)).toEqual([400, 'STABLECOIN_VERIFICATION_FAILED']);
  });

  it('requires the account ID if the credentials give access to two accounts', async () => {
    const body = fixture.linkBody({ apiClientSecret: 'x-005' });
    const response = await fixture.write(PATH, body);
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    expect(response.body.details.errors).toEqual([
      { field: 'providerAccountId', message: expect.stringContaining('2 accounts') },
    ]);
    const onlyAccount = ok(await fixture.write(PATH, { ...body, apiClientSecret: 'x-000' }), 201);
    const providerAccountId = `${onlyAccount.providerAccountId}_2`;
    const secondBody = ok(await fixture.write(PATH, { ...body, providerAccountId }), 201);
    expect(secondBody.providerAccountId).toBe(providerAccountId);
    expect(secondBody.id).not.toBe(onlyAccount.id);
  });

  it('rejects an account that the credentials do not give access to', async () => {
    const response = await fixture.linkAccount({ providerAccountId: 'account_other' });
    expect(codeOf(response)).toEqual([400, 'STABLECOIN_VERIFICATION_FAILED']);
  });

  it('returns SERVICE_UNAVAILABLE without storing an account if the provider does not respond', async () => {
    const platform = await app.newPlatform('Unanswered');
    const response = await stablecoinFixture(app, { platform }).linkAccount({
      apiClientSecret: 'x-008',
    });
    expect(codeOf(response)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(response.headers['retry-after']).toBe('5');
    expect(await rowsOf(platform)).toEqual([]);
  });

  it('links an account once under ten concurrent requests', async () => {
    const platform = await app.newPlatform('Ten links');
    const separateFixture = stablecoinFixture(app, { platform });
    const body = separateFixture.linkBody();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => separateFixture.write(PATH, body)),
    );
    const results = responses.map(codeOf).sort();
    expect(results).toEqual([[201, undefined], ...Array(9).fill([409, 'CONFLICT'])]);
    expect(await rowsOf(platform)).toHaveLength(1);
    // Other credentials of the same client give access to the same account.
    const secondResponse = await separateFixture.write(PATH, {
      ...body,
      apiClientSecret: 'another-000',
    });
    expect(codeOf(secondResponse)).toEqual([409, 'CONFLICT']);
  });

  it('links the same account separately on another platform', async () => {
    const body = fixture.linkBody();
    const mainAccount = ok(await fixture.write(PATH, body), 201);
    const otherPlatformAccount = ok(
      await stablecoinFixture(app, { platform: app.other }).write(PATH, body),
      201,
    );
    expect(otherPlatformAccount.providerAccountId).toBe(mainAccount.providerAccountId);
    expect(otherPlatformAccount.id).not.toBe(mainAccount.id);
  });

  it('reports every invalid field in one response', async () => {
    const response = await app.call('POST', PATH, { provider: 'ACME', apiClientSecret: '' });
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    const fields = response.body.details.errors.map((each: { field: string }) => each.field);
    expect(fields.sort()).toEqual([
      'Idempotency-Key',
      'apiClientId',
      'apiClientSecret',
      'provider',
    ]);
  });

  it('is not implemented without a provider', async () => {
    const productionFixture = stablecoinFixture(app, { platform: app.production });
    expect(codeOf(await productionFixture.linkAccount())).toEqual([501, 'NOT_IMPLEMENTED']);
    expect(codeOf(await productionFixture.registerCoin())).toEqual([501, 'NOT_IMPLEMENTED']);
  });

  it('requires MANAGE', async () => {
    const tokenWithoutManage = await app.tokenWith(['VIEW', 'TRANSACT']);
    const options = { platform: tokenWithoutManage, headers: { 'idempotency-key': 'no' } };
    const response = await app.call('POST', PATH, fixture.linkBody(), options);
    expect(codeOf(response)).toEqual([403, 'FORBIDDEN']);
  });
});

describe('the client secret', () => {
  it('is stored encrypted, bound to its row', async () => {
    const platform = await app.newPlatform('Sealed');
    const secret = 'a-secret-that-is-found-nowhere-000';
    const separateFixture = stablecoinFixture(app, { platform });
    const link = { apiClientSecret: secret, apiClientId: 'client-of-the-sealed' };
    const { id } = ok(await separateFixture.linkAccount(link), 201);
    const coin = await separateFixture.registerCoin();
    expect(JSON.stringify(coin.body)).not.toContain(secret);
    expect(coin.status).toBe(201);
    const tables = await app.runtime.db.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
      [],
    );
    for (const { name } of tables) {
      const rows = await app.runtime.db.query(
        `select 1 from "${name}" t where t::text like '%that-is-found-nowhere%'
          or t::text like '%client-of-the-sealed%'`,
        [],
      );
      expect([name, rows]).toEqual([name, []]);
    }
    expect(app.log.join('\n')).not.toContain('that-is-found-nowhere');
    const [row] = await rowsOf(platform);
    const { vault } = app.runtime;
    const context = `stablecoin_provider_accounts ${id} credentials`;
    expect(JSON.parse(vault.openOwn(row?.credentials ?? '', context).toString())).toEqual({
      clientId: link.apiClientId,
      clientSecret: secret,
    });
    const otherContext = `stablecoin_provider_accounts ${id}0 credentials`;
    expect(() => vault.openOwn(row?.credentials ?? '', otherContext)).toThrow();
  });

  it('is not part of replies or events', async () => {
    const secret = 'another-secret-of-mine-000';
    const { id } = ok(await fixture.linkAccount({ apiClientSecret: secret }), 201);
    const replies = [await fixture.read(`${PATH}/${id}`), await fixture.read(PATH)];
    expect(JSON.stringify(replies.map((each) => each.body))).not.toContain('secret');
    expect((await app.events()).filter(({ subject }) => subject === id)).toEqual([]);
  });
});

describe('an account that the provider no longer accepts', () => {
  it.each([
    ['003', 'INVALID'],
    ['004', 'REVOKED'],
  ])('is unlinked at its next use: secret suffix %s', async (suffix, status) => {
    const platform = await app.newPlatform(`Gone ${suffix}`);
    const separateFixture = stablecoinFixture(app, { platform });
    const body = separateFixture.linkBody({ apiClientSecret: `x-${suffix}` });
    const linkedBody = ok(await separateFixture.write(PATH, body), 201);
    expect(linkedBody.status).toBe('ACTIVE');
    app.effects.set(app.effects.now() + 1_000);
    const accountField = { stablecoinProviderAccountId: linkedBody.id };
    const code = `STABLECOIN_PROVIDER_ACCOUNT_${status}`;
    expect(codeOf(await separateFixture.registerCoin('000', accountField))).toEqual([400, code]);
    const account = ok(await separateFixture.read(`${PATH}/${linkedBody.id}`), 200);
    expect(account.status).toBe(status);
    expect(account.updatedAt > linkedBody.updatedAt).toBe(true);
    expect(codeOf(await separateFixture.registerCoin('000', accountField))).toEqual([400, code]);
    // Without an ID there is no active account to select.
    expect(codeOf(await separateFixture.registerCoin())).toEqual([
      404,
      'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND',
    ]);
  });

  it('becomes ACTIVE under the same ID when it is linked again', async () => {
    const platform = await app.newPlatform('Anew');
    const separateFixture = stablecoinFixture(app, { platform });
    const body = separateFixture.linkBody({ apiClientSecret: 'x-004' });
    const firstBody = ok(await separateFixture.write(PATH, body), 201);
    await separateFixture.registerCoin();
    app.effects.set(app.effects.now() + 1_000);
    const repeatedBody = { ...body, apiClientSecret: 'y-000' };
    const responses = await Promise.all([
      separateFixture.write(PATH, repeatedBody),
      separateFixture.write(PATH, repeatedBody),
    ]);
    expect(responses.map(codeOf).sort()).toEqual([
      [201, undefined],
      [409, 'CONFLICT'],
    ]);
    const account = ok(await separateFixture.read(`${PATH}/${firstBody.id}`), 200);
    expect(account).toMatchObject({ status: 'ACTIVE', createdAt: firstBody.createdAt });
    expect(account.lastVerifiedAt > firstBody.lastVerifiedAt).toBe(true);
    ok(await separateFixture.registerCoin(), 201);
  });

  it('is rejected consistently under ten concurrent requests', async () => {
    const platform = await app.newPlatform('Ten concurrent');
    const separateFixture = stablecoinFixture(app, { platform });
    await separateFixture.createLinkedAccount('003');
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => separateFixture.registerCoin()),
    );
    const codes = new Set(responses.map(({ body }) => body.code));
    // A later request finds no active account.
    expect([...codes].sort()).toEqual(
      codes.size === 1
        ? ['STABLECOIN_PROVIDER_ACCOUNT_INVALID']
        : ['STABLECOIN_PROVIDER_ACCOUNT_INVALID', 'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND'],
    );
    expect((await separateFixture.read(PATH)).body.data[0].status).toBe('INVALID');
  });
});

describe('an idempotency key', () => {
  it('is required, with at most 255 characters', async () => {
    const body = fixture.linkBody();
    const send = (headers: Record<string, string>) => app.call('POST', PATH, body, { headers });
    const keys: Record<string, string>[] = [
      {},
      { 'idempotency-key': '' },
      { 'idempotency-key': 'x'.repeat(256) },
    ];
    for (const headers of keys) {
      const response = await send(headers);
      expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
      expect(response.body.details.errors[0].field).toBe('Idempotency-Key');
    }
    ok(await send({ 'idempotency-key': 'x'.repeat(255) }), 201);
  });

  it('is declared as required in the OpenAPI document', async () => {
    const { paths } = (await app.openApi()) as {
      paths: Record<string, { post: { parameters: { name: string; required: boolean }[] } }>;
    };
    const keyParameterOf = (path: string) =>
      paths[path]?.post.parameters.find((each) => each.name === 'Idempotency-Key');
    expect(keyParameterOf(PATH)).toMatchObject({
      in: 'header',
      required: true,
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    });
    expect(keyParameterOf('/quotes')).toMatchObject({ required: false });
  });

  it('replays the first reply, and conflicts with another request', async () => {
    const body = fixture.linkBody();
    const firstResponse = await fixture.write(PATH, body, 'one-key');
    expect(firstResponse.status).toBe(201);
    const replay = await fixture.write(PATH, body, 'one-key');
    expect([replay.status, replay.body]).toEqual([201, firstResponse.body]);
    expect(replay.headers['idempotency-replayed']).toBe('true');
    const otherResponse = await fixture.write(PATH, fixture.linkBody(), 'one-key');
    expect(codeOf(otherResponse)).toEqual([409, 'CONFLICT']);
    await fixture.createLinkedAccount();
    // The same text on another path, or of another platform, is a different key.
    expect(ok(await fixture.write('/stablecoins', fixture.tokenBody(), 'one-key'), 400).code).toBe(
      'STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED',
    );
    const otherPlatformFixture = stablecoinFixture(app, { platform: app.other });
    ok(await otherPlatformFixture.write(PATH, body, 'one-key'), 201);
  });

  it('links an account once under ten concurrent requests', async () => {
    const platform = await app.newPlatform('Second');
    const separateFixture = stablecoinFixture(app, { platform });
    const body = separateFixture.linkBody();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => separateFixture.write(PATH, body, 'repeated')),
    );
    expect(new Set(responses.map((each) => each.status))).toEqual(new Set([201]));
    expect(new Set(responses.map((each) => each.body.id)).size).toBe(1);
    expect(await rowsOf(platform)).toHaveLength(1);
  });

  it('does not replay SERVICE_UNAVAILABLE', async () => {
    const platform = await app.newPlatform('Unavailable provider');
    const separateFixture = stablecoinFixture(app, { platform });
    const unavailableBody = separateFixture.linkBody({ apiClientSecret: 'x-008' });
    expect((await separateFixture.write(PATH, unavailableBody, 'again')).status).toBe(503);
    expect((await separateFixture.write(PATH, unavailableBody, 'again')).status).toBe(503);
    const storedRows = await app.runtime.db.query(
      "select 1 from idempotency where id like $1 || ' %again'",
      [platform.id],
    );
    expect(storedRows).toEqual([]);
  });
});

describe('listStablecoinProviderAccounts', () => {
  it('lists newest first, in pages, by status', async () => {
    const platform = await app.newPlatform('Lister');
    const separateFixture = stablecoinFixture(app, { platform });
    const ids: string[] = [];
    for (const suffix of ['000', '003', '000']) {
      app.effects.set(app.effects.now() + 1_000);
      ids.unshift((await separateFixture.createLinkedAccount(suffix)).id);
    }
    await separateFixture.registerCoin('000', { stablecoinProviderAccountId: ids[1] });
    const idsOf = ({ body }: { body: { data: { id: string }[] } }) =>
      body.data.map((each) => each.id);
    expect(idsOf(await separateFixture.read(PATH))).toEqual(ids);
    const firstResponse = await separateFixture.read(`${PATH}?limit=2`);
    expect(firstResponse.body).toMatchObject({ hasMore: true, totalCount: 3 });
    const nextResponse = await separateFixture.read(
      `${PATH}?limit=2&cursor=${firstResponse.body.nextCursor}`,
    );
    expect([...idsOf(firstResponse), ...idsOf(nextResponse)]).toEqual(ids);
    expect(idsOf(await separateFixture.read(`${PATH}?status=INVALID`))).toEqual([ids[1]]);
    expect(idsOf(await separateFixture.read(`${PATH}?status=ACTIVE&provider=BRALE`))).toEqual([
      ids[0],
      ids[2],
    ]);
    expect((await separateFixture.read(`${PATH}?status=GONE`)).status).toBe(400);
    expect((await separateFixture.read(`${PATH}?provider=ACME`)).status).toBe(400);
    expect((await separateFixture.read(`${PATH}?cursor=x`)).status).toBe(400);
  });

  describe('getStablecoinProviderAccount', () => {
    it('returns 404 for an account of another platform', async () => {
      const { id } = await fixture.createLinkedAccount();
      const otherPlatformResponse = await app.call('GET', `${PATH}/${id}`, undefined, {
        platform: app.other,
      });
      expect(codeOf(otherPlatformResponse)).toEqual([404, 'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND']);
      const list = await app.call('GET', `${PATH}?limit=100`, undefined, { platform: app.other });
      expect(JSON.stringify(list.body)).not.toContain(id);
    });
  });
});
