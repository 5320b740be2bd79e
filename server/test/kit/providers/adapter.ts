// Test adapter of a provider: an HTTP server that verifies calls, executes each transfer once, and
// sends signed messages. Tests set its replies.
import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { signRequest, verifyRequest } from '../../../src/kernel/crypto/http-signatures.ts';
import { iso } from '../../../src/kernel/effects.ts';
import type { Mode } from '../../../src/kernel/mode.ts';
import { keyIdOf, pemOf } from '../../../src/runtime/security/keys.ts';
import type { TestApp } from '../app/harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
type Json = any;

/** The reply to a call. `null` closes the connection after the call was executed. */
type Reply = (body: Json) => { status?: number; body: unknown } | null;

const SEPA_PAYOUTS = {
  kinds: ['payout', 'refund'],
  rails: ['SEPA', 'SEPA_INSTANT'],
  currencies: ['EUR'],
};

/** The card of an order, which is the same at each repetition. */
const issuedCard = (cardId: string) => ({
  ...{ state: 'issued', reference: `ACME-${cardId.slice(-6)}`, brand: 'MASTERCARD' },
  ...{ last4: '4444', expMonth: 12, expYear: 2030 },
});

function newSigner() {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKeyPem = pemOf(privateKey);
  return { publicKeyPem, privateKey, keyId: keyIdOf(publicKeyPem) };
}

/** Starts an adapter that uses the clock of the server. */
export async function startAdapter(app: TestApp) {
  let signer = newSigner();
  const installationKeys = new Map<string, KeyObject>();
  /** Transfers by ID, with the number of times each was sent. */
  const transfers = new Map<string, Json>();
  /**
   * Orders of cards by card, with the number of times each was sent and the latest change of the
   * card.
   */
  const cards = new Map<string, Json>();
  const calls: string[] = [];
  const rejections: string[] = [];
  const replies: Record<string, Reply> = {
    '/capabilities': () => ({ body: { protocol: '1', transfers: [SEPA_PAYOUTS], cancel: true } }),
    '/transfers/send': () => ({
      body: { state: 'accepted', reference: 'BANK-1', checkAfterSeconds: 43_200 },
    }),
    '/transfers/state': ({ transferId }) =>
      transfers.has(transferId)
        ? { body: { state: 'accepted', checkAfterSeconds: 43_200 } }
        : { status: 404, body: { message: 'unknown' } },
    '/transfers/cancel': () => ({ body: { result: 'canceled' } }),
    '/cards/issue': ({ cardId }) => ({ body: issuedCard(cardId) }),
    '/cards/state': ({ cardId }) =>
      cards.has(cardId)
        ? { body: issuedCard(cardId) }
        : { status: 404, body: { message: 'unknown' } },
    '/cards/change': ({ reference }) => ({ body: { reference } }),
    '/cards/details': () => ({
      body: { number: '5555555555554444', code: '123', expMonth: 12, expYear: 2030 },
    }),
  };

  async function respond(request: http.IncomingMessage, response: http.ServerResponse) {
    const { method = '', url: path = '' } = request;
    const body = await text(request);
    const url = `http://${request.headers.host}${path}`;
    const headers = request.headers as Record<string, string>;
    try {
      await verifyRequest({ method, url, headers, body }, installationKeys, app.effects.now());
    } catch (error) {
      rejections.push((error as Error).message);
      return void response.writeHead(401).end();
    }
    calls.push(path);
    const json = JSON.parse(body);
    if (path === '/transfers/send') {
      const count = transfers.get(json.transferId)?.count ?? 0;
      transfers.set(json.transferId, { ...json, count: count + 1 });
    }
    if (path === '/cards/issue') {
      const count = cards.get(json.cardId)?.count ?? 0;
      cards.set(json.cardId, { ...json, count: count + 1 });
    }
    if (path === '/cards/change') {
      cards.set(json.cardId, { ...cards.get(json.cardId), ...json });
    }
    const reply = replies[path]?.(json);
    if (reply === null) return void request.socket.destroy();
    response.writeHead(reply?.status ?? (reply ? 200 : 404), {
      'content-type': 'application/json',
    });
    response.end(typeof reply?.body === 'string' ? reply.body : JSON.stringify(reply?.body ?? {}));
  }

  const server = http.createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ publicKeyPem: signer.publicKeyPem, transfers, cards, calls, rejections, replies },
    /** Accepts the keys of the installation. */
    accept(keys: readonly { keyId: string; publicKeyPem: string }[]) {
      for (const key of keys) installationKeys.set(key.keyId, createPublicKey(key.publicKeyPem));
    },
    /** Generates a key. The messages are signed with it after `activate`. */
    newKey() {
      const nextSigner = newSigner();
      return {
        publicKeyPem: nextSigner.publicKeyPem,
        activate() {
          signer = nextSigner;
        },
      };
    },
    /** Sends a message with default fields. `change` changes the signed request. */
    async send(
      providerId: string,
      fields: Json,
      change: (request: Json) => void = () => undefined,
    ) {
      const message =
        typeof fields === 'string'
          ? fields
          : JSON.stringify({ id: randomUUID(), occurredAt: iso(app.effects.now()), ...fields });
      const request = {
        method: 'POST',
        url: `http://localhost/connectors/${providerId}`,
        headers: { 'content-type': 'application/json', host: 'localhost' },
        body: message,
      };
      const headers = await signRequest(signer, request, app.effects.now());
      const signedRequest = { ...request, headers };
      change(signedRequest);
      const reply = await app.server.inject({
        method: 'POST',
        url: new URL(signedRequest.url).pathname,
        headers: signedRequest.headers,
        payload: signedRequest.body,
      });
      return { status: reply.statusCode, body: reply.json() as Json };
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export type Adapter = Awaited<ReturnType<typeof startAdapter>>;

/** Adds a provider that the adapter simulates, and exchanges the keys of both sides. */
export async function addProvider(
  write: (method: string, path: string, body?: object) => Promise<Json>,
  adapter: Adapter,
  providerId: string,
  environment: Mode = 'production',
): Promise<void> {
  const { ownKeys } = await write('POST', '/providers', {
    ...{ providerId, environment, url: `${adapter.url}/` },
    ...{ publicKeyPem: adapter.publicKeyPem, privateAddressAllowed: true },
  });
  adapter.accept(ownKeys);
}
