// Requests that exceed a size limit, over a real connection. Each request receives an API error or a plain
// HTTP error, and the server remains available.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../test/kit/app/test-app.ts';

const KIB = 1_024;

const app = testApp();
let port: number;

beforeAll(async () => {
  await app.server.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = app.server.server.address() as AddressInfo);
});

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: assertions check each used field of a reply.
  body: any;
}

function send(
  path: string,
  options: { body?: string; headers?: Record<string, string>; method?: string } = {},
): Promise<Reply> {
  const { body, headers = {}, method = body === undefined ? 'GET' : 'POST' } = options;
  const auth = `${app.platform.clientId}:${app.platform.clientSecret}`;
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        port,
        path: `/2025-10-13${path}`,
        method,
        auth,
        agent: false,
        headers: { 'content-type': 'application/json', ...headers },
      },
      (reply) => {
        let text = '';
        reply.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        reply.on('end', () =>
          resolve({ status: reply.statusCode ?? 0, body: text ? JSON.parse(text) : undefined }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const assertAvailable = async () => expect((await send('/config')).status).toBe(200);

/** A body of this many bytes, valid except for its size. */
function bodyOf(bytes: number): string {
  const frame = JSON.stringify({ name: 'x', permissions: ['VIEW'], more: '' });
  return frame.replace('"more":""', `"more":"${'x'.repeat(bytes - frame.length)}"`);
}

describe('a body', () => {
  it('may have at most 64 KiB', async () => {
    expect((await send('/tokens', { body: bodyOf(64 * KIB) })).status).toBe(201);
    const rejection = await send('/tokens', { body: bodyOf(64 * KIB + 1) });
    expect(rejection).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', status: 400 } });
    expect(rejection.body.reason).toContain('65536');
    await assertAvailable();
  });

  it('may be larger if the contract states it', async () => {
    const operationsWithLargerBody = app.operations.filter(({ contract }) => contract.maxBody);
    const operationIds = operationsWithLargerBody
      .map(({ contract }) => contract.operationId)
      .sort();
    expect(operationIds).toEqual([
      'createAgent',
      'createSandboxFixtures',
      'updateAgentPolicy',
      'updatePlatformConfig',
    ]);
    const configBodyOf = (bytes: number) => JSON.stringify({ more: 'x'.repeat(bytes - 11) });
    const patch = (bytes: number) =>
      send('/config', { method: 'PATCH', body: configBodyOf(bytes) });
    expect((await patch(256 * KIB)).status).toBe(200);
    expect(await patch(256 * KIB + 1)).toMatchObject({ status: 400 });
  });

  it('is measured while it arrives if its length is not announced', async () => {
    const headers = { 'transfer-encoding': 'chunked' };
    expect((await send('/tokens', { body: bodyOf(64 * KIB), headers })).status).toBe(201);
    const rejection = await send('/tokens', { body: bodyOf(64 * KIB + 1), headers });
    expect(rejection).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(rejection.body.reason).toContain('65536');
    await assertAvailable();
  });

  it('is counted in bytes', async () => {
    const body = JSON.stringify({ name: 'é'.repeat(32 * KIB + 1), permissions: ['VIEW'] });
    expect(await send('/tokens', { body })).toMatchObject({ status: 400 });
  });

  it('is not read if the path does not support the method', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const body = bodyOf(KIB * KIB);
      const headers = { 'content-length': `${body.length}` };
      const rejection = await send('/config', { method, body, headers });
      expect([method, rejection.status]).toEqual([method, 405]);
    }
    await assertAvailable();
  });

  it('may have at most 32 levels', async () => {
    const nestedBody = (levels: number) =>
      `{"name":"x","permissions":["VIEW"],"more":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await send('/tokens', { body: nestedBody(32) })).status).toBe(201);
    expect(await send('/tokens', { body: nestedBody(33) })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT' },
    });
  });

  it('may have at most 4,096 values', async () => {
    const sendValues = (count: number) => {
      const names = Array.from({ length: count - 4 }, (_, index) => [`f${index}`, index]);
      const body = { name: 'x', permissions: ['VIEW'], ...Object.fromEntries(names) };
      return send('/tokens', { body: JSON.stringify(body) });
    };
    expect((await sendValues(4_096)).status).toBe(201);
    const rejection = await sendValues(4_097);
    expect(rejection).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(rejection.body.reason).toContain('4096 values');
  });

  it('may have at most 8,192 values, regardless of its maximum size', async () => {
    const patch = (body: string) => send('/config', { method: 'PATCH', body });
    const bodyWithValues = (count: number) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [index, 1])),
      );
    expect((await patch(bodyWithValues(8_192))).status).toBe(200);
    const rejection = await patch(bodyWithValues(8_193));
    expect(rejection).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(rejection.body.reason).toContain('8192 values');
    // The maximum number of values that fit, in lists within the limit of items. The body is rejected
    // before it is parsed.
    const list = `[${Array(999).fill(0)}]`;
    const maxBody = `{${Array.from({ length: 130 }, (_, index) => `"${index}":${list}`)}}`;
    const startMs = performance.now();
    expect((await patch(maxBody)).body.reason).toContain('8192 values');
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
});

describe('a list in a body', () => {
  it('may have at most 1,000 items', async () => {
    const sendItems = (count: number) => {
      const body = { name: 'x', permissions: ['VIEW'], more: Array(count).fill(1) };
      return send('/tokens', { body: JSON.stringify(body) });
    };
    expect((await sendItems(1_000)).status).toBe(201);
    const rejection = await sendItems(1_001);
    expect(rejection).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(rejection.body.reason).toContain('1000 items');
  });

  it('reports its first 100 invalid items', async () => {
    const permissions = Array(900).fill('NONE');
    const { status, body } = await send('/tokens', {
      body: JSON.stringify({ name: 'x', permissions }),
    });
    expect(status).toBe(400);
    const fields = body.details.errors.map(({ field }: { field: string }) => field);
    expect(fields).toHaveLength(100);
    expect(fields.slice(0, 3)).toEqual(['permissions', 'permissions.0', 'permissions.1']);
  });
});

describe('the head of a request', () => {
  it('is rejected with an API error beyond the maximum length', async () => {
    const headers = { 'x-long': 'x'.repeat(20_000) };
    const rejection = await send('/config', { headers });
    expect(rejection).toMatchObject({ status: 431, body: { code: 'HEADERS_TOO_LARGE' } });
    await assertAvailable();
  });

  it('is rejected if the address is too long', async () => {
    expect(await send(`/config?${'x'.repeat(20_000)}`)).toMatchObject({
      status: 431,
      body: { code: 'HEADERS_TOO_LARGE' },
    });
    await assertAvailable();
  });

  it('may have an ID of any length and any number of parameters that fit', async () => {
    const longIdReply = await send(`/transactions/${'x'.repeat(299)}`);
    expect(longIdReply).toMatchObject({ status: 404, body: { code: 'TRANSACTION_NOT_FOUND' } });
    const longerIdReply = await send(`/transactions/${'x'.repeat(5_000)}`);
    expect(longerIdReply).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    const manyParameters = Array.from({ length: 2_000 }, (_, index) => `a${index}=1`).join('&');
    expect((await send(`/transactions?${manyParameters}`)).status).toBe(200);
    const repeatedParameters = Array.from({ length: 1_000 }, () => 'limit=1').join('&');
    expect(await send(`/transactions?${repeatedParameters}`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT' },
    });
    const response = await send('/transactions?__proto__=1&constructor=2&toString=3');
    expect(response.status).toBe(200);
  });

  it('may have an idempotency key of up to 255 characters', async () => {
    const body = JSON.stringify({ name: 'x', permissions: ['VIEW'] });
    const requestWithKey = (length: number) =>
      send('/tokens', { body, headers: { 'idempotency-key': 'k'.repeat(length) } });
    expect((await requestWithKey(255)).status).toBe(201);
    expect(await requestWithKey(256)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT' },
    });
  });

  it('is rejected if its address cannot be decoded', async () => {
    expect(await send('/transactions/%zz')).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_INPUT',
        reason: 'The request is malformed and cannot be read. Check the URL and the headers.',
      },
    });
    await assertAvailable();
  });

  it('is rejected unless it is HTTP', async () => {
    const net = await import('node:net');
    const response = await new Promise<string>((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => socket.write('HELLO\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('"code":"INVALID_INPUT"');
    await assertAvailable();
  });
});
