// Flags of a verb. One table per verb defines parsing, usage errors and the help text. A switch has
// a flag for each state, because both states can be set explicitly. `--sca off` and `--sca=off` are
// equal to `--no-sca`.
import { parseArgs } from 'node:util';
import { nearest } from '../../kernel/nearest.ts';

interface CommonFields {
  help: string;
}

interface TextFlag extends CommonFields {
  /** Placeholder of the value in the help. */
  value: string;
  required?: boolean;
  /** Several values, separated by commas. */
  list?: boolean;
  choices?: readonly string[];
}

interface Switch extends CommonFields {
  /** The flag that turns the switch off. */
  negation: string;
}

type Flag = TextFlag | Switch;
export type Flags = Readonly<Record<string, Flag>>;

/** Arguments of a call, by the flag's name. */
export interface CommandArgs {
  text(name: string): string | undefined;
  /** The value of a required flag. Parsing fails without it. */
  required(name: string): string;
  list(name: string): string[] | undefined;
  /** True for on, false for off, undefined without the switch. */
  isOn(name: string): boolean | undefined;
}

/** Invalid usage: the message is printed, followed by the usage if the verb is known. */
interface UsageError extends Error {
  name: 'UsageError';
}

export const usageError = (message: string): UsageError =>
  Object.assign(new Error(message), { name: 'UsageError' as const });

export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === 'UsageError';

const isSwitch = (flag: Flag): flag is Switch => 'negation' in flag;

const ON = new Set(['on', 'true', 'yes']);
const OFF = new Set(['off', 'false', 'no']);

/** Replaces `--sca off` and `--sca=off` by the corresponding flag. */
function normalizeSwitches(flags: Flags, argv: readonly string[]): string[] {
  const normalizedArgs: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] as string;
    const [, name = '', , inline] = /^--([a-z0-9-]+)(=(.*))?$/s.exec(argument) ?? [];
    const flag = flags[name];
    if (!flag || !isSwitch(flag)) {
      normalizedArgs.push(argument);
      // The next argument is the value of this flag, even if it begins with a dash.
      if (flag && inline === undefined && index + 1 < argv.length)
        normalizedArgs.push(argv[++index] as string);
      continue;
    }
    const nextText = argv[index + 1]?.toLowerCase() ?? '';
    const setting =
      inline?.toLowerCase() ?? (ON.has(nextText) || OFF.has(nextText) ? nextText : undefined);
    if (inline === undefined && setting !== undefined) index++;
    if (setting !== undefined && !ON.has(setting) && !OFF.has(setting)) {
      throw usageError(`--${name} must be on or off, not ${setting}`);
    }
    normalizedArgs.push(
      setting !== undefined && OFF.has(setting) ? `--${flag.negation}` : `--${name}`,
    );
  }
  return normalizedArgs;
}

type Options = Record<string, { type: 'string' | 'boolean'; short?: string }>;

function optionsOf(flags: Flags): Options {
  const options: Options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } };
  for (const [name, flag] of Object.entries(flags)) {
    options[name] = { type: isSwitch(flag) ? 'boolean' : 'string' };
    if (isSwitch(flag)) options[flag.negation] = { type: 'boolean' };
  }
  return options;
}

type Values = Record<string, string | boolean | undefined>;

/** Suffix of the problem that names the flag nearest to an unknown flag. Empty if there is none. */
function proposalFor({ code }: NodeJS.ErrnoException, problem: string, flags: Flags): string {
  const [, option = ''] = /'(--[^']+)'/.exec(problem) ?? [];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || option === '') return '';
  const names = [...Object.keys(optionsOf(flags)), 'version'].map((name) => `--${name}`);
  const intended = nearest(option, names);
  return intended === undefined ? '' : `. Nearest match: ${intended}`;
}

function read(flags: Flags, argv: readonly string[]): { values: Values; positionals: string[] } {
  try {
    const args = normalizeSwitches(flags, argv);
    const parsedArgs = parseArgs({ args, options: optionsOf(flags), allowPositionals: true });
    return { values: { ...parsedArgs.values }, positionals: parsedArgs.positionals };
  } catch (error) {
    if (isUsageError(error)) throw error;
    // The message of Node.js, without its advice about positional arguments.
    const [problem = ''] = (error as Error).message.split(/\.\s/);
    throw usageError(problem + proposalFor(error as NodeJS.ErrnoException, problem, flags));
  }
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);

function check(
  name: string,
  flag: TextFlag,
  value: string | undefined,
  isPositional: boolean,
): void {
  if (value === undefined) {
    if (flag.required)
      throw usageError(`${isPositional ? '' : `--${name} `}${flag.value} is required`);
    return;
  }
  if (value.trim() === '') throw usageError(`--${name} must not be empty`);
  const values = flag.list ? listOf(value) : [value];
  if (values.length === 0) throw usageError(`--${name} must not be empty`);
  const invalidValue = values.find((each) => flag.choices && !flag.choices.includes(each));
  if (invalidValue !== undefined) {
    throw usageError(
      `--${name} must be one of ${(flag.choices ?? []).join(', ')}, not ${invalidValue}`,
    );
  }
}

export interface ParsedArgs {
  args: CommandArgs;
  json: boolean;
  help: boolean;
}

/**
 * Parses the arguments after a verb. `positional` names the flag of an argument without a dash.
 * Throws a usage error. With --help only the syntax is validated.
 */
export function parse(
  flags: Flags,
  positional: string | undefined,
  argv: readonly string[],
): ParsedArgs {
  const { values, positionals } = read(flags, argv);
  const [firstPositional, ...otherPositionals] = positionals;
  const unexpectedArgument = positional === undefined ? firstPositional : otherPositionals[0];
  if (positional !== undefined && firstPositional !== undefined) {
    if (values[positional] !== undefined)
      throw usageError(`--${positional} is repeated. Give its value once`);
    values[positional] = firstPositional;
  }
  const text = (name: string) => values[name] as string | undefined;
  const args: CommandArgs = {
    text,
    required: (name) => text(name) as string,
    list: (name) => {
      const value = text(name);
      return value === undefined ? undefined : listOf(value);
    },
    isOn(name) {
      const flag = flags[name] as Switch;
      if (values[name]) return true;
      return values[flag.negation] ? false : undefined;
    },
  };
  const help = values.help === true;
  if (help) return { args, json: false, help };
  if (unexpectedArgument !== undefined) throw usageError(`${unexpectedArgument} is not recognized`);
  for (const [name, flag] of Object.entries(flags)) {
    if (!isSwitch(flag)) check(name, flag, text(name), name === positional);
    else if (values[name] && values[flag.negation]) {
      throw usageError(`--${name} and --${flag.negation} exclude each other`);
    }
  }
  return { args, json: values.json === true, help };
}

/** The flags of a verb as listed in the help: syntax and description. */
export function describeFlags(flags: Flags, isCsv = false): [string, string][] {
  const rows = Object.entries(flags).map(([name, flag]): [string, string] => {
    if (isSwitch(flag)) {
      const syntax =
        flag.negation === `no-${name}` ? `--[no-]${name}` : `--${name}, --${flag.negation}`;
      return [syntax, flag.help];
    }
    const choices = flag.choices ? ` (${flag.choices.join(', ')})` : '';
    return [`--${name} ${flag.value}`, flag.help + choices];
  });
  const json: [string, string] = ['--json', 'Print one JSON value instead of a table'];
  return [...rows, ...(isCsv ? [] : [json]), ['-h, --help', 'Show this help']];
}

/** The shortest call: required flags, the positional argument, and a mark for further flags. */
export function usageOf(flags: Flags, positional: string | undefined): string {
  const parts = Object.entries(flags).flatMap(([name, flag]) => {
    if (isSwitch(flag) || !flag.required) return [];
    return [name === positional ? flag.value : `--${name} ${flag.value}`];
  });
  return [...parts, '[flags]'].join(' ');
}
