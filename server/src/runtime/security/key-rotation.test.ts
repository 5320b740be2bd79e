// Rotation of the keys that sign webhooks: a new pair is published, signs after the overlap, and
// the earlier one remains published for the same period.
import { createPublicKey, sign, verify } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { silentLog } from '../../../test/kit/http/outbox.ts';
import { openKeyRing } from './key-ring.ts';
import { retireSigningKey, rotateSigningKeys } from './key-rotation.ts';
import { keyIdOf, publicKeyPem, publicKeys } from './keys.ts';
import { createVault } from './vault.ts';

const HOUR = 3_600_000;
const app = testApp();

const rotate = (hours: number) => rotateSigningKeys(app.runtime, 'sandbox', hours * HOUR);
const openRing = () => openKeyRing({ ...app.runtime, log: silentLog });

const sandboxKeys = async (algorithm = 'P-256') =>
  (await publicKeys(app.runtime)).filter(
    (key) => key.environment === 'sandbox' && key.algorithm === algorithm,
  );
const statuses = async (algorithm?: string) =>
  (await sandboxKeys(algorithm)).map((key) => key.status);

// Each test starts after the rotations of the previous one.
beforeEach(() => app.advance(200 * HOUR));

describe('rotation of signing keys', () => {
  it('publishes a pair before it signs, and the earlier one after it', async () => {
    const before = await publicKeyPem(app.runtime, 'sandbox');
    const rotation = await rotate(24);
    expect(rotation.map((key) => `${key.algorithm} ${key.status}`).sort()).toEqual([
      'Ed25519 active',
      'Ed25519 announced',
      'P-256 active',
      'P-256 announced',
    ]);
    expect(await publicKeyPem(app.runtime, 'sandbox')).toBe(before);
    await app.advance(23 * HOUR);
    expect((await statuses()).slice(0, 2)).toEqual(['announced', 'active']);
    await app.advance(HOUR);
    expect((await statuses()).slice(0, 2)).toEqual(['active', 'superseded']);
    expect((await statuses('Ed25519')).slice(0, 2)).toEqual(['active', 'superseded']);
    expect(await publicKeyPem(app.runtime, 'sandbox')).not.toBe(before);
    await app.advance(24 * HOUR);
    expect((await statuses()).slice(0, 2)).toEqual(['active', 'retired']);
  });

  it('takes effect at its time in a server that has read the new keys', async () => {
    const { keys, published } = await openRing();
    const earlier = keys.sandbox;
    const production = keys.production.keyId;
    await rotate(1);
    // The server has not read the new key yet.
    await app.advance(1.5 * HOUR);
    expect(keys.sandbox.keyId).toBe(earlier.keyId);
    const later = (await openRing()).keys;
    expect(later.sandbox.keyId).not.toBe(earlier.keyId);
    expect(later.production.keyId).toBe(production);
    const body = Buffer.from('{}');
    const key = createPublicKey(later.sandbox.publicKeyPem);
    expect(verify('sha256', body, key, sign('sha256', body, later.sandbox.privateKey))).toBe(true);
    expect(keyIdOf(later.sandbox.publicKeyPem)).toBe(later.sandbox.keyId);
    // Before it is superseded a key signs alone. Afterwards it still signs together with the new key.
    expect(earlier.earlierStandard).toHaveLength(0);
    expect(later.sandbox.earlierStandard).toHaveLength(1);
    const [superseded] = later.sandbox.earlierStandard;
    const signature = sign(null, body, superseded as NonNullable<typeof superseded>);
    const standard = createPublicKey(earlier.standard.publicKeyPem);
    expect(verify(null, body, standard, signature)).toBe(true);
    expect((await published()).length).toBeGreaterThanOrEqual(4);
  });

  it('has one rotation at a time, for each environment', async () => {
    const results = await Promise.allSettled([rotate(1), rotate(1)]);
    expect(results.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(rotate(1)).rejects.toMatchObject({ code: 'CONFLICT' });
    await rotateSigningKeys(app.runtime, 'production', HOUR);
  });

  it('never signs before all processes can have read the key', async () => {
    await rotate(0);
    expect((await statuses()).slice(0, 2)).toEqual(['announced', 'active']);
    await app.advance(5_000);
    expect((await statuses()).slice(0, 2)).toEqual(['active', 'superseded']);
    await app.advance(5_000);
    expect((await statuses()).slice(0, 2)).toEqual(['active', 'retired']);
  });

  it('needs the master key of the server', async () => {
    const vault = createVault(app.runtime.effects, () => Buffer.alloc(32, 8));
    const otherRuntime = { ...app.runtime, vault };
    await expect(rotateSigningKeys(otherRuntime, 'sandbox', HOUR)).rejects.toThrow(
      /another master key/,
    );
    expect((await statuses())[0]).toBe('active');
  });
});

describe('retirement of signing keys', () => {
  it('retires an announced pair and cancels the rotation', async () => {
    const [active] = await sandboxKeys();
    await rotate(1);
    const [announced] = await sandboxKeys('Ed25519');
    const retired = await retireSigningKey(app.runtime, announced?.keyId as string);
    expect(retired.map((key) => key.status)).toEqual(['retired', 'retired']);
    await app.advance(3 * HOUR);
    const [newest, next] = await sandboxKeys();
    expect(newest?.status).toBe('retired');
    expect(next).toEqual(active);
    // Another rotation can start.
    await rotate(1);
  });

  it('stops the publication of a superseded pair immediately', async () => {
    const [earlier] = await sandboxKeys();
    await rotate(24);
    await app.advance(24 * HOUR);
    await retireSigningKey(app.runtime, earlier?.keyId as string);
    expect((await statuses()).slice(0, 2)).toEqual(['active', 'retired']);
    expect((await openRing()).keys.sandbox.earlierStandard).toEqual([]);
  });

  it('rejects the active key and an unknown one', async () => {
    const [active] = await sandboxKeys();
    const retire = (keyId: string) => retireSigningKey(app.runtime, keyId);
    await expect(retire(active?.keyId as string)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(retire('unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
