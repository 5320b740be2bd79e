// Signing keys of an endpoint: symmetric secrets of Standard Webhooks (`whsec_`). During a rotation
// all valid keys sign, because the header can contain several signatures. An earlier key stops at
// its expiry. Keys are valid by real time, even on platforms with their own clock, because
// signatures contain real time.
import { createHmac } from 'node:crypto';
import type { Time } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { SealedColumn } from '../../../runtime/security/sealed-columns.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { EndpointKey } from './store.ts';

const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';
/** Decrypted secrets are cached, because every delivery requires a secret. */
const MAX_CACHED_SECRETS = 4_096;

const contextOf = (id: string) => `webhook_endpoints key ${id}`;

export const sealedEndpointKeys: SealedColumn = {
  table: 'webhook_endpoints',
  column: 'keys',
  contexts: (id) => [contextOf(id)],
  isList: true,
};

/** A new key, and its secret as the receiver configures it. The secret is shown once. */
export function newEndpointKey(ctx: Ctx): { key: EndpointKey; secret: string } {
  const id = ctx.id('WebhookEndpointKey');
  const bytes = ctx.effects.random(SECRET_BYTES);
  const sealedSecret = ctx.vault.sealOwn(bytes, contextOf(id));
  const secret = `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`;
  return {
    key: { id, sealed: sealedSecret, createdAt: ctx.effects.now(), expiresAt: null },
    secret,
  };
}

/** The keys that sign at `now`. */
export const validKeys = (keys: readonly EndpointKey[], now: Time): EndpointKey[] =>
  keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);

/** Signs `text` with the valid keys of an endpoint, as Standard Webhooks' `v1`. */
export type EndpointSigner = (keys: readonly EndpointKey[], text: string, now: Time) => string;

export function createEndpointSigner(vault: Pick<Vault, 'openOwn'>): EndpointSigner {
  const openedSecrets = new Map<string, Buffer>();

  function secretOf({ id, sealed }: EndpointKey): Buffer {
    const cachedSecret = openedSecrets.get(id);
    if (cachedSecret) return cachedSecret;
    const secret = vault.openOwn(sealed, contextOf(id));
    const [oldestId] = openedSecrets.keys();
    if (openedSecrets.size >= MAX_CACHED_SECRETS && oldestId !== undefined)
      openedSecrets.delete(oldestId);
    openedSecrets.set(id, secret);
    return secret;
  }

  return (keys, text, now) =>
    validKeys(keys, now)
      .map((key) => `v1,${createHmac('sha256', secretOf(key)).update(text).digest('base64')}`)
      .join(' ');
}
