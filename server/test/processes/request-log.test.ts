// A killed process loses the records of at most its last second. The next process finds every
// request with an earlier reply by its ID.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { createDataFolder, type Running } from '../kit/crash/server.ts';

const REQUESTS = 200;
/** Maximum age of a record that a kill may delete. */
const MAX_LOSS_MS = 1_000;
const CLIENTS = 4;
const BATCH_SIZE = 16;

const dataFolder = createDataFolder('request-log');
afterAll(() => dataFolder.remove(), 60_000);

function send({ credentials }: Running, path: string): Promise<Response> {
  const { baseUrl, clientId, clientSecret } = credentials;
  const encodedCredentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  return fetch(`${baseUrl}${path}`, { headers: { authorization: `Basic ${encodedCredentials}` } });
}

it('the request log keeps all requests except those of the last second before a kill', async () => {
  const env = { RAILHEAD_RATE_LIMIT: '0', LOG_LEVEL: 'error' };
  const firstServer = await dataFolder.start([], env);
  const replies: { id: string; at: number }[] = [];
  const sendRequests = async () => {
    for (;;) {
      const response = await send(firstServer, '/config').catch(() => undefined);
      if (!response) return;
      const id = response.headers.get('x-request-id') ?? '';
      replies.push({ id, at: performance.now() });
      await response.arrayBuffer().catch(() => undefined);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, sendRequests));
  await vi.waitUntil(() => replies.length >= REQUESTS, { timeout: 60_000, interval: 10 });
  await sleep(MAX_LOSS_MS);
  const killedAt = performance.now();
  await dataFolder.kill(firstServer.child, 'node');
  await clients;

  const expectedReplies = replies.filter(({ at }) => at < killedAt - MAX_LOSS_MS);
  expect(expectedReplies.length).toBeGreaterThanOrEqual(REQUESTS);
  const secondServer = await dataFolder.start([], env);
  const missingIds: string[] = [];
  const checkRequest = async ({ id }: { id: string }) => {
    const response = await send(secondServer, `/requests/${id}`);
    await response.arrayBuffer();
    if (response.status !== 200) missingIds.push(id);
  };
  for (let start = 0; start < expectedReplies.length; start += BATCH_SIZE) {
    await Promise.all(expectedReplies.slice(start, start + BATCH_SIZE).map(checkRequest));
  }
  expect(missingIds).toEqual([]);
}, 120_000);
