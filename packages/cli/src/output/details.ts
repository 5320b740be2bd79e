// Shows a resource as lines of names and values. The fields of a nested object are
// indented below its name.
import type { Styles } from './style.ts';
import { isObject, shortText } from './values.ts';

const INDENT = '  ';

/** The items of an array are numbered from 1 if there are several. */
function partsOf(name: string, value: unknown): (readonly [name: string, value: unknown])[] {
  if (!Array.isArray(value)) return [[name, value]];
  return value.map((each, index) => [value.length > 1 ? `${name} ${index + 1}` : name, each]);
}

function linesOf(value: object, indent: string, styles: Styles): string[] {
  const entries = Object.entries(value);
  const shortEntries = entries.filter(([, each]) => shortText(each) !== undefined);
  const width = Math.max(0, ...shortEntries.map(([name]) => name.length));
  return entries.flatMap(([name, each]) => {
    const text = shortText(each);
    if (text !== undefined) {
      return text === '' ? [] : [`${indent}${styles.dim(name.padEnd(width))}  ${text}`];
    }
    return partsOf(name, each).flatMap(([title, item]) => [
      `${indent}${styles.dim(title)}`,
      ...linesOf(item as object, indent + INDENT, styles),
    ]);
  });
}

export function detailLines(value: unknown, styles: Styles): string[] {
  if (!isObject(value)) return [shortText(value) ?? JSON.stringify(value)];
  return linesOf(value, '', styles);
}
