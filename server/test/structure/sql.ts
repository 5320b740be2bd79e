// Finds the tables that the SQL in a source file names. Reads the strings and templates of its
// syntax tree, with `${…}` in place of interpolated values. An interpolated table name cannot be
// checked, so it is returned as `${…}` with its expression.
import ts from 'typescript';
import { nodesOf, parse } from './sources.ts';

const alternatives = (...list: string[]) => list.join('|').replaceAll(' ', '\\s+');
/** Keywords that end a list of tables at its own level. */
const CLAUSES = alternatives(
  ...['where', 'group', 'order', 'having', 'limit', 'offset', 'fetch', 'returning', 'for', 'set'],
  ...['union', 'intersect', 'except', 'window', 'select', 'values', 'on conflict'],
);
const LIST_END = new RegExp(`^(${CLAUSES})\\b`, 'i');
const JOINS = /^((inner|cross|natural|left|right|full)(\s+outer)?\s+)?join\b/i;
const NAME =
  /^(?:(?:lateral|only)\s+)*(?:"?public"?\.)?(?:"([^"]+)"|(\w+)(?!\w*\()|(\$\{[^}]*\}))/i;
/** `is distinct from` compares values. */
const LIST_KEYWORD = /(?<!\bdistinct\s+)\b(?:from|using|join)\s+/gi;
const SINGLE_TABLE_KEYWORD = /\b(?:into|update|truncate|table)\s+/gi;
const STATEMENT = alternatives(
  ...['select', 'insert into', 'delete from', 'join', 'where', 'returning', 'values', 'truncate'],
);
/** Distinguishes SQL from sentences that contain the same words. */
const SQL_PATTERN = new RegExp(
  `\\b(${STATEMENT})\\b|\\bset\\s+\\S+\\s*=|^\\s*(from|using|into|update)\\b`,
  'i',
);

const nameOf = (reference: string): string[] => {
  const [, quotedName, unquotedName, interpolatedName] = NAME.exec(reference.trimStart()) ?? [];
  const name = quotedName ?? unquotedName?.toLowerCase() ?? interpolatedName;
  return name === undefined ? [] : [name];
};

/** The text from each table reference in a list. Commas and joins separate them. */
function referencesOf(text: string): string[] {
  const references = [text];
  let depth = 0;
  for (let position = 0; position < text.length; ) {
    const remainingText = text.slice(position);
    const char = remainingText.charAt(0);
    const isAtWord = !/\w/.test(text.charAt(position - 1));
    if (depth === 0 && (char === ')' || (isAtWord && LIST_END.test(remainingText)))) break;
    if (char === '(') depth++;
    if (char === ')') depth--;
    const separator = char === ',' ? [','] : isAtWord ? JOINS.exec(remainingText) : null;
    position += separator?.[0]?.length ?? 1;
    if (separator && depth === 0) references.push(text.slice(position));
  }
  return references;
}

/** Tables that an SQL statement, or a part of one, names. */
export function tablesIn(sql: string): string[] {
  if (!SQL_PATTERN.test(sql)) return [];
  const textAfter = ({ index, 0: head }: RegExpExecArray) => sql.slice(index + head.length);
  const lists = [...sql.matchAll(LIST_KEYWORD)].flatMap((match) => referencesOf(textAfter(match)));
  const names = [...lists, ...[...sql.matchAll(SINGLE_TABLE_KEYWORD)].map(textAfter)].flatMap(
    nameOf,
  );
  return [...new Set(names)];
}

const textOf = (node: ts.Node): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  const spans = node.templateSpans.map(
    // Braces in the expression would be read as braces of the statement.
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
