// Data that is sealed under a data key can be opened with this key only. Digests depend on the master key.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { createVault } from './vault.ts';

const vaultWith = (byte: number) => createVault(testEffects(), () => Buffer.alloc(32, byte));
const vault = vaultWith(7);
const keyFor = (owner: string) => ({ owner, sealed: vault.newKey(owner) });

describe('vault', () => {
  it('opens data that was sealed under the same key for the same context', () => {
    const key = keyFor('Customer:1');
    const sealedText = vault.seal(key, 'secret', 'place');
    expect(sealedText).not.toContain('secret');
    expect(vault.open(key, sealedText, 'place').toString()).toBe('secret');
    expect(vaultWith(7).open(key, sealedText, 'place').toString()).toBe('secret');
  });

  it('rejects another context, another key and another master key', () => {
    const key = keyFor('Customer:1');
    const sealedText = vault.seal(key, 'secret', 'place');
    expect(() => vault.open(key, sealedText, 'elsewhere')).toThrow('cannot decrypt');
    expect(() => vault.open(keyFor('Customer:1'), sealedText, 'place')).toThrow('cannot decrypt');
    expect(() => vaultWith(8).open(key, sealedText, 'place')).toThrow('cannot decrypt');
  });

  it('binds a data key to its owner', () => {
    const { sealed } = keyFor('Customer:1');
    expect(() => vault.seal({ owner: 'Customer:2', sealed }, 'x', 'place')).toThrow(
      'cannot decrypt',
    );
  });

  it('opens a data key again after the key was removed from the cache', () => {
    const firstKey = keyFor('Customer:0');
    const sealedText = vault.seal(firstKey, 'kept', 'place');
    for (let index = 0; index < 4_200; index++)
      vault.seal(keyFor(`Customer:${index}`), 'x', 'place');
    expect(vault.open(firstKey, sealedText, 'place').toString()).toBe('kept');
  });

  it('returns equal digests for equal values, by kind and master key', () => {
    const digest = vault.digest('email', 'ada@example.com');
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(vaultWith(7).digest('email', 'ada@example.com')).toBe(digest);
    expect(vault.digest('phone', 'ada@example.com')).not.toBe(digest);
    expect(vaultWith(8).digest('email', 'ada@example.com')).not.toBe(digest);
  });
});
