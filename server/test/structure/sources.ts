// Source files of the repository for the structure tests: names, text and syntax trees. Rules about
// code use the tree, because a regular expression misses code that the formatter breaks over
// lines.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export const root = path.resolve(import.meta.dirname, '../../..');

/** Text of a file, by its path from the root of the repository. */
export const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Files of the checkout that git does not ignore, by their path from its root. */
export const trackedFiles: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter((file) => file && existsSync(path.join(root, file)));

export const parse = (file: string, text = read(file)): ts.SourceFile =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

/** Line number of a position, from 1. */
export const lineOf = (source: ts.SourceFile, position: number): number =>
  source.getLineAndCharacterOfPosition(position).line + 1;

/** A node and all its descendants, outermost first. */
export function nodesOf(node: ts.Node): ts.Node[] {
  const nodes = [node];
  // All nodes are in one list, because a list per node would be copied at each level above it.
  for (let index = 0; index < nodes.length; index++) {
    ts.forEachChild(nodes[index] as ts.Node, (child) => {
      nodes.push(child);
    });
  }
  return nodes;
}
