// Events and their documentation: one definition for each type, each in one webhook contract, each emitted.
// The compiler checks that only a definition is emitted; what it cannot see is checked here on the source.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { webhookContracts } from '../src/compose.ts';
import { EVENT_TYPES } from '../src/kernel/event.ts';

const root = path.resolve(import.meta.dirname, '../..');

const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'server/src'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));

/** In the enumeration because the contract names it; no event has it. */
const WITHOUT_DEFINITION = ['VERIFICATION.READY_FOR_VERIFICATION'];
/** Documented because the contract names it; no verification has that status today. */
const NOT_EMITTED = ['VERIFICATION.IN_PROGRESS'];

interface Definition {
  file: string;
  /** Undefined where the type is no string literal. */
  type: string | undefined;
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

function definitionsIn({ file, text }: { file: string; text: string }): Definition[] {
  const found: Definition[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'defineEvent') {
      const [type] = node.arguments;
      const literal = type && ts.isStringLiteral(type) ? type.text : undefined;
      found.push({ file, type: literal, ...holderOf(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

const definitions = sources
  .filter(({ text }) => text.includes('defineEvent('))
  .flatMap(definitionsIn);

const isEmitted = ({ file, holder, key }: Definition): boolean => {
  const use = key ? new RegExp(`\\b${holder}(\\.${key}\\b|\\[)`) : new RegExp(`\\b${holder}\\b`);
  const others = sources.filter((each) => each.file !== file && !each.file.endsWith('/index.ts'));
  return others.some(({ text }) => use.test(text.replaceAll(/^import [^;]*;$/gm, '')));
};

describe('events', () => {
  it('have one definition each, by a literal name', () => {
    const types = definitions.map(({ type }) => type);
    const expected = EVENT_TYPES.filter((type) => !WITHOUT_DEFINITION.includes(type));
    expect(types.sort()).toEqual([...expected].sort());
  });

  it('are documented by one webhook contract each', () => {
    const documented = webhookContracts.flatMap(({ events }) => events.map(({ type }) => type));
    expect(documented.sort()).toEqual(definitions.map(({ type }) => type).sort());
  });

  it('are emitted outside their contract', () => {
    const silent = definitions.filter((each) => !isEmitted(each)).map(({ type }) => type);
    expect(silent).toEqual(NOT_EMITTED);
  });
});
