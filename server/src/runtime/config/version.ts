// The version of this installation, as package.json states it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from './root.ts';

export function installedVersion(): string {
  const file = path.join(projectRoot(), 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

/** Printed by `--version`. */
export const versionLine = (): string => `railhead-server ${installedVersion()}`;
