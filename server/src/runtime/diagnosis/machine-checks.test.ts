// Limits of the checks of the machine and permissions of real files.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  checkDataFolder,
  checkDisk,
  checkMasterKeyFile,
  checkNode,
  checkProductionSettings,
  checkSpace,
} from './machine-checks.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-machine-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

it.each([
  ['18.20.0', 'ERROR'],
  ['20.18.9', 'ERROR'],
  ['20.19.0', 'OK'],
  ['23.1.0', 'WARNING'],
  ['24.0.0', 'OK'],
])('Node.js %s is %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

it.each([
  [100, 'OK'],
  [10, 'OK'],
  [9, 'WARNING'],
  [3, 'WARNING'],
  [2, 'ERROR'],
  [0, 'ERROR'],
])('a disk with %i of 100 bytes free is %s', (free, status) => {
  expect(checkSpace('/data', { total: 100, free }).status).toBe(status);
});

it('checkDisk reads the disk of a folder that does not exist yet', () => {
  const { detail } = checkDisk(path.join(folder, 'none', 'below'));
  expect(detail).toMatch(/^\d+\.\d GiB \(\d+ %\) free on the disk of /);
});

it('checkDataFolder reports whether the data folder exists', () => {
  const missingFolder = path.join(folder, 'missing');
  expect(checkDataFolder({ dataDir: missingFolder }).detail).toContain(
    'The first start creates it',
  );
  expect(checkDataFolder({ dataDir: folder }).detail).toContain('can be read and written');
});

describe('checkMasterKeyFile', () => {
  const settings = { masterKey: undefined, production: false, dataDir: folder };

  it('reports a missing key as an error in production only', () => {
    expect(checkMasterKeyFile(settings).status).toBe('OK');
    expect(checkMasterKeyFile({ ...settings, production: true }).status).toBe('ERROR');
    const masterKey = new Uint8Array(32);
    expect(checkMasterKeyFile({ ...settings, masterKey, production: true }).status).toBe('OK');
  });

  it.skipIf(process.platform === 'win32')('warns about a file that other users can read', () => {
    const file = path.join(folder, 'master.key');
    fs.writeFileSync(file, '', { mode: 0o600 });
    expect(checkMasterKeyFile(settings).status).toBe('OK');
    fs.chmodSync(file, 0o640);
    expect(checkMasterKeyFile(settings)).toMatchObject({
      ...{ status: 'WARNING', remedy: `Run chmod 600 ${file}.` },
    });
  });
});

it('checkProductionSettings requires an HTTPS URL and DATABASE_URL in production', () => {
  const settings = { dataDir: folder, masterKey: undefined, production: true };
  const productionSettings = { ...settings, publicUrl: undefined, databaseUrl: undefined };
  expect(checkProductionSettings({ ...productionSettings, production: false }).status).toBe('OK');
  expect(checkProductionSettings(productionSettings).detail).toMatch(
    /RAILHEAD_PUBLIC_URL.*DATABASE_URL/,
  );
  const completeSettings = {
    publicUrl: 'https://pay.example',
    databaseUrl: 'postgres://db/railhead',
  };
  expect(checkProductionSettings({ ...settings, ...completeSettings }).status).toBe('OK');
});
