// Every setting of the server, as one table: its environment variable, its flag, its default, what it
// accepts and what it is for. The command line help and the README's table are printed from it, so they
// cannot drift. Reading is pure, and every bad setting is reported at once, one plain line each.
import path from 'node:path';
import { LEVELS, type Level } from './log.ts';
import { projectRoot } from './root.ts';

export interface Config {
  /** 0 means any free port. */
  port: number;
  host: string;
  /** Absolute. */
  dataDir: string;
  /** Undefined: use the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  /** Credentials of the first platform; undefined: make some. */
  client: { id: string; secret: string } | undefined;
  /** 32 bytes. Undefined (never in production): kept in the data folder. */
  masterKey: Uint8Array | undefined;
  serviceWord: string;
  /** Requests a second; 0 sets no limit. */
  rateLimits: { requests: number; costly: number; refused: number };
  logLevel: Level;
  production: boolean;
  /** What connects platforms to the outside; files by their absolute paths. */
  connectors: {
    ratesUrl: string | undefined;
    ratesFile: string | undefined;
    ratesMaxAgeMs: number;
    fundingFile: string | undefined;
    sandboxUmaDomain: string;
    /** By chain. */
    rpcUrls: Record<string, string>;
  };
  /** Where clients reach the server; undefined: where it listens. */
  publicUrl: string | undefined;
}

export type ConfigResult = { config: Config } | { errors: string[] } | { help: string };

interface Setting {
  env: string;
  /** Without the dashes. Absent: environment only. */
  flag?: string;
  fallback?: string;
  /** The word that stands for the value in the help. */
  value: string;
  help: string;
  /** What is wrong with a text, or undefined. Never repeats the text: it may be a secret. */
  complaint(text: string): string | undefined;
}

const unless = (good: boolean, complaint: string) => (good ? undefined : complaint);
const matches = (pattern: RegExp, complaint: string) => (text: string) =>
  unless(pattern.test(text), complaint);

function urlComplaint(text: string): string | undefined {
  const complaint = 'must look like postgresql://user:password@host:5432/database';
  // A unix socket as ?host= leaves the place of the host empty, which the URL parser refuses.
  const filled = text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@)(?=[/?])/, '$1localhost');
  return unless(/^postgres(ql)?:\/\//.test(text) && URL.canParse(filled), complaint);
}

/** A service of the operator's own choice, never asked over a network in the open. */
function serviceComplaint(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  const good = url?.protocol === 'https:' || (url?.protocol === 'http:' && local);
  return unless(good, 'must be an address with https, or with http on this machine');
}

const fileComplaint = (text: string) =>
  unless(text.trim() !== '' && !text.includes('\0'), 'must name a file');

/** 32 bytes from hexadecimal or base64 (either alphabet, padding optional). */
function keyFrom(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

const perSecond = (text: string) =>
  unless(/^\d{1,6}$/.test(text), 'must be a number from 0, which sets no limit, to 999999');

const RPC_CHAINS = ['ETHEREUM', 'BASE', 'POLYGON', 'PLASMA', 'ARBITRUM'] as const;

const rpcSetting = (chain: string): Setting => ({
  env: `RAILHEAD_RPC_${chain}`,
  flag: `rpc-${chain.toLowerCase()}`,
  value: 'URL',
  help: 'JSON-RPC of a node of this chain, asked whether contract wallets signed',
  complaint: serviceComplaint,
});

const SETTINGS: readonly Setting[] = [
  {
    env: 'PORT',
    flag: 'port',
    fallback: '4000',
    value: 'NUMBER',
    help: 'port to listen on; 0 takes any free one',
    complaint: (text) =>
      unless(/^\d{1,5}$/.test(text) && Number(text) < 65_536, 'must be a number from 0 to 65535'),
  },
  {
    env: 'HOST',
    flag: 'host',
    fallback: '127.0.0.1',
    value: 'ADDRESS',
    help: 'address to listen on; 0.0.0.0 for all',
    complaint: matches(/^[A-Za-z0-9._:-]{1,253}$/, 'must be an address or a host name'),
  },
  {
    env: 'RAILHEAD_DATA_DIR',
    flag: 'data-dir',
    fallback: '.railhead',
    value: 'FOLDER',
    help: 'database, credentials and keys; a relative path starts at the checkout',
    complaint: (text) => unless(text.trim() !== '' && !text.includes('\0'), 'must name a folder'),
  },
  {
    env: 'DATABASE_URL',
    flag: 'database-url',
    value: 'URL',
    help: 'a PostgreSQL 15 or newer to use instead of the embedded one',
    complaint: urlComplaint,
  },
  {
    env: 'RAILHEAD_CLIENT_ID',
    flag: 'client-id',
    value: 'TEXT',
    help: "fixed client id of the first platform's token",
    complaint: matches(/^[!-9;-~]{1,128}$/, 'must be 1 to 128 visible characters without ":"'),
  },
  {
    env: 'RAILHEAD_CLIENT_SECRET',
    flag: 'client-secret',
    value: 'TEXT',
    help: 'its secret; both or neither',
    complaint: matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters'),
  },
  {
    env: 'RAILHEAD_MASTER_KEY',
    flag: 'master-key',
    value: 'KEY',
    help: 'seals stored secrets: 32 bytes, hexadecimal or base64; made in the data folder when absent',
    complaint: (text) => unless(keyFrom(text) !== undefined, 'must be 32 bytes in hex or base64'),
  },
  {
    env: 'RAILHEAD_SERVICE_WORD',
    flag: 'service-word',
    fallback: 'Service',
    value: 'WORD',
    help: 'the word in names such as X-Service-Signature',
    complaint: matches(
      /^[A-Z][A-Za-z0-9]{0,31}$/,
      'must be a capital and up to 31 letters or digits',
    ),
  },
  {
    env: 'RAILHEAD_RATE_LIMIT',
    flag: 'rate-limit',
    fallback: '500',
    value: 'NUMBER',
    help: 'requests a second of one token, twice as many at once; 0 for no limit',
    complaint: perSecond,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_QUOTES',
    flag: 'rate-limit-quotes',
    fallback: '100',
    value: 'NUMBER',
    help: 'quotes a second that one token may create, likewise',
    complaint: perSecond,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_REFUSED',
    flag: 'rate-limit-refused',
    fallback: '20',
    value: 'NUMBER',
    help: 'bad credentials a second from one address, likewise',
    complaint: perSecond,
  },
  {
    env: 'RAILHEAD_RATES_URL',
    flag: 'rates-url',
    value: 'URL',
    help: 'service that production exchange rates come from',
    complaint: serviceComplaint,
  },
  {
    env: 'RAILHEAD_RATES_FILE',
    flag: 'rates-file',
    value: 'FILE',
    help: 'or the file they are kept in, JSON or CSV; a relative path starts at the checkout',
    complaint: fileComplaint,
  },
  {
    env: 'RAILHEAD_RATES_MAX_AGE',
    flag: 'rates-max-age',
    fallback: '86400',
    value: 'SECONDS',
    help: 'older production exchange rates are not used',
    complaint: matches(/^[1-9]\d{0,7}$/, 'must be a number of seconds from 1 to 99999999'),
  },
  {
    env: 'RAILHEAD_FUNDING_FILE',
    flag: 'funding-file',
    value: 'FILE',
    help: 'JSON with the collection accounts that production customers pay into',
    complaint: fileComplaint,
  },
  {
    env: 'RAILHEAD_SANDBOX_UMA_DOMAIN',
    flag: 'sandbox-uma-domain',
    fallback: 'sandbox.uma.money',
    value: 'NAME',
    help: 'one more domain at which the scripted UMA addresses of the sandbox are answered',
    complaint: matches(
      /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
      'must be a domain in small letters',
    ),
  },
  ...RPC_CHAINS.map(rpcSetting),
  {
    env: 'RAILHEAD_PUBLIC_URL',
    flag: 'public-url',
    value: 'URL',
    help: 'address that links to pages of this server begin with; where it listens when absent',
    complaint: serviceComplaint,
  },
  {
    env: 'LOG_LEVEL',
    flag: 'log-level',
    fallback: 'info',
    value: 'LEVEL',
    help: LEVELS.join(', '),
    complaint: (text) =>
      unless((LEVELS as readonly string[]).includes(text), `must be one of ${LEVELS.join(', ')}`),
  },
  {
    env: 'NODE_ENV',
    value: 'production',
    help: 'production requires RAILHEAD_MASTER_KEY',
    complaint: () => undefined,
  },
];

interface Flags {
  /** By environment name, as given. */
  given: Map<string, string>;
  /** The words that are settings, and the others, in their order. */
  settings: string[];
  rest: string[];
  errors: string[];
}

/** Reads `--flag value` and `--flag=value`. */
function readFlags(argv: readonly string[]): Flags {
  const flags: Flags = { given: new Map(), settings: [], rest: [], errors: [] };
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at]!;
    const [, name, , inline] = /^--([^=]+)(=(.*))?$/s.exec(word) ?? [];
    const setting = name && SETTINGS.find(({ flag }) => flag === name);
    if (!setting) {
      flags.rest.push(word);
      continue;
    }
    const next = argv[at + 1];
    const value = inline ?? (next?.startsWith('--') ? undefined : next);
    flags.settings.push(word);
    if (inline === undefined && value !== undefined) {
      flags.settings.push(value);
      at += 1;
    }
    if (value === undefined || value === '') flags.errors.push(`--${name} needs a value.`);
    else if (flags.given.has(setting.env)) flags.errors.push(`--${name} is given twice.`);
    else flags.given.set(setting.env, value);
  }
  return flags;
}

/** Splits a command line into the server's own settings and everything else, for other commands. */
export function splitFlags(argv: readonly string[]): { settings: string[]; rest: string[] } {
  const { settings, rest } = readFlags(argv);
  return { settings, rest };
}

function strangers(rest: readonly string[]): string[] {
  return rest.flatMap((word, at) => {
    if (word.startsWith('-')) return [`${word.split('=')[0]} is not a setting. Try --help.`];
    // Most likely the value of the flag that was just named.
    if (rest[at - 1]?.startsWith('-')) return [];
    return [`${word} is not understood. Settings look like --port 4001.`];
  });
}

function build(values: Map<string, string>, base: string): Config {
  const text = (env: string) => values.get(env);
  const file = (env: string) => {
    const named = text(env);
    return named === undefined ? undefined : path.resolve(base, named);
  };
  const id = text('RAILHEAD_CLIENT_ID');
  const secret = text('RAILHEAD_CLIENT_SECRET');
  const key = text('RAILHEAD_MASTER_KEY');
  return {
    port: Number(text('PORT')),
    host: text('HOST')!,
    dataDir: path.resolve(base, text('RAILHEAD_DATA_DIR')!),
    databaseUrl: text('DATABASE_URL'),
    client: id !== undefined && secret !== undefined ? { id, secret } : undefined,
    masterKey: key === undefined ? undefined : keyFrom(key),
    serviceWord: text('RAILHEAD_SERVICE_WORD')!,
    rateLimits: {
      requests: Number(text('RAILHEAD_RATE_LIMIT')),
      costly: Number(text('RAILHEAD_RATE_LIMIT_QUOTES')),
      refused: Number(text('RAILHEAD_RATE_LIMIT_REFUSED')),
    },
    logLevel: text('LOG_LEVEL') as Level,
    production: text('NODE_ENV') === 'production',
    connectors: {
      ratesUrl: text('RAILHEAD_RATES_URL'),
      ratesFile: file('RAILHEAD_RATES_FILE'),
      ratesMaxAgeMs: Number(text('RAILHEAD_RATES_MAX_AGE')) * 1000,
      fundingFile: file('RAILHEAD_FUNDING_FILE'),
      sandboxUmaDomain: text('RAILHEAD_SANDBOX_UMA_DOMAIN')!,
      rpcUrls: Object.fromEntries(
        RPC_CHAINS.flatMap((chain) => {
          const url = text(`RAILHEAD_RPC_${chain}`);
          return url === undefined ? [] : [[chain, url]];
        }),
      ),
    },
    publicUrl: text('RAILHEAD_PUBLIC_URL')?.replace(/\/+$/, ''),
  };
}

/** Complaints about settings that are fine alone and wrong together. */
function togetherErrors(values: Map<string, string>): string[] {
  const errors: string[] = [];
  if (values.has('RAILHEAD_CLIENT_ID') !== values.has('RAILHEAD_CLIENT_SECRET')) {
    errors.push('RAILHEAD_CLIENT_ID and RAILHEAD_CLIENT_SECRET must be set both or neither.');
  }
  if (values.has('RAILHEAD_RATES_URL') && values.has('RAILHEAD_RATES_FILE')) {
    errors.push('RAILHEAD_RATES_URL and RAILHEAD_RATES_FILE exclude each other.');
  }
  if (values.get('NODE_ENV') === 'production' && !values.has('RAILHEAD_MASTER_KEY')) {
    errors.push('RAILHEAD_MASTER_KEY must be set when NODE_ENV is production.');
  }
  return errors;
}

/**
 * Settings from the environment and from flags, which win. An empty environment variable counts as absent.
 * `base` is where a relative data folder starts. `errors` are lines to print before exit code 2; `help` is
 * the answer to --help.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
  base: string = projectRoot(),
): ConfigResult {
  if (argv.includes('--help') || argv.includes('-h')) return { help: settingsHelp() };
  const { given, rest, errors } = readFlags(argv);
  errors.push(...strangers(rest));
  const values = new Map<string, string>();
  for (const setting of SETTINGS) {
    const flagged = given.get(setting.env);
    const text = flagged ?? (env[setting.env] || setting.fallback);
    if (text === undefined) continue;
    values.set(setting.env, text);
    const complaint = setting.complaint(text);
    const name = flagged === undefined ? setting.env : `--${setting.flag}`;
    if (complaint) errors.push(`${name} ${complaint}.`);
  }
  errors.push(...togetherErrors(values));
  return errors.length > 0 ? { errors } : { config: build(values, base) };
}

/** The settings for a terminal. */
export function settingsHelp(): string {
  const lines = SETTINGS.map(({ env, flag, fallback, value, help }) => {
    const left = flag ? `  --${flag} ${value}` : `  ${env}=${value}`;
    const right = fallback ? `${help} (${fallback})` : help;
    return `${left.padEnd(30)}${flag ? env.padEnd(24) : ''.padEnd(24)}${right}`;
  });
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
