// Keys of providers. Private keys of this installation sign calls to providers. Public keys of providers
// verify their messages.

import { createPublicKey } from 'node:crypto';
import { Fault } from '../../kernel/fault.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { keyIdOf, newKey, pemOf } from '../../runtime/security/keys.ts';
import { type ProviderKeyRow, providerKeys } from './store.ts';

export const keyContext = (keyId: string) => `provider_keys ${keyId}`;

/** Stages a new key that signs calls to a provider from `activeFrom` on. */
export function insertOwnKey(ctx: Ctx, providerId: string, activeFrom: number): ProviderKeyRow {
  const key = newKey(ctx.effects, 'Ed25519');
  const publicKey = pemOf(key);
  const id = keyIdOf(publicKey);
  const der = key.export({ type: 'pkcs8', format: 'der' });
  return ctx.insert(providerKeys, {
    id,
    provider_id: providerId,
    side: 'OWN',
    public_key: publicKey,
    private_key: ctx.vault.sealOwn(der, keyContext(id)),
    active_from: activeFrom,
    retired_at: null,
    created_at: ctx.now,
  });
}

/** Returns an Ed25519 public key as normalized PEM, or the problem of the text. */
export function ed25519Key(text: string): { pem: string } | { problem: string } {
  if (text.includes('PRIVATE')) return { problem: 'must not be a private key' };
  try {
    const key = createPublicKey(text);
    if (key.asymmetricKeyType !== 'ed25519') return { problem: 'must be an Ed25519 key' };
    return { pem: key.export({ type: 'spki', format: 'pem' }).toString() };
  } catch {
    return { problem: 'must be a public key in PEM format' };
  }
}

/** Stages a public key that verifies messages of a provider. */
export function insertProviderKey(ctx: Ctx, providerId: string, publicKey: string): ProviderKeyRow {
  return ctx.insert(providerKeys, {
    id: keyIdOf(publicKey),
    provider_id: providerId,
    side: 'PROVIDER',
    public_key: publicKey,
    private_key: null,
    active_from: ctx.now,
    retired_at: null,
    created_at: ctx.now,
  });
}

export const providerNotFound = () => new Fault('NOT_FOUND', 'Provider not found.');
