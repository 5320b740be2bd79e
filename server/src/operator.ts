// The operator's commands: `railhead-server <noun> <verb> [flags]`. They access the database of the
// installation, so they need neither a credential nor a running server. Results, help and
// the version are written to standard output, everything else to standard error.
import { type Config, readConfig, splitFlags } from './config.ts';
import { Fault, type FieldError, messageWithCause } from './kernel/fault.ts';
import { nearest } from './kernel/nearest.ts';
import { BACKUP_HELP, readBackupFlags, runBackup } from './operator/backup/backup.ts';
import { cardDecisionVerbs } from './operator/cards/card-decisions.ts';
import { cardExceptionVerbs } from './operator/cards/card-exceptions.ts';
import { cardFundingDebitVerbs } from './operator/cards/card-funding-debits.ts';
import { cardRevealVerbs } from './operator/cards/card-reveals.ts';
import { cardVerbs } from './operator/cards/cards.ts';
import { auditedCommand, isRevealing } from './operator/cli/audited.ts';
import {
  describeFlags,
  isUsageError,
  type ParsedArgs,
  parse,
  usageError,
  usageOf,
} from './operator/cli/flags.ts';
import { MIGRATE_HELP, readMigrateFlags, runMigrations } from './operator/cli/migrations.ts';
import { withSystem } from './operator/cli/system.ts';
import type { Output, Verb } from './operator/cli/verb.ts';
import { customerVerbs } from './operator/customers/customers.ts';
import { documentVerbs } from './operator/customers/documents.ts';
import { externalAccountVerbs } from './operator/customers/external-accounts.ts';
import { importVerbs } from './operator/customers/imports.ts';
import { messageVerbs } from './operator/customers/messages.ts';
import { scaVerbs } from './operator/customers/sca.ts';
import { verificationVerbs } from './operator/customers/verifications.ts';
import { DOCTOR_HELP, readDoctorFlags, runDoctor } from './operator/doctor/doctor.ts';
import { jobVerbs } from './operator/jobs/jobs.ts';
import { retentionVerbs } from './operator/jobs/retention.ts';
import { accountVerbs } from './operator/money/accounts.ts';
import { depositVerbs } from './operator/money/deposits.ts';
import { exportVerbs } from './operator/money/export.ts';
import { ledgerVerbs } from './operator/money/ledger.ts';
import { payoutVerbs } from './operator/money/payouts.ts';
import { stablecoinOperationVerbs } from './operator/money/stablecoin-operations.ts';
import { stablecoinVerbs } from './operator/money/stablecoins.ts';
import { suspenseVerbs } from './operator/money/suspense.ts';
import { agentVerbs } from './operator/platforms/agents.ts';
import { cardProgramVerbs } from './operator/platforms/card-program.ts';
import { dataKeyVerbs } from './operator/platforms/data-keys.ts';
import { keysVerbs, webhookKeyVerbs } from './operator/platforms/keys.ts';
import { limitVerbs } from './operator/platforms/limits.ts';
import { platformVerbs } from './operator/platforms/platform.ts';
import { requestVerbs } from './operator/platforms/requests.ts';
import { tokenVerbs } from './operator/platforms/token.ts';
import { webhookVerbs } from './operator/platforms/webhooks.ts';
import { providerConfigurationVerbs } from './operator/providers/configuration.ts';
import { providerVerbs } from './operator/providers/providers.ts';
import { reconciliationVerbs } from './operator/providers/reconciliation.ts';
import { providerRouteVerbs } from './operator/providers/routes.ts';
import { auditVerbs } from './operator/staff/audit.ts';
import { operatorTokenVerbs } from './operator/staff/operator-tokens.ts';
import { operatorUserVerbs } from './operator/staff/operator-users.ts';
import { walletVerbs } from './operator/wallets/wallets.ts';
import { versionLine } from './runtime/config/version.ts';

/** Input and output of a command. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output. Resolves when the output accepts more text. */
  out(text: string): void | Promise<void>;
  err(text: string): void;
  /** Writes a note to standard error. Absent unless standard error is a terminal. */
  note?(text: string): void;
  /** Opens the installation. Default: `withSystem`. */
  open?: typeof withSystem;
}

export const VERBS: readonly Verb[] = [
  ...platformVerbs,
  ...limitVerbs,
  ...cardProgramVerbs,
  ...tokenVerbs,
  ...keysVerbs,
  ...dataKeyVerbs,
  ...ledgerVerbs,
  ...accountVerbs,
  ...customerVerbs,
  ...externalAccountVerbs,
  ...documentVerbs,
  ...payoutVerbs,
  ...providerVerbs,
  ...providerRouteVerbs,
  ...reconciliationVerbs,
  ...providerConfigurationVerbs,
  ...suspenseVerbs,
  ...depositVerbs,
  ...verificationVerbs,
  ...scaVerbs,
  ...webhookVerbs,
  ...webhookKeyVerbs,
  ...requestVerbs,
  ...walletVerbs,
  ...agentVerbs,
  ...stablecoinVerbs,
  ...stablecoinOperationVerbs,
  ...cardVerbs,
  ...cardDecisionVerbs,
  ...cardFundingDebitVerbs,
  ...cardExceptionVerbs,
  ...cardRevealVerbs,
  ...messageVerbs,
  ...importVerbs,
  ...jobVerbs,
  ...retentionVerbs,
  ...exportVerbs,
  ...operatorTokenVerbs,
  ...operatorUserVerbs,
  ...auditVerbs,
];
const NOUNS = [...new Set(VERBS.map((each) => each.noun))];
const HELP = new Set(['--help', '-h', 'help']);
const VERSION = new Set(['--version', '-v', 'version']);
const COMMAND = 'railhead-server';
const COMMANDS = [
  ['start', 'Start the server. Its flags are the settings (start --help)'],
  ['migrate', 'Migrate the database without starting the server (migrate --help)'],
  ['doctor', 'Check the installation (doctor --help)'],
  ['backup', 'Back up the embedded database, and restore or verify a backup (backup --help)'],
] as const;

/** Printed after a command with an audit record, because the command authenticates no user. */
const RECORDED_NOTE =
  'This command accessed the database directly, and its use was recorded. Prefer the operator ' +
  'API, which authenticates its users.\n';

const SUCCESS = 0;
const FAILURE = 1;
const USAGE_ERROR = 2;

/** An argument on one line, truncated to 40 characters. */
const displayText = (argument: string) => {
  const line = argument.replaceAll(/\p{Cc}+/gu, ' ');
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
};

const formatColumns = (rows: readonly (readonly [string, string])[]) => {
  const width = Math.max(...rows.map(([term]) => term.length)) + 2;
  return rows.map(([term, explanation]) => `  ${term.padEnd(width)}${explanation}`).join('\n');
};

function overview(noun?: string): string {
  const verbs = VERBS.filter((each) => noun === undefined || each.noun === noun);
  const rows = verbs.map(({ noun, verb, summary }) => [`${noun} ${verb}`, summary] as const);
  return [
    `Usage: ${COMMAND} ${noun ?? '<noun>'} <verb> [flags] [--json]`,
    '',
    formatColumns(noun === undefined ? [...COMMANDS, ...rows] : rows),
    '',
    'Every verb has --help. DATABASE_URL or --database-url selects the database. Without it, the',
    'embedded database in RAILHEAD_DATA_DIR or --data-dir (default: .railhead) is used.',
    '',
  ].join('\n');
}

const usageLine = (verb: Verb) =>
  `Usage: ${COMMAND} ${verb.noun} ${verb.verb} ${usageOf(verb.flags, verb.positional)}`;

const helpOf = (verb: Verb) =>
  `${usageLine(verb)}\n\n${verb.summary}.\n\n${formatColumns(describeFlags(verb.flags, verb.isCsv))}\n`;

/** Three lines: the error, the nearest match or else the alternatives, and the command for help. */
const unknownError = (problem: string, secondLine: string, help: string) =>
  usageError(`${problem}\n${secondLine}\nSee ${COMMAND} ${help}.`);

const nearestMatch = (intended: string) => `Nearest match: ${COMMAND} ${intended}`;

/** Flags of the command itself and of a noun. */
const FLAGS = ['--help', '--version'];

function unknownNoun(noun: string, verb: string | undefined): Error {
  const isFlag = noun.startsWith('-');
  const names = [...COMMANDS.map(([name]) => name), 'help', 'version', ...NOUNS];
  const intended = nearest(noun, isFlag ? FLAGS : names);
  const isSameVerb = VERBS.some((each) => each.noun === intended && each.verb === verb);
  return unknownError(
    `${displayText(noun)} is not a ${isFlag ? 'flag of this command' : 'command'}.`,
    intended === undefined
      ? `Usage: ${COMMAND} <noun> <verb> [flags]`
      : nearestMatch(isSameVerb ? `${intended} ${verb}` : intended),
    '--help',
  );
}

function unknownVerb(noun: string, name: string, names: readonly string[]): Error {
  const isFlag = name.startsWith('-');
  const intended = nearest(name, isFlag ? FLAGS : names);
  return unknownError(
    `${noun} has no ${isFlag ? 'flag' : 'verb'} ${displayText(name)}.`,
    intended === undefined ? `Verbs: ${names.join(', ')}` : nearestMatch(`${noun} ${intended}`),
    `${noun} --help`,
  );
}

/** The verb of a command line, and its arguments. Throws a usage error for an unknown verb. */
function find(argv: readonly string[]): { verb: Verb; remainingArguments: string[] } {
  const [noun, name, ...remainingArguments] = argv;
  if (noun === undefined) throw usageError(`A noun and a verb are needed.\n${overview()}`);
  if (!NOUNS.includes(noun)) throw unknownNoun(noun, name);
  const verbs = VERBS.filter((each) => each.noun === noun);
  const [secondWord, ...otherArguments] = remainingArguments;
  const twoWordVerb = verbs.find((each) => each.verb === `${name} ${secondWord}`);
  if (twoWordVerb) return { verb: twoWordVerb, remainingArguments: otherArguments };
  const verb = verbs.find((each) => each.verb === name);
  if (verb) return { verb, remainingArguments };
  const names = verbs.map((each) => each.verb);
  if (name === undefined) {
    throw usageError(`${noun} needs a verb: ${names.join(', ')}.\nSee ${COMMAND} ${noun} --help.`);
  }
  const isTwoWordVerb =
    secondWord !== undefined && names.some((each) => each.startsWith(`${name} `));
  throw unknownVerb(noun, isTwoWordVerb ? `${name} ${secondWord}` : name, names);
}

/**
 * Settings of the installation, or one line for each invalid setting. A missing master key is
 * reported by the commands that need it.
 */
function readSettings(settings: readonly string[], io: Io): Config | { problems: string[] } {
  const isProduction = io.env.NODE_ENV === 'production';
  const result = readConfig({ ...io.env, NODE_ENV: undefined }, settings);
  if ('errors' in result) return { problems: result.errors };
  if ('help' in result) throw usageError(result.help);
  return { ...result.config, production: isProduction };
}

function configOf(settings: readonly string[], io: Io): Config {
  const config = readSettings(settings, io);
  if ('problems' in config) throw usageError(config.problems.join('\n'));
  return config;
}

/** One line for each invalid field of a request. */
function usageLines(error: Error): string[] {
  const { errors } = ((error instanceof Fault && error.details) || {}) as { errors?: FieldError[] };
  return errors?.map(({ field, message }) => `${field}: ${message}`) ?? [error.message];
}

function reportUsageError(io: Io, error: Error, usage?: string): number {
  io.err(`${[...usageLines(error), ...(usage ? [usage] : [])].join('\n').trimEnd()}\n`);
  return USAGE_ERROR;
}

/** Prints the first line of the error. LOG_LEVEL=debug adds the stack. */
function reportError(io: Io, error: unknown): number {
  if (!(error instanceof Error)) io.err(`${String(error)}\n`);
  else io.err(`${messageWithCause(error).split('\n')[0]}\n`);
  if (error instanceof Error && io.env.LOG_LEVEL === 'debug') io.err(`${error.stack}\n`);
  return FAILURE;
}

async function print(io: Io, json: boolean, output: Output): Promise<number> {
  if (output.chunks && json && !output.isJson)
    throw usageError('This output is not available as JSON. Remove --json.');
  if (output.chunks) for await (const chunk of output.chunks) await io.out(chunk);
  else await io.out(json ? `${JSON.stringify(output.json, null, 2)}\n` : output.text);
  return output.hasFailed ? FAILURE : SUCCESS;
}

/** The arguments of `help X` in the order `X --help`, which the functions below expect. */
const withHelpLast = (args: readonly string[]): readonly string[] => {
  const [firstArgument, ...subject] = args;
  return firstArgument === 'help' && subject.length > 0 ? [...subject, '--help'] : args;
};

/**
 * Prints help or the version, which need no database. Returns undefined for every other command.
 */
function explain(io: Io, args: readonly string[]): number | undefined {
  const [noun = '', verb] = args;
  const isVersionOfNoun =
    NOUNS.includes(noun) && (VERSION.has(verb ?? '') || args.includes('--version'));
  if (VERSION.has(noun) || isVersionOfNoun) io.out(`${versionLine()}\n`);
  else if (HELP.has(noun)) io.out(overview());
  else if (NOUNS.includes(noun) && verb !== undefined && HELP.has(verb)) io.out(overview(noun));
  else return undefined;
  return SUCCESS;
}

/** Commands that do not open the installation, each with its help. */
const STANDALONE_COMMANDS = {
  migrate: {
    help: MIGRATE_HELP,
    async run(args: readonly string[], settings: readonly string[], io: Io) {
      const flags = readMigrateFlags(args);
      return print(io, flags.isJson, await runMigrations(configOf(settings, io), flags));
    },
  },
  backup: {
    help: BACKUP_HELP,
    async run(args: readonly string[], settings: readonly string[], io: Io) {
      const flags = readBackupFlags(args);
      return print(io, flags.isJson, await runBackup(configOf(settings, io), flags));
    },
  },
  doctor: {
    help: DOCTOR_HELP,
    async run(args: readonly string[], settings: readonly string[], io: Io) {
      const isJson = readDoctorFlags(args);
      return print(io, isJson, await runDoctor(readSettings(settings, io)));
    },
  },
};

async function runStandalone(
  { help, run }: (typeof STANDALONE_COMMANDS)['migrate'],
  args: readonly string[],
  settings: readonly string[],
  io: Io,
): Promise<number> {
  try {
    if (!args.some((arg) => HELP.has(arg))) return await run(args, settings, io);
    await io.out(help);
    return SUCCESS;
  } catch (error) {
    return isUsageError(error) ? reportUsageError(io, error) : reportError(io, error);
  }
}

/** Runs one command. Returns the exit code: 0 for success, 1 for a failure, 2 for invalid usage. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const { settings, otherArguments } = splitFlags(argv);
  const args = withHelpLast(otherArguments);
  const explainedCode = explain(io, args);
  if (explainedCode !== undefined) return explainedCode;
  const [command] = args;
  if (command !== undefined && command in STANDALONE_COMMANDS) {
    const standaloneCommand = STANDALONE_COMMANDS[command as keyof typeof STANDALONE_COMMANDS];
    return runStandalone(standaloneCommand, args.slice(1), settings, io);
  }
  let usage: string | undefined;
  try {
    const { verb, remainingArguments } = find(args);
    usage = `${usageLine(verb)}\nTry --help.`;
    const parsedArgs: ParsedArgs = parse(verb.flags, verb.positional, remainingArguments);
    if (parsedArgs.help) {
      io.out(helpOf(verb));
      return SUCCESS;
    }
    const config = configOf(settings, io);
    // The result is printed while the database is open, because a long result is streamed.
    return await (io.open ?? withSystem)(config, async (system) => {
      const auditedCall = auditedCommand(system, verb, parsedArgs.args, io.env);
      // The access is recorded before the verb, which may write a file.
      if (isRevealing(verb)) await auditedCall.recordAccess();
      const output = await verb.run(auditedCall.system, parsedArgs.args);
      const code = await print(io, parsedArgs.json, output);
      if (auditedCall.count() > 0) io.note?.(RECORDED_NOTE);
      return code;
    });
  } catch (error) {
    if (isUsageError(error)) return reportUsageError(io, error, usage);
    if (error instanceof Fault && error.code === 'INVALID_INPUT') {
      return reportUsageError(io, error, usage);
    }
    return reportError(io, error);
  }
}

/** The command of this process, from its own arguments. Sets the exit code. */
export async function runProcess(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  // The reader of the output may close it early, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? SUCCESS : FAILURE);
  });
  process.exitCode = await main(argv, {
    env: process.env,
    out: (text) => new Promise((resolve) => void process.stdout.write(text, () => resolve())),
    err: (text) => void process.stderr.write(text),
    note: (text) => {
      if (process.stderr.isTTY) process.stderr.write(text);
    },
  });
}
