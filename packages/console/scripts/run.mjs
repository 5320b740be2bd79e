// `node packages/console/scripts/run.mjs build|dev|types` installs the packages of the console and
// generates its client from operator-openapi.json. `build` builds the console into
// packages/console/dist, and a server shows it at /console. `npm start` runs `build` in the
// background. `dev` starts the development server, and `types` checks the types.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { hasLockedPackages } from '../../../scripts/install.mjs';
import { generate } from './generate.mjs';
import { DOCUMENT, dist, folder, isBuilt, progress, report, STAMP, sourceHash } from './state.mjs';

const print = (line) => process.stderr.write(`${line}\n`);

function step(text, isFailed = false) {
  print(text);
  report(text, { failed: isFailed });
}

function fail(text) {
  step(text, true);
  process.exit(1);
}

function run(program, args, env = {}) {
  const options = { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } };
  const { status, error } = spawnSync(program, args, options);
  if (error) print(error.message);
  return status ?? 1;
}

const hasTypes = () => fs.existsSync(path.join(folder, 'node_modules', 'openapi-typescript'));

function install(withDev) {
  if (hasLockedPackages(folder, { dev: withDev })) return;
  step('Installing the packages of the console …');
  const omitArgs = withDev ? [] : ['--omit=dev'];
  const commonArgs = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  if (run('npm', ['ci', ...omitArgs, ...commonArgs]) !== 0)
    fail('The packages of the console cannot be installed. See the output of the command.');
}

async function generateClient() {
  const document = JSON.parse(fs.readFileSync(DOCUMENT, 'utf8'));
  await generate({ document, folder: path.join(folder, 'src', 'generated'), types: hasTypes() });
}

async function build() {
  if (isBuilt()) return;
  install(false);
  step('Building the console …');
  const hash = sourceHash();
  await generateClient();
  const vite = path.join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
  // The previous build is shown until the new build is complete.
  const nextDist = path.join(folder, 'dist-next');
  const args = [vite, 'build', '--outDir', nextDist, '--logLevel', 'warn'];
  // Another NODE_ENV, for example of a test program, would build the development form of React.
  if (run(process.execPath, args, { NODE_ENV: 'production' }) !== 0)
    fail('The console cannot be built. Run `npm run console` to see why.');
  fs.writeFileSync(path.join(nextDist, STAMP), JSON.stringify({ hash }));
  fs.rmSync(dist, { recursive: true, force: true });
  fs.renameSync(nextDist, dist);
  fs.rmSync(progress, { force: true });
  print('The console is built. A server shows it at /console.');
}

async function checkTypes() {
  install(true);
  await generateClient();
  const tsc = path.join(folder, '..', '..', 'node_modules', 'typescript7', 'bin', 'tsc');
  process.exit(run(process.execPath, [tsc, '-p', folder]));
}

async function dev() {
  install(true);
  await generateClient();
  const vite = path.join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
  process.exit(run(process.execPath, [vite, ...process.argv.slice(3)]));
}

const commands = { build, dev, types: checkTypes };
const command = commands[process.argv[2] ?? ''];
if (!command) {
  print('Usage: node packages/console/scripts/run.mjs build | dev | types');
  process.exit(2);
}
await command();
