#!/usr/bin/env -S node --max-semi-space-size=64
// The command `railhead-server`: `start`, and the nouns of docs/command.md. The output of the
// installation and the build is written to standard error. With `--json`, standard output therefore
// contains only one JSON value.
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../../scripts/build.mjs';
import { ensureInstalled } from '../../scripts/install.mjs';

if (process.argv[2] === 'help' && process.argv[3] === 'start')
  process.argv.splice(2, 2, 'start', '--help');
if (process.argv[2] === 'start') {
  process.argv.splice(2, 1);
  await import('../../scripts/start.mjs');
} else {
  await ensureInstalled({ dev: false });
  const builtFiles = await ensureBuilt();
  const { runProcess } = await import(pathToFileURL(builtFiles.operator).href);
  await runProcess();
}
