#!/usr/bin/env node
// The operator's command. Standard output is the command's own alone: what installing and building say goes
// to standard error, so that `--json` stays one JSON value.
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../../scripts/build.mjs';
import { ensureInstalled } from '../../scripts/install.mjs';

await ensureInstalled({ dev: false });
const built = await ensureBuilt();
const { runProcess } = await import(pathToFileURL(built.operator).href);
await runProcess();
