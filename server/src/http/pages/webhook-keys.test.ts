// The public keys of webhooks at their well-known address.
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { keyIdOf } from '../../runtime/security/keys.ts';

const app = testApp();
const PATH = '/.well-known/webhook-keys.json';

interface ListedKey extends JsonWebKey {
  kid: string;
  alg: string;
  environment: string;
  status: string;
}

const get = (query = '', headers: Record<string, string> = {}) =>
  app.server.inject({ method: 'GET', url: `${PATH}${query}`, headers });
const listKeys = async (query = '') => (await get(query)).json<{ keys: ListedKey[] }>().keys;

it('the key list contains the sandbox and production keys and needs no credentials', async () => {
  const reply = await get();
  expect(reply.statusCode).toBe(200);
  expect(reply.headers['content-type']).toContain('application/jwk-set+json');
  expect(reply.headers['cache-control']).toBe('public, max-age=300');
  const keys = await listKeys();
  expect(keys.map((key) => `${key.environment} ${key.alg} ${key.status}`).sort()).toEqual([
    'production ES256 ACTIVE',
    'production EdDSA ACTIVE',
    'sandbox ES256 ACTIVE',
    'sandbox EdDSA ACTIVE',
  ]);
  for (const key of keys) {
    expect(key.d).toBeUndefined();
    const pem = createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    expect(keyIdOf(pem.toString())).toBe(key.kid);
  }
});

it('the key list filters by environment and rejects other parameters', async () => {
  const keys = await listKeys('?environment=production');
  expect(keys.map((key) => key.environment)).toEqual(['production', 'production']);
  for (const query of [
    '?environment=test',
    '?environment=',
    '?kid=1',
    '?environment=a&environment=b',
  ]) {
    const reply = await get(query);
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
  }
});

it('the key list is not sent again while it is unchanged', async () => {
  const { etag } = (await get()).headers;
  const reply = await get('', { 'if-none-match': String(etag) });
  expect(reply.statusCode).toBe(304);
  expect(reply.body).toBe('');
  expect((await get('', { 'if-none-match': '"other"' })).statusCode).toBe(200);
});
