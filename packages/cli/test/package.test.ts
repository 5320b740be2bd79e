// Tests the package as its users install it: packed, installed into an empty project and run there.
// Also follows the guide literally with the packed packages.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programPath, runGuide } from '../../../server/test/kit/guides/guide.ts';
import { startTestServer } from './kit/cli.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const cli = path.join(root, 'packages/cli');
const folder = mkdtempSync(path.join(os.tmpdir(), 'cli-package-'));
const server = startTestServer('package');
/** Cached packages need no network. */
const OFFLINE_FLAGS = ['--prefer-offline', '--no-audit', '--no-fund'];

let tarball = '';
let project = '';
beforeAll(() => {
  // Other tests use the build, which `prepack` would replace.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: cli, encoding: 'utf8' }));
  tarball = path.join(folder, filename);
  project = mkdtempSync(path.join(folder, 'project-'));
  writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
  execFileSync('npm', ['install', ...OFFLINE_FLAGS, tarball], { cwd: project });
}, 90_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const programFile = () => path.join(project, 'node_modules/.bin/railhead');

function run(...args: string[]) {
  const { baseUrl, clientId, clientSecret } = server.running.credentials;
  const env = {
    PATH: process.env.PATH,
    HOME: project,
    RAILHEAD_URL: baseUrl,
    RAILHEAD_CLIENT_ID: clientId,
    RAILHEAD_CLIENT_SECRET: clientSecret,
  };
  return spawnSync(programFile(), args, { cwd: project, encoding: 'utf8', env });
}

describe('the package', () => {
  it('runs from an empty project', () => {
    expect(run('--version').stdout).toBe('0.1.0\n');
    expect(run('trigger', 'kyc.approved').stdout).toContain('The customer is APPROVED.');
    expect(run('custmers').stderr).toContain('Did you mean customers?');
  });

  it('contains only expected files, and installs only its dependencies', () => {
    const names = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
    const unexpectedFiles = names.filter(
      (name) => !/^package\/(dist\/|package\.json|README\.md|LICENSE)/.test(name),
    );
    expect(unexpectedFiles).toEqual([]);
    const installedPackages = readdirSync(path.join(project, 'node_modules')).filter(
      (entry) => entry[0] !== '.',
    );
    expect(installedPackages.sort()).toEqual(['@jmespath-community', 'commander', 'railhead-cli']);
  });

  it('shows its help in less than 300 ms or 3.5 times the start time of Node.js', () => {
    const shortestMsOf = (start: () => unknown) => {
      const times = Array.from({ length: 5 }, () => {
        const startedAt = performance.now();
        start();
        return performance.now() - startedAt;
      });
      return Math.round(Math.min(...times));
    };
    const nodeMs = shortestMsOf(() => spawnSync(process.execPath, ['-e', '0']));
    const helpMs = shortestMsOf(() => run('--help'));
    console.info(`railhead --help: ${helpMs} ms, Node.js alone: ${nodeMs} ms`);
    // While other tests run, starting Node.js takes long.
    expect(helpMs).toBeLessThan(Math.max(300, 3.5 * nodeMs));
  });
});

const GUIDE = path.join(root, 'docs/guides/integration.md');
const PROGRAMS = [
  'bash',
  'sh',
  'node',
  'npm',
  'npx',
  'cat',
  'cp',
  'mkdir',
  'sleep',
  'grep',
  'env',
  'rm',
];

describe('the guide', () => {
  it('works as written', async () => {
    expect(existsSync(GUIDE)).toBe(true);
    const configFolder = mkdtempSync(path.join(folder, 'guide-'));
    const programFolders = PROGRAMS.map((name) =>
      path.dirname(programPath(name) ?? '/usr/bin/env'),
    );
    const { problems } = await runGuide(GUIDE, {
      shell: 'bash',
      bin: [...new Set(programFolders)].join(':'),
      cwd: root,
      limitMs: 180_000,
      env: {
        TMPDIR: folder,
        RAILHEAD_URL: server.running.credentials.baseUrl,
        CLIENT_ID: server.running.credentials.clientId,
        CLIENT_SECRET: server.running.credentials.clientSecret,
        XDG_CONFIG_HOME: configFolder,
        XDG_STATE_HOME: configFolder,
        npm_config_prefer_offline: 'true',
        npm_config_cache: npmCache(),
      },
    });
    expect(problems).toEqual([]);
  }, 200_000);
});

function npmCache(): string {
  return execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
}

it('the README of the package has at least ten commands, which exist', () => {
  const text = readFileSync(path.join(cli, 'README.md'), 'utf8');
  const commands = [...text.matchAll(/^railhead (\S+)/gm)].map(([, name = '']) => name);
  expect(new Set(commands).size).toBeGreaterThanOrEqual(10);
  for (const name of new Set(commands)) {
    const { status, stderr } = run(name, '--help');
    expect([name, status, stderr]).toEqual([name, 0, '']);
  }
});
