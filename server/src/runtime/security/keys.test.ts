// IDs of generated signing keys.
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { keyIdOf, newKey, pemOf } from './keys.ts';

it('newKey generates no key ID that begins with a hyphen, like an option of a command', () => {
  let seedCount = 0;
  const random = () => createHash('sha256').update(`${seedCount++}`).digest();
  const effects = { random };
  const keys = Array.from({ length: 200 }, () => newKey(effects, 'Ed25519'));
  const ids = keys.map((key) => keyIdOf(pemOf(key)));
  expect(ids.filter((id) => id.startsWith('-'))).toEqual([]);
  // At least one seed was rejected.
  expect(seedCount).toBeGreaterThan(200);
});
