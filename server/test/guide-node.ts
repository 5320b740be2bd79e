// A stand-in for the `node -p` by which guides take fields out of replies: this process evaluates the code
// and the program is only curl. Starting Node thousands of times took a quarter of the processor time of all
// tests. One shell runs Node itself, so that what the guides say is also run as it stands.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import vm from 'node:vm';

export interface NodeService {
  /** Writes a program that does what Node does. */
  writeProgram(file: string): void;
  close(): Promise<void>;
}

/** How the code begins that reads a reply from standard input. */
const READS = "it = JSON.parse(require('fs').readFileSync(0, 'utf8'));";

const programOf = (node: string, curl: string, socket: string) => `#!/bin/sh
case "$1 $2" in
"-p ${READS.replaceAll('"', '\\"')}"*)
  exec '${curl}' -sS --fail-with-body --unix-socket '${socket}' \\
    --data-urlencode "code=$2" --data-urlencode input@- http://localhost/ ;;
esac
exec '${node}' "$@"
`;

/** What `node -p` prints for the code with this standard input. */
function printed(code: string, input: string): string {
  const modules = { fs: { readFileSync: () => input } };
  const require = (name: keyof typeof modules) => modules[name];
  const value: unknown = vm.runInNewContext(code, { require });
  return `${typeof value === 'string' ? value : inspect(value)}\n`;
}

/** Serves stand-ins over a socket in the folder. */
export async function openNode(folder: string, curl: string): Promise<NodeService> {
  const socket = path.join(folder, 'node.sock');
  const server = http.createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    try {
      response.end(printed(form.get('code') ?? '', form.get('input') ?? ''));
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
