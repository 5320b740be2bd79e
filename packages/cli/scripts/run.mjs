// `node packages/cli/scripts/run.mjs build|pack|test|kill`: installs the packages of packages/cli,
// generates its commands from openapi.json and bundles it with the SDK. `pack` also packs both
// packages. `test` also runs its tests (`npm run test:cli [-- FILES]`). `kill [RUNS]` runs the test
// that kills `listen` and the server, with this number of kills.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, hasLockedPackages } from '../../../scripts/install.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const cli = path.join(root, 'packages', 'cli');
const sdk = path.join(root, 'packages', 'sdk');
const dist = path.join(cli, 'dist');
const openapi = path.join(root, 'openapi.json');

const print = (line) => process.stderr.write(`${line}\n`);

function run(program, args, { cwd = cli, env = {}, stdout = 'inherit' } = {}) {
  const stdio = ['inherit', stdout, 'inherit'];
  const options = { cwd, stdio, env: { ...process.env, ...env } };
  const { status, error } = spawnSync(program, args, options);
  if (error) print(error.message);
  if (status !== 0) process.exit(status ?? 1);
}

/** The SDK is built by its own script, unless a build of this document exists. */
function ensureSdk() {
  const builtFile = path.join(sdk, 'dist', 'esm', 'index.js');
  const modifiedAt = (file) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (modifiedAt(builtFile) > modifiedAt(openapi)) return;
  run(process.execPath, [path.join(sdk, 'scripts', 'run.mjs'), 'build']);
}

/** External packages remain imports. The SDK becomes part of the program. */
async function bundle() {
  const { build } = createRequire(path.join(cli, 'package.json'))('esbuild');
  await build({
    entryPoints: [path.join(cli, 'src', 'railhead.ts')],
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    chunkNames: 'parts/[name]-[hash]',
    logLevel: 'warning',
  });
  fs.chmodSync(path.join(dist, 'railhead.js'), 0o755);
}

async function build() {
  if (!hasLockedPackages(cli)) {
    print('Installing the build packages of the command line …');
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  ensureSdk();
  fs.rmSync(dist, { recursive: true, force: true });
  const { generate } = await import('./generate.mjs');
  generate(JSON.parse(fs.readFileSync(openapi, 'utf8')), path.join(dist, 'api'));
  await bundle();
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(cli, 'LICENSE'));
}

function compile() {
  const tsc = path.join(cli, 'node_modules', 'typescript', 'bin', 'tsc');
  run(process.execPath, [tsc, '-p', 'tsconfig.json']);
}

function runTests(files, env = {}) {
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const config = path.join(cli, 'vitest.config.ts');
  run(process.execPath, [vitest, 'run', '--config', config, ...files], { cwd: root, env });
}

/** Whether the build is newer than all of its sources. */
function isBuilt() {
  const modifiedAt = (file) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [cli, sdk].flatMap((folder) =>
    ['src', 'scripts'].flatMap((name) =>
      fs
        .readdirSync(path.join(folder, name), { withFileTypes: true, recursive: true })
        .map((each) => path.join(each.parentPath, each.name)),
    ),
  );
  const builtAt = modifiedAt(path.join(dist, 'railhead.js'));
  return [...sources, openapi].every((file) => modifiedAt(file) < builtAt);
}

/** Packs the SDK and the command line into packages/dist, under names without a version. */
function pack() {
  const folder = path.join(root, 'packages', 'dist');
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, cwd] of Object.entries({ 'railhead-sdk': sdk, 'railhead-cli': cli })) {
    const { version } = JSON.parse(fs.readFileSync(path.join(cwd, 'package.json'), 'utf8'));
    // Scripts are disabled, because `prepack` would build both packages again.
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
    run('npm', args, { cwd, stdout: 'ignore' });
    fs.renameSync(path.join(folder, `${name}-${version}.tgz`), path.join(folder, `${name}.tgz`));
  }
}

const [verb, ...verbArgs] = process.argv.slice(2);
if (!['build', 'pack', 'test', 'kill'].includes(verb)) {
  print('Usage: node packages/cli/scripts/run.mjs build | pack | test [FILES] | kill [RUNS]');
  process.exit(2);
}
// A guide runs `pack` while other tests use the build.
if (verb !== 'pack' || !isBuilt()) await build();
if (verb === 'pack') pack();
if (verb === 'test' || verb === 'kill') await ensureInstalled({ dev: true });
if (verb === 'test') {
  compile();
  runTests(verbArgs);
}
if (verb === 'kill') runTests(['packages/cli/test/kill.test.ts'], { KILLS: verbArgs[0] ?? '50' });
