#!/usr/bin/env -S node --max-semi-space-size=64
// The server's own command: `start`, and every noun of the operator. The output of installing and building
// is written to standard error, so that `--json` stays one JSON value on standard output.
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../../scripts/build.mjs';
import { ensureInstalled } from '../../scripts/install.mjs';

if (process.argv[2] === 'start') {
  process.argv.splice(2, 1);
  await import('../../scripts/start.mjs');
} else {
  await ensureInstalled({ dev: false });
  const builtFiles = await ensureBuilt();
  const { runProcess } = await import(pathToFileURL(builtFiles.operator).href);
  await runProcess();
}
