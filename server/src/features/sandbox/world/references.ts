// References between the steps of a fixture. A reference is a whole string: `$name.field.0.id`.

import { invalidField } from '../../../kernel/fault.ts';

/** Responses by step name. */
export type StepResponses = ReadonlyMap<string, unknown>;

const REFERENCE = /^\$([A-Za-z][A-Za-z0-9_-]*)((?:\.[A-Za-z0-9_-]+)*)$/;

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}

function resolveText(text: string, results: StepResponses, field: string): unknown {
  if (text.startsWith('$$')) return text.slice(1);
  if (!text.startsWith('$')) return text;
  const [, name = '', path = ''] = REFERENCE.exec(text) ?? [];
  const value = valueAt(results.get(name), path.split('.').slice(1));
  if (value === undefined) throw invalidField(field, `${text} is not a field of an earlier step`);
  return value;
}

/** The value with all references replaced. Throws INVALID_INPUT with the field. */
export function resolve(value: unknown, results: StepResponses, field: string): unknown {
  if (typeof value === 'string') return resolveText(value, results, field);
  if (Array.isArray(value)) {
    return value.map((each, index) => resolve(each, results, `${field}.${index}`));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, resolve(each, results, `${field}.${name}`)]),
  );
}

/** A string that is replaced when its step runs. */
export interface Reference {
  field: string;
  text: string;
  /** Name of the referenced step, or undefined if the text only starts with an escaped dollar sign. */
  name: string | undefined;
}

/** All texts of a value that `resolve` replaces. */
export function referencesIn(value: unknown, field = ''): Reference[] {
  if (typeof value === 'string') {
    if (!value.startsWith('$')) return [];
    const name = value.startsWith('$$') ? undefined : (REFERENCE.exec(value)?.[1] ?? '');
    return [{ field, text: value, name }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    referencesIn(each, field === '' ? key : `${field}.${key}`),
  );
}
