// Runs the built program in separate processes, with a separate home folder, against a server
// process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll } from 'vitest';
import {
  createDataFolder,
  type DataFolder,
  type Running,
} from '../../../../server/test/kit/crash/server.ts';
import { type Client, createClient } from '../../../sdk/src/index.ts';

export const PROGRAM = path.resolve(import.meta.dirname, '../../dist/railhead.js');

interface Result {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Cli {
  /** Home and current folder. */
  readonly home: string;
  readonly env: Record<string, string>;
  /** Starts the program without waiting for its exit. */
  start(args: readonly string[], env?: Record<string, string>): ChildProcess;
  run(
    args: readonly string[],
    options?: { input?: string; env?: Record<string, string> },
  ): Promise<Result>;
  /** The printed JSON. Rejects if the command fails. */
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape.
  json(...args: string[]): Promise<any>;
  remove(): void;
}

/** A folder without configuration. */
export function createEmptyHome(env: Record<string, string> = {}): Cli {
  const home = mkdtempSync(path.join(os.tmpdir(), 'railhead-cli-'));
  const defaultEnv = { PATH: process.env.PATH ?? '', HOME: home, ...env };
  const start: Cli['start'] = (args, processEnv = {}) =>
    spawn(process.execPath, [PROGRAM, ...args], {
      cwd: home,
      env: { ...defaultEnv, ...processEnv },
    });
  const run: Cli['run'] = async (args, { input = '', env: processEnv } = {}) => {
    const child = start(args, processEnv);
    const output = collect(child);
    child.stdin?.end(input);
    const [code] = await once(child, 'close');
    return { code, out: output.out, err: output.err };
  };
  return {
    home,
    env: defaultEnv,
    start,
    run,
    async json(...args) {
      const { code, out, err } = await run([...args, '--json']);
      if (code !== 0) throw new Error(`railhead ${args.join(' ')}: ${code}\n${out}${err}`);
      return JSON.parse(out);
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** The output of a process, updated until it exits. */
export function collect(child: ChildProcess): { out: string; err: string } {
  const output = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    output.out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output.err += chunk.toString();
  });
  return output;
}

export interface TestServer {
  readonly dataFolder: DataFolder;
  running: Running;
  cli: Cli;
  client: Client;
}

/**
 * Outside the range of ephemeral ports, so that no other test uses the port while the server is
 * stopped. Ten ports for each process.
 */
let nextPort = 21_000 + (process.pid % 900) * 10;

/** Starts a separate server for the tests of a file, and configures the program with its credentials. */
export function startTestServer(name: string): TestServer {
  const dataFolder = createDataFolder(`cli-${name}`);
  const state = { dataFolder } as TestServer;
  beforeAll(async () => {
    const port = String(nextPort++);
    state.running = await dataFolder.start(['--port', port]);
    const { baseUrl, clientId, clientSecret } = state.running.credentials;
    state.client = createClient({ baseUrl, clientId, clientSecret });
    state.cli = createEmptyHome({
      RAILHEAD_URL: baseUrl,
      RAILHEAD_CLIENT_ID: clientId,
      RAILHEAD_CLIENT_SECRET: clientSecret,
    });
  }, 90_000);
  afterAll(async () => {
    state.cli?.remove();
    await dataFolder.remove();
  }, 30_000);
  return state;
}

/** Waits until a condition is true. Throws after `ms` milliseconds. */
export async function waitUntil(
  description: string,
  condition: () => unknown,
  ms = 20_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`Timeout after ${ms} ms while waiting for ${description}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
