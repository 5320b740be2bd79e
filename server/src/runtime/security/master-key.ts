// The operator's master key, which seals every secret that must be readable again. In production it
// is a setting only. In development a key is generated once and kept in the data folder with its
// database; it is written completely under another name first, so that two processes that start at
// once use the same one.
import fs from 'node:fs';
import path from 'node:path';
import type { Effects } from '../../kernel/effects.ts';
import { KEY_BYTES } from './crypto.ts';

const FILE = 'master.key';
const KEY_FORMAT = /^[0-9a-f]{64}\s*$/;

const masterKeyError = (message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { name: 'MasterKeyError' });

const codeOf = (error: unknown) => (error as { code?: string }).code;

/** Where the key of a data folder is. */
export const masterKeyFile = (dataDir: string): string => path.join(dataDir, FILE);

/** The key in a file; undefined if there is no file. Throws MasterKeyError with one plain line. */
export function readMasterKey(file: string): Uint8Array | undefined {
  try {
    const text = fs.readFileSync(file, 'utf8');
    if (!KEY_FORMAT.test(text)) throw masterKeyError(`${file} does not contain a master key.`);
    return Buffer.from(text.trim(), 'hex');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw codeOf(error)
      ? masterKeyError(`${file} cannot be read: ${codeOf(error)}.`, error)
      : error;
  }
}

function makeKey(file: string, effects: Effects): void {
  const temporary = `${file}.${Buffer.from(effects.random(8)).toString('hex')}`;
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const text = `${Buffer.from(effects.random(KEY_BYTES)).toString('hex')}\n`;
  fs.writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    fs.linkSync(temporary, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    fs.unlinkSync(temporary);
  }
}

/** The key in the data folder, generated if absent. Throws MasterKeyError with one plain line. */
export function masterKeyIn(dataDir: string, effects: Effects): Uint8Array {
  const file = masterKeyFile(dataDir);
  const existing = readMasterKey(file);
  if (existing) return existing;
  try {
    makeKey(file, effects);
  } catch (error) {
    throw masterKeyError(`${file} cannot be written: ${codeOf(error)}.`, error);
  }
  return readMasterKey(file) as Uint8Array;
}
