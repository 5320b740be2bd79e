// `npm run test:sdk:runtimes [-- NAME…]`: runs the packed package as ES modules and CommonJS with a
// separate server, and prints a table. npm installs the runtimes, which are four versions of Node.js,
// Deno and Bun.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sdk = path.join(root, 'packages', 'sdk');
const programs = path.join(sdk, 'test', 'runtimes');
const START_MS = 120_000;
const RUN_MS = 120_000;

const system = { linux: 'linux', darwin: 'darwin', win32: 'win' }[process.platform];
const suffix = process.platform === 'win32' ? '.exe' : '';

const nodeOf = (version) => ({
  name: `node${version.split('.')[0]}`,
  spec: `npm:node-${system}-${process.arch}@${version}`,
  program: (folder) => [path.join(folder, 'bin', `node${suffix}`)],
});

const RUNTIMES = [
  ...['20.20.2', '22.23.3', '24.21.0', '26.12.1'].map(nodeOf),
  {
    name: 'deno',
    spec: '2.9.6',
    program: (folder) => [path.join(folder, '..', '.bin', 'deno'), 'run', '--allow-all'],
  },
  {
    name: 'bun',
    spec: '1.4.5',
    program: (folder) => [path.join(folder, '..', '.bin', 'bun'), 'run'],
  },
];

const print = (line) => process.stderr.write(`${line}\n`);

function selectRuntimes(names) {
  const unknownNames = names.filter((name) => !RUNTIMES.some((each) => each.name === name));
  if (unknownNames.length === 0) {
    return RUNTIMES.filter(({ name }) => names.length === 0 || names.includes(name));
  }
  const knownNames = RUNTIMES.map(({ name }) => name);
  print(`Unknown runtimes: ${unknownNames.join(', ')}. Available: ${knownNames.join(', ')}.`);
  return process.exit(2);
}

/** Creates a project with the packed package and the runtimes. */
function createProject(folder, runtimes) {
  const packArgs = ['pack', '--json', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(execFileSync('npm', packArgs, { cwd: sdk, encoding: 'utf8' }));
  const dependencies = Object.fromEntries(runtimes.map(({ name, spec }) => [name, spec]));
  dependencies['railhead-sdk'] = `file:${filename}`;
  const manifest = { name: 'runtimes', private: true, type: 'module', dependencies };
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  // Install scripts are enabled, because those of Deno and Bun download their programs.
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit' });
  for (const name of fs.readdirSync(programs)) {
    fs.copyFileSync(path.join(programs, name), path.join(folder, name));
  }
}

async function startServer(dataDir) {
  const args = [path.join(root, 'scripts', 'start.mjs'), '--data-dir', dataDir, '--port', '0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  for (let waitedMs = 0; !output.includes('Try it:'); waitedMs += 50) {
    if (child.exitCode !== null || waitedMs > START_MS) {
      child.kill('SIGKILL');
      throw new Error(`The server does not start: ${output}`);
    }
    await sleep(50);
  }
  return child;
}

function credentialsIn(dataDir) {
  const text = fs.readFileSync(path.join(dataDir, 'credentials.json'), 'utf8');
  const { baseUrl, clientId, clientSecret, webhookPublicKey } = JSON.parse(text);
  return {
    RAILHEAD_URL: baseUrl,
    RAILHEAD_CLIENT_ID: clientId,
    RAILHEAD_CLIENT_SECRET: clientSecret,
    WEBHOOK_PUBLIC_KEY: webhookPublicKey,
  };
}

/** Runs both programs. Returns a row of the table. */
function testRuntime({ name, program }, folder, credentials) {
  const [file, ...args] = program(path.join(folder, 'node_modules', name));
  const env = { ...process.env, ...credentials };
  const run = (programArgs) =>
    spawnSync(file, programArgs, { cwd: folder, env, encoding: 'utf8', timeout: RUN_MS });
  const version = run(['--version']).stdout?.split('\n')[0] ?? '';
  const results = ['program.mjs', 'program.cjs'].map((program) => {
    const workFolder = fs.mkdtempSync(path.join(folder, `${name}-`));
    const { status, stdout, stderr, error } = run([...args, program, workFolder]);
    if (status === 0) return 'passes';
    print(`${name} ${program}:\n${stdout ?? ''}${stderr ?? ''}${error ?? ''}`);
    return 'fails';
  });
  return { name: `${name} ${version.replace(/^\D*/, '').split(' ')[0]}`, results };
}

const runtimes = selectRuntimes(process.argv.slice(2));
const build = spawnSync(process.execPath, [path.join(sdk, 'scripts', 'run.mjs'), 'build'], {
  stdio: 'inherit',
});
if (build.status !== 0) process.exit(build.status ?? 1);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sdk-runtimes-'));
let server;
try {
  print('Installing the runtimes …');
  createProject(folder, runtimes);
  const dataDir = path.join(folder, 'data');
  server = await startServer(dataDir);
  const rows = runtimes.map((each) => testRuntime(each, folder, credentialsIn(dataDir)));
  console.log('| Runtime | ES modules | CommonJS |\n| --- | --- | --- |');
  for (const { name, results } of rows) console.log(`| ${name} | ${results.join(' | ')} |`);
  if (rows.some(({ results }) => results.includes('fails'))) process.exitCode = 1;
} finally {
  if (server) {
    const exit = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await exit;
  }
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
