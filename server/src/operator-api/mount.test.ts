// Ports and the reference page of the operator API.
import { expect, it } from 'vitest';
import { startApp } from '../../test/kit/app/harness.ts';
import { operatorClient } from '../../test/kit/operator/client.ts';

const DOCUMENT = '/operator/v1/openapi.json';
const REFERENCE = '/operator/v1/reference';
const PAGE = '/operator/sign-in';

it('the operator API is not served if it is off', async () => {
  const app = await startApp({ operatorApi: 'off' });
  const client = operatorClient(app);
  expect((await client.call('GET', '/roles')).status).toBe(404);
  expect((await app.server.inject(DOCUMENT)).statusCode).toBe(404);
  expect((await app.server.inject(PAGE)).statusCode).toBe(404);
  expect((await app.server.inject(REFERENCE)).statusCode).toBe(404);
  await app.close();
});

it('the operator API serves a reference page whose scripts come from this server', async () => {
  const app = await startApp();
  const page = await app.server.inject(REFERENCE);
  expect([page.statusCode, page.headers['content-type']]).toEqual([
    200,
    'text/html; charset=utf-8',
  ]);
  const scripts = [...page.body.matchAll(/<script src="([^"]+)"/g)].map(([, src = '']) => src);
  expect(scripts).toEqual([`${REFERENCE}/viewer.js`, `${REFERENCE}/start.js`]);
  for (const src of scripts) expect((await app.server.inject(src)).statusCode).toBe(200);
  expect((await app.server.inject(`${REFERENCE}/start.js`)).body).toContain(`"url":"${DOCUMENT}"`);
  await app.close();
});

it('the operator API is served on a separate port until the server stops', async () => {
  const { port: freePort } = await (async () => {
    const probe = await startApp();
    const address = await probe.app.listen({ host: '127.0.0.1', port: 0 });
    await probe.close();
    return address;
  })();
  const app = await startApp({ operatorApi: freePort });
  const { origin } = await app.app.listen({ host: '127.0.0.1', port: 0 });
  const secret = await operatorClient(app).secretOf();
  const readRoles = (base: string) =>
    fetch(`${base}/operator/v1/roles`, { headers: { authorization: `Bearer ${secret}` } });
  const ownBaseUrl = `http://127.0.0.1:${freePort}`;
  expect((await readRoles(ownBaseUrl)).status).toBe(200);
  expect((await readRoles(origin)).status).toBe(404);
  expect((await fetch(`${ownBaseUrl}/2025-10-13/config`)).status).toBe(404);
  expect((await fetch(`${ownBaseUrl}${DOCUMENT}`)).status).toBe(200);
  expect((await fetch(`${ownBaseUrl}${PAGE}`)).status).toBe(200);
  expect((await fetch(`${origin}${PAGE}`)).status).toBe(404);
  await app.close();
  await expect(readRoles(ownBaseUrl)).rejects.toThrow();
});
