// A release of this checkout for tests, built into a folder, unpacked, and started with Node alone.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../../../src/runtime/config/root.ts';
import type { Credentials } from '../crash/server.ts';

const START_MS = 60_000;
const POLL_MS = 5;

/** Files that a release needs. Built by `npm run docs` and `npm run console`. */
const BUILT_FILES = ['site/dist/packages.json', 'packages/console/dist/packages.json'];

/** Whether the site and the console are built. `.ci/run` builds and requires them. */
export const hasBuiltParts = (): boolean =>
  BUILT_FILES.every((name) => fs.existsSync(path.join(projectRoot(), name)));

/** Builds the archive and the package of the server. The site and the console must be built. */
export function buildRelease(out: string): void {
  const script = path.join(projectRoot(), 'scripts', 'release.mjs');
  const args = ['--built', '--server-only', '--uncommitted', '--out', out];
  execFileSync(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The file in `folder` with this suffix. */
export function fileIn(folder: string, suffix: string): string {
  const name = fs.readdirSync(folder).find((fileName) => fileName.endsWith(suffix));
  if (name === undefined) throw new Error(`${folder} contains no file *${suffix}.`);
  return path.join(folder, name);
}

/** Unpacks an archive and returns its only folder. */
export function unpack(archive: string, folder: string): string {
  fs.mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
  const [name = ''] = fs.readdirSync(folder);
  return path.join(folder, name);
}

/** An environment with Node as the only program, and a home that is empty. */
export function minimalEnvironment(folder: string): NodeJS.ProcessEnv {
  const [programs, home] = ['programs', 'home'].map((name) => path.join(folder, name));
  for (const directory of [programs, home] as string[])
    fs.mkdirSync(directory, { recursive: true });
  const node = path.join(programs as string, 'node');
  if (!fs.existsSync(node)) fs.symlinkSync(process.execPath, node);
  return { PATH: programs, HOME: home };
}

interface StartedRelease {
  readonly child: ChildProcess;
  readonly credentials: Credentials;
  /** Milliseconds between the start of the process and the first reply of the API. */
  readonly firstReplyMs: number;
}

const textOf = (file: string) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');

/** The credentials, once they differ from `earlierText`. Each start selects another port. */
async function readCredentials(file: string, earlierText: string, hasEnded: () => boolean) {
  for (let waitedMs = 0; waitedMs < START_MS && !hasEnded(); waitedMs += POLL_MS) {
    const text = textOf(file);
    if (text !== earlierText && text.endsWith('}\n')) return JSON.parse(text) as Credentials;
    await sleep(POLL_MS);
  }
  throw new Error('The server exited, or wrote no credentials within 60 s.');
}

export const authorizationOf = ({ clientId, clientSecret }: Credentials) =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

/**
 * Starts a server on any free port, with its data in `.railhead` of `cwd`. Sends one request, and
 * throws unless the reply is 200. `program` is its command without `start`.
 */
export async function startRelease(
  program: string,
  { cwd, env, flags = [] }: { cwd: string; env: NodeJS.ProcessEnv; flags?: readonly string[] },
): Promise<StartedRelease> {
  const file = path.join(cwd, '.railhead', 'credentials.json');
  const earlierText = textOf(file);
  const startedMs = performance.now();
  const child = spawn(program, ['start', '--port', '0', ...flags], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  try {
    const credentials = await readCredentials(file, earlierText, hasEnded);
    const headers = { authorization: authorizationOf(credentials) };
    const reply = await fetch(`${credentials.baseUrl}/platform/internal-accounts`, { headers });
    const firstReplyMs = performance.now() - startedMs;
    if (reply.status !== 200)
      throw new Error(
        `The first reply has the status ${reply.status}. The expected status is 200.`,
      );
    return { child, credentials, firstReplyMs };
  } catch (cause) {
    child.kill('SIGKILL');
    throw new Error(`The server of the release does not start: ${errors}`, { cause });
  }
}

/** Stops a server by its process ID and returns its exit code. */
export async function stopRelease({ child }: StartedRelease): Promise<number | null> {
  const whenEnded = once(child, 'close');
  child.kill('SIGTERM');
  await whenEnded;
  return child.exitCode;
}
