// Flags of an operation: creates command-line options from its fields, and converts their values to
// the input of the call.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { usageError } from '../exit.ts';
import { closest } from '../suggest.ts';
import type { Field, Operation } from './metadata.ts';

/** If an operation has more flags, the help omits the flags of nested objects. */
const MAX_SHOWN = 24;

const PLACEHOLDERS: Record<Field['type'], string> = {
  string: '<text>',
  number: '<number>',
  boolean: '[true|false]',
  list: '<list>',
  json: '<json>',
  file: '<file>',
};

function descriptionOf({ text = '', values = [], required }: Field): string {
  const namedValues = values.filter((value) => text.includes(value));
  const isShortList = values.length > 0 && values.length <= 8;
  // A text with several values states which of them apply.
  const choices = isShortList && namedValues.length < 2 ? ` One of ${values.join(', ')}.` : '';
  return `${required ? 'Required. ' : ''}${text}${choices}`;
}

function fieldsOf({ query, body }: Operation): readonly Field[] {
  return [...query, ...(body?.fields ?? [])];
}

/** Adds the flags to a command. Returns the number of flags that its help omits. */
export function addFlags(command: Command, operation: Operation): number {
  const fields = fieldsOf(operation);
  const isLong = fields.length > MAX_SHOWN;
  let hiddenCount = 0;
  for (const field of fields) {
    const option = new Option(`--${field.flag} ${PLACEHOLDERS[field.type]}`, descriptionOf(field));
    // Used for completion only, because `checkValue` also accepts lower case.
    if (field.values) option.argChoices = [...field.values];
    if (isLong && field.path.includes('.')) {
      option.hideHelp();
      hiddenCount++;
    }
    command.addOption(option);
  }
  return hiddenCount;
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${source} is not JSON: ${(error as Error).message}`);
  }
}

function checkValue({ flag, values }: Field, text: string): string {
  if (!values || values.includes(text)) return text;
  const upperValue = values.find((each) => each === text.toUpperCase().replaceAll('-', '_'));
  if (upperValue) return upperValue;
  const suggestion = closest(text, values);
  const list = values.length <= 12 ? `Use one of ${values.join(', ')}.` : undefined;
  throw usageError(
    `--${flag}: ${text} is unknown.`,
    suggestion ? `Did you mean ${suggestion}?` : list,
  );
}

/** Converts the value of a flag to the type of the API field. */
export function flagValue(field: Field, flagInput: string | true): unknown {
  const { type, flag } = field;
  if (flagInput === true) return true;
  switch (type) {
    case 'number': {
      const number = Number(flagInput);
      if (flagInput.trim() !== '' && Number.isFinite(number)) return number;
      throw usageError(
        `--${flag}: ${flagInput} is not a number.`,
        'Amounts are in minor units: 25000 is 250.00.',
      );
    }
    case 'boolean':
      if (flagInput === 'true' || flagInput === 'false') return flagInput === 'true';
      throw usageError(`--${flag}: ${flagInput} is neither true nor false.`);
    case 'list':
      return flagInput.split(',').map((each) => checkValue(field, each.trim()));
    case 'json':
      return parseJson(flagInput, `--${flag}`);
    default:
      return checkValue(field, flagInput);
  }
}

type Json = Record<string, unknown>;

/** Sets a value at a dot path, and creates the objects along the path. */
export function setAt(target: Json, path: string, value: unknown): void {
  const names = path.split('.');
  const lastName = names.pop() ?? '';
  let parent = target;
  for (const name of names) {
    const child = parent[name];
    const isContainer = typeof child === 'object' && child !== null;
    if (!isContainer) parent[name] = {};
    parent = parent[name] as Json;
  }
  parent[lastName] = value;
}

/** Reads the JSON of `--data`: a string, `@file`, or `-` for standard input. */
export function readData(text: string): Json {
  const source = text === '-' ? 0 : text.startsWith('@') ? text.slice(1) : undefined;
  let content = text;
  if (source !== undefined) {
    try {
      content = readFileSync(source, 'utf8');
    } catch (error) {
      throw usageError(`--data: ${text} cannot be read: ${(error as Error).message}`);
    }
  }
  const value = parseJson(content, '--data');
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw usageError('--data must be a JSON object.', 'Example: --data \'{ "name": "Ada" }\'');
}

/** The property name of an option in the parsed options. */
const attributeOf = (flag: string) =>
  flag.replaceAll(/-([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase());

/** Returns the input of a call from `--data` and the flags. Flags replace fields of `--data`. */
export function inputOf(operation: Operation, options: Readonly<Record<string, unknown>>): Json {
  const input = options.data === undefined ? {} : readData(String(options.data));
  for (const field of fieldsOf(operation)) {
    const flagInput = options[attributeOf(field.flag)];
    if (flagInput !== undefined)
      setAt(input, field.path, flagValue(field, flagInput as string | true));
  }
  return input;
}

/** Returns the flags of required fields that are absent. */
export function missingFlags({ body, query }: Operation, input: Json): string[] {
  return [...query, ...(body?.fields ?? [])]
    .filter(({ required, path }) => required && input[path.split('.')[0] ?? ''] === undefined)
    .map(({ flag }) => `--${flag}`);
}
