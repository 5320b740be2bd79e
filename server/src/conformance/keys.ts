// Keys of a session. The folder contains the public key of the adapter. The keys that sign calls in
// place of Railhead are created in it.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SignatureKey } from '../kernel/crypto/http-signatures.ts';
import type { Effects } from '../kernel/effects.ts';
import { keyIdOf, newKey, pemOf } from '../runtime/security/keys.ts';

const ADAPTER = 'adapter.pub.pem';

const signatureKey = (privateKey: KeyObject): SignatureKey => ({
  keyId: keyIdOf(pemOf(privateKey)),
  privateKey,
});

export const newSignatureKey = (effects: Effects): SignatureKey =>
  signatureKey(newKey(effects, 'Ed25519'));

/**
 * The keys that sign calls in place of Railhead: the current one, and the next one of a rotation.
 */
const NAMES = { current: 'railhead', next: 'railhead-next' } as const;

/** Reads or creates a key that signs calls in place of Railhead. */
export function ownKey(
  effects: Effects,
  folder: string,
  keyName: keyof typeof NAMES = 'current',
): SignatureKey {
  const name = path.join(folder, NAMES[keyName]);
  const [file, publicFile] = [`${name}.pem`, `${name}.pub.pem`];
  if (existsSync(file)) return signatureKey(createPrivateKey(readFileSync(file)));
  if (existsSync(publicFile)) {
    throw new Error(
      `${publicFile} can be the key of a real installation, because ${path.basename(file)} is absent. ` +
        'Use another folder for --keys.',
    );
  }
  mkdirSync(folder, { recursive: true });
  const key = newSignatureKey(effects);
  const pem = key.privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(file, pem, { mode: 0o600, flag: 'wx' });
  writeFileSync(publicFile, pemOf(key.privateKey));
  return key;
}

/** Reads the public key of the adapter. Throws if the file is absent or contains no Ed25519 key. */
export function adapterKeys(folder: string): ReadonlyMap<string, KeyObject> {
  const file = path.join(folder, ADAPTER);
  if (!existsSync(file)) {
    throw new Error(`${file} is absent. Store the public key of the adapter there, in PEM format.`);
  }
  const pem = readFileSync(file, 'utf8');
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error(`${file} must contain an Ed25519 key.`);
  }
  return new Map([[keyIdOf(pem), key]]);
}
