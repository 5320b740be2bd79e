// The definitions of events and jobs, and the tests of operations. The compiler checks that only a definition
// is emitted or staged. Checked here on the source: one definition for each event type, which one webhook
// contract documents and which is emitted; one definition for each kind of job, which the operator can look
// up; a `describe` with tests for each operation, named by its operationId.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Type } from '@sinclair/typebox';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { UNDONE } from '../../src/features/jobs/kinds.ts';
import { webhookContracts } from '../../src/features.ts';
import { defineEvent, EVENT_TYPES } from '../../src/kernel/contract/event.ts';
import { defineJob } from '../../src/kernel/contract/job.ts';
import type { Ctx } from '../../src/runtime/operation/context.ts';
import { document } from '../kit/http/requests.ts';

const root = path.resolve(import.meta.dirname, '../../..');

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'server'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.ts$/.test(file) && existsSync(path.join(root, file)));

const isTest = (file: string) => /\.test\.ts$/.test(file);
const read = (file: string) => ({ file, text: readFileSync(path.join(root, file), 'utf8') });
const sources = files.filter((file) => file.startsWith('server/src/') && !isTest(file)).map(read);

/** In the enumeration because the contract names it; no event has it. */
const WITHOUT_DEFINITION = ['VERIFICATION.READY_FOR_VERIFICATION'];
/** Documented because the contract names it; no verification has that status today. */
const NOT_EMITTED = ['VERIFICATION.IN_PROGRESS'];

interface Definition {
  file: string;
  /** Its event type or kind; undefined where that is no string literal. */
  name: string | undefined;
  /** The constant that holds it, and its key there. */
  holder: string;
  key: string | undefined;
}

function holderOf(call: ts.Node): Pick<Definition, 'holder' | 'key'> {
  let key: string | undefined;
  for (let node = call.parent; node; node = node.parent) {
    if (ts.isPropertyAssignment(node)) key ??= node.name.getText();
    if (ts.isVariableDeclaration(node)) return { holder: node.name.getText(), key };
  }
  throw new Error(`${call.getText()} is held by no constant`);
}

/** What calls of `define` in a source define. */
function definitionsIn(define: string, { file, text }: { file: string; text: string }) {
  const foundDefinitions: Definition[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === define) {
      const [name] = node.arguments;
      const literal = name && ts.isStringLiteral(name) ? name.text : undefined;
      foundDefinitions.push({ file, name: literal, ...holderOf(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return foundDefinitions;
}

const definitionsBy = (define: string): Definition[] =>
  sources
    .filter(({ text }) => text.includes(`${define}(`))
    .flatMap((source) => definitionsIn(define, source));

/** A kind that a step of the ledger is named like. */
const STEP = 'refund.pay';

/** The beginning of a definition of a job, with its kind. */
const DEFINED = /defineJob\(\s*'[^']+'/g;

const definitions = definitionsBy('defineEvent');

const namesOf = (list: readonly Definition[]) => list.map(({ name }) => name).sort();

const isEmitted = ({ file, holder, key }: Definition): boolean => {
  const use = key ? new RegExp(`\\b${holder}(\\.${key}\\b|\\[)`) : new RegExp(`\\b${holder}\\b`);
  const others = sources.filter((each) => each.file !== file && !each.file.endsWith('/index.ts'));
  return others.some(({ text }) => use.test(text.replaceAll(/^import [^;]*;$/gm, '')));
};

/** Never called: the compiler rejects each line that is marked, or the mark without an error. */
export function rejectedByTheCompiler(ctx: Ctx): void {
  // @ts-expect-error: the type is not documented.
  const lost = defineEvent('CARD.LOST', Type.Object({}));
  const test = defineEvent('TEST', Type.Object({ id: Type.String() }));
  // @ts-expect-error: a name is no definition.
  ctx.emit('TEST', 'Platform:1', { id: '1' });
  // @ts-expect-error: the data are not what the definition documents.
  ctx.emit(test, lost.type, { id: 1 });
  const job = defineJob('test.run', Type.Object({ id: Type.String() }));
  // @ts-expect-error: a kind is no definition.
  ctx.later('test.run', { id: '1' });
  // @ts-expect-error: the input is not that of the definition.
  ctx.later(job, {});
  // @ts-expect-error: an object with a type and a schema is no definition; only defineEvent makes one.
  ctx.emit({ type: 'TEST', data: test.data }, 'Platform:1', { id: '1' });
  // @ts-expect-error: an object with a kind and a schema is no definition; only defineJob makes one.
  ctx.later({ kind: 'test.run', input: job.input }, { id: '1' });
}

describe('events', () => {
  it('have one definition each, by a literal name', () => {
    const expected = EVENT_TYPES.filter((type) => !WITHOUT_DEFINITION.includes(type));
    expect(namesOf(definitions)).toEqual([...expected].sort());
  });

  it('are documented by one webhook contract each', () => {
    const documented = webhookContracts.flatMap(({ events }) => events.map(({ type }) => type));
    expect(documented.sort()).toEqual(namesOf(definitions));
  });

  it('are emitted outside their contract', () => {
    expect(namesOf(definitions.filter((each) => !isEmitted(each)))).toEqual(NOT_EMITTED);
  });
});

describe('jobs', () => {
  it('have one definition each, by a literal kind, that the operator can look up', () => {
    expect(namesOf(definitionsBy('defineJob'))).toEqual(Object.keys(UNDONE).sort());
  });

  it('are named by their definition alone, but for what the operator prints', () => {
    const kinds = Object.keys(UNDONE).filter((kind) => kind !== STEP);
    const isNamed = ({ file, text }: { file: string; text: string }): boolean => {
      const code = text.replaceAll(DEFINED, '').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
      return (
        !file.endsWith('/features/jobs/kinds.ts') &&
        kinds.some((kind) => code.includes(`'${kind}'`))
      );
    };
    expect(sources.filter(isNamed).map(({ file }) => file)).toEqual([]);
  });
});

describe('operations', () => {
  /** Tests that are made from the contracts, alike for every operation. */
  const GENERATED = 'server/test/operations/operations.test.ts';
  /** Repeats a value at the beginning of a title: `describe.each([[operationId, …], …])('%s …', …)`. */
  const REPEATS = /^%s\b/;

  const literalsIn = (node: ts.Node): string[] =>
    ts.isStringLiteralLike(node)
      ? [node.text]
      : node.getChildren().flatMap((child) => literalsIn(child));

  /** Whether it calls the function, or what the function or a property of it returns. */
  function calls(node: ts.Node, name: string): node is ts.CallExpression {
    if (!ts.isCallExpression(node)) return false;
    let called: ts.Expression = node;
    while (ts.isCallExpression(called) || ts.isPropertyAccessExpression(called)) {
      called = called.expression;
    }
    return ts.isIdentifier(called) && called.text === name;
  }

  const hasTest = (node: ts.Node): boolean =>
    calls(node, 'it') || node.getChildren().some((child) => hasTest(child));

  /** The first strings of the rows of the table, which stands in the call or in a constant of the file. */
  function namesOfTable(each: ts.Expression, source: ts.SourceFile): string[] {
    const table = ts.isCallExpression(each) ? each.arguments[0] : undefined;
    if (!table) return [];
    if (!ts.isIdentifier(table)) return literalsIn(table);
    const constant = source.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .find(({ name }) => name.getText() === table.text);
    return constant?.initializer ? literalsIn(constant.initializer) : [];
  }

  /** What a source calls its blocks of tests. */
  function blocksOf({ file, text }: { file: string; text: string }): string[] {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const names: string[] = [];
    const visit = (node: ts.Node): void => {
      if (calls(node, 'describe') && hasTest(node)) {
        const [title] = node.arguments;
        const name = title && ts.isStringLiteralLike(title) ? title.text : '';
        names.push(...(REPEATS.test(name) ? namesOfTable(node.expression, source) : [name]));
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return names;
  }

  it('have tests of their own in a block named by the operationId', () => {
    const tests = files.filter((file) => isTest(file) && file !== GENERATED);
    const blocks = new Set(tests.map(read).flatMap(blocksOf));
    const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
    const names = operations.map(({ operationId }) => operationId as string);
    expect(names).toContain('createQuote');
    expect(names.filter((name) => !blocks.has(name))).toEqual([]);
  }, 60_000);
});
