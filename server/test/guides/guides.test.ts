// Runs the pages of RUN_PAGES in bash, zsh or dash, with a real server and the programs curl, node,
// cat, grep and sleep. Each page has a separate platform in each shell. The printed output must equal
// the shown output, and each guide must restore the configuration of its platform.
// RAILHEAD_GUIDE_SHELLS=all also finds values that are shown as `…` although they never differ.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namingFor } from '../../src/catalog/naming.ts';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { type OperatorService, openOperator } from '../kit/app/operator-service.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { RUN_PAGES } from '../kit/guides/blocks.ts';
import {
  constantPlaceholders,
  linkPrograms,
  missingPrograms,
  programPath,
  type Result,
  runGuide,
  SHELL_NAMES,
  type Shell,
} from '../kit/guides/guide.ts';
import { type NodeService, openNode } from '../kit/guides/node.ts';

const START_TIMEOUT_MS = 120_000;
const GUIDE_TIMEOUT_MS = 300_000;
const README = path.join(projectRoot(), 'README.md');
const FILES = RUN_PAGES.map((page) => path.join(projectRoot(), page));
const GUIDES = RUN_PAGES.filter((page) => page.startsWith('docs/guides/'));
/**
 * The shell in which FILES_OF_THE_PROGRAMS run Node and the operator's command. All other runs use a
 * replacement for Node, which saves minutes. One shell is sufficient, because the functions at the
 * beginning of every guide are the same.
 */
const SHELL_OF_THE_PROGRAMS: Shell = 'bash';
const FILES_OF_THE_PROGRAMS = [
  'payouts.md',
  'provider-adapters.md',
  'provider-routing.md',
  'README.md',
];
/** Guides with fixed ports, which never run concurrently. */
const FILES_WITH_PORTS = ['provider-adapters.md'];
const SHELLS = SHELL_NAMES.filter((shell) => missingPrograms(shell).length === 0);
/** Runs every guide in every shell. By default only the README runs in every shell. */
const RUNS_EVERY_SHELL = process.env.RAILHEAD_GUIDE_SHELLS === 'all';

let dataFolder: DataFolder;
let runningServer: Running;
let tempFolder: string;
let bin: string;
/** Folder of programs with a replacement for Node. */
let clients: string;
let service: OperatorService;
let node: NodeService;

const environment = () => ({
  TMPDIR: os.tmpdir(),
  RAILHEAD_DATA_DIR: dataFolder.dir,
  RAILHEAD_CONSOLE: 'off',
});

/** Runs an operator command and returns its JSON output. */
// biome-ignore lint/suspicious/noExplicitAny: replies of every shape.
async function runOperator(...argv: string[]): Promise<any> {
  const { code, out, err } = await service.run([...argv, '--json']);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

interface Credentials {
  readonly platformId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** All settings of a platform that a guide may change. */
async function configurationOf({ platformId, clientId, clientSecret }: Credentials) {
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
  const reply = await fetch(`${runningServer.credentials.baseUrl}/config`, {
    headers: { authorization },
  });
  const configuration = {
    config: await reply.json(),
    platform: await runOperator('platform', 'show', platformId),
    limits: await runOperator('platform', 'limits', platformId),
    cards: await runOperator('platform', 'cards', platformId),
    tokens: await runOperator('token', 'list', '--platform', platformId),
  };
  const { config, platform } = configuration;
  // Setting the current value also counts as a change.
  for (const resource of [config, platform]) delete resource.updatedAt;
  return configuration;
}

/**
 * Returns all shells for the README. With RUNS_EVERY_SHELL, guides without fixed ports also run in
 * all shells. Otherwise a guide that uses Node runs in bash, and the shells alternate between the
 * other guides.
 */
function shellsOf(file: string): readonly Shell[] {
  const hasPorts = FILES_WITH_PORTS.includes(path.basename(file));
  if ((RUNS_EVERY_SHELL && !hasPorts) || file === README) return SHELLS;
  const usesPrograms = FILES_OF_THE_PROGRAMS.includes(path.basename(file));
  const nextShell = SHELLS[FILES.indexOf(file) % SHELLS.length];
  return SHELLS.filter((shell) => shell === (usesPrograms ? SHELL_OF_THE_PROGRAMS : nextShell));
}

const hasPrograms = (file: string, shell: Shell) =>
  shell === SHELL_OF_THE_PROGRAMS && FILES_OF_THE_PROGRAMS.includes(path.basename(file));

/** Creates a folder like the checkout after `npm start`, with the credentials of the platform. */
function checkoutOf(shell: Shell, file: string, createdCredentials: Credentials): string {
  const cwd = path.join(tempFolder, `${shell}-${path.basename(file, '.md')}`);
  fs.mkdirSync(path.join(cwd, '.railhead'), { recursive: true });
  const credentials = JSON.stringify({ ...runningServer.credentials, ...createdCredentials });
  fs.writeFileSync(path.join(cwd, '.railhead', 'credentials.json'), credentials);
  const link = (name: string) =>
    fs.symlinkSync(path.join(projectRoot(), name), path.join(cwd, name));
  link('node_modules');
  if (hasPrograms(file, shell)) for (const name of ['examples', 'scripts', 'server']) link(name);
  return cwd;
}

async function runInPlatform(file: string, shell: Shell): Promise<Result> {
  // The platform has the name that a first start assigns.
  const createdCredentials: Credentials = await runOperator(
    'platform',
    'create',
    '--name',
    'Sandbox',
  );
  const configurationBefore = await configurationOf(createdCredentials);
  const result = await runGuide(file, {
    shell,
    bin: hasPrograms(file, shell) ? bin : clients,
    cwd: checkoutOf(shell, file, createdCredentials),
    env: environment(),
    limitMs: GUIDE_TIMEOUT_MS - 20_000,
  });
  expect(await configurationOf(createdCredentials), 'the configuration of the platform').toEqual(
    configurationBefore,
  );
  return result;
}

/** Values that are equal in all shells of a test run and differ between servers and days. */
function differingValues(): RegExp {
  const { port } = new URL(runningServer.origin);
  const today = new Date().toISOString().slice(0, 10);
  // Two shells at the same point may receive a reply in the same millisecond.
  return new RegExp(`^${port}$|${port}/|${today}|T[\\d:.]{12}Z$|^[0-9a-f]{128}$`);
}

beforeAll(async () => {
  dataFolder = createDataFolder('guides');
  tempFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-guides-'));
  if (SHELLS.length === 0) return;
  bin = linkPrograms(tempFolder);
  runningServer = await dataFolder.start();
  service = await openOperator(environment());
  node = await openNode(tempFolder, programPath('curl') as string, service);
  clients = linkPrograms(tempFolder, 'clients', node.writeProgram);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await node?.close();
  await service?.close();
  await dataFolder.remove();
  fs.rmSync(tempFolder, { recursive: true, force: true });
}, 60_000);

describe('guides', () => {
  it.for(SHELL_NAMES)('can run in %s', (shell, { skip }) => {
    const missingNames = missingPrograms(shell);
    skip(missingNames.length > 0, `guides in ${shell} need ${missingNames.join(' and ')}`);
    expect(SHELLS).toContain(shell);
  });

  it.concurrent.for(FILES.map((file) => [path.basename(file), file] as const))(
    '%s prints the shown output in its shells',
    { timeout: GUIDE_TIMEOUT_MS },
    async ([, file], { skip }) => {
      skip(SHELLS.length === 0, 'no shell to run guides in');
      const results = await Promise.all(shellsOf(file).map((shell) => runInPlatform(file, shell)));
      expect(results.flatMap(({ problems }) => problems)).toEqual([]);
      const values = results.map((result) => result.values);
      expect(constantPlaceholders(values, differingValues())).toEqual([]);
    },
  );

  it('are linked from the README', () => {
    const readme = fs.readFileSync(README, 'utf8');
    expect(GUIDES.filter((name) => !readme.includes(name))).toEqual([]);
  });
});

describe('the page about existing clients', () => {
  const text = fs.readFileSync(path.join(projectRoot(), 'docs', 'clients.md'), 'utf8');

  it('names the API, each client and the setting', () => {
    const names = ['Grid API', 'CLI', 'TypeScript SDK', '0.7.0', 'front end', 'wallet demo'];
    const missingNames = [...names, 'RAILHEAD_SERVICE_WORD=Grid'].filter(
      (name) => !text.includes(name),
    );
    expect(missingNames).toEqual([]);
  });

  it('shows names with the service name prefix', () => {
    const pairs = [...text.matchAll(/`([\w-]+)`\s+becomes\s+`([\w-]+)`/g)];
    const naming = namingFor('Grid');
    expect(pairs).not.toEqual([]);
    expect(pairs.map(([, neutralName = '']) => naming.apiName(neutralName))).toEqual(
      pairs.map(([, , value]) => value),
    );
  });
});
