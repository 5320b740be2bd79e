// Keys of the installation: a new key seals after the notice, texts of earlier keys remain readable, and
// a rotation seals everything again, also for another master key.
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { CUSTODY_COLUMNS } from '../../connectors/registry.ts';
import { SEALED_COLUMNS } from '../../features.ts';
import { systemEffects } from '../config/system-effects.ts';
import { keyStates, retireDataKeys, rotateDataKeys, staleTexts } from './data-key-rotation.ts';
import { createDataKeys, masterKeyId } from './data-keys.ts';
import { assertMasterKey } from './stored-keys.ts';
import { createVault } from './vault.ts';

const app = testApp();
const OLD = Buffer.alloc(32, 7);
const NEW = Buffer.alloc(32, 9);
const effects = systemEffects();

async function opened(masterKey: Uint8Array) {
  const { db } = app.runtime;
  const keys = createDataKeys({ db, effects, masterKey: () => masterKey });
  await keys.read();
  const runtime = { ...app.runtime, effects, vault: createVault(effects, keys) };
  const columns = [...SEALED_COLUMNS, ...CUSTODY_COLUMNS];
  return { runtime, keys, masterKey: () => masterKey, columns };
}

async function linesOf(steps: AsyncIterable<string>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of steps) lines.push(line);
  return lines;
}

describe('a rotation', () => {
  it('seals everything again and changes the master key', async () => {
    await createCustomer(app);
    const first = await opened(OLD);
    const text = first.runtime.vault.sealOwn('secret', 'place');
    expect(text).toMatch(/^s1\./);
    expect(keyStates(first)).toMatchObject([{ number: 0, status: 'active' }]);

    const steps = rotateDataKeys(first, NEW);
    expect((await steps.next()).value).toBe('Key 1 is published.');
    // Another process reads the key before it seals.
    const other = await opened(OLD);
    expect(other.runtime.vault.sealOwn('secret', 'place')).toMatch(/^s1\./);
    await expect(linesOf(rotateDataKeys(await opened(Buffer.alloc(32, 1))))).rejects.toThrow(
      /another master key/,
    );
    expect((await linesOf(steps)).at(-1)).toBe('Everything is sealed with key 1.');
    const newText = other.runtime.vault.sealOwn('secret', 'place');
    expect(newText).toMatch(/^s2\.1\./);
    expect(other.runtime.vault.openOwn(text, 'place').toString()).toBe('secret');
    expect(await staleTexts(first)).toEqual([]);
    expect(first.runtime.vault.digest('kind', 'value')).toBe(
      app.runtime.vault.digest('kind', 'value'),
    );

    const third = await opened(NEW);
    expect(third.runtime.vault.openOwn(newText, 'place').toString()).toBe('secret');
    await expect(linesOf(retireDataKeys(third, false))).rejects.toMatchObject({ code: 'CONFLICT' });
    const retired = await linesOf(retireDataKeys(third, true));
    expect(retired).toContain(`Master key ${masterKeyId(OLD)} opens nothing.`);
    const url = app.databaseUrl;
    await expect(assertMasterKey(url, OLD)).rejects.toThrow(/does not open this database/);
    await expect(assertMasterKey(url, undefined)).rejects.toThrow(/is missing/);
    await assertMasterKey(url, NEW);
    // A text of before the rotation that was stored late.
    expect((await opened(NEW)).runtime.vault.openOwn(text, 'place').toString()).toBe('secret');
  }, 60_000);
});
