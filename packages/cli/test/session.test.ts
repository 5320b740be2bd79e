// Sessions in a pseudo-terminal: width, colors, a mistyped name, completion, Ctrl+C, a confirmation
// and the login.
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterEach, describe, expect, it } from 'vitest';
import { createEmptyHome, PROGRAM, startTestServer, waitUntil } from './kit/cli.ts';

const execute = promisify(execFile);
const server = startTestServer('session');
const PROMPT = 'here> ';
const TAB = '\t';
const CTRL_C = '\u0003';
/** Time after which an interrupt is repeated. */
const INTERRUPT_MS = 1_000;

interface Terminal {
  readonly pty: IPty;
  /** Types a line and returns the output up to the next prompt. */
  enter(line: string): Promise<string>;
  /**
   * Sends interrupts until the shell has a prompt, because a shell that completes a word can miss
   * an interrupt.
   */
  interrupt(): Promise<void>;
  /** Types without Enter and returns the output as soon as it matches `pattern`. */
  type(text: string, pattern: RegExp): Promise<string>;
  screen(): string;
}

const openTerminals: IPty[] = [];
afterEach(() => {
  for (const terminal of openTerminals.splice(0)) terminal.kill();
});

const isInstalled = (shell: string) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(path.join(folder, shell)));

/** A folder of a local server, and a path with the program. */
function createCommandHome(): { HOME: string; PATH: string } {
  const { home } = createEmptyHome();
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  mkdirSync(path.join(home, '.railhead'));
  cpSync(
    path.join(server.dataFolder.dir, 'credentials.json'),
    path.join(home, '.railhead/credentials.json'),
  );
  const program = path.join(bin, 'railhead');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(program, 0o755);
  return { HOME: home, PATH: `${bin}:${process.env.PATH}` };
}

/** A shell in the folder of a local server, with the program on its path. */
async function openTerminal(columns: number, shell: 'bash' | 'zsh' = 'bash'): Promise<Terminal> {
  const { HOME, PATH } = createCommandHome();
  const args = shell === 'bash' ? ['--noprofile', '--norc', '-i'] : ['-f', '-i'];
  const env = { PATH, HOME, TERM: 'xterm-256color' };
  const prompt = { PS1: PROMPT, PROMPT, BASH_SILENCE_DEPRECATION_WARNING: '1' };
  const pty = spawn(shell, args, {
    name: 'xterm-256color',
    cols: columns,
    rows: 50,
    cwd: HOME,
    env: { ...env, ...prompt },
  });
  openTerminals.push(pty);
  let text = '';
  pty.onData((chunk) => {
    text += chunk;
  });
  const screenText = () => stripVTControlCharacters(text);
  await waitUntil('a prompt', () => screenText().includes(PROMPT));
  return {
    pty,
    screen: () => text,
    async enter(line) {
      text = '';
      pty.write(`${line}\r`);
      await waitUntil(
        `a prompt after ${line}`,
        () => screenText().trimEnd().endsWith(PROMPT.trimEnd()) && screenText().includes('\n'),
      );
      const lines = screenText().replaceAll('\r', '').split('\n');
      return lines.slice(1, -1).join('\n');
    },
    async interrupt() {
      text = '';
      let nextInterruptAt = 0;
      await waitUntil('a prompt after an interrupt', () => {
        if (screenText().includes(PROMPT)) return true;
        if (performance.now() < nextInterruptAt) return false;
        pty.write(CTRL_C);
        nextInterruptAt = performance.now() + INTERRUPT_MS;
        return false;
      });
    },
    async type(input, pattern) {
      text = '';
      pty.write(input);
      await waitUntil(`output that matches ${pattern}`, () => pattern.test(screenText()));
      return screenText();
    },
  };
}

const maxWidthOf = (text: string) => Math.max(...text.split('\n').map((line) => [...line].length));

describe.each([80, 120])('a session at %i columns', (columns) => {
  it('shows the results within the width of the terminal', async () => {
    const { enter, screen } = await openTerminal(columns);
    const help = await enter('railhead');
    expect(help).toContain('Usage: railhead COMMAND [OPTIONS]');
    expect(help).toContain('listen');
    expect(maxWidthOf(help)).toBeLessThanOrEqual(columns);
    const createOutput = await enter(
      'railhead customers create --customer-type INDIVIDUAL --full-name "Ada Lovelace of London and Surrey"',
    );
    expect(createOutput).toMatch(/^id +Customer:/m);
    const table = await enter('railhead customers list');
    expect(table.split('\n')[0]).toMatch(/^ID +/);
    expect(table).toMatch(/Customer:[0-9a-f-]{36} /);
    expect(maxWidthOf(table)).toBeLessThanOrEqual(columns);
    // The header row of the table is dim.
    expect(screen()).toContain('\u001b[2mID');
    const errorOutput = await enter('railhead custmers list');
    expect(errorOutput).toBe("Error: Unknown command 'custmers'\nDid you mean customers?");
    expect(screen()).toContain('\u001b[31mError:');
    expect(await enter('echo $?')).toBe('2');
    expect(await enter('NO_COLOR=1 railhead custmers')).toContain('Did you mean customers?');
    expect(screen()).not.toContain('\u001b[31m');
  });
});

describe('completion', () => {
  it('in bash completes commands, flags and values', async () => {
    const { enter, interrupt, type } = await openTerminal(80);
    expect(await enter('source <(railhead completion bash)')).toBe('');
    expect(await type(`railhead custo${TAB}`, /customers /)).toContain('railhead customers ');
    expect(await type(`cre${TAB}`, /create /)).toContain('create ');
    expect(await type(`--customer-t${TAB}`, /--customer-type /)).toContain('--customer-type ');
    expect(await type(`INDIV${TAB}`, /INDIVIDUAL /)).toContain('INDIVIDUAL ');
    await interrupt();
  });

  it('in zsh completes commands', async ({ skip }) => {
    skip(!isInstalled('zsh'), 'zsh is not installed.');
    const { enter, type } = await openTerminal(80, 'zsh');
    await enter('autoload -Uz compinit && compinit -u -D');
    await enter('source <(railhead completion zsh)');
    expect(await type(`railhead custo${TAB}`, /customers/)).toContain('customers');
  });

  it('in fish completes commands, flags and values', async ({ skip }) => {
    skip(!isInstalled('fish'), 'fish is not installed.');
    const { PATH, HOME } = createCommandHome();
    const options = { env: { PATH, HOME, TERM: 'dumb' }, cwd: HOME };
    // Prints the candidates of the Tab key for a line.
    const completionsOf = async (line: string) => {
      const script = `railhead completion fish | source; complete -C '${line}'`;
      const { stdout } = await execute('fish', ['--no-config', '-c', script], options);
      return stdout.trimEnd().split('\n');
    };
    expect(await completionsOf('railhead custo')).toEqual([
      expect.stringMatching(/^customers\t\w/),
    ]);
    expect(await completionsOf('railhead customers cre')).toEqual([
      expect.stringMatching(/^create\t\w/),
    ]);
    expect(await completionsOf('railhead customers create --customer-t')).toEqual([
      expect.stringMatching(/^--customer-type\t\w/),
    ]);
    expect(await completionsOf('railhead customers create --customer-type INDIV')).toEqual([
      'INDIVIDUAL',
    ]);
    expect(await completionsOf('railhead trigger payout.comp')).toEqual([
      expect.stringMatching(/^payout\.completed\t\w/),
    ]);
  });
});

describe('interactive commands', () => {
  it('stop on Ctrl+C', async () => {
    const { pty, enter, interrupt, type } = await openTerminal(100);
    await type('railhead listen\r', /Signing secret {2}whsec_/);
    await server.client.customers.createCustomer({ customerType: 'INDIVIDUAL', fullName: 'Ada' });
    await type('', /200 +0 ms {2}CUSTOMER\.KYC_APPROVED/);
    pty.write(CTRL_C);
    await type('', /Endpoint removed\.[\s\S]*here> /);
    expect(await enter('echo $?')).toBe('0');
    await type('railhead logs tail\r', /POST \/customers/);
    await interrupt();
    await type('railhead logs tail --failed -n 0\r', /\n/);
    // The command may begin to follow after the first request, so the request is repeated.
    const failingRequests = setInterval(
      () => server.client.customers.getCustomerById({ customerId: 'Customer:1' }).catch(() => {}),
      500,
    );
    const failedOutput = await type(
      '',
      /404 {2}GET \/customers\/\{customerId\}[\s\S]*railhead logs get/,
    ).finally(() => clearInterval(failingRequests));
    expect(failedOutput).not.toContain('POST /customers');
    await interrupt();
  });

  it('prompt before a removal, and hide the secret at the login', async () => {
    const { enter, type, screen } = await openTerminal(100);
    await type('railhead reset\r', /Remove all data .*\[y\/N\] /);
    expect(await enter('n')).toContain('Nothing was removed.');
    const { clientId, clientSecret } = server.running.credentials;
    await type('railhead login\r', /URL of the server \[http/);
    await type('\r', /Client ID: /);
    await type(`${clientId}\r`, /Client secret: /);
    expect(await enter(clientSecret)).toContain('Logged in to');
    expect(screen()).not.toContain(clientSecret);
  });
});
