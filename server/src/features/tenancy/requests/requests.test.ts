// Recorded requests over the API: contents of a record, filters, pages, permissions and removal.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse, CallOptions } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { keepRequestBodies } from './index.ts';
import { apiRequestReads } from './reads.ts';
import { apiRequestBodies, apiRequests } from './store.ts';

const app = testApp();
const limitedApp = testApp({ rateLimits: { requests: 2 } });

const idOf = ({ headers }: ApiResponse) => String(headers['x-request-id']);
const get = (path: string, options: CallOptions = {}) => app.call('GET', path, undefined, options);
const recordOf = async (response: ApiResponse, options: CallOptions = {}) =>
  ok(await get(`/requests/${idOf(response)}`, options), 200);
const list = async (query: string, options: CallOptions = {}) =>
  ok(await get(`/requests?${query}`, options), 200);
const fieldsOf = ({ body }: ApiResponse) =>
  body.details.errors.map((each: { field: string }) => each.field);

const lineOf = (response: ApiResponse) =>
  app.log
    .map((line) => JSON.parse(line))
    .find((line) => line.requestId === idOf(response) && line.operationId);

describe('getRequestById', () => {
  it('returns the error and the masked body of a rejected request', async () => {
    const body = { customerType: 'INDIVIDUAL', region: 'DE', birthDate: 'Quorbat' };
    const errorResponse = await app.call('POST', '/customers', body);
    expect(errorResponse.status).toBe(400);
    const record = await recordOf(errorResponse);
    expect(record).toMatchObject({
      id: idOf(errorResponse),
      operationId: 'createCustomer',
      method: 'POST',
      path: '/customers',
      status: 400,
      errorCode: 'INVALID_INPUT',
      callerType: 'TOKEN',
      address: '127.0.0.1',
      replayed: false,
    });
    expect(record.token.id).toMatch(/^Token:/);
    expect(record.error.reason).toBe(errorResponse.body.reason);
    expect(record.error.details.errors.map((each: { field: string }) => each.field)).toEqual(
      fieldsOf(errorResponse),
    );
    expect(record.requestBody).toEqual({
      content: { customerType: 'INDIVIDUAL', region: '[masked]', birthDate: '[masked]' },
      truncated: false,
    });
    expect(record.responseBody).toBeUndefined();
  });

  it('returns the fields of the log line', async () => {
    const response = await get('/quotes/Quote:00000000-0000-7000-8000-000000000000');
    expect(response.status).toBe(404);
    const record = await recordOf(response);
    expect(record.resourceId).toBe('Quote:00000000-0000-7000-8000-000000000000');
    const { token, errorCode, callerType, address, replayed, resourceId, method, path } = record;
    expect(lineOf(response)).toMatchObject({
      ...{ errorCode, callerType, address, replayed, resourceId, method, path },
      tokenId: token.id,
      tokenName: token.name,
    });
  });

  it('returns the created resource, the replay and the hash of the idempotency key', async () => {
    const headers = { 'idempotency-key': 'a-secret-key' };
    const body = { name: 'Reporting', permissions: ['VIEW'] };
    const firstResponse = await app.call('POST', '/tokens', body, { headers });
    const secondResponse = await app.call('POST', '/tokens', body, { headers });
    const [firstRecord, secondRecord] = [
      await recordOf(firstResponse),
      await recordOf(secondResponse),
    ];
    expect(firstRecord).toMatchObject({
      resourceId: firstResponse.body.id,
      replayed: false,
      status: 201,
    });
    expect(secondRecord).toMatchObject({ resourceId: firstResponse.body.id, replayed: true });
    expect(firstRecord.idempotencyKeyHash).toMatch(/^[0-9a-f]{32}$/);
    expect(secondRecord.idempotencyKeyHash).toBe(firstRecord.idempotencyKeyHash);
    expect(firstRecord.requestBody.content).toEqual({ name: '[masked]', permissions: ['VIEW'] });
    expect(firstRecord.responseBody.content).toMatchObject({
      id: firstResponse.body.id,
      clientSecret: '[masked]',
    });
    const otherResponse = await app.call('POST', '/tokens', { ...body, name: 'B' }, { headers });
    expect(await recordOf(otherResponse)).toMatchObject({ status: 409, errorCode: 'CONFLICT' });
    expect(JSON.stringify([firstRecord, secondRecord])).not.toContain('a-secret-key');
  });

  it('returns forbidden requests of tokens, and omits requests without a credential', async () => {
    const platform = await app.tokenWith(['VIEW']);
    const forbiddenResponse = await app.call('POST', '/tokens', { name: 'x' }, { platform });
    expect(await recordOf(forbiddenResponse)).toMatchObject({
      status: 403,
      errorCode: 'FORBIDDEN',
    });
    const anonymousReply = await app.call('GET', '/tokens', undefined, { platform: null });
    expect((await get(`/requests/${idOf(anonymousReply)}`)).status).toBe(404);
    expect(lineOf(anonymousReply)).toMatchObject({
      status: 401,
      callerType: 'NONE',
      platformId: '',
    });
  });

  it('waits for a record that another process is about to write', async () => {
    const id = idOf(await get('/quotes/Quote:00000000-0000-7000-8000-000000000000'));
    ok(await get(`/requests/${id}`), 200);
    const unknownId = `${id.slice(0, -12)}0123456789ab`;
    const pendingRequest = get(`/requests/${unknownId}`);
    await sleep(250);
    const copySql = `insert into api_requests
      select (jsonb_populate_record(r, jsonb_build_object('id', $2::text))).*
      from api_requests r where id = $1`;
    await app.runtime.db.query(copySql, [id, unknownId]);
    expect(await pendingRequest).toMatchObject({ status: 200, body: { id: unknownId } });
    const unrecordedId = `${id.slice(0, -12)}ba9876543210`;
    expect((await get(`/requests/${unrecordedId}`)).status).toBe(404);
  });

  it('includes the wait for events in the duration', async () => {
    const { after } = ok(await get('/events?limit=1'), 200);
    const waitResponse = await get(`/events?after=${encodeURIComponent(after)}&wait=1`);
    expect(waitResponse.body.data).toEqual([]);
    expect((await recordOf(waitResponse)).durationMs).toBeGreaterThan(900);
    expect(lineOf(waitResponse).ms).toBeGreaterThan(900);
  });

  it('returns the record of a request that the rate limit rejected', async () => {
    limitedApp.effects.set(limitedApp.effects.now() + 10_000);
    const replies = [];
    for (let count = 0; count < 30; count++) replies.push(await limitedApp.call('GET', '/config'));
    const limitedReplies = replies.filter(({ status }) => status === 429);
    expect(limitedReplies.length).toBeGreaterThan(20);
    const id = idOf(limitedReplies[0] as ApiResponse);
    limitedApp.effects.set(limitedApp.effects.now() + 10_000);
    const record = ok(await limitedApp.call('GET', `/requests/${id}`), 200);
    expect(record).toMatchObject({ status: 429, errorCode: 'RATE_LIMITED', callerType: 'TOKEN' });
    const line = limitedApp.log
      .map((each) => JSON.parse(each))
      .find((each) => each.requestId === id && each.operationId);
    expect(line).toMatchObject({ platformId: limitedApp.platform.id, tokenId: record.token.id });
    const list = ok(
      await limitedApp.call('GET', '/requests?errorCode=RATE_LIMITED&limit=100'),
      200,
    );
    expect(list.data).toHaveLength(20);
  });

  it('returns requests of unknown paths and methods of a token, without unknown path segments', async () => {
    await get('/config');
    const notFoundResponse = await get('/customers/Quorbat/quotes?x=Quorbat');
    expect(notFoundResponse.status).toBe(404);
    const { durationMs, token, ...record } = await recordOf(notFoundResponse);
    expect(record).toMatchObject({
      ...{ operationId: 'unknownPath', method: 'GET', status: 404, errorCode: 'NOT_FOUND' },
      ...{ path: '/customers/{unknown}/quotes', callerType: 'TOKEN' },
    });
    expect(JSON.stringify(record)).not.toContain('Quorbat');
    expect([durationMs >= 0, token.id]).toEqual([true, expect.stringMatching(/^Token:/)]);
    const rejectedResponse = await app.call('DELETE', '/quotes/Quorbat');
    expect(rejectedResponse.status).toBe(405);
    expect(await recordOf(rejectedResponse)).toMatchObject({
      ...{ operationId: 'unsupportedMethod', method: 'DELETE', path: '/quotes/{quoteId}' },
      ...{ status: 405, errorCode: 'METHOD_NOT_ALLOWED' },
    });
    const { data } = await list('operationId=unknownPath');
    expect(data.map(({ id }: { id: string }) => id)).toContain(idOf(notFoundResponse));
    expect((await get(`/requests/${idOf(notFoundResponse)}`, { platform: app.other })).status).toBe(
      404,
    );
    const anonymousResponse = await app.call('GET', '/nothing', undefined, { platform: null });
    expect((await get(`/requests/${idOf(anonymousResponse)}`)).status).toBe(404);
  });

  it('returns 404 to other platforms and for unknown IDs', async () => {
    const response = await get('/config');
    const ids = [
      idOf(response),
      'x',
      '00000000-0000-7000-8000-000000000000',
      `Request:${idOf(response)}`,
    ];
    for (const id of ids) {
      const response = await get(`/requests/${encodeURIComponent(id)}`, { platform: app.other });
      expect([response.status, response.body.code]).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('returns the agent without its IP address, and rejects agents', async () => {
    const fixture = agentFixture(app);
    const agent = await fixture.createAgent();
    const authorization = `Bearer ${agent.accessToken}`;
    const response = await agent.call('GET', '/agents/me');
    ok(response, 200);
    const record = await recordOf(response);
    expect(record).toMatchObject({ callerType: 'AGENT', agentId: agent.id });
    expect(record).not.toHaveProperty('address');
    const listResponse = await app.call('GET', '/requests', undefined, {
      platform: null,
      headers: { authorization },
    });
    expect(listResponse.status).toBe(401);
  });
});

describe('requests that call operations', () => {
  const steps = [
    {
      name: 'ada',
      operationId: 'createCustomer',
      body: { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace', birthDate: '1990-12-10' },
    },
  ];

  it('are recorded with the fields of these operations', async () => {
    const createResponse = await app.call('POST', '/sandbox/fixtures', { steps });
    const { requestBody, responseBody } = await recordOf(createResponse);
    expect(requestBody.content.steps).toEqual([
      {
        name: '[masked]',
        operationId: 'createCustomer',
        body: { customerType: 'INDIVIDUAL', fullName: '[masked]', birthDate: '[masked]' },
      },
    ]);
    expect(responseBody.content.resources['[unknown] 1']).toMatchObject({
      id: createResponse.body.resources.ada.id,
      customerType: 'INDIVIDUAL',
      fullName: '[masked]',
    });
    expect(JSON.stringify([requestBody, responseBody])).not.toMatch(/Lovelace|1990-12-10/);
  });

  it('are recorded with the error of the rejected step', async () => {
    const unknownStep = {
      operationId: 'getCustomerById',
      params: { customerId: 'Customer:00000000-0000-7000-8000-000000000000' },
    };
    const failedResponse = await app.call('POST', '/sandbox/fixtures', {
      steps: [...steps, unknownStep],
    });
    expect(failedResponse.status).toBe(400);
    const { error } = await recordOf(failedResponse);
    expect(error.reason).toBe(failedResponse.body.reason);
    expect(error.reason).toContain('getCustomerById');
    expect(error.details).toEqual(failedResponse.body.details);
    const body = { operationId: 'createNothing', body: {} };
    const otherReply = await app.call('POST', '/sandbox/fixtures', { steps: [body] });
    expect((await recordOf(otherReply)).error.details.errors[0].field).toBe('steps.0.operationId');
  });
});

describe('bodies', () => {
  it('are omitted for reads', async () => {
    expect(await recordOf(await get('/config'))).not.toHaveProperty('responseBody');
  });

  it('are kept in production only until the time that the operator sets', async () => {
    const platform = app.production;
    const create = () =>
      app.call('POST', '/tokens', { name: 'x', permissions: ['VIEW'] }, { platform });
    expect(await recordOf(await create(), { platform })).not.toHaveProperty('requestBody');
    const until = app.effects.now() + 60_000;
    await keepRequestBodies(app.runtime, platform.id, until);
    await app.advance(5_000);
    expect(await recordOf(await create(), { platform })).toHaveProperty('requestBody');
    await app.advance(60_000);
    const lateResponse = await create();
    const record = await recordOf(lateResponse, { platform });
    expect(record).not.toHaveProperty('requestBody');
    expect(record).not.toHaveProperty('responseBody');
  });
});

describe('listRequests', () => {
  let accountId: string;
  let quoteId: string;
  let platform: { clientId: string; clientSecret: string };

  beforeAll(async () => {
    const fundedCustomer = await createFundedCustomer(app);
    accountId = fundedCustomer.account.id;
    const payee = await createExternalAccount(app, fundedCustomer.person.id, 'USD');
    quoteId = ok(await app.call('POST', '/quotes', quoteBody(accountId, payee.id, 100_00)), 201).id;
    ok(await app.call('POST', `/quotes/${quoteId}/execute`), 200);
    platform = await app.tokenWith(['VIEW', 'TRANSACT'], 'Filters');
    await get('/config', { platform });
  });

  it('filters by operation, status, class, code, token, resource, replay and time', async () => {
    const listOperations = async (query: string) =>
      (await list(query)).data.map((each: { operationId: string }) => each.operationId);
    expect(new Set(await listOperations('operationId=executeQuote'))).toEqual(
      new Set(['executeQuote']),
    );
    expect(await listOperations(`resourceId=${encodeURIComponent(quoteId)}`)).toEqual([
      'executeQuote',
      'createQuote',
    ]);
    const { data: failedRequests } = await list('statusClass=4xx&limit=100');
    expect(failedRequests.length).toBeGreaterThan(3);
    for (const each of failedRequests) expect(Math.floor(each.status / 100)).toBe(4);
    for (const each of (await list('status=404')).data) expect(each.status).toBe(404);
    for (const each of (await list('errorCode=CONFLICT')).data) {
      expect(each.errorCode).toBe('CONFLICT');
    }
    const { data: replayedRequests } = await list('replayed=true');
    expect(replayedRequests.map((each: { replayed: boolean }) => each.replayed)).toEqual([true]);
    const { data: configRequests } = await list('operationId=getPlatformConfig');
    const { token } = configRequests.find(
      (each: { token: { name: string } }) => each.token.name === 'Filters',
    );
    expect(await listOperations(`tokenId=${encodeURIComponent(token.id)}`)).toEqual([
      'getPlatformConfig',
    ]);
    const laterTime = new Date(app.effects.now() + 60_000).toISOString();
    expect(await listOperations(`createdAfter=${laterTime}`)).toEqual([]);
    expect((await list('statusClass=5xx')).data).toEqual([]);
    expect((await list('replayed=false&limit=1')).data).toHaveLength(1);
  });

  it('returns pages in both orders', async () => {
    const startTime = new Date(app.effects.now()).toISOString();
    await app.advance(1_000);
    for (const sortOrder of ['asc', 'desc']) {
      const query = `createdBefore=${startTime}&sortOrder=${sortOrder}&limit=7`;
      const ids: string[] = [];
      let cursor = '';
      do {
        const page = await list(`${query}${cursor && `&cursor=${cursor}`}`);
        ids.push(...page.data.map((each: { id: string }) => each.id));
        cursor = page.nextCursor ?? '';
      } while (cursor);
      const sortedIds = [...new Set(ids)].sort();
      expect(ids).toEqual(sortOrder === 'asc' ? sortedIds : sortedIds.reverse());
      expect(ids.length).toBeGreaterThan(14);
    }
  });

  it('reports unknown parameters and values by name', async () => {
    const cases = {
      'color=red&size=1': ['color', 'size'],
      'operationId=createNothing': ['operationId'],
      'errorCode=NO_SUCH_CODE': ['errorCode'],
      'statusClass=3xx': ['statusClass'],
      'status=none': ['status'],
      'tokenId=x': ['tokenId'],
      'resourceId=x': ['resourceId'],
      'replayed=perhaps': ['replayed'],
      'sortOrder=up': ['sortOrder'],
      'limit=101': ['limit'],
      'cursor=x': ['cursor'],
      'createdAfter=now': ['createdAfter'],
      'createdAfter=2026-02-01T00:00:00Z&createdBefore=2026-01-01T00:00:00Z': ['createdBefore'],
    };
    for (const [query, names] of Object.entries(cases)) {
      const response = await get(`/requests?${query}`);
      expect([query, response.status, response.status === 400 && fieldsOf(response)]).toEqual([
        query,
        400,
        names,
      ]);
    }
  });

  it('requires VIEW, and returns only requests of the calling platform', async () => {
    const tokenWithoutView = await app.tokenWith(['TRANSACT']);
    expect((await get('/requests', { platform: tokenWithoutView })).status).toBe(403);
    const ownResponses = [
      await get('/config', { platform: app.other }),
      await get('/x', { platform: app.other }),
    ];
    const { data } = await list('limit=2', { platform: app.other });
    expect(data.map((each: { id: string }) => each.id)).toEqual(ownResponses.map(idOf).reverse());
    const { data: otherRequests } = await list('limit=100');
    for (const each of ownResponses)
      expect(otherRequests).not.toContainEqual(expect.objectContaining({ id: idOf(each) }));
  });
});

it('recorded requests are removed by week after 30 days', async () => {
  const { db } = app.runtime;
  await createCustomer(app);
  await app.app.runtime.db.ping();
  const { data } = await list('limit=1');
  expect(data).toHaveLength(1);
  await app.advance(38 * 24 * 3_600_000);
  const tablesByColumn = {
    created_at: [apiRequests, apiRequestBodies],
    last_at: [apiRequestReads],
  };
  // The record of the list may be written after the first removal.
  await vi.waitFor(async () => {
    await app.advance(3_600_000);
    for (const [column, tables] of Object.entries(tablesByColumn)) {
      for (const { name } of tables) {
        const expiredRows = await db.query(`select 1 from ${name} where ${column} < $1`, [
          new Date(app.effects.now() - 37 * 24 * 3_600_000),
        ]);
        expect([name, expiredRows.length]).toEqual([name, 0]);
      }
    }
  }, 10_000);
});
