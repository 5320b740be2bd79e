// `npm run deploy:image [-- --archive FILE --base FOLDER]`: builds the image of a release with
// deploy/container/Dockerfile and runs it as in production. The container is unprivileged, has a read-only
// root and uses a real PostgreSQL. debootstrap and the Node that runs this script form the base image, so
// no registry is needed. Requires root on Debian, and `apt-get install buildah podman runc debootstrap
// postgresql`.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: { archive: { type: 'string' }, base: { type: 'string' } },
});
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-image-'));
const scratchPath = (...names) => path.join(scratch, ...names);
const storage = [
  '--root',
  scratchPath('storage'),
  '--runroot',
  scratchPath('run'),
  '--storage-driver',
  'vfs',
];
const BASE = 'localhost/railhead-base';
const IMAGE = 'localhost/railhead';
const MAX_BYTES = 250e6;
const START_S = 60;
/** User and group of PostgreSQL, which does not run as root. */
const UNPRIVILEGED_ID = 65_534;

const print = (line) => console.log(line);

function run(program, args, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64e6,
    ...options,
  });
  if (error) throw new Error(`${program}: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout.trim();
}
const buildah = (...args) => run('buildah', [...storage, ...args]);
const podman = (...args) =>
  run('podman', [...storage, '--runtime', '/usr/sbin/runc', '--cgroup-manager=cgroupfs', ...args]);

/** Path of the archive: the flag, or an archive built from this checkout. */
function createArchive() {
  if (values.archive) return path.resolve(values.archive);
  run(
    process.execPath,
    [path.join(root, 'scripts', 'release.mjs'), '--server-only', '--out', scratchPath('release')],
    {
      cwd: root,
    },
  );
  const name = fs
    .readdirSync(scratchPath('release'))
    .find((file) => /linux-.*\.tar\.gz$/.test(file));
  return scratchPath('release', name);
}

/** An image with Debian and Node, as the Dockerfile expects it. `--base` is a folder with Debian. */
function createBase() {
  const folder = values.base ? path.resolve(values.base) : scratchPath('base');
  const packages = '--include=libstdc++6,libatomic1,ca-certificates';
  if (!values.base) run('debootstrap', ['--variant=minbase', packages, 'bookworm', folder]);
  const container = buildah('from', 'scratch');
  buildah('add', '--quiet', container, folder, '/');
  buildah('copy', '--quiet', container, process.execPath, '/usr/local/bin/node');
  buildah('commit', '--quiet', '--rm', container, BASE);
}

function buildImage(file) {
  fs.mkdirSync(scratchPath('context'), { recursive: true });
  fs.copyFileSync(file, scratchPath('context', path.basename(file)));
  const buildArguments = [`NODE=${BASE}`, `ARCHIVE=${path.basename(file)}`];
  const settings = buildArguments.flatMap((argument) => ['--build-arg', argument]);
  const dockerfile = path.join(root, 'deploy', 'container', 'Dockerfile');
  // The OCI format has no health check.
  const buildFlags = ['--isolation=chroot', '--pull-never', '--format', 'docker'];
  const args = ['bud', ...buildFlags, ...settings, '--file', dockerfile];
  buildah(...args, '--tag', IMAGE, scratchPath('context'));
  const bytes = Number(podman('image', 'inspect', '--format', '{{.Size}}', IMAGE));
  print(`image: ${(bytes / 1e6).toFixed(0)} MB`);
  if (bytes > MAX_BYTES) throw new Error(`the image is larger than ${MAX_BYTES / 1e6} MB`);
}

/** Starts PostgreSQL with its socket in `sockets`. Returns a function that stops it. */
async function startPostgres(sockets) {
  const binaries = run('bash', ['-c', 'ls -d /usr/lib/postgresql/*/bin | tail -1']);
  const data = scratchPath('data');
  for (const folder of [data, sockets]) fs.mkdirSync(folder, { mode: 0o777 });
  fs.chmodSync(scratch, 0o755);
  run('chown', ['-R', `${UNPRIVILEGED_ID}:${UNPRIVILEGED_ID}`, data, sockets]);
  const unprivilegedOptions = {
    uid: UNPRIVILEGED_ID,
    gid: UNPRIVILEGED_ID,
    cwd: data,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  };
  run(
    path.join(binaries, 'initdb'),
    ['-D', data, '-U', 'railhead', '-A', 'trust', '-E', 'UTF8'],
    unprivilegedOptions,
  );
  const flags = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${sockets}`];
  const access = ['-c', 'unix_socket_permissions=0777'];
  const server = spawn(path.join(binaries, 'postgres'), ['-D', data, ...flags, ...access], {
    ...unprivilegedOptions,
    stdio: 'ignore',
  });
  const exit = new Promise((resolve) => server.once('exit', resolve));
  const createDatabase = () =>
    spawnSync('psql', [
      '-h',
      sockets,
      '-U',
      'railhead',
      'postgres',
      '-c',
      'create database railhead',
    ]);
  for (let attempt = 0; createDatabase().status !== 0; attempt++) {
    if (attempt === 100) throw new Error('PostgreSQL accepted no connection within 20 s');
    await sleep(200);
  }
  return async () => {
    server.kill('SIGINT');
    await exit;
  };
}

/** Sends a request from within the container. Returns the status and the body. */
const request = (name, address) => {
  const script = `fetch('http://127.0.0.1:4000${address}').then(async (r) => console.log(r.status, await r.text()))`;
  return podman('exec', name, 'node', '-e', script);
};

async function waitUntilReady(name) {
  const startMs = performance.now();
  while (performance.now() - startMs < START_S * 1_000) {
    await sleep(250);
    try {
      if (request(name, '/readyz').startsWith('200')) return (performance.now() - startMs) / 1_000;
    } catch {
      // The server does not listen yet.
    }
  }
  throw new Error(`the server was not ready within ${START_S} s: ${podman('logs', name)}`);
}

async function testServer(sockets) {
  const name = 'railhead-test';
  const key = randomBytes(32).toString('hex');
  const database = 'postgres://railhead@localhost/railhead?host=/sockets';
  const limits = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096'];
  const sandbox = [
    '--read-only',
    '--tmpfs=/tmp',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
  ];
  const settings = { DATABASE_URL: database, RAILHEAD_MASTER_KEY: key, RAILHEAD_S3_BUCKET: '' };
  const env = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const volume = ['--volume', `${sockets}:/sockets`];
  podman(
    'run',
    '--detach',
    '--name',
    name,
    '--network=none',
    ...limits,
    ...sandbox,
    ...volume,
    ...env,
    IMAGE,
  );
  try {
    print(`ready after ${(await waitUntilReady(name)).toFixed(1)} s, with the first migrations`);
    print(
      `identity: ${podman('exec', name, 'node', '-e', 'console.log(process.getuid(), process.version)')}`,
    );
    const expectations = {
      '/healthz': '200',
      '/metrics': '200',
      '/docs/': '200',
      '/2025-10-13/config': '401',
    };
    for (const [address, status] of Object.entries(expectations)) {
      const reply = request(name, address);
      if (!reply.startsWith(status))
        throw new Error(`${address} must return ${status}: ${reply.slice(0, 200)}`);
    }
    const write =
      "try { require('fs').writeFileSync('/opt/x', '') } catch (e) { console.log(e.code) }";
    const writeError = podman('exec', name, 'node', '-e', write);
    if (!['EROFS', 'EACCES'].includes(writeError))
      throw new Error(`the root of the container is writable: ${writeError}`);
    podman('healthcheck', 'run', name);
    const dryRunOutput = podman(
      'exec',
      name,
      'node',
      '/opt/railhead/bin/railhead-server',
      'migrate',
      '--dry-run',
    );
    print(`migrate --dry-run: ${dryRunOutput.split('\n')[0]}`);
    const startMs = performance.now();
    podman('stop', '--time', '20', name);
    const code = podman('inspect', '--format', '{{.State.ExitCode}}', name);
    print(
      `stopped by SIGTERM after ${((performance.now() - startMs) / 1_000).toFixed(1)} s, exit code ${code}`,
    );
    if (code !== '0')
      throw new Error(`the server stopped with exit code ${code}: ${podman('logs', name)}`);
  } finally {
    podman('rm', '--force', '--ignore', name);
  }
}

let stopPostgres = async () => undefined;
try {
  const file = createArchive();
  createBase();
  buildImage(file);
  stopPostgres = await startPostgres(scratchPath('sockets'));
  await testServer(scratchPath('sockets'));
} finally {
  await stopPostgres();
  fs.rmSync(scratch, { recursive: true, force: true });
}
