// Rotation of the keys of the installation. A new key seals after the notice, and values of earlier keys
// remain readable. Every source that seals under a key of the installation has declared its columns.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { CUSTODY_COLUMNS } from '../../connectors/registry.ts';
import { SEALED_COLUMNS } from '../../features.ts';
import { projectRoot } from '../config/root.ts';
import { systemEffects } from '../config/system-effects.ts';
import { keyStates, retireDataKeys, rotateDataKeys, staleTexts } from './data-key-rotation.ts';
import { createDataKeys, masterKeyId } from './data-keys.ts';
import { assertMasterKey } from './stored-keys.ts';
import { createVault } from './vault.ts';

const app = testApp();
const OLD_KEY = Buffer.alloc(32, 7);
const NEW_KEY = Buffer.alloc(32, 9);
const effects = systemEffects();

async function openKeys(masterKey: Uint8Array) {
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
  it('seals all values again and changes the master key', async () => {
    await createCustomer(app);
    const firstProcess = await openKeys(OLD_KEY);
    const text = firstProcess.runtime.vault.sealOwn('secret', 'place');
    expect(text).toMatch(/^s1\./);
    expect(keyStates(firstProcess)).toMatchObject([{ number: 0, status: 'active' }]);
    expect(await staleTexts(firstProcess)).toEqual([]);

    const steps = rotateDataKeys(firstProcess, NEW_KEY);
    expect((await steps.next()).value).toBe('Key 1 is published.');
    // Another process reads the key before it seals.
    const otherProcess = await openKeys(OLD_KEY);
    expect(otherProcess.runtime.vault.sealOwn('secret', 'place')).toMatch(/^s1\./);
    await expect(linesOf(rotateDataKeys(await openKeys(Buffer.alloc(32, 1))))).rejects.toThrow(
      /another master key/,
    );
    expect((await linesOf(steps)).at(-1)).toBe('Everything is sealed with key 1.');
    const newSealedText = otherProcess.runtime.vault.sealOwn('secret', 'place');
    expect(newSealedText).toMatch(/^s2\.1\./);
    expect(otherProcess.runtime.vault.openOwn(text, 'place').toString()).toBe('secret');
    expect(await staleTexts(firstProcess)).toEqual([]);
    expect(firstProcess.runtime.vault.digest('kind', 'value')).toBe(
      app.runtime.vault.digest('kind', 'value'),
    );

    const thirdProcess = await openKeys(NEW_KEY);
    expect(thirdProcess.runtime.vault.openOwn(newSealedText, 'place').toString()).toBe('secret');
    await expect(linesOf(retireDataKeys(thirdProcess, false))).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const retirementLines = await linesOf(retireDataKeys(thirdProcess, true));
    expect(retirementLines).toContain(
      `Master key ${masterKeyId(OLD_KEY)} no longer opens any key.`,
    );
    const url = app.databaseUrl;
    await expect(assertMasterKey(url, OLD_KEY)).rejects.toThrow(/does not open this database/);
    await expect(assertMasterKey(url, undefined)).rejects.toThrow(/is missing/);
    await assertMasterKey(url, NEW_KEY);
    // A value that was sealed before the rotation and stored after it.
    expect((await openKeys(NEW_KEY)).runtime.vault.openOwn(text, 'place').toString()).toBe(
      'secret',
    );
  }, 60_000);
});

/** Sources that seal under a key of the installation, with the table of the sealed values. */
const SEALED_TABLES: Readonly<Record<string, string>> = {
  'connectors/sandbox/cards/card-numbers.ts': 'cards',
  'connectors/signer/custody.ts': 'wallets otp_targets delegated_keys',
  'features/customers/imports/operations.ts': 'imports',
  'features/customers/records/changes.ts': 'customers',
  'features/customers/records/upgrade.ts': 'customers',
  'features/notifications/endpoints/keys.ts': 'webhook_endpoints',
  'features/notifications/messages/store.ts': 'messages',
  'features/payments/provider-messages/receive.ts': 'provider_messages',
  'features/providers/keys.ts': 'provider_keys',
  'features/retention/archive.ts': 'archives',
  'features/stablecoins/coins/provider-accounts.ts': 'stablecoin_provider_accounts',
  'features/staff/audit/sealed.ts': 'operator_data_keys operator_approvals',
  // Clients keep the sealed challenges for minutes, and no table stores them.
  'features/staff/users/sign-in/challenges.ts': '',
  'features/staff/users/methods.ts': 'operator_users',
  'features/staff/users/users.ts': 'operator_users',
  'http/bind.ts': 'idempotency',
  'runtime/security/keys.ts': 'signing_keys',
};

describe('sealed columns', () => {
  it('are declared for every source that seals under a key of the installation', () => {
    const callPattern = String.raw`\b(vault\.(sealOwn|newKey)|keys\.seal)\(`;
    const text = execFileSync('git', ['grep', '-lP', callPattern, '--', 'server/src'], {
      cwd: projectRoot(),
      encoding: 'utf8',
    });
    const sealingFiles = text
      .split('\n')
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => file.replace(/^server\/src\//, ''));
    // The calls in these files seal existing values again.
    const exceptions = ['runtime/security/reseal.ts', 'connectors/registry.ts'];
    expect(sealingFiles.filter((file) => !exceptions.includes(file)).sort()).toEqual(
      Object.keys(SEALED_TABLES).sort(),
    );
    const declaredTables = new Set(
      [...SEALED_COLUMNS, ...CUSTODY_COLUMNS].map(({ table }) => table),
    );
    const sealedTables = Object.values(SEALED_TABLES).flatMap((tables) =>
      tables.split(' ').filter(Boolean),
    );
    expect([...declaredTables].sort()).toEqual([...new Set(sealedTables)].sort());
  });
});
