// Runs Prometheus from the Debian package `prometheus`, for tests of rules and dashboards.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const isProgram = (name: string) => spawnSync(name, ['--version']).status === 0;

export const isPrometheusInstalled = (): boolean =>
  isProgram('prometheus') && isProgram('promtool');

/** Output and exit code of `promtool`. */
export function promtool(folder: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

interface Series {
  metric: Record<string, string>;
  value: [number, string];
}

export interface RunningPrometheus {
  /** The series of an instant query. Throws the error of Prometheus. */
  query(expression: string): Promise<Series[]>;
  /** A resource of the API, such as `rules`. */
  get(resource: string): Promise<unknown>;
  stop(): Promise<void>;
}

const START_MS = 30_000;

async function waitUntilReady(origin: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const isReady = await fetch(`${origin}/-/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady) return;
    if (child.exitCode !== null)
      throw new Error('Prometheus exited. Check prometheus.yml with promtool.');
    if (performance.now() > deadline)
      throw new Error(`Prometheus is not ready after ${START_MS} ms`);
    await sleep(100);
  }
}

/** Starts Prometheus on loopback. The configuration is written to the folder. */
export async function startPrometheus(
  folder: string,
  configuration: string,
  port: number,
): Promise<RunningPrometheus> {
  const file = path.join(folder, 'prometheus.yml');
  fs.writeFileSync(file, configuration);
  const address = `127.0.0.1:${port}`;
  const flags = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn('prometheus', flags, { stdio: 'ignore' });
  const whenEnded = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const origin = `http://${address}`;
  await waitUntilReady(origin, child);

  async function get(resource: string): Promise<unknown> {
    const response = await fetch(`${origin}/api/v1/${resource}`);
    const body = (await response.json()) as { status: string; error?: string; data: unknown };
    if (body.status !== 'success') throw new Error(body.error);
    return body.data;
  }

  return {
    get,
    async query(expression) {
      const data = await get(`query?query=${encodeURIComponent(expression)}`);
      return (data as { result: Series[] }).result;
    },
    async stop() {
      child.kill('SIGTERM');
      await whenEnded;
    },
  };
}
