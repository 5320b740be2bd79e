// A replacement for Node in guides, because starting Node needed a quarter of the processor time of
// all tests. The process of the tests runs the most frequent commands: `node -p` that extracts
// fields of a reply, and the operator's command. The replacement program sends them to this process
// with curl. Node runs all other commands.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import vm from 'node:vm';
import type { OperatorService } from '../app/operator-service.ts';

export interface NodeService {
  /** Writes a program that replaces Node. */
  writeProgram(file: string): void;
  close(): Promise<void>;
}

/** Path of the operator's command in the checkout. */
const OPERATOR = path.join('server', 'bin', 'railhead-server.js');

/** Start of the code that reads a reply from standard input. */
const READ_REPLY = "it = JSON.parse(require('fs').readFileSync(0, 'utf8'));";

const programOf = (node: string, curl: string, socket: string) => `#!/bin/sh
request() { '${curl}' -sS --fail-with-body --unix-socket '${socket}' "$@"; }
case "$1 $2" in
"-p ${READ_REPLY.replaceAll('"', '\\"')}"*)
  request --data-urlencode "code=$2" --data-urlencode input@- http://localhost/evaluate
  exit ;;
"${OPERATOR} "*)
  shift
  for argument do
    set -- "$@" --data-urlencode "argument=$argument"
    shift
  done
  result=$(request "$@" http://localhost/operator) || exit
  eval "$result" ;;
esac
exec '${node}' "$@"
`;

/** Output of `node -p` for the code with this standard input. */
function evaluateCode(code: string, input: string): string {
  const modules = { fs: { readFileSync: () => input } };
  const require = (name: keyof typeof modules) => modules[name];
  const value: unknown = vm.runInNewContext(code, { require });
  return `${typeof value === 'string' ? value : inspect(value)}\n`;
}

const quoteForShell = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** Shell commands with the output and the exit code of the operator's command. */
async function replayOutput({ run }: OperatorService, argv: string[]): Promise<string> {
  const { code, out, err } = await run(argv);
  return `printf %s ${quoteForShell(out)}\nprintf %s ${quoteForShell(err)} >&2\nexit ${code}\n`;
}

/** Serves replacement programs over a socket in the folder. */
export async function openNode(
  folder: string,
  curl: string,
  operator: OperatorService,
): Promise<NodeService> {
  const socket = path.join(folder, 'node.sock');
  const server = http.createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    try {
      response.end(
        request.url === '/operator'
          ? await replayOutput(operator, form.getAll('argument'))
          : evaluateCode(form.get('code') ?? '', form.get('input') ?? ''),
      );
    } catch (error) {
      response.writeHead(400).end(`${String(error)}\n`);
    }
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    writeProgram: (file) =>
      fs.writeFileSync(file, programOf(process.execPath, curl, socket), { mode: 0o755 }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
