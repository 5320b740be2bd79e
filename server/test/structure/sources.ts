// The source files of the repository as the tests of its structure read them: by name, text and syntax tree.
// A regular expression misses what the formatter breaks over lines, so rules about code ask the tree.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export const root = path.resolve(import.meta.dirname, '../../..');

/** Text of a file, named from the root of the repository. */
export const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Files of the checkout that git does not ignore, named from its root. */
export const tracked: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter((file) => file && existsSync(path.join(root, file)));

export const parse = (file: string, text = read(file)): ts.SourceFile =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

/** Number of the line on which a position is, from 1. */
export const lineOf = (source: ts.SourceFile, position: number): number =>
  source.getLineAndCharacterOfPosition(position).line + 1;

/** A node and everything in it, outermost first. */
export function nodesOf(node: ts.Node): ts.Node[] {
  const found = [node];
  // One list for all: a list for each node would be copied at each level above it.
  for (let index = 0; index < found.length; index++) {
    ts.forEachChild(found[index] as ts.Node, (child) => {
      found.push(child);
    });
  }
  return found;
}
