// Rotation of the keys that sign webhooks. A new pair is published and signs after the overlap, and the
// earlier pair remains published for the same period.
import { createPublicKey, sign, verify } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { silentLog } from '../../../test/kit/http/outbox.ts';
import { openKeyRing } from './key-ring.ts';
import { retireSigningKey, rotateSigningKeys } from './key-rotation.ts';
import { keyIdOf, publicKeyPem, publicKeys } from './keys.ts';
import { createVault } from './vault.ts';

const HOUR_MS = 3_600_000;
const app = testApp();

const rotate = (hours: number) => rotateSigningKeys(app.runtime, 'sandbox', hours * HOUR_MS);
const openRing = () => openKeyRing({ ...app.runtime, log: silentLog });

const readSandboxKeys = async (algorithm = 'P-256') =>
  (await publicKeys(app.runtime)).filter(
    (key) => key.environment === 'sandbox' && key.algorithm === algorithm,
  );
const readStatuses = async (algorithm?: string) =>
  (await readSandboxKeys(algorithm)).map((key) => key.status);

// Each test starts after the rotations of the previous test.
beforeEach(() => app.advance(200 * HOUR_MS));

describe('rotation of signing keys', () => {
  it('publishes the new pair before it signs and the earlier pair afterwards', async () => {
    const keyBefore = await publicKeyPem(app.runtime, 'sandbox');
    const rotation = await rotate(24);
    expect(rotation.map((key) => `${key.algorithm} ${key.status}`).sort()).toEqual([
      'Ed25519 active',
      'Ed25519 announced',
      'P-256 active',
      'P-256 announced',
    ]);
    expect(await publicKeyPem(app.runtime, 'sandbox')).toBe(keyBefore);
    await app.advance(23 * HOUR_MS);
    expect((await readStatuses()).slice(0, 2)).toEqual(['announced', 'active']);
    await app.advance(HOUR_MS);
    expect((await readStatuses()).slice(0, 2)).toEqual(['active', 'superseded']);
    expect((await readStatuses('Ed25519')).slice(0, 2)).toEqual(['active', 'superseded']);
    expect(await publicKeyPem(app.runtime, 'sandbox')).not.toBe(keyBefore);
    await app.advance(24 * HOUR_MS);
    expect((await readStatuses()).slice(0, 2)).toEqual(['active', 'retired']);
  });

  it('takes effect at its time in a server that has read the new keys', async () => {
    const { keys, publishedKeys } = await openRing();
    const earlierKey = keys.sandbox;
    const productionKeyId = keys.production.keyId;
    await rotate(1);
    // The server has not read the new key yet.
    await app.advance(1.5 * HOUR_MS);
    expect(keys.sandbox.keyId).toBe(earlierKey.keyId);
    const laterKeys = (await openRing()).keys;
    expect(laterKeys.sandbox.keyId).not.toBe(earlierKey.keyId);
    expect(laterKeys.production.keyId).toBe(productionKeyId);
    const body = Buffer.from('{}');
    const key = createPublicKey(laterKeys.sandbox.publicKeyPem);
    expect(verify('sha256', body, key, sign('sha256', body, laterKeys.sandbox.privateKey))).toBe(
      true,
    );
    expect(keyIdOf(laterKeys.sandbox.publicKeyPem)).toBe(laterKeys.sandbox.keyId);
    // A key signs alone until it is superseded. Afterwards it still signs together with the new key.
    expect(earlierKey.earlierStandard).toHaveLength(0);
    expect(laterKeys.sandbox.earlierStandard).toHaveLength(1);
    const [supersededKey] = laterKeys.sandbox.earlierStandard;
    const signature = sign(null, body, supersededKey as NonNullable<typeof supersededKey>);
    const standardKey = createPublicKey(earlierKey.standard.publicKeyPem);
    expect(verify(null, body, standardKey, signature)).toBe(true);
    expect((await publishedKeys()).length).toBeGreaterThanOrEqual(4);
  });

  it('permits one rotation at a time for each environment', async () => {
    const results = await Promise.allSettled([rotate(1), rotate(1)]);
    expect(results.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(rotate(1)).rejects.toMatchObject({ code: 'CONFLICT' });
    await rotateSigningKeys(app.runtime, 'production', HOUR_MS);
  });

  it('waits until all processes can have read the key', async () => {
    await rotate(0);
    expect((await readStatuses()).slice(0, 2)).toEqual(['announced', 'active']);
    await app.advance(5_000);
    expect((await readStatuses()).slice(0, 2)).toEqual(['active', 'superseded']);
    await app.advance(5_000);
    expect((await readStatuses()).slice(0, 2)).toEqual(['active', 'retired']);
  });

  it('requires the master key of the server', async () => {
    const vault = createVault(app.runtime.effects, () => Buffer.alloc(32, 8));
    const otherRuntime = { ...app.runtime, vault };
    await expect(rotateSigningKeys(otherRuntime, 'sandbox', HOUR_MS)).rejects.toThrow(
      /another master key/,
    );
    expect((await readStatuses())[0]).toBe('active');
  });
});

describe('retirement of signing keys', () => {
  it('retires an announced pair and cancels the rotation', async () => {
    const [activeKey] = await readSandboxKeys();
    await rotate(1);
    const [announcedKey] = await readSandboxKeys('Ed25519');
    const retiredKeys = await retireSigningKey(app.runtime, announcedKey?.keyId as string);
    expect(retiredKeys.map((key) => key.status)).toEqual(['retired', 'retired']);
    await app.advance(3 * HOUR_MS);
    const [newestKey, nextKey] = await readSandboxKeys();
    expect(newestKey?.status).toBe('retired');
    expect(nextKey).toEqual(activeKey);
    // Another rotation can start.
    await rotate(1);
  });

  it('stops the publication of a superseded pair immediately', async () => {
    const [earlierKey] = await readSandboxKeys();
    await rotate(24);
    await app.advance(24 * HOUR_MS);
    await retireSigningKey(app.runtime, earlierKey?.keyId as string);
    expect((await readStatuses()).slice(0, 2)).toEqual(['active', 'retired']);
    expect((await openRing()).keys.sandbox.earlierStandard).toEqual([]);
  });

  it('rejects the active key and an unknown key', async () => {
    const [activeKey] = await readSandboxKeys();
    const retire = (keyId: string) => retireSigningKey(app.runtime, keyId);
    await expect(retire(activeKey?.keyId as string)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(retire('unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
