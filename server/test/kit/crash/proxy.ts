// HAProxy in front of the servers of a test, with the configuration of docs/availability.md.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { vi } from 'vitest';
import { projectRoot } from '../../../src/runtime/config/root.ts';
import type { Running } from './server.ts';

const WAIT = { timeout: 60_000, interval: 50 };

export interface RunningProxy {
  /** The servers at the address of HAProxy. */
  readonly proxiedServer: Running;
  /** Messages of HAProxy, such as unavailable servers. */
  output(): string;
  stop(): void;
}

export function isProxyInstalled(): boolean {
  try {
    execFileSync('haproxy', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Finds a free port. */
async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The documented timeout of a check, and the timeout on a machine that also runs other tests. */
const CHECK_TIMES = ['timeout check 2s', 'timeout check 15s'] as const;

/** The configuration of the documentation, with the addresses of the test. */
function configuration(port: number, servers: readonly Running[]): string {
  const page = fs.readFileSync(path.join(projectRoot(), 'docs', 'availability.md'), 'utf8');
  const [, backend] = /```haproxy\n([\s\S]*?)```/.exec(page) ?? [];
  if (!backend?.includes(CHECK_TIMES[0]))
    throw new Error(`docs/availability.md has no haproxy block with \`${CHECK_TIMES[0]}\`.`);
  const hosts = servers.map(({ origin }) => new URL(origin).host);
  const configurationText = backend.replaceAll(/10\.0\.0\.([12]):4000/g, (_, index) =>
    (hosts[Number(index) - 1] ?? '').replace('localhost', '127.0.0.1'),
  );
  return [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout client 30s',
    '  timeout server 30s',
    'frontend api',
    `  bind 127.0.0.1:${port}`,
    '  default_backend railhead',
    configurationText.replace(...CHECK_TIMES),
  ].join('\n');
}

const statusOf = (address: string) =>
  fetch(address).then(
    ({ status }) => status,
    () => 0,
  );

/** Starts HAProxy in front of two servers. The configuration is written to `folder`. */
export async function startProxy(
  servers: readonly Running[],
  folder: string,
): Promise<RunningProxy> {
  const port = await freePort();
  const file = path.join(folder, 'haproxy.cfg');
  fs.writeFileSync(file, configuration(port, servers));
  const proxy: ChildProcess = spawn('haproxy', ['-W', '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  proxy.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const origin = `http://127.0.0.1:${port}`;
  const { credentials, child } = servers[0] as Running;
  const { pathname } = new URL(credentials.baseUrl);
  await vi.waitUntil(async () => (await statusOf(`${origin}/readyz`)) === 200, WAIT);
  return {
    proxiedServer: {
      child,
      origin,
      credentials: { ...credentials, baseUrl: `${origin}${pathname}` },
    },
    output: () => output,
    stop: () => void proxy.kill('SIGTERM'),
  };
}
