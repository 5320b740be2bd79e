// Questions on a terminal. The input of a secret is not shown.
import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliError, EXIT } from '../exit.ts';

export const isInteractive = (): boolean =>
  process.stdin.isTTY === true && process.stderr.isTTY === true;

export async function ask(question: string, { isSecret = false } = {}): Promise<string> {
  process.stderr.write(question);
  const output = new Writable({
    write(chunk, _encoding, finish) {
      if (!isSecret) process.stderr.write(chunk);
      finish();
    },
  });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const stop = new AbortController();
  lines.on('SIGINT', () => stop.abort());
  try {
    return (await lines.question('', { signal: stop.signal })).trim();
  } catch {
    throw new CliError('Canceled.', { exitCode: EXIT.interrupted });
  } finally {
    lines.close();
    if (isSecret) process.stderr.write('\n');
  }
}

export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(`${question} [y/N] `));
}
