// A test vector of RFC 7914, and the accepted passwords.
import { scryptSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { matchesPassword, passwordHash } from './password.ts';

describe('passwordHash', () => {
  it('uses scrypt with its parameters and a random salt', async () => {
    const effects = testEffects();
    const [firstHash = '', secondHash] = await Promise.all([
      passwordHash(effects, 'correct horse'),
      passwordHash(effects, 'correct horse'),
    ]);
    const [name, N, r, p, salt = '', hash] = firstHash.split('$');
    expect([name, N, r, p]).toEqual(['scrypt', '32768', '8', '3']);
    const options = { N: 32_768, r: 8, p: 3, maxmem: 67_108_864 };
    const expectedHash = scryptSync('correct horse', Buffer.from(salt, 'base64url'), 32, options);
    expect(hash).toBe(expectedHash.toString('base64url'));
    expect(secondHash).not.toBe(firstHash);
  });
});

describe('matchesPassword', () => {
  // RFC 7914, section 12: N = 16384, r = 8, p = 1. The first 32 bytes.
  it('accepts the vector of RFC 7914', async () => {
    const hex = '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2';
    const salt = Buffer.from('SodiumChloride').toString('base64url');
    const storedHash = `scrypt$16384$8$1$${salt}$${Buffer.from(hex, 'hex').toString('base64url')}`;
    expect(await matchesPassword('pleaseletmein', storedHash)).toBe(true);
    expect(await matchesPassword('pleaseletmeout', storedHash)).toBe(false);
  });

  it('accepts other code points of the same characters and rejects a missing hash', async () => {
    const storedHash = await passwordHash(testEffects(), 'caf\u00e9 au lait');
    expect(await matchesPassword('cafe\u0301 au lait', storedHash)).toBe(true);
    expect(await matchesPassword('cafe au lait', storedHash)).toBe(false);
    expect(await matchesPassword('', null)).toBe(false);
  });
});
