// One resource as lines of names and values; fields of nested objects have a dot path.
import type { Styles } from './style.ts';
import { isObject, shortText } from './values.ts';

type Line = readonly [name: string, text: string];

function linesOf(value: unknown, path: string): Line[] {
  const text = shortText(value);
  if (text !== undefined) return text === '' ? [] : [[path, text]];
  const entries = Array.isArray(value)
    ? value.map((each, index) => [String(index), each] as const)
    : Object.entries(value as object);
  return entries.flatMap(([name, each]) => linesOf(each, path ? `${path}.${name}` : name));
}

export function detailLines(value: unknown, styles: Styles): string[] {
  if (!isObject(value)) return [shortText(value) ?? JSON.stringify(value)];
  const lines = linesOf(value, '');
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${styles.dim(name.padEnd(width))}  ${text}`);
}
