// Runs a guide as if its commands were pasted. Each `sh` fence is written to the standard input of
// an interactive shell. A `js` fence is written to the file that its first line names. A `text`
// fence is the complete output of the preceding `sh` fence, in which `…` replaces a value that
// differs between runs.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { cellsOf, layOut } from './columns.ts';

/**
 * The shells of the guides, with arguments that exclude settings of the user. A shell is
 * interactive, because only then `#` starts no comment in zsh, and `!` expands history in bash and
 * zsh.
 */
const SHELLS = {
  bash: ['--noprofile', '--norc', '--noediting', '-i'],
  zsh: ['-f', '-i', '-o', 'no_prompt_sp', '-o', 'no_prompt_cr'],
  dash: ['-i'],
} as const;

export type Shell = keyof typeof SHELLS;

export const SHELL_NAMES = Object.keys(SHELLS) as Shell[];

/** Printed around the exit code after a fence. */
const MARK = '\x1e';
const MARKED_CODE = new RegExp(`${MARK}(\\d+)${MARK}\n`);

/** Reports commands that fail without output. Only bash supports this inside functions. */
const TRAP = `set -E; trap 'printf "failed: %s\\n" "$BASH_COMMAND" >&2' ERR`;

interface ShownOutput {
  readonly line: number;
  readonly lines: readonly string[];
}

export interface Step {
  readonly language: 'sh' | 'js';
  /** Line number of the first line of content of the fence. */
  readonly line: number;
  readonly lines: readonly string[];
  shownOutput?: ShownOutput;
}

export function readGuide(markdown: string): Step[] {
  const steps: Step[] = [];
  let fenceLines: string[] | undefined;
  let isInFence = false;
  for (const [index, text] of markdown.split('\n').entries()) {
    const [, openingFence] = /^ *```(.*)$/.exec(text) ?? [];
    if (openingFence === undefined) {
      fenceLines?.push(text);
      continue;
    }
    isInFence = !isInFence;
    fenceLines = undefined;
    if (!isInFence) continue;
    const language = openingFence.trim();
    const line = index + 2;
    if (language === 'sh' || language === 'js') {
      fenceLines = [];
      steps.push({ language, line, lines: fenceLines });
    }
    if (language !== 'text') continue;
    const step = steps.findLast((step) => step.language === 'sh');
    if (!step || step.shownOutput)
      throw new Error(
        `${line}: the text fence belongs to no sh fence, or to one that already has output`,
      );
    fenceLines = [];
    step.shownOutput = { line, lines: fenceLines };
  }
  if (isInFence) throw new Error('a fence is not closed. Add ``` after its last line');
  return steps;
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The values in place of `…`, or undefined if another part of the text differs. */
export function valuesIn(text: string, expectedText: string): string[] | undefined {
  const pattern = expectedText.split('…').map(escapeRegExp).join('(.+?)');
  return new RegExp(`^${pattern}$`).exec(text)?.slice(1);
}

/** One `…` of a guide with the printed value. */
interface Value {
  readonly line: number;
  readonly text: string;
}

interface Comparison {
  readonly values: Value[];
  /** Number of the first line that differs. */
  readonly wrongLine?: number;
}

/** The values of a line whose cells match. `layOut` handles the gaps between them. */
function valuesOfCells(line: string, expectedLine: string): string[] | undefined {
  const [cells, expectedCells] = [cellsOf(line), cellsOf(expectedLine)];
  if (cells.length !== expectedCells.length || cells[0]?.start !== expectedCells[0]?.start)
    return undefined;
  const values = cells.map(({ text }, position) =>
    valuesIn(text, expectedCells[position]?.text as string),
  );
  return values.every((value) => value !== undefined) ? values.flat() : undefined;
}

/** Compares the output of a fence with the shown output. */
export function compare(printedText: string, step: Step): Comparison {
  const lines = printedText === '' ? [] : printedText.replace(/\n$/, '').split('\n');
  const { line: firstLine, lines: expectedLines } = step.shownOutput ?? {
    line: step.line,
    lines: [],
  };
  const values: Value[] = [];
  for (const [index, expectedLine] of expectedLines.entries()) {
    const line = lines[index];
    const lineValues = line === undefined ? undefined : valuesOfCells(line, expectedLine);
    if (!lineValues) return { values, wrongLine: firstLine + index };
    values.push(...lineValues.map((text) => ({ line: firstLine + index, text })));
  }
  const formattedLines = layOut(lines.slice(0, expectedLines.length), expectedLines);
  const firstDifference = expectedLines.findIndex(
    (expectedLine, index) => expectedLine !== formattedLines[index],
  );
  if (firstDifference !== -1) return { values, wrongLine: firstLine + firstDifference };
  return lines.length > expectedLines.length
    ? { values, wrongLine: firstLine + expectedLines.length }
    : { values };
}

const PROGRAMS = ['cat', 'curl', 'grep', 'sleep'];

/** Path of a program, as a shell would find it. */
export const programPath = (name: string) =>
  (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find((file) => fs.existsSync(file));

/** Missing requirements of this machine for a guide in a shell. */
export const missingPrograms = (shell: Shell): string[] =>
  [shell, ...PROGRAMS].filter((name) => !programPath(name));

/** Creates a folder below `base` with all the programs that a guide may use. */
export function linkPrograms(
  base: string,
  folder = 'bin',
  addNode = (file: string) => fs.symlinkSync(process.execPath, file),
): string {
  const bin = path.join(base, folder);
  fs.mkdirSync(bin);
  for (const name of PROGRAMS) fs.symlinkSync(programPath(name) as string, path.join(bin, name));
  addNode(path.join(bin, 'node'));
  return bin;
}

interface GuideEnvironment {
  readonly shell: Shell;
  /** The only folder with programs. */
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
  /**
   * Pastes lines. A command that reads standard input consumes the following lines, as in a
   * terminal. Resolves with their output and the exit code of the last command, or none if the
   * shell has exited.
   */
  paste(lines: readonly string[]): Promise<{ printedText: string; code?: number }>;
  /** Ends the shell and all processes that it has started. */
  end(): Promise<void>;
}

function openShell({ shell, bin, cwd, env, limitMs }: GuideEnvironment): Session {
  const command = [programPath(shell) as string, ...SHELLS[shell]].join(' ');
  const child = spawn('/bin/sh', ['-c', `exec ${command} 2>&1`], {
    cwd,
    env: { ...env, HOME: cwd, PATH: bin, HISTFILE: '', PS1: '', PS2: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
    // A separate process group, because a server of a guide can run after the end of the guide.
    detached: true,
  });
  const endShell = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // Every process of the group has exited.
    }
  };
  let text = '';
  let checkForMarker: () => void = () => undefined;
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    checkForMarker();
  });
  // Pasting into a shell that has exited emits an error.
  child.stdin?.on('error', () => undefined);
  const whenClosed = once(child, 'close').then(() => checkForMarker());
  const timer = setTimeout(endShell, limitMs);
  return {
    child,
    paste: (lines) =>
      new Promise((resolve) => {
        checkForMarker = () => {
          const [marker, code] = MARKED_CODE.exec(text) ?? [];
          const hasEnded = child.exitCode !== null || child.signalCode !== null;
          if (marker === undefined) return hasEnded ? resolve({ printedText: text }) : undefined;
          const markerIndex = text.indexOf(marker);
          const printedText = text.slice(0, markerIndex);
          text = text.slice(markerIndex + marker.length);
          resolve({ printedText, code: Number(code) });
        };
        const mark = `printf '\\036%s\\036\\n' "$?"`;
        child.stdin?.write(`${[...lines, mark].join('\n')}\n`);
        checkForMarker();
      }),
    async end() {
      clearTimeout(timer);
      endShell();
      await whenClosed;
      child.stdout?.destroy();
    },
  };
}

function writeFile(cwd: string, lines: readonly string[]): void {
  const [, name] = /^\/\/ ([\w./-]+)$/.exec(lines[0] ?? '') ?? [];
  if (!name) throw new Error('a js fence has no file name. Begin the fence with `// FILE`');
  fs.writeFileSync(path.join(cwd, name), `${lines.join('\n')}\n`);
}

/** Follows a guide up to the first fence with a different output. */
async function runSteps(
  session: Session,
  steps: readonly Step[],
  environment: GuideEnvironment,
): Promise<Result> {
  const values: Value[] = [];
  const failedResult = (line: number, message: string): Result => ({
    problems: [`${line} ${message}`],
    values,
  });
  // Messages of the shell about its start belong to no fence.
  await session.paste(environment.shell === 'bash' ? ['PS1=; PS2=', TRAP] : ['PS1=; PS2=']);
  for (const step of steps) {
    if (step.language === 'js') {
      writeFile(environment.cwd, step.lines);
      continue;
    }
    const { printedText, code } = await session.paste(step.lines);
    if (code === undefined) return failedResult(step.line, `did not complete:\n${printedText}`);
    const { values: lineValues, wrongLine } = compare(printedText, step);
    values.push(...lineValues);
    if (wrongLine !== undefined)
      return failedResult(wrongLine, `differs from the printed output:\n${printedText}`);
    if (code !== 0) return failedResult(step.line, `ends with ${code}:\n${printedText}`);
  }
  return { problems: [], values };
}

export async function runGuide(file: string, environment: GuideEnvironment): Promise<Result> {
  const steps = readGuide(fs.readFileSync(file, 'utf8'));
  const session = openShell(environment);
  try {
    const { problems, values } = await runSteps(session, steps, environment);
    const name = path.basename(file);
    return {
      problems: problems.map((problem) => `${environment.shell} ${name}:${problem}`),
      values,
    };
  } finally {
    await session.end();
  }
}

/** Lines of a guide whose `…` has the same value in all runs, so the guide can show that value. */
export function constantPlaceholders(
  runs: readonly (readonly Value[])[],
  differingPattern: RegExp,
): string[] {
  const [firstRun = [], ...otherRuns] = runs;
  if (otherRuns.length === 0) return [];
  const constantValues = firstRun.filter(
    ({ text }, position) =>
      // Messages are shortened with the same character.
      text !== '…' &&
      !differingPattern.test(text) &&
      otherRuns.every((run) => run[position]?.text === text),
  );
  return constantValues.map(({ line, text }) => `${line} … is always ${text}`);
}
