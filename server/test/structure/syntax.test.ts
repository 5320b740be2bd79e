// Rules that need the syntax tree: the length of functions, the last clause of a switch, and a
// reason for each unchecked cast.
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { lineOf, nodesOf, parse, trackedFiles } from './sources.ts';

const isTest = (file: string) => /\.test\.ts$/.test(file);
const files = trackedFiles
  .filter((file) => /^(server|bench|scripts|examples)\/.*\.(ts|mjs|js)$/.test(file))
  .filter((file) => !/\/(dist|node_modules)\//.test(file));

const linesOf = (source: ts.SourceFile, node: ts.Node) =>
  lineOf(source, node.getEnd()) - lineOf(source, node.getStart()) + 1;

/** The functions inside a node at any depth, without those inside another function. */
function functionsIn(node: ts.Node): ts.Node[] {
  const functions: ts.Node[] = [];
  const visit = (child: ts.Node): void => {
    if (ts.isFunctionLike(child) && 'body' in child && child.body) functions.push(child);
    else ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return functions;
}

/** Lines of a function without the functions of two lines and more inside it. */
const countOwnLines = (source: ts.SourceFile, node: ts.Node): number =>
  functionsIn(node)
    .map((inner) => linesOf(source, inner))
    .filter((lines) => lines > 1)
    .reduce((ownLineCount, lines) => ownLineCount - lines, linesOf(source, node));

const MAX_LINES = 70;

function longFunctions(source: ts.SourceFile, node: ts.Node = source): string[] {
  return functionsIn(node).flatMap((inner) => {
    const lineCount = countOwnLines(source, inner);
    const description = `${source.fileName}:${lineOf(source, inner.getStart())} ${lineCount} lines`;
    return [...(lineCount > MAX_LINES ? [description] : []), ...longFunctions(source, inner)];
  });
}

describe('functions', () => {
  const body = (lines: number) => Array.from({ length: lines }, () => '  f();').join('\n');
  it.each([
    ['a function', (lines: number) => `function f() {\n${body(lines - 2)}\n}`],
    ['an arrow of several lines', (n: number) => `const f = (\n  a,\n) => {\n${body(n - 4)}\n};`],
    [
      'a function with destructured parameters',
      (n: number) => `function f({\n  a,\n}) {\n${body(n - 4)}\n}`,
    ],
    ['a method', (n: number) => `const o = {\n  f() {\n${body(n - 2)}\n  },\n};`],
    [
      'a function in another function',
      (n: number) => `const g = () => {\n  return () => {\n${body(n - 2)}\n  };\n};`,
    ],
  ])('of too many lines are found: %s', (_, text) => {
    expect(longFunctions(parse('a.ts', text(MAX_LINES)))).toEqual([]);
    expect(longFunctions(parse('a.ts', text(MAX_LINES + 1)))).toHaveLength(1);
  });

  it(`have at most ${MAX_LINES} lines, without inner functions`, () => {
    expect(
      files.filter((file) => !isTest(file)).flatMap((file) => longFunctions(parse(file))),
    ).toEqual([]);
  }, 60_000);
});

/** Switches over values without a union type, each with the reason. */
const OPEN_SWITCHES: Record<string, string> = {
  'server/src/features/payments/pay-ins/approval.ts: status': 'any HTTP status of a platform',
};

function endsInAssertNever(statement: ts.SwitchStatement): boolean {
  const lastClause = statement.caseBlock.clauses.at(-1);
  return (
    !!lastClause && ts.isDefaultClause(lastClause) && /\bassertNever\(/.test(lastClause.getText())
  );
}

const openSwitches = (source: ts.SourceFile): string[] =>
  nodesOf(source)
    .filter(ts.isSwitchStatement)
    .filter((statement) => !endsInAssertNever(statement))
    .map((statement) => `${source.fileName}: ${statement.expression.getText()}`);

/** Sources of the server, of the test kit and of the simulator. */
const sourcePattern = /^server\/(src|test\/(kit|sim))\//;

describe('a switch', () => {
  it('without assertNever is found', () => {
    const openSwitch = 'switch (a) { case 1: return 2; }';
    const otherSwitch = 'switch (a) { case 1: return 2; default: return 3; }';
    const closedSwitch = 'switch (a) { case 1: return 2; default: return assertNever(a); }';
    expect(
      [openSwitch, otherSwitch, closedSwitch].map(
        (text) => openSwitches(parse('a.ts', text)).length,
      ),
    ).toEqual([1, 1, 0]);
  });

  it('ends in assertNever, so that a new value does not compile until it is handled', () => {
    const sourceFiles = files.filter((file) => sourcePattern.test(file) && !isTest(file));
    const incompleteSwitches = sourceFiles.flatMap((file) => openSwitches(parse(file)));
    expect([...new Set(incompleteSwitches)].sort()).toEqual(Object.keys(OPEN_SWITCHES).sort());
  });
});

/** Casts that the compiler does not check: `as never`, and `as unknown as T`. */
function uncheckedCasts(source: ts.SourceFile): string[] {
  const lines = source.text.split('\n');
  const isComment = (line = '') => /^\s*(\/\/|\*|\/\*)|\*\/\s*$|\s\/\/ /.test(line);
  return nodesOf(source)
    .filter(ts.isAsExpression)
    .filter(
      ({ type, expression }) =>
        type.kind === ts.SyntaxKind.NeverKeyword ||
        (ts.isAsExpression(expression) && expression.type.kind === ts.SyntaxKind.UnknownKeyword),
    )
    .filter((cast) => {
      let statement: ts.Node = cast;
      while (
        statement.parent &&
        !ts.isStatement(statement) &&
        !ts.isPropertyAssignment(statement)
      ) {
        statement = statement.parent;
      }
      const firstLine = lineOf(source, statement.getStart()) - 1;
      const castLine = lineOf(source, cast.getEnd()) - 1;
      return ![firstLine - 1, firstLine, castLine - 1, castLine].some((line) =>
        isComment(lines[line]),
      );
    })
    .map(
      (cast) =>
        `${source.fileName}:${lineOf(source, cast.getStart())} ${cast.getText().slice(0, 60)}`,
    );
}

describe('a cast that the compiler cannot check', () => {
  it('is found if no comment states the reason', () => {
    const castWithoutReason = 'const a = b as unknown as C;';
    const neverCast = 'f(b as never);';
    const castWithReason = '// The library types it too wide.\nconst a = b as unknown as C;';
    expect(
      [castWithoutReason, neverCast, castWithReason].map(
        (text) => uncheckedCasts(parse('a.ts', text)).length,
      ),
    ).toEqual([1, 1, 0]);
  });

  it('states its reason', () => {
    expect(
      files
        .filter((file) => sourcePattern.test(file) && !isTest(file))
        .flatMap((file) => uncheckedCasts(parse(file))),
    ).toEqual([]);
  });
});
