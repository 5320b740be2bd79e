// Attempts and retries of requests, against a server that fails as each test specifies.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openForFile } from '../../../server/test/kit/app/test-app.ts';
import { type ClientOptions, createClient, type RetryInfo } from '../src/index.ts';

interface ReceivedRequest {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

type Respond = (response: http.ServerResponse, receivedRequest: ReceivedRequest) => void;

/** A server with one scripted response per request. Further requests receive the last response. */
async function startFailingServer() {
  const receivedRequests: ReceivedRequest[] = [];
  let script: Respond[] = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    const receivedRequest = { method, url, headers, body };
    receivedRequests.push(receivedRequest);
    const respond = script.length > 1 ? script.shift() : script[0];
    respond?.(response, receivedRequest);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    receivedRequests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behave(...responses: Respond[]) {
      receivedRequests.length = 0;
      script = responses;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const failingServer = openForFile(startFailingServer);

const jsonResponse =
  (status: number, body: object, headers: http.OutgoingHttpHeaders = {}): Respond =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers })
      .end(JSON.stringify(body));

const errorResponse = (status: number, code: string, headers?: http.OutgoingHttpHeaders) =>
  jsonResponse(status, { status, code, reason: 'No.', message: 'No.' }, headers);
const closeConnection: Respond = (response) => void response.destroy();
const neverRespond: Respond = () => undefined;
const tokenReply = jsonResponse(200, { id: 'Token:1' });

const retries: RetryInfo[] = [];
afterEach(() => {
  retries.length = 0;
});
const createTestClient = (options: ClientOptions = {}) =>
  createClient({
    baseUrl: failingServer.url,
    clientId: 'id',
    clientSecret: 'secret',
    onRetry: (info) => retries.push(info),
    ...options,
  });
const getToken = (options: ClientOptions = {}, callOptions = {}) =>
  createTestClient(options).tokens.getTokenById({ tokenId: 'Token:1' }, callOptions);
const createToken = (options: ClientOptions = {}, callOptions = {}) =>
  createTestClient(options).tokens.createToken({ name: 'one', permissions: ['VIEW'] }, callOptions);

describe('a call', () => {
  it.each([
    ['500', errorResponse(500, 'INTERNAL_ERROR')],
    ['503', errorResponse(503, 'SERVICE_UNAVAILABLE')],
    ['a broken connection', closeConnection],
    ['409 with x-should-retry: true', errorResponse(409, 'CONFLICT', { 'x-should-retry': 'true' })],
  ])('is repeated after %s', async (_, respond) => {
    failingServer.behave(respond, tokenReply);
    await expect(getToken()).resolves.toEqual({ id: 'Token:1' });
    expect(failingServer.receivedRequests).toHaveLength(2);
    expect(retries).toMatchObject([{ operationId: 'getTokenById', attempt: 1 }]);
    const [{ delayMs = 0 } = {}] = retries;
    expect(delayMs).toBeGreaterThanOrEqual(250);
    expect(delayMs).toBeLessThanOrEqual(500);
  });

  it.each([
    ['400', errorResponse(400, 'INVALID_INPUT')],
    ['409 without x-should-retry', errorResponse(409, 'CONFLICT')],
    ['501', errorResponse(501, 'NOT_IMPLEMENTED')],
    [
      '429 with x-should-retry: false',
      errorResponse(429, 'RATE_LIMITED', { 'x-should-retry': 'false' }),
    ],
  ])('is not repeated after %s', async (_, respond) => {
    failingServer.behave(respond);
    await expect(getToken()).rejects.toMatchObject({ retryable: false, requestId: 'r-1' });
    expect(failingServer.receivedRequests).toHaveLength(1);
  });

  it('waits for the time in Retry-After', async () => {
    failingServer.behave(errorResponse(429, 'RATE_LIMITED', { 'retry-after': '1' }), tokenReply);
    const startedAt = performance.now();
    await getToken();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
  });

  it('rejects immediately with a long Retry-After', async () => {
    failingServer.behave(errorResponse(429, 'RATE_LIMITED', { 'retry-after': '3600' }));
    await expect(getToken()).rejects.toMatchObject({ retryAfter: 3600, retryable: true });
    expect(failingServer.receivedRequests).toHaveLength(1);
  });

  it('is repeated up to the maximum number of retries', async () => {
    failingServer.behave(errorResponse(503, 'SERVICE_UNAVAILABLE'));
    await expect(getToken({ maxRetries: 1 })).rejects.toMatchObject({ status: 503 });
    expect(failingServer.receivedRequests).toHaveLength(2);
    await expect(getToken({}, { maxRetries: 0 })).rejects.toMatchObject({ status: 503 });
    expect(failingServer.receivedRequests).toHaveLength(3);
  });

  it('repeats a POST with the same key and body', async () => {
    failingServer.behave(
      closeConnection,
      errorResponse(500, 'INTERNAL_ERROR'),
      jsonResponse(201, { id: 'Token:2' }),
    );
    await createToken();
    const [firstRequest, ...repetitions] = failingServer.receivedRequests.map(
      ({ headers, body }) => [headers['idempotency-key'], body],
    );
    expect(firstRequest?.[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(repetitions).toEqual([firstRequest, firstRequest]);
    await createToken();
    expect(failingServer.receivedRequests.at(-1)?.headers['idempotency-key']).not.toBe(
      firstRequest?.[0],
    );
  });

  it('uses the key of the caller', async () => {
    failingServer.behave(jsonResponse(201, {}));
    await createToken({}, { idempotencyKey: 'order-1' });
    expect(failingServer.receivedRequests[0]?.headers['idempotency-key']).toBe('order-1');
  });

  it('repeats a POST without a key only if the server has not started it', async () => {
    const reveal = () => createTestClient().cards.revealCard({ id: 'Card:1' });
    failingServer.behave(closeConnection);
    await expect(reveal()).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(failingServer.receivedRequests).toHaveLength(1);
    expect(failingServer.receivedRequests[0]?.headers['idempotency-key']).toBeUndefined();
    failingServer.behave(errorResponse(503, 'SERVICE_UNAVAILABLE'), jsonResponse(200, {}));
    await reveal();
    expect(failingServer.receivedRequests).toHaveLength(2);
  });
});

describe('a call', () => {
  it('is limited by a timeout of each attempt', async () => {
    failingServer.behave(neverRespond, tokenReply);
    await expect(getToken({ timeout: 500 })).resolves.toEqual({ id: 'Token:1' });
    expect(retries).toMatchObject([{ code: 'TIMEOUT', status: undefined }]);
    failingServer.behave(neverRespond);
    await expect(getToken({ timeout: 50, maxRetries: 0 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'getTokenById: TIMEOUT: No reply within 50 ms.',
    });
    // The attempt may arrive late, and must not be counted by the next test.
    await expect.poll(() => failingServer.receivedRequests).toHaveLength(1);
  });

  it('is limited by a deadline that includes its retries', async () => {
    // The next attempt would be after the deadline.
    failingServer.behave(errorResponse(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '20' }));
    await expect(getToken({ deadline: 10_000 })).rejects.toMatchObject({ status: 503 });
    expect(failingServer.receivedRequests).toHaveLength(1);
    failingServer.behave(neverRespond);
    await expect(getToken({ deadline: 100 })).rejects.toMatchObject({ code: 'TIMEOUT' });
  });

  it('rejects with the reason of the signal, including during a pause', async () => {
    const reason = new Error('the user closed the page');
    failingServer.behave(neverRespond);
    const callController = new AbortController();
    const call = getToken({}, { signal: callController.signal });
    setTimeout(() => callController.abort(reason), 20);
    await expect(call).rejects.toBe(reason);
    failingServer.behave(errorResponse(429, 'RATE_LIMITED', { 'retry-after': '30' }));
    const pausedCall = getToken({}, { signal: AbortSignal.timeout(100) });
    await expect(pausedCall).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(getToken({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const earlyController = new AbortController();
    const onRequest = () => earlyController.abort(reason);
    await expect(getToken({ onRequest }, { signal: earlyController.signal })).rejects.toBe(reason);
    expect(failingServer.receivedRequests).toHaveLength(1);
  });

  it('rejects with the reason if the server is unreachable', async () => {
    const closedServer = await startFailingServer();
    await closedServer.close();
    const optionsWithoutRetries = { baseUrl: closedServer.url, maxRetries: 0 };
    await expect(getToken(optionsWithoutRetries)).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      retryable: true,
    });
    await expect(getToken(optionsWithoutRetries)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a reply', () => {
  it('with invalid JSON is an error', async () => {
    failingServer.behave((response) => response.writeHead(200).end('<html>'));
    await expect(getToken()).rejects.toMatchObject({ code: 'UNEXPECTED_RESPONSE', status: 200 });
    failingServer.behave((response) => response.writeHead(413).end('<html>'));
    await expect(getToken()).rejects.toMatchObject({ code: 'UNEXPECTED_RESPONSE', status: 413 });
  });

  it('is returned with status and headers on demand', async () => {
    failingServer.behave(tokenReply);
    const { data, status, headers, requestId } = await getToken().withResponse();
    expect({ data, status, requestId }).toEqual({
      data: { id: 'Token:1' },
      status: 200,
      requestId: 'r-1',
    });
    expect(headers.get('content-type')).toBe('application/json');
  });
});

describe('a client', () => {
  it('calls hooks, which can add headers and read replies', async () => {
    failingServer.behave(tokenReply);
    const responseInfos: unknown[] = [];
    await getToken({
      headers: { 'x-app': 'shop' },
      onRequest: ({ headers }) => {
        headers.traceparent = '00-1-2-01';
      },
      onResponse: (info) => responseInfos.push(info),
    });
    const { headers } = failingServer.receivedRequests[0] as ReceivedRequest;
    expect(headers).toMatchObject({ traceparent: '00-1-2-01', 'x-app': 'shop' });
    expect(responseInfos).toMatchObject([{ status: 200, requestId: 'r-1', attempt: 1 }]);
    expect(JSON.stringify(responseInfos)).not.toMatch(/secret|basic/i);
  });

  it('writes no secret to the debug log', async () => {
    failingServer.behave(errorResponse(503, 'SERVICE_UNAVAILABLE'), jsonResponse(200, {}));
    const lines: string[] = [];
    const debug = (line: string) => lines.push(line);
    await createTestClient({ debug }).agents.redeemAgentDeviceCode({ code: 'ABCD-1234' });
    await createTestClient({ debug, agentToken: 'rha_secret' }).agentOperations.getAgentMe();
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(lines.join('\n')).not.toMatch(/ABCD-1234|rha_secret|Basic|Bearer/);
    expect(lines.at(-1)).toMatch(/^railhead getAgentMe GET \/agents\/me 200 \d+ ms attempt 1 r-1$/);
  });

  it('sends the credential that an operation accepts', async () => {
    failingServer.behave(jsonResponse(200, {}));
    const clientWithBothCredentials = createTestClient({ agentToken: 'agent' });
    await clientWithBothCredentials.agentOperations.getAgentMe();
    await clientWithBothCredentials.config.getPlatformConfig();
    await clientWithBothCredentials.agents.redeemAgentDeviceCode({ code: 'x' });
    expect(failingServer.receivedRequests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer agent',
      `Basic ${btoa('id:secret')}`,
      undefined,
    ]);
  });
});
