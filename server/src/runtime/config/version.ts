// The version of this installation. A release has its version with the commit as build metadata
// (`0.2.0+1d37f1e3c0aa`). A checkout has the version in package.json.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isRelease, projectRoot, RELEASE_FILE } from './root.ts';

export function installedVersion(): string {
  const file = path.join(projectRoot(), isRelease() ? RELEASE_FILE : 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

/** Printed by `--version`. */
export const versionLine = (): string => `railhead-server ${installedVersion()}`;
