// A request is admitted by its head, and rejected if its operator loses the rights before its body has
// arrived.
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/kit/app/harness.ts';
import { readReply } from '../../../test/kit/http/raw-http.ts';
import { newOperatorUser, operatorClient } from '../../../test/kit/operator/client.ts';

let app: TestApp;
let client: ReturnType<typeof operatorClient>;
let port = 0;

beforeAll(async () => {
  app = await startApp();
  client = operatorClient(app);
  const { origin } = await app.app.listen({ host: '127.0.0.1', port: 0 });
  port = Number(new URL(origin).port);
});
afterAll(() => app.close());

/**
 * Sends the head and the start of the body of a request. The returned function sends the remaining body
 * and returns the reply.
 */
async function begin(secret: string) {
  const body = JSON.stringify({ name: 'Late', roles: ['viewer'], expiresInDays: 1 });
  const head = [
    'POST /operator/v1/operator-tokens HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${secret}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  let text = '';
  const socket = net.connect(port, '127.0.0.1');
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  const whenClosed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`);
  // The head is admitted during the pause.
  await sleep(300);
  expect(text).toBe('');
  return async () => {
    socket.write(body.slice(10));
    await whenClosed;
    return readReply(text);
  };
}

it('a slow request is executed if its operator still has the permission', async () => {
  const { secretOf } = await newOperatorUser(app);
  const finish = await begin(await secretOf());
  expect((await finish()).status).toBe(201);
});

it('a slow request is rejected after its operator loses the role or is disabled', async () => {
  const { user, secretOf } = await newOperatorUser(app);
  const secret = await secretOf();
  const change = async (body: object) => {
    const reply = await client.call('PATCH', `/operator-users/${user.id}`, { body });
    expect(reply.status).toBe(200);
  };
  const finishWithoutRole = await begin(secret);
  await change({ roles: ['viewer'] });
  expect((await finishWithoutRole()).body).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  await change({ roles: ['administrator'] });
  const finishWhileDisabled = await begin(secret);
  await change({ isDisabled: true });
  expect((await finishWhileDisabled()).body).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
});

it('a slow request is rejected after its token was revoked', async () => {
  const secret = await client.secretOf({ name: 'Revoked' });
  const finish = await begin(secret);
  const { body } = await client.call('GET', '/operator-tokens');
  const { id } = body.data.find(({ name }: { name: string }) => name === 'Revoked');
  expect((await client.call('DELETE', `/operator-tokens/${id}`)).status).toBe(200);
  expect((await finish()).status).toBe(401);
});
