// Tests of the guide runner with small guides in each shell. The runner reports problems for
// readers who paste the commands, with their lines.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  compare,
  constantPlaceholders,
  linkPrograms,
  missingPrograms,
  readGuide,
  runGuide,
  SHELL_NAMES,
  type Shell,
  type Step,
  valuesIn,
} from './guide.ts';

let base: string;
let bin: string;
const missingFor = (shell: Shell) => missingPrograms(shell);

beforeAll(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-guide-'));
  bin = linkPrograms(base);
});

afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** Runs a guide that consists of a title and these lines. */
async function run(shell: Shell, lines: readonly string[], limitMs = 15_000): Promise<string[]> {
  const cwd = fs.mkdtempSync(path.join(base, 'small-'));
  const file = path.join(cwd, 'guide.md');
  fs.writeFileSync(file, ['# Small', ...lines].join('\n'));
  return (await runGuide(file, { shell, bin, cwd, env: {}, limitMs })).problems;
}

const sh = (...lines: string[]) => ['```sh', ...lines, '```'];
const text = (...lines: string[]) => ['```text', ...lines, '```'];
const js = (...lines: string[]) => ['```js', ...lines, '```'];

describe('runGuide', () => {
  it.for<[string, Shell, string[], RegExp]>([
    ['a comment', 'zsh', ['# about'], /zsh guide\.md:3 .*command not found: #/s],
    ['a pattern that no file has', 'zsh', ['printf %s a[0]'], /guide\.md:3 .*no matches found/s],
    ['a question mark in an address', 'zsh', ['printf %s a?b=1'], /no matches found/],
    ['history in double quotes', 'zsh', ['echo "no!way"'], /event not found/],
    ['history in double quotes', 'bash', ['echo "no!way"'], /bash guide\.md:3 .*event not found/s],
    ['a job in the background', 'bash', ['sleep 0 &'], /\[1\] \d+/],
    ['a here-string', 'dash', ["cat <<< 'a'"], /dash guide\.md:3 .*redirection unexpected/s],
    ['a test in double brackets', 'dash', ['[[ a = a ]]'], /\[\[: not found/],
    ['an array', 'dash', ['A=(1 2)'], /"\(" unexpected/],
    ['words in a variable without quotes', 'zsh', ["A='%s- a'", 'printf $A'], /guide\.md:3 /],
    ['a failure without a message', 'bash', ['false', 'true'], /guide\.md:3 .*failed: false/s],
    [
      'a failure inside a function',
      'bash',
      ['f() { false; true; }', 'f'],
      /guide\.md:3 .*failed: false/s,
    ],
  ])('finds %s in %s', async ([, shell, lines, expectedProblem], { skip }) => {
    skip(missingFor(shell).length > 0, `this needs ${missingFor(shell).join(' and ')}`);
    // After a syntax error dash discards the lines pasted after it and waits.
    const problems = await run(shell, sh(...lines), shell === 'dash' ? 1_500 : undefined);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expectedProblem);
  });

  describe.for(SHELL_NAMES)('in %s', (shell) => {
    const missingPrograms = missingFor(shell);
    const test = it.skipIf(missingPrograms.length > 0);

    test.for<[string, string[], RegExp]>([
      [
        'an exit code at the end',
        sh('true', 'false'),
        /guide\.md:3 (ends with 1|.*failed: false)/s,
      ],
      ['a program that is not permitted in guides', sh('ls'), /guide\.md:3 .*not found/s],
      [
        'a problem in a later fence',
        [...sh('true'), '', ...sh('false')],
        /guide\.md:7 (ends with 1|differs)/,
      ],
      ['a command that ends the shell', sh('exit 0'), /guide\.md:3 did not complete/],
      ['output that is not shown', sh('echo a'), /guide\.md:3 differs from the printed output:\na/],
      [
        'an error that is not shown',
        sh('echo a >&2'),
        /guide\.md:3 differs from the printed output:\na/,
      ],
      ['an additional line', [...sh('echo a', 'echo b'), ...text('a')], /guide\.md:8 differs/],
      ['a missing line', [...sh('echo a'), ...text('a', 'b')], /guide\.md:7 differs/],
      [
        'another order of lines',
        [...sh('echo a', 'echo b'), ...text('b', 'a')],
        /guide\.md:7 differs/,
      ],
      ['part of a line', [...sh('echo a b'), ...text('a')], /guide\.md:6 differs/],
    ])('finds %s', { timeout: 20_000 }, async ([, lines, expectedProblem]) => {
      const problems = await run(shell, lines);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(expectedProblem);
    });

    test.concurrent.for<[string, string]>([
      ['a command without an end', 'sleep 60'],
      ['a quote that is not closed', "echo 'a"],
      ['a command that reads the pasted lines', 'cat'],
    ])('finds %s', async ([, line], { expect }) => {
      const [problem] = await run(shell, sh(line), 1_500);
      expect(problem).toMatch(/guide\.md:3 did not complete/);
    });

    test('runs only the `sh` fences, in one session', async () => {
      const lines = [
        ...sh('A=1'),
        '```shell',
        'false',
        '```',
        ...sh('echo "$A"', 'echo', 'echo 2'),
      ];
      expect(await run(shell, [...lines, ...text('1', '', '2')])).toEqual([]);
    });

    test('writes each `js` fence unchanged when the guide reaches it', async () => {
      const firstFence = js('// a.mjs', 'console.log("$NAME!x", process.argv[2]);');
      const secondFence = js('// a.mjs', 'console.log(2);');
      const lines = [
        ...sh('NAME=Ada'),
        ...firstFence,
        ...sh('node a.mjs "$NAME"'),
        ...text('$NAME!x Ada'),
      ];
      expect(
        await run(shell, [...lines, ...secondFence, ...sh('node a.mjs'), ...text('2')]),
      ).toEqual([]);
    });

    test('stops processes that run after the end of a guide', { timeout: 20_000 }, async () => {
      // The background process keeps the output of the shell open, which the runner reads to its
      // end.
      expect(await run(shell, sh('(sleep 60 &)'))).toEqual([]);
    });
  });
});

describe('readGuide', () => {
  it.for<[string, string[], string]>([
    ['a fence that is not closed', ['```sh'], 'not closed'],
    ['output without a command', text('a'), 'belongs to'],
    ['output that is shown twice', [...sh('echo a'), ...text('a'), ...text('a')], 'belongs to'],
  ])('rejects %s', ([, lines, expectedProblem]) => {
    expect(() => readGuide(lines.join('\n'))).toThrow(expectedProblem);
  });
});

describe('compare', () => {
  const step = (...lines: string[]): Step => ({
    ...{ language: 'sh', line: 2, lines: [] },
    shownOutput: { line: 6, lines },
  });

  it('replaces … by one value of one line', () => {
    expect(valuesIn('id Quote:12 ok', 'id Quote:… ok')).toEqual(['12']);
    expect(valuesIn('id Quote: ok', 'id Quote:… ok')).toBeUndefined();
    expect(valuesIn('abc', 'a.c')).toBeUndefined();
    expect(compare('a\nb\n', step('…')).wrongLine).toBe(7);
  });

  const orders = ['ID        PRICE  STATUS', 'Order:12   5.00  OPEN', 'Order:13  10.00'];
  it.each<[string, string[], string[]]>([
    ['the output as shown', ['A  B', 'c  d'], ['A  B', 'c  d']],
    [
      'a table with shorter cells',
      orders,
      ['ID       PRICE  STATUS', 'Order:…   5.00  OPEN', 'Order:…  10.00'],
    ],
    [
      'a table with shortened numbers',
      orders,
      ['ID        PRICE  STATUS', 'Order:12      …  OPEN', 'Order:13      …'],
    ],
    [
      'names with values, and a table below',
      ['Id       Order:12', 'Expires  2026-01-02', ...orders],
      [
        ...['Id       Order:…', 'Expires  …', 'ID       PRICE  STATUS', 'Order:…   5.00  OPEN'],
        'Order:…  10.00',
      ],
    ],
    ['gaps outside a table', ['  a     12   b', 'c'], ['  a     …   b', 'c']],
  ])('accepts %s', (_, printedLines, expectedLines) => {
    expect(
      compare(`${printedLines.join('\n')}\n`, step(...expectedLines)).wrongLine,
    ).toBeUndefined();
  });

  it.each<[string, string[], string[], number]>([
    ['a wider gap', ['A  B'], ['A     B'], 6],
    ['a smaller gap', ['A     B', 'cccc  d'], ['A  B', 'cccc  d'], 6],
    ['one space for a gap', ['A  B'], ['A B'], 6],
    ['another indentation', ['  "a": 1'], ['"a": 1'], 6],
    [
      'gaps of the printed width',
      orders.slice(0, 2),
      [orders[0] ?? '', 'Order:…    5.00  OPEN'],
      6,
    ],
    [
      'a cell outside its column',
      orders,
      ['ID       PRICE  STATUS', 'Order:…  5.00   OPEN', 'Order:…  10.00'],
      7,
    ],
  ])('rejects %s', (_, printedLines, expectedLines, wrongLine) => {
    expect(compare(`${printedLines.join('\n')}\n`, step(...expectedLines)).wrongLine).toBe(
      wrongLine,
    );
  });
});

describe('constantPlaceholders', () => {
  const values = (...texts: string[]) =>
    texts.map((text, index) => ({ line: index + 1, text: text }));

  it('returns lines whose value never differs', () => {
    const runs = [values('a', 'x', '4000'), values('b', 'x', '4000')];
    expect(constantPlaceholders(runs, /^4000$/)).toEqual(['2 … is always x']);
    expect(constantPlaceholders(runs.slice(1), /^4000$/)).toEqual([]);
  });
});
