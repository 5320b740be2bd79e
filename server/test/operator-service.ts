// The operator's command for tests that call it hundreds of times: this process runs it on one open
// installation, and a small client takes the place of the program. Starting the program costs 0.3 s of a
// core each time; the client costs what Node itself does.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { readConfig } from '../src/config.ts';
import { withSystem } from '../src/operator/cli/system.ts';
import type { System } from '../src/operator/cli/verb.ts';
import { main } from '../src/operator.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface OperatorService {
  run(argv: readonly string[]): Promise<Ran>;
  /** Writes a program that does what the operator's command does. */
  writeClient(file: string): void;
  close(): Promise<void>;
}

const clientOf = (socket: string) => `import net from 'node:net';
const socket = net.connect(${JSON.stringify(socket)});
let text = '';
socket.on('data', (chunk) => (text += chunk)).on('end', () => {
  const { code, out, err } = JSON.parse(text);
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = code;
});
socket.end(JSON.stringify(process.argv.slice(2)));
`;

/** Opens the installation of `env`; the socket is made in `folder`. */
export async function openOperator(
  env: Readonly<Record<string, string>>,
  folder: string,
): Promise<OperatorService> {
  const read = readConfig(env, []);
  if (!('config' in read)) throw new Error('the settings are not valid');
  let release: () => void = () => undefined;
  let closed = Promise.resolve();
  const system = await new Promise<System>((resolve, reject) => {
    closed = withSystem(read.config, (opened) => {
      resolve(opened);
      return new Promise<void>((done) => {
        release = done;
      });
    });
    closed.catch(reject);
  });
  async function run(argv: readonly string[]): Promise<Ran> {
    const ran = { out: '', err: '' };
    const code = await main(argv, {
      env,
      out: (text) => {
        ran.out += text;
      },
      err: (text) => {
        ran.err += text;
      },
      open: (_config, work) => work(system),
    });
    return { code, ...ran };
  }
  const socket = path.join(folder, 'operator.sock');
  const server = net.createServer({ allowHalfOpen: true }, (connection) => {
    let text = '';
    connection.on('data', (chunk) => {
      text += chunk;
    });
    connection.on('end', async () => connection.end(JSON.stringify(await run(JSON.parse(text)))));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    run,
    writeClient: (file) => {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, clientOf(socket));
      fs.writeFileSync(path.join(path.dirname(file), 'package.json'), '{ "type": "module" }');
    },
    async close() {
      await new Promise((resolve) => server.close(resolve));
      release();
      await closed;
    },
  };
}
