// A setting names its environment variable, its flag, its validation and its help. `--help` and
// docs/settings.md follow from this one definition, for the server and for connectors. A setting of
// a connector is a property of a schema, from which its type follows. Error messages never repeat a
// value, which may be a secret.
import path from 'node:path';
import {
  type Static,
  type TArray,
  type TNumber,
  type TObject,
  type TSchema,
  type TString,
  Type,
} from '@sinclair/typebox';
import { readUrl } from './net/url.ts';

/** Names of a setting, and its description in the help. */
export interface Setting {
  env: string;
  /** Flag without dashes. Absent for a setting of the environment only. */
  flag?: string;
  /** Names of an earlier release, which are read too. */
  earlier?: { env: string; flag: string };
  /** Default value. */
  fallback?: string;
  /** Placeholder for the value in the help. */
  value: string;
  help: string;
  /** The error of a value, or undefined. Never contains the value, which may be a secret. */
  validate(text: string): string | undefined;
}

/** The declaration of a setting by a connector, without `validate`, which is derived from its kind. */
type SettingDeclaration = Omit<Setting, 'validate' | 'value'> & {
  value?: string;
  /** Whether the value may contain a credential and is never printed. */
  secret?: true;
};

/** A setting in the schema of its connector. */
export interface SettingLeaf extends Setting {
  /** Path of the value: `['s3', 'bucket']`. */
  path: readonly string[];
  /** Whether the containing object requires the setting. */
  isRequired: boolean;
  secret?: true;
  /** Parses a valid text. A relative path is resolved against `base`. */
  read(text: string, base: string): unknown;
}

const SOURCE = Symbol('source');

type Source = Pick<SettingLeaf, 'validate' | 'read' | 'value'> & SettingDeclaration;

export const problemUnless = (isValid: boolean, problem: string): string | undefined =>
  isValid ? undefined : problem;

export const matches = (pattern: RegExp, problem: string) => (text: string) =>
  problemUnless(pattern.test(text), problem);

/** Permitted whole numbers. `unit` is part of the error, such as ` of seconds`. */
interface NumberRange {
  min: number;
  max: number;
  unit?: string;
}

/** Help and validation of a whole number. `{range}` in the help becomes the range, such as `1 to 600`. */
export function numberSetting(
  { min, max, unit = '' }: NumberRange,
  help: string,
): Pick<Setting, 'help' | 'validate'> {
  const digits = new RegExp(`^\\d{1,${String(max).length}}$`);
  const isValid = (text: string) => digits.test(text) && Number(text) >= min && Number(text) <= max;
  const problem = `must be a whole number${unit} from ${min} to ${max}`;
  return {
    help: help.replace('{range}', `${min} to ${max}`),
    validate: (text) => problemUnless(isValid(text), problem),
  };
}

/** Comma-separated strings. */
export const listOf = (text: string): string[] => text.split(',').map((each) => each.trim());

/** The error of the URL of a service. A call over a network requires encryption. */
export function serviceUrlProblem(text: string): string | undefined {
  const url = readUrl(text);
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  return problemUnless(isAllowed, 'must be an https URL, or an http URL on this machine');
}

const isPath = (text: string) => text.trim() !== '' && !text.includes('\0');
export const folderProblem = (text: string) =>
  problemUnless(isPath(text), 'must be the path of a folder');
const fileProblem = (text: string) => problemUnless(isPath(text), 'must be the path of a file');

function settingOf<T extends TSchema>(schema: T, source: Source): T {
  const { env, help, fallback, secret, read } = source;
  const defaultValue = fallback === undefined ? {} : { default: read(fallback, '/') };
  const annotations = { description: help, env, ...defaultValue, ...(secret ? { secret } : {}) };
  return { ...schema, ...annotations, [SOURCE]: source };
}

const asText = (text: string) => text;
const asPath = (text: string, base: string) => path.resolve(base, text);

/** A string validated by `validate`. */
export const textSetting = (
  declaration: SettingDeclaration,
  validate: (text: string) => string | undefined,
): TString => settingOf(Type.String(), { value: 'TEXT', ...declaration, validate, read: asText });

/** The URL of a service. */
export const serviceSetting = (declaration: SettingDeclaration): TString =>
  textSetting({ value: 'URL', ...declaration }, serviceUrlProblem);

/** A file by its absolute path. */
export const fileSetting = (declaration: SettingDeclaration): TString => {
  const source = { value: 'FILE', validate: fileProblem, read: asPath };
  return settingOf(Type.String(), { ...source, ...declaration });
};

/** A folder by its absolute path. */
export const folderSetting = (declaration: SettingDeclaration): TString => {
  const source = { value: 'FOLDER', validate: folderProblem, read: asPath };
  return settingOf(Type.String(), { ...source, ...declaration });
};

/** Seconds in the environment, milliseconds as a value. `{range}` in the help becomes the range. */
export const secondsSetting = (declaration: SettingDeclaration): TNumber =>
  settingOf(Type.Number({ exclusiveMinimum: 0 }), {
    ...{ value: 'SECONDS', ...declaration, read: (text: string) => Number(text) * 1_000 },
    ...numberSetting({ min: 1, max: 99_999_999, unit: ' of seconds' }, declaration.help),
  });

/** Comma-separated strings. Empty if the setting is absent. */
export const listSetting = (
  declaration: SettingDeclaration,
  validate: (text: string) => string | undefined,
): TArray<TString> => {
  const source = { value: 'TEXTS', ...declaration, validate, read: listOf };
  return { ...settingOf(Type.Array(Type.String()), source), default: [] };
};

/** The settings of a schema in their order, including settings of nested objects. */
export function settingsIn(schema: TObject, parentPath: readonly string[] = []): SettingLeaf[] {
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const settingPath = [...parentPath, name];
    const source = (property as { [SOURCE]?: Source })[SOURCE];
    const isRequired = property.default === undefined && !!schema.required?.includes(name);
    if (source) return [{ ...source, path: settingPath, isRequired }];
    return property.type === 'object' ? settingsIn(property as TObject, settingPath) : [];
  });
}

/** The objects inside a schema, whose required settings belong together. */
const objectsIn = (schema: TObject): TObject[] =>
  Object.values(schema.properties)
    .filter((each): each is TObject => each.type === 'object')
    .flatMap((each) => [each, ...objectsIn(each)]);

/** The common prefix of all names, in complete words. */
function commonStart(names: readonly string[]): string {
  const [firstWords = [], ...otherNames] = names.map((name) => name.split('_'));
  const length = firstWords.findIndex((word, index) =>
    otherNames.some((each) => each[index] !== word),
  );
  return firstWords.slice(0, length < 0 ? firstWords.length : length).join('_');
}

/** Errors of nested objects of which only some required settings are present. */
export function incompleteSettings(schema: TObject, isSet: (env: string) => boolean): string[] {
  return objectsIn(schema).flatMap((object) => {
    const names = settingsIn(object).flatMap(({ env, isRequired, path: { length } }) =>
      isRequired && length === 1 ? [env] : [],
    );
    const missingNames = names.filter((env) => !isSet(env));
    if (missingNames.length === 0 || missingNames.length === names.length) return [];
    return [
      `${missingNames.join(', ')} must be set as well, or no setting of ${commonStart(names)}.`,
    ];
  });
}

/**
 * The value of a schema from validated strings by environment variable. Absent settings have their
 * defaults. An object without a required setting is absent.
 */
export function readSettings<S extends TObject>(
  schema: S,
  texts: ReadonlyMap<string, string>,
  base: string,
): Partial<Static<S>> {
  const value: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const source = (property as { [SOURCE]?: Source })[SOURCE];
    const text = source && texts.get(source.env);
    if (property.default !== undefined) value[name] = property.default;
    if (source && text !== undefined) value[name] = source.read(text, base);
    if (!source && property.type === 'object') {
      const nestedValue = readSettings(property as TObject, texts, base);
      if (isComplete(property as TObject, nestedValue)) value[name] = nestedValue;
    }
  }
  return value as Partial<Static<S>>;
}

/** Whether all settings that an object requires are present. */
export const isComplete = (schema: TObject, value: object): boolean =>
  (schema.required ?? []).every((name) => (value as Record<string, unknown>)[name] !== undefined);
