// Response headers over a real connection, for every route and for unknown paths.
import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../kit/app/fixtures.ts';
import type { TestApp } from '../kit/app/harness.ts';
import { testApp } from '../kit/app/test-app.ts';
import { sendRaw } from '../kit/http/raw-http.ts';
import { document } from '../kit/http/requests.ts';

interface ReceivedReply {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

const listen = (target: TestApp) => target.app.server.listen({ port: 0, host: '127.0.0.1' });
const portOf = (target: TestApp) => (target.app.server.server.address() as net.AddressInfo).port;

const app = testApp({ publicUrl: 'https://pay.example.com' });
const httpApp = testApp({ publicUrl: 'http://localhost:4140' });
beforeAll(async () => {
  await Promise.all([listen(app), listen(httpApp)]);
});

async function send(
  target: TestApp,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<ReceivedReply> {
  const request = http.request({ host: '127.0.0.1', port: portOf(target), method, path, headers });
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

const OPERATIONS = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => [method.toUpperCase(), path] as const),
);

const OTHER_ROUTES = [
  ...[
    '/',
    '/docs',
    '/docs/',
    '/docs/reference/start.js',
    '/docs/reference/viewer.js',
    '/openapi.json',
  ],
  ...['/healthz', '/readyz', '/metrics', '/nothing', '/2025-10-13/nothing', '/verify/x'],
  ...['/verify/assets/x.js', '/card/x', '/i/x', '/ownership/x', '/reset/x', '/%E0%A4%A'],
  `/card/${'x'.repeat(400)}`,
].map((path) => ['GET', path] as const);

const WRONG_METHODS = [
  ['PUT', '/2025-10-13/customers'],
  ['DELETE', '/docs'],
] as const;

describe('every reply', () => {
  it.each([...OPERATIONS, ...OTHER_ROUTES, ...WRONG_METHODS])(
    'has the security headers: %s %s',
    async (method, path) => {
      const { headers } = await send(app, method, path.replaceAll(/\{\w+\}/g, 'x'));
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['strict-transport-security']).toBe('max-age=31536000');
    },
  );

  it('has the security headers without a valid request', async () => {
    for (const text of ['HELLO\r\n\r\n', `GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`]) {
      const { status, headers } = await sendRaw(portOf(app), text);
      expect([400, 431]).toContain(status);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['strict-transport-security']).toBe('max-age=31536000');
      const otherReply = await sendRaw(portOf(httpApp), text);
      expect(otherReply.headers['x-content-type-options']).toBe('nosniff');
      expect(otherReply.headers).not.toHaveProperty('strict-transport-security');
    }
  });

  it('omits HSTS without https', async () => {
    for (const path of ['/', '/docs', '/2025-10-13/customers']) {
      const { headers } = await send(httpApp, 'GET', path);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers).not.toHaveProperty('strict-transport-security');
    }
  });
});

describe('the API reference', () => {
  it('cannot be framed', async () => {
    const { headers } = await send(app, 'GET', '/docs');
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('is the redirect target of the root for browsers', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await send(app, method, '/', { accept });
      expect([status, headers.location, headers.vary]).toEqual([302, '/docs', 'accept']);
    }
    const { status, body } = await send(app, 'GET', '/', { accept: '*/*' });
    expect([status, JSON.parse(body)]).toMatchObject([200, { docs: '/docs' }]);
  });
});

describe('HEAD', () => {
  it('returns the headers of GET for a page', async () => {
    const { id } = await createCustomer(app, {}, { fullName: 'Waiting Person001' });
    const link = ok(await app.call('POST', `/customers/${id}/kyc-link`, {}), 201);
    const verifyPath = new URL(link.kycUrl).pathname;
    const asset = /src="(assets\/[^"]+)"/.exec((await send(app, 'GET', verifyPath)).body)?.[1];
    const paths = [verifyPath, `/verify/${asset}`, '/verify/x', '/card/x', '/i/x', '/docs', '/'];
    for (const path of [...paths, '/reset/x', '/ownership/x', '/openapi.json']) {
      const [head, get] = [await send(app, 'HEAD', path), await send(app, 'GET', path)];
      const { date: _, connection: __, ...expectedHeaders } = get.headers;
      if (path === '/card/x') delete expectedHeaders['content-length'];
      expect([path, head.status, head.body]).toEqual([path, get.status, '']);
      expect(head.headers).toMatchObject(expectedHeaders);
    }
  });
});
