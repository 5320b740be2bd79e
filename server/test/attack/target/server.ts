// The attacked server: the process that `npm start` starts, on a separate data folder, with its
// memory, output and database.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../src/runtime/config/root.ts';
import { createDataFolder, type Running } from '../../kit/crash/server.ts';

const LOOPBACK_ONLY = path.join(projectRoot(), 'server/test/attack/target/loopback-only.mjs');

/** Most requests are sent without limits, so that they reach the operations. */
const WITHOUT_LIMITS = Object.fromEntries(
  ['', '_QUOTES', '_REFUSED', '_ADDRESS', '_BYTES'].map((name) => [
    `RAILHEAD_RATE_LIMIT${name}`,
    '0',
  ]),
);

export interface Target {
  port(): number;
  /** Credentials of the first platform, from the latest start. */
  credentials(): Running['credentials'];
  /** Whether the started process is running. */
  isRunning(): boolean;
  /** Bytes of resident memory of the process, or undefined where it cannot be read. */
  memory(): number | undefined;
  /** All output since the start. */
  output(): string;
  command(...argv: string[]): Promise<string>;
  database(): Promise<string>;
  /** Stops the server gracefully and starts it again, with the default rate limits. */
  restartWithLimits(): Promise<void>;
  /** Stops the server gracefully. Returns its exit code. */
  stop(): Promise<number | null>;
  remove(): Promise<void>;
}

export async function startTarget(): Promise<Target> {
  const folder = createDataFolder('attack');
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(LOOPBACK_ONLY).href}` };
  const earlierOutput: string[] = [];
  let server: Running;
  try {
    server = await folder.start([], { ...env, ...WITHOUT_LIMITS });
  } catch (error) {
    await folder.remove();
    throw error;
  }
  const outputOf = () => Object.values(folder.outputOf(server.child)).join('\n');

  async function stop(): Promise<number | null> {
    server.child.kill('SIGTERM');
    return (await folder.waitForExit(server.child)).code;
  }

  return {
    port: () => Number(new URL(server.origin).port),
    credentials: () => server.credentials,
    isRunning: () => server.child.exitCode === null && server.child.signalCode === null,
    memory() {
      if (process.platform !== 'linux') return undefined;
      const status = fs.readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1_024;
    },
    output: () => [...earlierOutput, outputOf()].join('\n'),
    command(...argv) {
      const program = path.join(projectRoot(), 'server', 'bin', 'railhead-server.js');
      const args = [program, ...argv, '--json', '--data-dir', folder.dir];
      return new Promise((resolve, reject) => {
        execFile(process.execPath, args, (error, stdout, stderr) =>
          error ? reject(new Error(`${argv.join(' ')}: ${stderr}`)) : resolve(stdout),
        );
      });
    },
    database: () => folder.database(),
    async restartWithLimits() {
      await stop();
      earlierOutput.push(outputOf());
      server = await folder.start([], env);
    },
    stop,
    remove: () => folder.remove(),
  };
}
