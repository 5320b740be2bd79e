// Which tables the SQL in a source file names: the strings and templates of its syntax tree are read, with
// `${…}` in the place of what a template fills in. A table whose name is filled in cannot be checked, so it
// is answered as `${…}` with the code that gives the name.
import ts from 'typescript';
import { nodesOf, parse } from './sources.ts';

const words = (...list: string[]) => list.join('|').replaceAll(' ', '\\s+');
/** Ends a list of tables at its own level. */
const CLAUSES = words(
  ...['where', 'group', 'order', 'having', 'limit', 'offset', 'fetch', 'returning', 'for', 'set'],
  ...['union', 'intersect', 'except', 'window', 'select', 'values', 'on conflict'],
);
const ENDS = new RegExp(`^(${CLAUSES})\\b`, 'i');
const SPLITS = /^((inner|cross|natural|left|right|full)(\s+outer)?\s+)?join\b/i;
const NAME =
  /^(?:(?:lateral|only)\s+)*(?:"?public"?\.)?(?:"([^"]+)"|(\w+)(?!\w*\()|(\$\{[^}]*\}))/i;
/** `is distinct from` compares values. */
const LIST = /(?<!\bdistinct\s+)\b(?:from|using|join)\s+/gi;
const ONE = /\b(?:into|update|truncate|table)\s+/gi;
const STATEMENT = words(
  ...['select', 'insert into', 'delete from', 'join', 'where', 'returning', 'values', 'truncate'],
);
/** A sentence may have the words as well; a statement, or a part of one, has one of these. */
const IS_SQL = new RegExp(
  `\\b(${STATEMENT})\\b|\\bset\\s+\\S+\\s*=|^\\s*(from|using|into|update)\\b`,
  'i',
);

const nameOf = (reference: string): string[] => {
  const [, quoted, plain, filled] = NAME.exec(reference.trimStart()) ?? [];
  const name = quoted ?? plain?.toLowerCase() ?? filled;
  return name === undefined ? [] : [name];
};

/** The text from each reference of the list of tables that it begins with: commas and joins part them. */
function referencesOf(text: string): string[] {
  const references = [text];
  let depth = 0;
  for (let position = 0; position < text.length; ) {
    const rest = text.slice(position);
    const char = rest.charAt(0);
    const atWord = !/\w/.test(text.charAt(position - 1));
    if (depth === 0 && (char === ')' || (atWord && ENDS.test(rest)))) break;
    if (char === '(') depth++;
    if (char === ')') depth--;
    const split = char === ',' ? [','] : atWord ? SPLITS.exec(rest) : null;
    position += split?.[0]?.length ?? 1;
    if (split && depth === 0) references.push(text.slice(position));
  }
  return references;
}

/** Tables that a statement, or a part of one, names. */
export function tablesIn(sql: string): string[] {
  if (!IS_SQL.test(sql)) return [];
  const after = ({ index, 0: head }: RegExpExecArray) => sql.slice(index + head.length);
  const lists = [...sql.matchAll(LIST)].flatMap((match) => referencesOf(after(match)));
  const named = [...lists, ...[...sql.matchAll(ONE)].map(after)].flatMap(nameOf);
  return [...new Set(named)];
}

const textOf = (node: ts.Node): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  const spans = node.templateSpans.map(
    // Brackets and braces in the code would be taken for those of the statement.
    ({ expression, literal }) =>
      `\${${expression.getText().replaceAll(/[{}]/g, '')}}${literal.text}`,
  );
  return node.head.text + spans.join('');
};

/** Tables that the strings of a source file name. */
export function tablesNamedIn(file: string, text?: string): string[] {
  const texts = nodesOf(parse(file, text)).flatMap((node) => textOf(node) ?? []);
  return [...new Set(texts.flatMap(tablesIn))];
}
