// The runner of guides on small guides of its own: that each way in which a guide can be wrong is noticed,
// and where.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absentPrograms, gatherPrograms, missing, readGuide, runGuide } from './guide.ts';

const absent = absentPrograms();
let base: string;
let bin: string;

beforeAll(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-guide-'));
  if (absent.length === 0) bin = gatherPrograms(base);
});

afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** Runs a guide of these lines below its title. */
function run(...lines: string[]): Promise<string[]> {
  const cwd = fs.mkdtempSync(path.join(base, 'small-'));
  const file = path.join(cwd, 'guide.md');
  fs.writeFileSync(file, ['# Small', ...lines].join('\n'));
  return runGuide(file, { bin, cwd, env: {}, limitMs: 1_500 });
}

const sh = (...lines: string[]) => ['```sh', ...lines, '```'];

describe('runGuide', () => {
  it.for<[string, string[], RegExp]>([
    ['a command that fails', sh('echo a', 'false', 'echo b'), /^guide\.md:4 failed/],
    ['a step of a pipe', sh('false | true'), /^guide\.md:3 failed/],
    ['a function, where it is called', sh('f() { false; }', 'f'), /^guide\.md:4 failed/],
    ['an unknown variable', ['', ...sh('echo $NOBODY')], /^guide\.md:4 failed.*NOBODY/s],
    ['a program no reader was told of', sh('ls'), /^guide\.md:3 failed.*ls/s],
    ['a later fence', [...sh('true'), '', ...sh('false')], /^guide\.md:7 failed/],
    ['what does not end', sh('sleep 60'), /^guide\.md:3 did not end/],
    ['what bash cannot read', ['', ...sh('if true', 'fi')], /guide\.md: line 5/],
    [
      'output that did not come',
      [...sh('echo a b c'), '', '```text', 'a … c', 'd', '```'],
      /^guide\.md:6 no "d" in\na b c/,
    ],
  ])('finds %s', async ([, lines, complaint], { skip }) => {
    skip(absent.length > 0, `guides need ${absent.join(' and ')}`);
    const complaints = await run(...lines);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(complaint);
  });

  it('runs the `sh` fences, and those alone, in one session', async ({ skip }) => {
    skip(absent.length > 0, `guides need ${absent.join(' and ')}`);
    const lines = [...sh('A=1'), '```json', 'false', '```', ...sh('echo "$A" 2')];
    expect(await run(...lines, '```text', '1 2', '```')).toEqual([]);
  });

  it('writes the `js` fences as they are, each when it comes', async ({ skip }) => {
    skip(absent.length > 0, `guides need ${absent.join(' and ')}`);
    const js = (...lines: string[]) => ['```js', '// a.mjs', ...lines, '```'];
    const first = [...sh('NAME=Ada'), ...js('console.log("$NAME", process.argv[2]);')];
    const second = js('', 'throw new Error("no");');
    const lines = [...first, ...sh('node a.mjs "$NAME"'), '```text', '$NAME Ada', '```'];
    expect(await run(...lines)).toEqual([]);
    const [complaint] = await run(...lines, ...second, ...sh('node a.mjs'));
    expect(complaint).toMatch(/^guide\.md:21 failed.*a\.mjs:3/s);
  });

  it('ends what a guide leaves running', async ({ skip }) => {
    skip(absent.length > 0, `guides need ${absent.join(' and ')}`);
    expect(await run(...sh('sleep 60 &', 'echo $!'))).toEqual([]);
  });

  it('compares fragments in order, and blanks with blanks', () => {
    expect(missing('one\n two   three', ['one', 'two three'])).toBeUndefined();
    expect(missing('one two', ['two', 'one'])).toBe('one');
    expect(missing('id: Quote:123 ok', ['id: Quote:… ok'])).toBeUndefined();
    expect(missing('abc', ['a.c'])).toBe('a.c');
    expect(() => readGuide('# A\n```sh\n')).toThrow('not closed');
    expect(() => readGuide('# A\n```js\nlet a;\n```')).toThrow('the name of its file');
  });
});
