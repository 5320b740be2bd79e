// Reads the settings from the environment and from flags. All errors are returned together, one
// line each. The help and the table of docs/settings.md are generated from the same list of
// settings of the server and of its connectors, so they cannot diverge.
import path from 'node:path';
import {
  type ConnectorValues,
  connectorSettings,
  readConnectorSettings,
  type StorageSettings,
  settingConflicts,
} from './connectors/registry.ts';
import { nearest } from './kernel/nearest.ts';
import { listOf, type Setting } from './kernel/settings.ts';
import {
  type IdentityProviderSettings,
  identityProviderOf,
  identityProviderProblem,
} from './runtime/config/identity-provider.ts';
import { type Role, rolesOf, rolesProblem } from './runtime/config/roles.ts';
import { settingsFolder } from './runtime/config/root.ts';
import { keyFrom, SERVER_SETTINGS } from './runtime/config/settings.ts';
import type { ConnectionLimits } from './runtime/db/connections/limits.ts';
import type { Level } from './runtime/observability/log.ts';
import {
  TRACING_SETTINGS,
  type TracingSettings,
  tracingOf,
} from './runtime/observability/tracing/settings.ts';

export interface Config {
  /** 0 means any free port. */
  port: number;
  host: string;
  /** Server processes on this machine that share the port. */
  processes: number;
  /** Roles of each process. */
  roles: readonly Role[];
  /** Period for which a stopping process still serves requests but reports that it is not ready. */
  drainMs: number;
  /** Absolute path of the data folder. */
  dataDir: string;
  /** Undefined: the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  /** Limits of connections to the database. */
  connectionLimits: ConnectionLimits;
  /** Credentials of the first platform, or undefined: generated. */
  client: { id: string; secret: string } | undefined;
  /**
   * 32 bytes. If no key is set outside production, one is generated and stored in the data folder.
   */
  masterKey: Uint8Array | undefined;
  /** File or command that provides the key. The path of the file is absolute. */
  masterKeyFile: string | undefined;
  masterKeyCommand: string | undefined;
  serviceNamePrefix: string;
  /** Requests or bytes per second. 0 sets no limit. */
  rateLimits: {
    requests: number;
    quotes: number;
    rejected: number;
    anonymous: number;
    bytes: number;
  };
  /** Addresses and networks of proxies whose X-Forwarded-For header is trusted. */
  trustedProxies: readonly string[];
  logLevel: Level;
  production: boolean;
  /** Connectors of platforms. Paths of files are absolute. */
  connectors: Omit<ConnectorValues, keyof StorageSettings>;
  /** Storage of customers' files: the bucket, or else the folder, whose path is absolute. */
  files: StorageSettings;
  /** Base URL for clients, or undefined: the listening address. */
  publicUrl: string | undefined;
  /** Whether sandbox platforms may use webhook endpoints on this machine. */
  loopbackWebhooks: boolean;
  /** Whether the first start creates a sample customer. */
  sampleCustomer: boolean;
  /** Waiting period of an account recovery, or undefined: disabled. */
  walletRecoveryMs: number | undefined;
  eventRetentionMs: number;
  /** Retention of recorded requests. */
  requestRetentionMs: number;
  /** Retention of archives of events and requests. 0: none are written. */
  archiveRetentionMs: number;
  /** Time between two verifications of the ledger. 0: none. */
  ledgerCheckMs: number;
  providerMessageRetentionMs: number;
  /** Address at which operators sign in, or undefined: the public URL. */
  operatorUrl: string | undefined;
  /** Collector of traces, or undefined: none. */
  tracing: TracingSettings | undefined;
  /** Identity provider of operators, or undefined: none. */
  operatorOidc: IdentityProviderSettings | undefined;
  /** Port of the operator API: that of the server, a separate port, or none. */
  operatorApi: 'on' | 'off' | number;
  /** Whether operators have the console. */
  console: boolean;
}

const SETTINGS: readonly Setting[] = [
  ...SERVER_SETTINGS,
  ...TRACING_SETTINGS,
  ...connectorSettings(),
];

type ConfigResult = { config: Config } | { errors: string[] } | { help: string };

interface Flags {
  /** Text of each flag, by environment name. */
  values: Map<string, string>;
  /** Arguments that are settings, and all other arguments, in order. */
  settings: string[];
  otherArguments: string[];
  errors: string[];
}

/** Reads `--flag value` and `--flag=value`. */
function readFlags(argv: readonly string[]): Flags {
  const flags: Flags = { values: new Map(), settings: [], otherArguments: [], errors: [] };
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index]!;
    const [, name, , inlineValue] = /^--([^=]+)(=(.*))?$/s.exec(argument) ?? [];
    const setting =
      name && SETTINGS.find(({ flag, earlier }) => flag === name || earlier?.flag === name);
    if (!setting) {
      flags.otherArguments.push(argument);
      continue;
    }
    const nextArgument = argv[index + 1];
    const value = inlineValue ?? (nextArgument?.startsWith('--') ? undefined : nextArgument);
    flags.settings.push(argument);
    if (inlineValue === undefined && value !== undefined) {
      flags.settings.push(value);
      index += 1;
    }
    if (value === undefined || value === '') flags.errors.push(`--${name} needs a value.`);
    else if (flags.values.has(setting.env)) flags.errors.push(`--${name} is repeated.`);
    else flags.values.set(setting.env, value);
  }
  return flags;
}

/** Splits a command line into settings and other arguments, for the operator's commands. */
export function splitFlags(argv: readonly string[]): {
  settings: string[];
  otherArguments: string[];
} {
  const { settings, otherArguments } = readFlags(argv);
  return { settings, otherArguments };
}

/** Flags of the command line. `--help` and `--version` are not settings. */
const FLAGS = ['help', 'version', ...SETTINGS.flatMap(({ flag }) => flag ?? [])].map(
  (name) => `--${name}`,
);

function unknownFlag(name: string): string {
  const nearestFlag = nearest(name, FLAGS);
  const proposal = nearestFlag === undefined ? '' : `. Nearest match: ${nearestFlag}`;
  return `${name} is not a setting${proposal}. Try --help.`;
}

function unknownArguments(otherArguments: readonly string[]): string[] {
  return otherArguments.flatMap((argument, index) => {
    if (argument.startsWith('-')) return [unknownFlag(argument.split('=')[0] ?? argument)];
    // The argument is probably the value of the unknown flag before it.
    if (otherArguments[index - 1]?.startsWith('-')) return [];
    return [`${argument} is not recognized. Settings have the form --port 4001.`];
  });
}

const operatorApiOf = (text: string): Config['operatorApi'] =>
  text === 'on' || text === 'off' ? text : Number(text);

function build(values: Map<string, string>, base: string): Config {
  const text = (env: string) => values.get(env);
  const list = (env: string) => {
    const value = text(env);
    return value === undefined ? [] : listOf(value);
  };
  const dataDir = path.resolve(base, text('RAILHEAD_DATA_DIR')!);
  const { folder, s3, ...connectors } = readConnectorSettings(values, base);
  const production = text('NODE_ENV') === 'production';
  const hours = text('RAILHEAD_WALLET_RECOVERY');
  const id = text('RAILHEAD_CLIENT_ID');
  const secret = text('RAILHEAD_CLIENT_SECRET');
  const key = text('RAILHEAD_MASTER_KEY');
  const keyFile = text('RAILHEAD_MASTER_KEY_FILE');
  return {
    port: Number(text('PORT')),
    host: text('HOST')!,
    processes: Number(text('RAILHEAD_PROCESSES')),
    roles: rolesOf(text('RAILHEAD_ROLES')!),
    drainMs: Number(text('RAILHEAD_DRAIN')) * 1_000,
    dataDir,
    databaseUrl: text('DATABASE_URL'),
    connectionLimits: {
      statementTimeoutMs: Number(text('RAILHEAD_DATABASE_STATEMENT_TIMEOUT')) * 1_000,
      lockTimeoutMs: Number(text('RAILHEAD_DATABASE_LOCK_TIMEOUT')) * 1_000,
      maxAgeMs: Number(text('RAILHEAD_DATABASE_CONNECTION_AGE')) * 1_000,
    },
    client: id !== undefined && secret !== undefined ? { id, secret } : undefined,
    masterKey: key === undefined ? undefined : keyFrom(key),
    masterKeyFile: keyFile === undefined ? undefined : path.resolve(base, keyFile),
    masterKeyCommand: text('RAILHEAD_MASTER_KEY_COMMAND'),
    serviceNamePrefix: text('RAILHEAD_SERVICE_WORD')!,
    rateLimits: {
      requests: Number(text('RAILHEAD_RATE_LIMIT')),
      quotes: Number(text('RAILHEAD_RATE_LIMIT_QUOTES')),
      rejected: Number(text('RAILHEAD_RATE_LIMIT_REJECTED')),
      anonymous: Number(text('RAILHEAD_RATE_LIMIT_ADDRESS')),
      bytes: Number(text('RAILHEAD_RATE_LIMIT_BYTES')),
    },
    trustedProxies: list('RAILHEAD_TRUSTED_PROXIES'),
    logLevel: text('LOG_LEVEL') as Level,
    production,
    connectors,
    files: { folder: folder ?? path.join(dataDir, 'files'), s3 },
    publicUrl: text('RAILHEAD_PUBLIC_URL')?.replace(/\/+$/, ''),
    sampleCustomer:
      (text('RAILHEAD_SAMPLE_CUSTOMER') ?? (production ? 'none' : 'create')) === 'create',
    loopbackWebhooks:
      (text('RAILHEAD_LOOPBACK_WEBHOOKS') ?? (production ? 'rejected' : 'allowed')) === 'allowed',
    operatorUrl: text('RAILHEAD_OPERATOR_URL')?.replace(/\/+$/, ''),
    tracing: tracingOf(values),
    operatorOidc: identityProviderOf(values),
    operatorApi: operatorApiOf(text('RAILHEAD_OPERATOR_API')!),
    console: text('RAILHEAD_CONSOLE') === 'on' && text('RAILHEAD_OPERATOR_API') !== 'off',
    walletRecoveryMs: hours === undefined ? undefined : Number(hours) * 3_600_000,
    eventRetentionMs: Number(text('RAILHEAD_EVENT_RETENTION')) * 86_400_000,
    requestRetentionMs: Number(text('RAILHEAD_REQUEST_RETENTION')) * 86_400_000,
    archiveRetentionMs: Number(text('RAILHEAD_ARCHIVE_RETENTION')) * 86_400_000,
    ledgerCheckMs: Number(text('RAILHEAD_LEDGER_CHECK')) * 3_600_000,
    providerMessageRetentionMs: Number(text('RAILHEAD_PROVIDER_RETENTION')) * 86_400_000,
  };
}

const MASTER_KEY_SETTINGS = [
  'RAILHEAD_MASTER_KEY',
  'RAILHEAD_MASTER_KEY_FILE',
  'RAILHEAD_MASTER_KEY_COMMAND',
];

function masterKeyErrors(values: Map<string, string>): string[] {
  const [firstName, ...otherNames] = MASTER_KEY_SETTINGS.filter((name) => values.has(name));
  if (otherNames.length > 0) return [`${firstName} and ${otherNames[0]} must not both be set.`];
  if (firstName !== undefined || values.get('NODE_ENV') !== 'production') return [];
  return ['RAILHEAD_MASTER_KEY, or its file or command, must be set when NODE_ENV is production.'];
}

/** Errors of combinations of individually valid settings. */
function combinationErrors(values: Map<string, string>): string[] {
  const errors: string[] = [];
  if (values.has('RAILHEAD_CLIENT_ID') !== values.has('RAILHEAD_CLIENT_SECRET')) {
    errors.push(
      'RAILHEAD_CLIENT_ID and RAILHEAD_CLIENT_SECRET must both be set or both be absent.',
    );
  }
  errors.push(...settingConflicts(values), ...[identityProviderProblem(values) ?? []].flat());
  const text = values.get('RAILHEAD_ROLES') ?? '';
  const roles = rolesProblem(text) ? [] : rolesOf(text);
  if (roles.includes('jobs') && !roles.includes('api') && !values.has('RAILHEAD_PUBLIC_URL')) {
    errors.push(
      'RAILHEAD_PUBLIC_URL must be set for the role jobs without api, because events contain links.',
    );
  }
  errors.push(...masterKeyErrors(values));
  return errors;
}

/**
 * Settings from the environment and from flags, which override it. An empty environment variable
 * counts as absent. Relative paths are relative to `base`. `errors` are lines to print before exit
 * code 2. `help` is the output of --help.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
  base: string = settingsFolder(),
): ConfigResult {
  if (argv.includes('--help') || argv.includes('-h')) return { help: settingsHelp() };
  const { values: flagValues, otherArguments, errors } = readFlags(argv);
  errors.push(...unknownArguments(otherArguments));
  const values = new Map<string, string>();
  for (const setting of SETTINGS) {
    const flagText = flagValues.get(setting.env);
    const earlierText = setting.earlier && env[setting.earlier.env];
    const text = flagText ?? (env[setting.env] || earlierText || setting.fallback);
    if (text === undefined) continue;
    values.set(setting.env, text);
    const problem = setting.validate(text);
    const name = flagText === undefined ? setting.env : `--${setting.flag}`;
    if (problem) errors.push(`${name} ${problem}.`);
  }
  errors.push(...combinationErrors(values));
  return errors.length > 0 ? { errors } : { config: build(values, base) };
}

/** The settings for a terminal. */
export function settingsHelp(): string {
  const rows = SETTINGS.map(({ env, flag, fallback, value, help }) => ({
    usage: flag ? `  --${flag} ${value}` : `  ${env}=${value}`,
    variable: flag ? env : '',
    meaning: fallback ? `${help} (default: ${fallback})` : help,
  }));
  const widthOf = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length)) + 2;
  const usageWidth = widthOf(rows.map(({ usage }) => usage));
  const variableWidth = widthOf(rows.map(({ variable }) => variable));
  const lines = rows.map(
    ({ usage, variable, meaning }) =>
      `${usage.padEnd(usageWidth)}${variable.padEnd(variableWidth)}${meaning}`,
  );
  return ['Settings, as flags or environment variables:', ...lines].join('\n');
}

/** The settings as a Markdown table. */
export function settingsTable(): string {
  const rows = SETTINGS.map(({ env, flag, fallback, help }) => {
    const code = (text: string | undefined) => (text ? `\`${text}\`` : '');
    return `| ${code(env)} | ${code(flag && `--${flag}`)} | ${code(fallback)} | ${help} |`;
  });
  return ['| Variable | Flag | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
