// The keys of providers: own ones, which sign calls, and those of the providers, which verify messages.

import { createPublicKey } from 'node:crypto';
import { Fault, invalidField } from '../../kernel/fault.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { keyIdOf, newKey, pemOf } from '../../runtime/security/keys.ts';
import { type ProviderKeyRow, providerKeys } from './store.ts';

export const keyContext = (keyId: string) => `provider_keys ${keyId}`;

/** Stages a new key of this installation for a provider; it signs from `activeFrom`. */
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

/** A public key as normalized PEM. Throws INVALID_INPUT for anything but an Ed25519 key. */
export function ed25519Pem(field: string, text: string): string {
  if (text.includes('PRIVATE')) throw invalidField(field, 'must not be a private key');
  const key = (() => {
    try {
      return createPublicKey(text);
    } catch {
      throw invalidField(field, 'must be a public key as PEM');
    }
  })();
  if (key.asymmetricKeyType !== 'ed25519') throw invalidField(field, 'must be an Ed25519 key');
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

/** Stages a key with which a provider signs its messages. */
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
