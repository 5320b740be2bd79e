// Creation and reading of the master key file.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemEffects } from '../config/system-effects.ts';
import { masterKeyIn } from './master-key.ts';

const effects = systemEffects();
let dataDir: string;

beforeEach(() => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-key-'));
});
afterEach(() => fs.rmSync(dataDir, { recursive: true }));

const folder = () => path.join(dataDir, 'data');

describe('masterKeyIn', () => {
  it('generates one key, readable by its owner only, and keeps it', () => {
    const key = masterKeyIn(folder(), effects);
    expect(key).toHaveLength(32);
    expect(masterKeyIn(folder(), effects)).toEqual(key);
    expect(fs.readdirSync(folder())).toEqual(['master.key']);
    const { mode } = fs.statSync(path.join(folder(), 'master.key'));
    if (process.platform !== 'win32') expect(mode & 0o777).toBe(0o600);
  });

  it('does not replace a file with other content', () => {
    masterKeyIn(folder(), effects);
    const file = path.join(folder(), 'master.key');
    fs.writeFileSync(file, 'something else');
    expect(() => masterKeyIn(folder(), effects)).toThrow(/does not contain a master key/);
    expect(fs.readFileSync(file, 'utf8')).toBe('something else');
  });

  it('reports in one line that the folder cannot be created', () => {
    fs.writeFileSync(folder(), 'a file');
    expect(() => masterKeyIn(folder(), effects)).toThrow(/cannot be (read|written): \w+\.$/);
  });
});
