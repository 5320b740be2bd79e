// Runs the commands of docs/guides/providers-walk.md in bash. This process runs the commands of the
// operator and serves the API over HTTP. The Python adapter has the clock of the server, which the
// test advances.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../src/http/server.ts';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { DAY, startProduction } from '../kit/app/production.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { blocksOf, PROVIDERS_WALKTHROUGH } from '../kit/guides/blocks.ts';
import { programPath } from '../kit/guides/guide.ts';

const markdown = readFileSync(path.join(projectRoot(), PROVIDERS_WALKTHROUGH), 'utf8');
const python = programPath('python3') ?? '';
const service = openForFile(startProduction);
const folder = mkdtempSync(path.join(os.tmpdir(), 'walkthrough-'));
const clockFile = path.join(folder, 'clock');
const END_OF_BLOCK = '\x1e';
let control: http.Server;
let bash: ChildProcess | undefined;

/** Python with the clock of the server. */
const PYTHON = `#!/bin/sh
exec ${python} -B -c '
import os, runpy, sys, time
clock = time.time
time.time = lambda: clock() + float(open(os.environ["WALK_CLOCK"]).read())
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
' "$@"
`;

/** Shell functions that the commands of the guide call. */
const FUNCTIONS = `set -eu
railhead-server() { printf '%s\\0' "$@" | curl -sS --fail-with-body --data-binary @- "$CONTROL/command"; }
python3() { sh ${folder}/python3 "$@"; }
advance() { curl -sS --fail-with-body --data "$1" "$CONTROL/advance"; }
`;

/** Replaces the file atomically, because the adapter may read it at any time. */
function setClock(): void {
  const offset = (service.app.effects.now() - Date.now()) / 1_000;
  writeFileSync(`${clockFile}.new`, String(offset));
  renameSync(`${clockFile}.new`, clockFile);
}

/** Work of the server, which runs sequentially. */
let serverWork: Promise<unknown> = Promise.resolve();
const runSequentially = <R>(work: () => Promise<R>): Promise<R> => {
  const result = serverWork.then(work);
  serverWork = result.catch(() => undefined);
  return result;
};

async function handleRequest(request: http.IncomingMessage, response: http.ServerResponse) {
  const body = await textOf(request);
  if (request.url === '/advance') {
    await runSequentially(() => service.app.advance(Number(body) * DAY, 600_000));
    // Runs the statement requests that became due at the end of the last day.
    await runSequentially(() => service.app.advance(60_000));
    return void response.end();
  }
  const { code, out, err } = await runSequentially(() =>
    service.run(...body.split('\0').slice(0, -1)),
  );
  response.writeHead(code === 0 ? 200 : 500).end(code === 0 ? out : err);
}

beforeAll(async () => {
  const { effects } = service.app;
  const { set } = effects;
  effects.set = (time) => {
    set(time);
    setClock();
  };
  setClock();
  writeFileSync(path.join(folder, 'python3'), PYTHON);
  control = http.createServer((request, response) => void handleRequest(request, response));
  control.listen(0, '127.0.0.1');
  await once(control, 'listening');
});
afterAll(() => {
  try {
    // Also stops adapters that a failed test has left running.
    if (bash?.pid) process.kill(-bash.pid, 'SIGKILL');
  } catch {
    // All processes have exited.
  }
  control.close();
  rmSync(folder, { recursive: true });
});

const blocks = blocksOf(PROVIDERS_WALKTHROUGH, markdown).filter(({ language }) =>
  ['sh', 'text'].includes(language),
);

/** Days to advance before the block. */
function daysBefore(index: number): number {
  const lines = markdown.split('\n');
  const startLine = blocks[index - 1]?.line ?? 0;
  const betweenText = lines.slice(startLine, blocks[index]?.line).join('\n');
  return Number(/<!-- test: advance (\d+) days -->/.exec(betweenText)?.[1] ?? 0);
}

function scriptOf(port: number): string {
  const commands = blocks.flatMap(({ language, text }, index) =>
    language === 'sh'
      ? [...(daysBefore(index) ? [`advance ${daysBefore(index)}`] : []), text, "printf '\\036'"]
      : [],
  );
  return [FUNCTIONS, ...commands]
    .join('\n')
    .replaceAll('/tmp/acme', path.join(folder, 'acme'))
    .replaceAll('9300', String(port));
}

/** The expected output of each block of commands. */
const expectedOutputs = blocks.flatMap(({ language }, index) => {
  const nextBlock = blocks[index + 1];
  return language === 'sh' ? [nextBlock?.language === 'text' ? nextBlock.text : ''] : [];
});

describe.skipIf(python === '')('the guide', () => {
  it('shows the actual output', async () => {
    const origin = await service.app.server.listen({ host: '127.0.0.1', port: 0 });
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const shell = spawn('bash', ['--noprofile', '--norc', '-c', scriptOf(port)], {
      cwd: projectRoot(),
      detached: true,
      env: {
        PATH: process.env.PATH,
        RAILHEAD_URL: `${origin}${BASE_PATH}`,
        CONTROL: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
        WALK_CLOCK: clockFile,
      },
    });
    bash = shell;
    const exit = once(shell, 'exit');
    const output = Promise.all([textOf(shell.stdout), textOf(shell.stderr)]);
    let isRunning = true;
    const clockAdvance = (async () => {
      while (isRunning) {
        await runSequentially(() => service.app.advance(1_000));
        await sleep(200);
      }
    })();
    const [code] = await exit;
    isRunning = false;
    await clockAdvance;
    const [out, err] = await output;
    expect({ out: out.split(END_OF_BLOCK).slice(0, -1), err }).toEqual({
      out: expectedOutputs,
      err: '',
    });
    expect(code).toBe(0);
  }, 180_000);
});
