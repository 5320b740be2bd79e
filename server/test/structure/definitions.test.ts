// Definitions of events and jobs, and tests of operations. The compiler ensures that only
// definitions are emitted or staged. The source must have one definition for each event type and
// each kind of job. Each operation must have tests in a `describe` with its operationId.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Type } from '@sinclair/typebox';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { PENDING_EFFECTS } from '../../src/features/jobs/kinds.ts';
import { webhookContracts } from '../../src/features.ts';
import { defineEvent, EVENT_TYPES, RESERVED_EVENT_TYPES } from '../../src/kernel/contract/event.ts';
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

/** Event types of the contract without a definition. */
const TYPES_WITHOUT_DEFINITION = ['VERIFICATION.READY_FOR_VERIFICATION'];

interface Definition {
  file: string;
  /** Event type or kind, or undefined without a string literal. */
  name: string | undefined;
  /** The constant that holds the definition, and the key within it. */
  holder: string;
  key: string | undefined;
}

function holderOf(call: ts.Node): Pick<Definition, 'holder' | 'key'> {
  let key: string | undefined;
  for (let node = call.parent; node; node = node.parent) {
    if (ts.isPropertyAssignment(node)) key ??= node.name.getText();
    if (ts.isVariableDeclaration(node)) return { holder: node.name.getText(), key };
  }
  throw new Error(`${call.getText()} is not assigned to a constant`);
}

/** Definitions created by calls of `define` in a source. */
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

/** A kind that is also the name of a ledger step. */
const LEDGER_STEP_KIND = 'refund.pay';

/** Start of a job definition, with its kind. */
const DEFINITION_START = /defineJob\(\s*'[^']+'/g;

const definitions = definitionsBy('defineEvent');

const namesOf = (list: readonly Definition[]) => list.map(({ name }) => name).sort();

const isEmitted = ({ file, holder, key }: Definition): boolean => {
  const usePattern = key
    ? new RegExp(`\\b${holder}(\\.${key}\\b|\\[)`)
    : new RegExp(`\\b${holder}\\b`);
  const otherSources = sources.filter(
    (source) => source.file !== file && !source.file.endsWith('/index.ts'),
  );
  return otherSources.some(({ text }) => usePattern.test(text.replaceAll(/^import [^;]*;$/gm, '')));
};

/** Never called. The compiler rejects each marked line, and reports a mark without an error. */
export function rejectedByTheCompiler(ctx: Ctx): void {
  // @ts-expect-error: the type is not documented.
  const lostCard = defineEvent('CARD.LOST', Type.Object({}));
  const test = defineEvent('TEST', Type.Object({ id: Type.String() }));
  // @ts-expect-error: a name is not a definition.
  ctx.emit('TEST', 'Platform:1', { id: '1' });
  // @ts-expect-error: the data does not match the definition.
  ctx.emit(test, lostCard.type, { id: 1 });
  const job = defineJob('test.run', Type.Object({ id: Type.String() }));
  // @ts-expect-error: a kind is not a definition.
  ctx.later('test.run', { id: '1' });
  // @ts-expect-error: the input does not match the definition.
  ctx.later(job, {});
  // @ts-expect-error: only defineEvent creates a definition from a type and a schema.
  ctx.emit({ type: 'TEST', data: test.data }, 'Platform:1', { id: '1' });
  // @ts-expect-error: only defineJob creates a definition from a kind and a schema.
  ctx.later({ kind: 'test.run', input: job.input }, { id: '1' });
}

describe('events', () => {
  it('have one definition each, by a literal name', () => {
    const expectedTypes = EVENT_TYPES.filter((type) => !TYPES_WITHOUT_DEFINITION.includes(type));
    expect(namesOf(definitions)).toEqual([...expectedTypes].sort());
  });

  it('are documented by one webhook contract each', () => {
    const documentedTypes = webhookContracts.flatMap(({ events }) =>
      events.map(({ type }) => type),
    );
    expect(documentedTypes.sort()).toEqual(namesOf(definitions));
  });

  it('are emitted outside their contract', () => {
    expect(namesOf(definitions.filter((definition) => !isEmitted(definition)))).toEqual(
      RESERVED_EVENT_TYPES,
    );
  });
});

describe('jobs', () => {
  it('have one definition each, by a literal kind, and a description for the operator', () => {
    expect(namesOf(definitionsBy('defineJob'))).toEqual(Object.keys(PENDING_EFFECTS).sort());
  });

  it('are named only in their definition, in the descriptions for the operator, and if renamed', () => {
    const kinds = Object.keys(PENDING_EFFECTS).filter((kind) => kind !== LEDGER_STEP_KIND);
    const isNamed = ({ file, text }: { file: string; text: string }): boolean => {
      const code = text.replaceAll(DEFINITION_START, '').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
      return (
        !file.endsWith('/features/jobs/kinds.ts') &&
        !file.endsWith('/kernel/contract/job.ts') &&
        kinds.some((kind) => code.includes(`'${kind}'`))
      );
    };
    expect(sources.filter(isNamed).map(({ file }) => file)).toEqual([]);
  });
});

describe('operations', () => {
  /** Tests generated from the contracts for every operation. */
  const GENERATED_TESTS = 'server/test/operations/operations.test.ts';
  /** Title with an interpolated operationId: `describe.each([[operationId, …], …])('%s …', …)`. */
  const INTERPOLATED_TITLE = /^%s\b/;

  const literalsIn = (node: ts.Node): string[] =>
    ts.isStringLiteralLike(node)
      ? [node.text]
      : node.getChildren().flatMap((child) => literalsIn(child));

  /** Whether the node calls the function, or a function or property that it returns. */
  function calls(node: ts.Node, name: string): node is ts.CallExpression {
    if (!ts.isCallExpression(node)) return false;
    let callee: ts.Expression = node;
    while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) {
      callee = callee.expression;
    }
    return ts.isIdentifier(callee) && callee.text === name;
  }

  const hasTest = (node: ts.Node): boolean =>
    calls(node, 'it') || node.getChildren().some((child) => hasTest(child));

  /** The first strings of the rows of a table, from the call or from a constant of the file. */
  function namesOfTable(node: ts.Expression, source: ts.SourceFile): string[] {
    const table = ts.isCallExpression(node) ? node.arguments[0] : undefined;
    if (!table) return [];
    if (!ts.isIdentifier(table)) return literalsIn(table);
    const constant = source.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .find(({ name }) => name.getText() === table.text);
    return constant?.initializer ? literalsIn(constant.initializer) : [];
  }

  /** Titles of the `describe` blocks of a source. */
  function blocksOf({ file, text }: { file: string; text: string }): string[] {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const names: string[] = [];
    const visit = (node: ts.Node): void => {
      if (calls(node, 'describe') && hasTest(node)) {
        const [title] = node.arguments;
        const name = title && ts.isStringLiteralLike(title) ? title.text : '';
        names.push(
          ...(INTERPOLATED_TITLE.test(name) ? namesOfTable(node.expression, source) : [name]),
        );
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return names;
  }

  it('have tests in a block named by the operationId', () => {
    const tests = files.filter((file) => isTest(file) && file !== GENERATED_TESTS);
    const blocks = new Set(tests.map(read).flatMap(blocksOf));
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = operations.map(({ operationId }) => operationId as string);
    expect(names).toContain('createQuote');
    expect(names.filter((name) => !blocks.has(name))).toEqual([]);
  }, 60_000);
});
