// Recovery codes: their number and format, and a hash that ignores case and grouping.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../../../test/kit/app/effects.ts';
import { createVault } from '../../../../runtime/security/vault.ts';
import { generateRecoveryCodes, recoveryDigest } from './recovery-codes.ts';

describe('recovery codes', () => {
  const vault = createVault(testEffects(), () => Buffer.alloc(32, 7));

  it('are ten different codes in groups of four characters', () => {
    const codes = generateRecoveryCodes(testEffects());
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) {
      expect(code).toMatch(/^[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}$/);
    }
  });

  it('have the same hash in any spelling, and another hash for another factor', () => {
    const digestOf = (code: string, factorId = 'ScaFactor:1') =>
      recoveryDigest(vault, factorId, code);
    for (const typedCode of ['ABCD-EFGH-2345', 'abcdefgh2345', ' AbCd efgh-2345 ']) {
      expect(digestOf(typedCode)).toBe(digestOf('ABCD-EFGH-2345'));
    }
    expect(digestOf('ABCD-EFGH-2346')).not.toBe(digestOf('ABCD-EFGH-2345'));
    expect(digestOf('ABCD-EFGH-2345', 'ScaFactor:2')).not.toBe(digestOf('ABCD-EFGH-2345'));
  });
});
