// The version of this installation, as package.json states it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from './root.ts';

/** Printed by `--version`. */
export function versionLine(): string {
  const file = path.join(projectRoot(), 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return `railhead-server ${version}`;
}
