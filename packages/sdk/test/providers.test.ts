// Request handler, message sender and HTTP listener of a provider adapter, with signed requests.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRequest, verifyRequest } from '../../../server/src/kernel/crypto/http-signatures.ts';
import { keyIdOf, pemOf } from '../../../server/src/runtime/security/keys.ts';
import { messageSender, providerHandler, providerListener } from '../src/providers.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const pem = pemOf(privateKey);
const key = { keyId: keyIdOf(pem), privateKey };

const handle = providerHandler({
  keys: [pem],
  calls: {
    '/capabilities': () => ({ protocol: '1' }),
    '/transfers/state': ({ transferId }) =>
      transferId === 'known' ? { state: 'settled', reference: 'BANK-1' } : undefined,
    '/transfers/cancel': () => {
      throw new Error('the bank is closed');
    },
  },
});

async function signedRequest(path: string, body: string, now = Date.now()) {
  const request = { method: 'POST', url: `https://adapter.example${path}`, headers: {}, body };
  return { ...request, headers: await signRequest(key, request, now) };
}

describe('providerHandler', () => {
  it('serves the calls of the server, and rejects unknown calls and invalid JSON', async () => {
    const settledReply = await handle(
      await signedRequest('/transfers/state', '{"transferId":"known"}'),
    );
    expect({ status: settledReply.status, body: JSON.parse(settledReply.body) }).toEqual({
      status: 200,
      body: { state: 'settled', reference: 'BANK-1' },
    });
    const statusOf = async (path: string, body: string) =>
      (await handle(await signedRequest(path, body))).status;
    expect(await statusOf('/transfers/state', '{"transferId":"x"}')).toBe(404);
    expect(await statusOf('/transfers/send', '{}')).toBe(404);
    expect(await statusOf('/below/capabilities', '{}')).toBe(200);
    expect(await statusOf('/capabilities', '{')).toBe(400);
    await expect(statusOf('/transfers/cancel', '{}')).rejects.toThrow('closed');
  });

  it('rejects a missing, old or invalid signature with the reason', async () => {
    const validRequest = await signedRequest('/capabilities', '{}');
    const otherKey = { ...key, privateKey: generateKeyPairSync('ed25519').privateKey };
    const reasonOf = async (request: typeof validRequest) => {
      const { status, body } = await handle(request);
      return `${status} ${JSON.parse(body).message}`;
    };
    expect(await reasonOf({ ...validRequest, body: '{ }' })).toMatch(/401 Content-Digest/);
    expect(await reasonOf({ ...validRequest, headers: {} as never })).toMatch(/401 .*no signature/);
    expect(await reasonOf({ ...validRequest, url: 'https://other.example/capabilities' })).toMatch(
      /match/,
    );
    expect(
      await reasonOf(await signedRequest('/capabilities', '{}', Date.now() - 400_000)),
    ).toMatch(/old/);
    const unsignedRequest = { ...validRequest, headers: {} };
    const otherKeyRequest = {
      ...validRequest,
      headers: await signRequest(otherKey, unsignedRequest, Date.now()),
    };
    expect(await reasonOf(otherKeyRequest)).toMatch(/does not match/);
    const unknownKeyHeaders = await signRequest(
      { ...otherKey, keyId: 'x' },
      unsignedRequest,
      Date.now(),
    );
    expect(await reasonOf({ ...validRequest, headers: unknownKeyHeaders })).toMatch(/unknown/);
  });
});

describe('messageSender', () => {
  const statuses: number[] = [];
  const receivedMessages: string[] = [];
  const server = http.createServer(async (request, response) => {
    const body = await text(request);
    const url = `http://${request.headers.host}${request.url}`;
    const headers = request.headers as Record<string, string>;
    const keys = new Map([[key.keyId, createPublicKey(pem)]]);
    await verifyRequest({ method: 'POST', url, headers, body }, keys, Date.now());
    receivedMessages.push(body);
    response.writeHead(statuses.shift() ?? 200).end('{}');
  });
  let url: string;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/connectors/acme-bank`;
  });
  afterAll(() => void server.close());

  const message = {
    ...{ id: '1', occurredAt: '2026-11-27T09:30:00Z', type: 'transfer.updated' as const },
    ...{ transferId: 'known', transfer: { state: 'settled' as const, reference: 'BANK-1' } },
  };
  const send = (target = url) =>
    messageSender({
      url: target,
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    })(message);

  it('signs each attempt, and returns its outcome', async () => {
    statuses.push(200, 400, 409, 401, 429, 503);
    const results = [];
    while (statuses.length > 0) results.push(await send());
    expect(results).toEqual(['delivered', 'rejected', 'rejected', 'later', 'later', 'later']);
    expect(new Set(receivedMessages)).toEqual(new Set([JSON.stringify(message)]));
    expect(await send('http://127.0.0.1:1/')).toBe('later');
  });
});

describe('providerListener', () => {
  it('serves a handler in Node.js, and responds to an error with 500', async () => {
    const origin = 'https://adapter.example';
    const server = http.createServer(providerListener(handle, { origin }));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const post = async (path: string) => {
      const { headers, body } = await signedRequest(path, '{}');
      return (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body }))
        .status;
    };
    expect([await post('/capabilities'), await post('/transfers/cancel')]).toEqual([200, 500]);
    server.close();
  });
});
