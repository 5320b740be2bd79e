// The operator's master key, which seals the keys of the installation. In production, a setting contains
// the key, names a file, or names a command that prints it, such as the client of a key management service.
// In development, a key is generated once and stored in the data folder. Its file is written under another
// name first, so that two concurrent starts use the same key.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Effects } from '../../kernel/effects.ts';
import { keyFrom } from '../config/settings.ts';
import { KEY_BYTES } from './crypto.ts';

const FILE = 'master.key';
const KEY_FORMAT = /^[0-9a-f]{64}\s*$/;

export const masterKeyError = (message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { name: 'MasterKeyError' });

const codeOf = (error: unknown) => (error as { code?: string }).code;

/** The path of the key of a data folder. */
export const masterKeyFile = (dataDir: string): string => path.join(dataDir, FILE);

/** The key in a file. Undefined without a file. Throws MasterKeyError with one line of text. */
export function readMasterKey(file: string): Uint8Array | undefined {
  try {
    const text = fs.readFileSync(file, 'utf8');
    if (!KEY_FORMAT.test(text))
      throw masterKeyError(`${file} does not contain a master key. Restore the file.`);
    return Buffer.from(text.trim(), 'hex');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw codeOf(error)
      ? masterKeyError(`${file} cannot be read: ${codeOf(error)}.`, error)
      : error;
  }
}

function generateKey(file: string, effects: Effects): void {
  const temporaryFile = `${file}.${Buffer.from(effects.random(8)).toString('hex')}`;
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const text = `${Buffer.from(effects.random(KEY_BYTES)).toString('hex')}\n`;
  fs.writeFileSync(temporaryFile, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    fs.linkSync(temporaryFile, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    fs.unlinkSync(temporaryFile);
  }
}

/** The key in the data folder, generated if absent. Throws MasterKeyError with one line of text. */
export function masterKeyIn(dataDir: string, effects: Effects): Uint8Array {
  const file = masterKeyFile(dataDir);
  const existingKey = readMasterKey(file);
  if (existingKey) return existingKey;
  try {
    generateKey(file, effects);
  } catch (error) {
    throw masterKeyError(`${file} cannot be written: ${codeOf(error)}.`, error);
  }
  return readMasterKey(file) as Uint8Array;
}

/** Configured sources of the key. At most one is set. */
export interface MasterKeySource {
  masterKey?: Uint8Array | undefined;
  masterKeyFile?: string | undefined;
  masterKeyCommand?: string | undefined;
}

const COMMAND_MS = 30_000;

function parseKey(text: string, source: string): Uint8Array {
  const key = keyFrom(text.trim());
  if (!key) throw masterKeyError(`${source} must contain 32 bytes in hex or base64.`);
  return key;
}

function textOfFile(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (cause) {
    throw masterKeyError(`${file} cannot be read: ${codeOf(cause)}.`, cause);
  }
}

/** Runs the command in a shell. The command writes errors to the error output of this process. */
function outputOf(command: string): string {
  try {
    return execFileSync('/bin/sh', ['-c', command], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: COMMAND_MS,
    });
  } catch (cause) {
    const { status } = cause as { status?: number | null };
    const reason =
      status == null ? 'did not complete within 30 s' : `failed with exit code ${status}`;
    // Thrown without the cause, which contains the output.
    throw masterKeyError(`The command for the master key ${reason}.`);
  }
}

/** The key of the settings. Undefined if none is set. Throws MasterKeyError with one line of text. */
export function configuredMasterKey(source: MasterKeySource): Uint8Array | undefined {
  const { masterKey, masterKeyFile: file, masterKeyCommand: command } = source;
  if (file !== undefined) return parseKey(textOfFile(file), file);
  if (command !== undefined) return parseKey(outputOf(command), 'The output of the command');
  return masterKey;
}

/** Whether a source of the key is configured. */
export const hasMasterKey = (source: MasterKeySource): boolean =>
  [source.masterKey, source.masterKeyFile, source.masterKeyCommand].some(
    (each) => each !== undefined,
  );
