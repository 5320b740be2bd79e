// Creation of the master key file, and all sources of the key.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemEffects } from '../config/system-effects.ts';
import { configuredMasterKey, masterKeyIn } from './master-key.ts';

const effects = systemEffects();
let dataDir: string;

beforeEach(() => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-key-'));
});
afterEach(() => fs.rmSync(dataDir, { recursive: true }));

const folder = () => path.join(dataDir, 'data');

describe('masterKeyIn', () => {
  it('generates one permanent key, readable by its owner only', () => {
    const key = masterKeyIn(folder(), effects);
    expect(key).toHaveLength(32);
    expect(masterKeyIn(folder(), effects)).toEqual(key);
    expect(fs.readdirSync(folder())).toEqual(['master.key']);
    const { mode } = fs.statSync(path.join(folder(), 'master.key'));
    if (process.platform !== 'win32') expect(mode & 0o777).toBe(0o600);
  });

  it('rejects a file with other content and keeps it', () => {
    masterKeyIn(folder(), effects);
    const file = path.join(folder(), 'master.key');
    fs.writeFileSync(file, 'something else');
    expect(() => masterKeyIn(folder(), effects)).toThrow(/does not contain a master key/);
    expect(fs.readFileSync(file, 'utf8')).toBe('something else');
  });

  it('reports in one line a folder that cannot be created', () => {
    fs.writeFileSync(folder(), 'a file');
    expect(() => masterKeyIn(folder(), effects)).toThrow(/cannot be (read|written): \w+\.$/);
  });
});

describe('configuredMasterKey', () => {
  const HEX = 'ab'.repeat(32);
  const KEY = Buffer.from(HEX, 'hex');

  it('reads the setting, a file in hex or base64, and the output of a command', () => {
    expect(configuredMasterKey({})).toBeUndefined();
    expect(configuredMasterKey({ masterKey: KEY })).toEqual(KEY);
    const file = path.join(dataDir, 'key');
    for (const text of [HEX, `${HEX}\n`, KEY.toString('base64')]) {
      fs.writeFileSync(file, text);
      expect(configuredMasterKey({ masterKeyFile: file })).toEqual(KEY);
      const masterKeyCommand = `cat '${file}'`;
      expect(configuredMasterKey({ masterKeyCommand })).toEqual(KEY);
    }
  });

  it('reports a missing or invalid key in one line, without the output of the command', () => {
    const file = path.join(dataDir, 'key');
    expect(() => configuredMasterKey({ masterKeyFile: file })).toThrow(/cannot be read: ENOENT\.$/);
    fs.writeFileSync(file, 'short');
    const invalidKeyMessage = /must contain 32 bytes in hex or base64\.$/;
    expect(() => configuredMasterKey({ masterKeyFile: file })).toThrow(invalidKeyMessage);
    expect(() => configuredMasterKey({ masterKeyCommand: 'echo secret' })).toThrow(
      invalidKeyMessage,
    );
    expect(() => configuredMasterKey({ masterKeyCommand: 'echo secret; exit 3' })).toThrow(
      /^The command for the master key failed with exit code 3\.$/,
    );
  });
});
