// IDs of generated signing keys.
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { keyIdOf, newKey, pemOf } from './keys.ts';

it('newKey generates key IDs without a hyphen at the start, as in an option', () => {
  let seeds = 0;
  const random = () => createHash('sha256').update(`${seeds++}`).digest();
  const effects = { random };
  const keys = Array.from({ length: 200 }, () => newKey(effects, 'Ed25519'));
  const ids = keys.map((key) => keyIdOf(pemOf(key)));
  expect(ids.filter((id) => id.startsWith('-'))).toEqual([]);
  // At least one seed was rejected.
  expect(seeds).toBeGreaterThan(200);
});
