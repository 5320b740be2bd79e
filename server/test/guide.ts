// Runs a guide: all its `sh` fences in order, in one bash that ends at the first command that fails. The
// script is the guide itself with every other line left empty, so bash counts lines as the reader does.
// A `js` fence is a file that its first line names, in a comment: it is written where the guide has come to,
// for the commands below to run. A `text` fence shows lines that what ran before it must have printed: in
// this order, others between them, blanks not counted, and `…` for whatever differs from run to run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../src/runtime/root.ts';

/** Stands before the number of a line in what bash prints. */
const MARK = '\x1e';

export interface Guide {
  readonly script: string;
  /** What the fence that begins at line `after` must have printed. */
  readonly expected: readonly { line: number; after: number; fragments: readonly string[] }[];
}

// `at` is the line of the last command outside functions, which is where a reader has to look; line 1 is
// this very prelude, whose traps count as commands too.
const PRELUDE = [
  'set -euo pipefail',
  'shopt -s expand_aliases',
  `trap '[ $LINENO = 1 ] || at=$LINENO' DEBUG`,
  `trap 'code=$?; [ $code = 0 ] || printf "\\036%s\\n" "\${at-}" >&2' EXIT`,
  `trap 'exit 124' TERM`,
].join('; ');

const END_OF_FILE = 'END_OF_FILE';

/** The command that takes the lines of a `js` fence, of which this is the first. */
function fileFrom(first = ''): string {
  const [, name] = /^\/\/ ([\w./-]+)$/.exec(first) ?? [];
  if (!name) throw new Error('a js fence begins with the name of its file');
  return `cat > ${name} <<'${END_OF_FILE}'`;
}

export function readGuide(markdown: string): Guide {
  const expected: { line: number; after: number; fragments: string[] }[] = [];
  let language: string | undefined;
  let after = 0;
  const script = markdown.split('\n').map((text, index, lines) => {
    const [, opened] = /^```(.*)$/.exec(text) ?? [];
    if (opened !== undefined) {
      const before = language;
      language = before === undefined ? opened.trim() : undefined;
      if (before === 'js') return END_OF_FILE;
      if (language === 'js') return fileFrom(lines[index + 1]);
      if (language === 'text') expected.push({ line: index + 1, after, fragments: [] });
      if (language !== 'sh') return '';
      after = index + 1;
      return `printf '\\n\\036%s\\n' ${after}`;
    }
    if (language === 'text' && text.trim()) expected.at(-1)?.fragments.push(text);
    return language === 'sh' || language === 'js' ? text : '';
  });
  if (language !== undefined) throw new Error('a fence is not closed');
  if (script[0]) throw new Error('a guide begins with its title');
  return { script: [PRELUDE, ...script.slice(1)].join('\n'), expected };
}

const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The first fragment that is not in the output where it should be. */
export function missing(output: string, fragments: readonly string[]): string | undefined {
  const text = plain(output);
  let from = 0;
  return fragments.find((fragment) => {
    const parts = plain(fragment).split('…');
    const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*?');
    const found = new RegExp(pattern).exec(text.slice(from));
    if (found) from += found.index + found[0].length;
    return !found;
  });
}

/** What was printed by the fence that begins at a line. */
function printedBy(out: string, line: number): string {
  const [, rest = ''] = out.split(`\n${MARK}${line}\n`);
  return rest.split(`\n${MARK}`)[0] as string;
}

const PROGRAMS = ['bash', 'cat', 'curl', 'grep', 'sleep'];

/** Where a program is, as a shell would find it. */
const which = (name: string) =>
  (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find((file) => fs.existsSync(file));

/** What this machine lacks to run a guide. */
export const absentPrograms = (): string[] => PROGRAMS.filter((name) => !which(name));

/** Makes a folder below `base` with all the programs that a guide may use, and answers it. */
export function gatherPrograms(base: string): string {
  const bin = path.join(base, 'bin');
  fs.mkdirSync(bin);
  for (const name of PROGRAMS) fs.symlinkSync(which(name) as string, path.join(bin, name));
  fs.symlinkSync(process.execPath, path.join(bin, 'node'));
  const command = path.join(projectRoot(), 'server', 'bin', 'railhead.js');
  const call = `#!${which('bash')}\nexec '${process.execPath}' '${command}' "$@"\n`;
  fs.writeFileSync(path.join(bin, 'railhead'), call, { mode: 0o755 });
  return bin;
}

export interface Place {
  /** The only folder programs are found in. */
  readonly bin: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly limitMs: number;
}

/** Runs the guide; answers what is wrong with it, each complaint with the line, or nothing. */
export async function runGuide(file: string, place: Place): Promise<string[]> {
  const name = path.basename(file);
  const guide = readGuide(fs.readFileSync(file, 'utf8'));
  fs.writeFileSync(path.join(place.cwd, name), guide.script);
  const child = spawn(path.join(place.bin, 'bash'), ['--noprofile', '--norc', name], {
    cwd: place.cwd,
    env: { ...place.env, PATH: place.bin },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk.toString();
  });
  /** The whole group: a guide may have left a server of its own running. */
  const end = (signal: 'SIGTERM' | 'SIGKILL') => {
    try {
      process.kill(-(child.pid as number), signal);
    } catch {
      // Nobody is left.
    }
  };
  const closed = once(child, 'close');
  const late = setTimeout(() => end('SIGTERM'), place.limitMs);
  await once(child, 'exit');
  clearTimeout(late);
  end('SIGKILL');
  await closed;
  if (child.exitCode !== 0) {
    const [err, line = '?'] = said.err.split(MARK);
    const how = child.exitCode === 124 ? 'did not end' : `failed with ${child.exitCode}`;
    return [`${name}:${line.trim()} ${how}\n${err}${said.out.slice(-2_000)}`];
  }
  return guide.expected.flatMap(({ line, after, fragments }) => {
    const printed = printedBy(said.out, after);
    const absent = missing(printed, fragments);
    return absent === undefined ? [] : [`${name}:${line} no "${absent}" in\n${printed}`];
  });
}
