// `node packages/sdk/scripts/run.mjs generate|build|test`: `generate` installs the packages of the SDK
// and generates its types from openapi.json. `build` also builds ES modules and CommonJS. `test` also
// runs the tests with the kit of the server (`npm run test:sdk [-- FILES]`). With --built, `test` uses
// the last build.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, hasLockedPackages } from '../../../scripts/install.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sdk = path.join(root, 'packages', 'sdk');
const dist = path.join(sdk, 'dist');

const print = (line) => process.stderr.write(`${line}\n`);

function run(program, args, cwd = sdk) {
  const { status, error } = spawnSync(program, args, { cwd, stdio: 'inherit' });
  if (error) print(error.message);
  if (status !== 0) process.exit(status ?? 1);
}

/** Runs the compiler with a configuration. Exits with its code if it fails. */
function compile(config) {
  const tsc = path.join(sdk, 'node_modules', 'typescript', 'bin', 'tsc');
  const child = spawn(process.execPath, [tsc, '-p', config], { cwd: sdk, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.on('exit', (code) => (code === 0 ? resolve() : process.exit(code ?? 1)));
  });
}

async function generate() {
  if (!hasLockedPackages(sdk)) {
    print('Installing the build packages of the SDK …');
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    run('npm', args);
  }
  // The module is imported after the installation, because it needs these packages.
  const { generate: write } = await import('./generate.mjs');
  const { factory } = createRequire(path.join(sdk, 'package.json'))('typescript');
  const read = (name) => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'));
  const documents = {
    document: read('openapi.json'),
    providerDocument: read('docs/providers/openapi.json'),
  };
  await write({ ...documents, folder: path.join(sdk, 'src', 'generated'), factory });
}

/** Declarations import `.ts` files, which the package contains as `.js`. */
function renameInDeclarations(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.name.endsWith('.d.ts')) continue;
    const file = path.join(entry.parentPath, entry.name);
    const text = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, text.replaceAll(/(['"]\.{1,2}\/[\w./-]+)\.ts(['"])/g, '$1.js$2'));
  }
}

async function build() {
  await generate();
  fs.rmSync(dist, { recursive: true, force: true });
  await Promise.all(['esm', 'cjs'].map((kind) => compile(`tsconfig.${kind}.json`)));
  const types = { esm: 'module', cjs: 'commonjs' };
  for (const [kind, type] of Object.entries(types)) {
    const text = `${JSON.stringify({ type, sideEffects: false })}\n`;
    fs.writeFileSync(path.join(dist, kind, 'package.json'), text);
    renameInDeclarations(path.join(dist, kind));
  }
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(sdk, 'LICENSE'));
}

const [verb, ...commandArguments] = process.argv.slice(2);
const testArguments = commandArguments.filter((argument) => argument !== '--built');
if (!['generate', 'build', 'test'].includes(verb)) {
  print('Usage: node packages/sdk/scripts/run.mjs generate | build | test [--built] [FILES]');
  process.exit(2);
}
if (verb === 'generate') await generate();
else if (!commandArguments.includes('--built')) await build();
if (verb === 'test') {
  await ensureInstalled({ dev: true });
  await compile('tsconfig.json');
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const config = path.join(sdk, 'vitest.config.ts');
  run(process.execPath, [vitest, 'run', '--config', config, ...testArguments], root);
}
