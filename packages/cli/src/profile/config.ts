// The file with the profiles. Only its owner can read it, because it contains secrets.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { CliError } from '../exit.ts';

export interface Profile {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface Config {
  /** Used if no profile is named. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const baseFolder = (name: string, fallback: readonly string[], env: NodeJS.ProcessEnv) =>
  env[name] || path.join(env.HOME || os.homedir(), ...fallback);

export const configFile = (env = process.env): string =>
  path.join(baseFolder('XDG_CONFIG_HOME', ['.config'], env), 'railhead', 'config.json');

/** Folder of the files of `listen`. */
export const stateFolder = (env = process.env): string =>
  path.join(baseFolder('XDG_STATE_HOME', ['.local', 'state'], env), 'railhead');

export function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${file} is not JSON.`, { hint: 'Correct the file, or delete it.' });
  }
}

/** Replaces a file atomically. Only its owner can read it. */
export function writePrivate(file: string, value: unknown): void {
  const temporaryFile = `${file}.${process.pid}`;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(temporaryFile, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(temporaryFile, file);
}

export function readConfig(file = configFile()): Config {
  const storedConfig = readJson(file) as Partial<Config> | undefined;
  return { ...storedConfig, profiles: storedConfig?.profiles ?? {} };
}

export const writeConfig = (config: Config, file = configFile()): void =>
  writePrivate(file, config);
