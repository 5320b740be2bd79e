// Invalid queries over a real connection, with and without a credential. Functions that the router calls
// before a handler exists must not throw, because an uncaught error would end the process.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { readQuery } from './query.ts';

const app = testApp();
let port: number;

beforeAll(async () => {
  await app.server.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = app.server.server.address() as AddressInfo);
});

interface Reply {
  status: number;
  text: string;
}

function get(path: string, auth?: string, method = 'GET'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, path, method, auth, agent: false }, (reply) => {
      let text = '';
      reply.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.setTimeout(5_000, () => request.destroy(new Error('no reply')));
    request.end();
  });
}

const credentials = () => `${app.platform.clientId}:${app.platform.clientSecret}`;
const BASE = '/2025-10-13';

describe('a NUL in the query', () => {
  it.each(['?customerId=%00', '?%00=1', '?status=a&status=%00', '?x=%2500&y=%00'])(
    'is rejected as INVALID_INPUT: %s',
    async (query) => {
      const { status, text } = await get(`${BASE}/transactions${query}`, credentials());
      expect([status, JSON.parse(text)]).toMatchObject([
        400,
        { code: 'INVALID_INPUT', status: 400, reason: 'The query contains a NUL character.' },
      ]);
    },
  );

  it('is rejected as unauthorized without a credential', async () => {
    expect(await get(`${BASE}/transactions?customerId=%00`)).toMatchObject({ status: 401 });
    expect(await get(`${BASE}/transactions?customerId=%00`, credentials())).toMatchObject({
      status: 400,
    });
    expect(await get(`${BASE}/config`, credentials())).toMatchObject({ status: 200 });
  });

  it.each([
    ['GET', `${BASE}/nowhere?a=%00`, 404],
    ['PUT', `${BASE}/transactions?a=%00`, 405],
    ['GET', '/healthz?a=%00', 200],
    ['GET', '/docs?a=%00', 200],
    ['GET', '/ownership/x?a=%00', 404],
    ['GET', '/ownership/%00', 404],
    ['POST', '/ownership/%00?a=%00', 404],
    ['OPTIONS', `${BASE}/config?a=%00`, 404],
    ['HEAD', `${BASE}/config?a=%00`, 401],
  ])('is ignored by other routes: %s %s', async (method, path, status) => {
    expect(await get(path, undefined, method)).toMatchObject({ status });
    expect(await get('/healthz')).toMatchObject({ status: 200 });
  });

  it('differs from an escaped percent sign', async () => {
    expect(await get(`${BASE}/transactions?reference=%2500`, credentials())).toMatchObject({
      status: 200,
    });
  });
});

describe('readQuery', () => {
  it('returns one value or a list for any name', () => {
    expect({ ...readQuery('a=1&b=2,3&b=4') }).toEqual({ a: '1', b: ['2,3', '4'] });
    expect(readQuery('toString=1').toString).toBe('1');
    const query = readQuery('__proto__=1&__proto__=2');
    expect(Object.entries(query)).toEqual([['__proto__', ['1', '2']]]);
    expect(Object.entries(readQuery('%00=%zz&%=%ff'))).toHaveLength(2);
  });
});
