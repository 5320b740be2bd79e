// Runs a guide as a reader does who pastes it: each `sh` fence goes to the standard input of an interactive
// shell, the next one when the shell has answered. Interactive, because only there `#` begins no comment in
// zsh and `!` recalls history in bash and zsh; and through standard input, because a command that reads it
// takes the lines behind it, as it does in a terminal.
// A `js` fence is a file that its first line names in a comment; it is written where the guide has come to.
// A `text` fence is all that the `sh` fence before it prints, errors included; a fence without one prints
// nothing. `…` stands for one value that differs from run to run.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { cellsOf, layOut } from './columns.ts';

/** The shells that guides are written for, and how each is started without settings of its user. */
const SHELLS = {
  bash: ['--noprofile', '--norc', '--noediting', '-i'],
  zsh: ['-f', '-i', '-o', 'no_prompt_sp', '-o', 'no_prompt_cr'],
  dash: ['-i'],
} as const;

export type Shell = keyof typeof SHELLS;

export const SHELL_NAMES = Object.keys(SHELLS) as Shell[];

/** Printed around the exit code after a fence. */
const MARK = '\x1e';
const MARKED = new RegExp(`${MARK}(\\d+)${MARK}\n`);

/**
 * Also finds commands that fail without output, in the one shell that can report it inside
 * functions.
 */
const TRAP = `set -E; trap 'printf "failed: %s\\n" "$BASH_COMMAND" >&2' ERR`;

interface Shown {
  readonly line: number;
  readonly lines: readonly string[];
}

export interface Step {
  readonly language: 'sh' | 'js';
  /** Of the fence's first line of content. */
  readonly line: number;
  readonly lines: readonly string[];
  shown?: Shown;
}

export function readGuide(markdown: string): Step[] {
  const steps: Step[] = [];
  let into: string[] | undefined;
  let fenced = false;
  for (const [index, text] of markdown.split('\n').entries()) {
    const [, opened] = /^ *```(.*)$/.exec(text) ?? [];
    if (opened === undefined) {
      into?.push(text);
      continue;
    }
    fenced = !fenced;
    into = undefined;
    if (!fenced) continue;
    const language = opened.trim();
    const line = index + 2;
    if (language === 'sh' || language === 'js') {
      into = [];
      steps.push({ language, line, lines: into });
    }
    if (language !== 'text') continue;
    const step = steps.findLast((each) => each.language === 'sh');
    if (!step || step.shown)
      throw new Error(`${line}: a text fence belongs to the sh fence before`);
    into = [];
    step.shown = { line, lines: into };
  }
  if (fenced) throw new Error('a fence is not closed');
  return steps;
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The values that `…` stands for where the text is as shown. */
export function valuesIn(text: string, shown: string): string[] | undefined {
  const pattern = shown.split('…').map(literal).join('(.+?)');
  return new RegExp(`^${pattern}$`).exec(text)?.slice(1);
}

/** One `…` of a guide and what was printed in its place. */
interface Value {
  readonly line: number;
  readonly text: string;
}

interface Comparison {
  readonly values: Value[];
  /** The number of the first line that is not as shown. */
  readonly wrong?: number;
}

/** The values of a line whose cells are as shown; the gaps between them are `layOut`'s concern. */
function valuesOfCells(line: string, shown: string): string[] | undefined {
  const [cells, wanted] = [cellsOf(line), cellsOf(shown)];
  if (cells.length !== wanted.length || cells[0]?.start !== wanted[0]?.start) return undefined;
  const found = cells.map(({ text }, position) => valuesIn(text, wanted[position]?.text as string));
  return found.every((each) => each !== undefined) ? found.flat() : undefined;
}

/** Compares what a fence has printed with what the guide shows. */
export function compare(printed: string, step: Step): Comparison {
  const lines = printed === '' ? [] : printed.replace(/\n$/, '').split('\n');
  const { line: firstLine, lines: shown } = step.shown ?? { line: step.line, lines: [] };
  const values: Value[] = [];
  for (const [index, expected] of shown.entries()) {
    const line = lines[index];
    const found = line === undefined ? undefined : valuesOfCells(line, expected);
    if (!found) return { values, wrong: firstLine + index };
    values.push(...found.map((text) => ({ line: firstLine + index, text })));
  }
  const laidOut = layOut(lines.slice(0, shown.length), shown);
  const wrong = shown.findIndex((each, index) => each !== laidOut[index]);
  if (wrong !== -1) return { values, wrong: firstLine + wrong };
  return lines.length > shown.length ? { values, wrong: firstLine + shown.length } : { values };
}

const PROGRAMS = ['cat', 'curl', 'grep', 'sleep'];

/** Path of a program, as a shell would find it. */
export const which = (name: string) =>
  (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find((file) => fs.existsSync(file));

/** Missing requirements of this machine for a guide in a shell. */
export const absentPrograms = (shell: Shell): string[] =>
  [shell, ...PROGRAMS].filter((name) => !which(name));

/** Makes a folder below `base` with all the programs that a guide may use. */
export function gatherPrograms(
  base: string,
  folder = 'bin',
  addNode = (file: string) => fs.symlinkSync(process.execPath, file),
): string {
  const bin = path.join(base, folder);
  fs.mkdirSync(bin);
  for (const name of PROGRAMS) fs.symlinkSync(which(name) as string, path.join(bin, name));
  addNode(path.join(bin, 'node'));
  return bin;
}

interface GuideEnvironment {
  readonly shell: Shell;
  /** The only folder programs are found in. */
  readonly bin: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly limitMs: number;
}

export interface Result {
  /** Problems of the guide, each with its line. */
  readonly problems: string[];
  readonly values: Value[];
}

interface Session {
  readonly child: ChildProcess;
  /** Pastes lines; resolves with what they print and the exit code of the last, or none if it ended. */
  paste(lines: readonly string[]): Promise<{ printed: string; code?: number }>;
  /** Ends the shell and all that it has started. */
  end(): Promise<void>;
}

function openShell({ shell, bin, cwd, env, limitMs }: GuideEnvironment): Session {
  const command = [which(shell) as string, ...SHELLS[shell]].join(' ');
  const child = spawn('/bin/sh', ['-c', `exec ${command} 2>&1`], {
    cwd,
    env: { ...env, HOME: cwd, PATH: bin, HISTFILE: '', PS1: '', PS2: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
    // A separate process group: a guide may leave a server running.
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // Every process of the group has ended.
    }
  };
  let text = '';
  let look: () => void = () => undefined;
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    look();
  });
  // Result of pasting into a shell that has ended.
  child.stdin?.on('error', () => undefined);
  const closed = once(child, 'close').then(() => look());
  const late = setTimeout(end, limitMs);
  return {
    child,
    paste: (lines) =>
      new Promise((resolve) => {
        look = () => {
          const [whole, code] = MARKED.exec(text) ?? [];
          const over = child.exitCode !== null || child.signalCode !== null;
          if (whole === undefined) return over ? resolve({ printed: text }) : undefined;
          const at = text.indexOf(whole);
          const printed = text.slice(0, at);
          text = text.slice(at + whole.length);
          resolve({ printed, code: Number(code) });
        };
        const mark = `printf '\\036%s\\036\\n' "$?"`;
        child.stdin?.write(`${[...lines, mark].join('\n')}\n`);
        look();
      }),
    async end() {
      clearTimeout(late);
      end();
      await closed;
      child.stdout?.destroy();
    },
  };
}

function writeFile(cwd: string, lines: readonly string[]): void {
  const [, name] = /^\/\/ ([\w./-]+)$/.exec(lines[0] ?? '') ?? [];
  if (!name) throw new Error('a js fence begins with the name of its file');
  fs.writeFileSync(path.join(cwd, name), `${lines.join('\n')}\n`);
}

/** Follows a guide up to the first fence with a different output. */
async function follow(
  session: Session,
  steps: readonly Step[],
  place: GuideEnvironment,
): Promise<Result> {
  const values: Value[] = [];
  const failed = (line: number, what: string): Result => ({
    problems: [`${line} ${what}`],
    values,
  });
  // Messages of the shell about its own start belong to no fence.
  await session.paste(place.shell === 'bash' ? ['PS1=; PS2=', TRAP] : ['PS1=; PS2=']);
  for (const step of steps) {
    if (step.language === 'js') {
      writeFile(place.cwd, step.lines);
      continue;
    }
    const { printed, code } = await session.paste(step.lines);
    if (code === undefined) return failed(step.line, `did not end:\n${printed}`);
    const { values: found, wrong } = compare(printed, step);
    values.push(...found);
    if (wrong !== undefined) return failed(wrong, `is not what is printed:\n${printed}`);
    if (code !== 0) return failed(step.line, `ends with ${code}:\n${printed}`);
  }
  return { problems: [], values };
}

/** Runs the guide in a shell. */
export async function runGuide(file: string, place: GuideEnvironment): Promise<Result> {
  const steps = readGuide(fs.readFileSync(file, 'utf8'));
  const session = openShell(place);
  try {
    const { problems, values } = await follow(session, steps, place);
    const name = path.basename(file);
    return { problems: problems.map((each) => `${place.shell} ${name}:${each}`), values };
  } finally {
    await session.end();
  }
}

/**
 * Lines of a guide whose `…` stands for the same value in all runs; that value can be printed in
 * the guide.
 */
export function needlessIn(runs: readonly (readonly Value[])[], differs: RegExp): string[] {
  const [firstRun = [], ...others] = runs;
  if (others.length === 0) return [];
  const same = firstRun.filter(
    ({ text }, position) =>
      // Texts for people are shortened with the same character.
      text !== '…' && !differs.test(text) && others.every((each) => each[position]?.text === text),
  );
  return same.map(({ line, text }) => `${line} … is always ${text}`);
}
