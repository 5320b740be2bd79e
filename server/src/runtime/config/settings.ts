// Settings of the server with their environment variables, flags, defaults, validation and help.
// Settings of connectors are in the schemas of the connectors (`connectors/connector.ts`).
// `config.ts` of the composition reads both.
import { isIP } from 'node:net';
import { databaseUrlProblem } from '../../kernel/net/database-url.ts';
import {
  folderProblem,
  listOf,
  matches,
  numberSetting,
  problemUnless,
  type Setting,
  serviceUrlProblem,
} from '../../kernel/settings.ts';
import { LEVELS } from '../observability/log.ts';
import { groupRolesProblem } from './identity-provider.ts';
import { ROLES, rolesProblem } from './roles.ts';

/**
 * The minimum permits the owner to react to the notifications. The maximum limits the time of a user
 * without access.
 */
const RECOVERY_HOURS = { min: 24, max: 720, unit: ' of hours' };

/** The error of a list of addresses and networks, such as 10.0.0.0/8. */
function networksProblem(text: string): string | undefined {
  const isValid = (each: string) => {
    const [, address = '', bits = '0'] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(each) ?? [];
    return Number(bits) <= ({ 4: 32, 6: 128 }[isIP(address)] ?? -1);
  };
  const problem = 'must be addresses or networks like 10.0.0.0/8, separated by commas';
  return problemUnless(listOf(text).every(isValid), problem);
}

/**
 * More processes than cores add no throughput. Each process has up to `CONNECTIONS_PER_PROCESS`
 * permanent connections to the database.
 */
const MAX_PROCESSES = 32;

const MAX_DRAIN_S = 300;

/**
 * Default retention periods. Archives are kept for longer than the five years for which most laws require
 * records of payments.
 */
export const RETENTION_DAYS = { events: 30, requests: 30, archives: 2_555 };

/** Longer than the period in which a webhook is retried. */
const MIN_EVENT_DAYS = 8;

/** The retention of archives. 0 is permitted as well. */
const ARCHIVE_DAYS = numberSetting(
  { min: 365, max: 9_999, unit: ' of days, 0 or' },
  'days for which removed events and requests are archived, {range}. 0: no archive',
);

/** Reads 32 bytes from hexadecimal or base64 (either alphabet, padding optional). */
export function keyFrom(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

const SECONDS = ' of seconds';
const RETENTION = { min: MIN_EVENT_DAYS, max: 999, unit: ' of days' };
const RATES = { min: 0, max: 999_999 };
const AS_RATE_LIMIT = 'Burst and 0 as for RAILHEAD_RATE_LIMIT';

export const SERVER_SETTINGS: readonly Setting[] = [
  {
    env: 'PORT',
    flag: 'port',
    fallback: '4000',
    value: 'NUMBER',
    ...numberSetting({ min: 0, max: 65_535 }, 'port to listen on, {range}. 0 selects a free port'),
  },
  {
    env: 'HOST',
    flag: 'host',
    fallback: '127.0.0.1',
    value: 'ADDRESS',
    help: 'address to listen on. 0.0.0.0 for all interfaces',
    validate: matches(/^[A-Za-z0-9._:-]{1,253}$/, 'must be an address or a host name'),
  },
  {
    env: 'RAILHEAD_PROCESSES',
    flag: 'processes',
    fallback: '1',
    value: 'NUMBER',
    ...numberSetting(
      { min: 1, max: MAX_PROCESSES },
      'server processes that share the port, {range}. More than 1 are supervised',
    ),
  },
  {
    env: 'RAILHEAD_ROLES',
    flag: 'roles',
    fallback: ROLES.join(','),
    value: 'ROLES',
    help: 'roles of each process, separated by commas: serve the API, run jobs, deliver webhooks',
    validate: rolesProblem,
  },
  {
    env: 'RAILHEAD_DRAIN',
    flag: 'drain',
    fallback: '0',
    value: 'SECONDS',
    ...numberSetting(
      { min: 0, max: MAX_DRAIN_S, unit: SECONDS },
      'seconds between SIGTERM and the stop, {range}. Until then, /readyz is 503 and ' +
        'requests are served',
    ),
  },
  {
    env: 'RAILHEAD_DATA_DIR',
    flag: 'data-dir',
    fallback: '.railhead',
    value: 'FOLDER',
    help: 'folder of database and keys. Relative to the checkout or to the start folder of a release',
    validate: folderProblem,
  },
  {
    env: 'DATABASE_URL',
    flag: 'database-url',
    value: 'URL',
    help: 'PostgreSQL 15 or newer, instead of the embedded database. Hosts separated by commas',
    validate: databaseUrlProblem,
  },
  {
    env: 'RAILHEAD_DATABASE_STATEMENT_TIMEOUT',
    flag: 'database-statement-timeout',
    fallback: '15',
    value: 'SECONDS',
    ...numberSetting(
      { min: 1, max: 600, unit: SECONDS },
      'seconds until a statement is canceled, {range}. Migrations and reports have other limits',
    ),
  },
  {
    env: 'RAILHEAD_DATABASE_LOCK_TIMEOUT',
    flag: 'database-lock-timeout',
    fallback: '3',
    value: 'SECONDS',
    ...numberSetting(
      { min: 1, max: 600, unit: SECONDS },
      'seconds after which a statement that waits for a lock is canceled, {range}',
    ),
  },
  {
    env: 'RAILHEAD_DATABASE_CONNECTION_AGE',
    flag: 'database-connection-age',
    fallback: '1800',
    value: 'SECONDS',
    ...numberSetting(
      { min: 60, max: 86_400, unit: SECONDS },
      'maximum age of a connection in seconds, {range}. Replacement at 80 to 100 % of this age',
    ),
  },
  {
    env: 'RAILHEAD_CLIENT_ID',
    flag: 'client-id',
    value: 'TEXT',
    help: 'fixed client ID of the API token of the first platform',
    validate: matches(/^[!-9;-~]{1,128}$/, 'must be 1 to 128 visible characters without ":"'),
  },
  {
    env: 'RAILHEAD_CLIENT_SECRET',
    flag: 'client-secret',
    value: 'TEXT',
    help: 'fixed client secret of the same token. Set client ID and secret, or neither',
    validate: matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters'),
  },
  {
    env: 'RAILHEAD_MASTER_KEY',
    flag: 'master-key',
    value: 'KEY',
    help: 'key that encrypts stored keys: 32 bytes in hex or base64. Generated if absent outside production',
    validate: (text) =>
      problemUnless(keyFrom(text) !== undefined, 'must be 32 bytes in hex or base64'),
  },
  {
    env: 'RAILHEAD_MASTER_KEY_FILE',
    flag: 'master-key-file',
    value: 'FILE',
    help: 'file that contains the master key. Relative paths as for RAILHEAD_DATA_DIR',
    validate: () => undefined,
  },
  {
    env: 'RAILHEAD_MASTER_KEY_COMMAND',
    flag: 'master-key-command',
    value: 'COMMAND',
    help: 'shell command that prints the master key, such as the client of a KMS',
    validate: () => undefined,
  },
  {
    env: 'RAILHEAD_SERVICE_WORD',
    flag: 'service-word',
    fallback: 'Service',
    value: 'WORD',
    help: 'prefix of names such as X-Service-Signature',
    validate: matches(
      /^[A-Z][A-Za-z0-9]{0,31}$/,
      'must be a capital letter and up to 31 letters or digits',
    ),
  },
  {
    env: 'RAILHEAD_RATE_LIMIT',
    flag: 'rate-limit',
    fallback: '500',
    value: 'NUMBER',
    ...numberSetting(
      RATES,
      'requests per second of a platform, per process, {range}. Burst of twice as many. 0: no limit',
    ),
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_QUOTES',
    flag: 'rate-limit-quotes',
    fallback: '100',
    value: 'NUMBER',
    ...numberSetting(
      RATES,
      `quotes, discoveries, imports, replays a second per platform, {range}. ${AS_RATE_LIMIT}`,
    ),
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_REJECTED',
    flag: 'rate-limit-rejected',
    earlier: { env: 'RAILHEAD_RATE_LIMIT_REFUSED', flag: 'rate-limit-refused' },
    fallback: '20',
    value: 'NUMBER',
    ...numberSetting(
      RATES,
      `rejected credentials per second of an IP address, {range}. ${AS_RATE_LIMIT}`,
    ),
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_ADDRESS',
    flag: 'rate-limit-address',
    fallback: '100',
    value: 'NUMBER',
    ...numberSetting(
      RATES,
      `requests without credential per second of an IP address, {range}. ${AS_RATE_LIMIT}`,
    ),
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_BYTES',
    flag: 'rate-limit-bytes',
    fallback: '4194304',
    value: 'NUMBER',
    ...numberSetting(
      { min: 0, max: 999_999_999_999 },
      'bytes of request bodies per second of a platform, {range}. Faster uploads are ' +
        'slowed down. 0: no limit',
    ),
  },
  {
    env: 'RAILHEAD_TRUSTED_PROXIES',
    flag: 'trusted-proxies',
    value: 'ADDRESSES',
    help: 'addresses and networks of proxies whose X-Forwarded-For header is trusted, separated by commas',
    validate: networksProblem,
  },
  {
    env: 'RAILHEAD_WALLET_RECOVERY',
    flag: 'wallet-recovery',
    value: 'HOURS',
    ...numberSetting(
      RECOVERY_HOURS,
      'hours until an account recovery takes effect, {range}. Disabled if absent',
    ),
  },
  {
    env: 'RAILHEAD_EVENT_RETENTION',
    flag: 'event-retention',
    fallback: String(RETENTION_DAYS.events),
    value: 'DAYS',
    ...numberSetting(
      RETENTION,
      'days after which events and their deliveries are removed, {range}',
    ),
  },
  {
    env: 'RAILHEAD_REQUEST_RETENTION',
    flag: 'request-retention',
    fallback: String(RETENTION_DAYS.requests),
    value: 'DAYS',
    ...numberSetting(RETENTION, 'days after which recorded requests are removed, {range}'),
  },
  {
    env: 'RAILHEAD_ARCHIVE_RETENTION',
    flag: 'archive-retention',
    fallback: String(RETENTION_DAYS.archives),
    value: 'DAYS',
    help: ARCHIVE_DAYS.help,
    validate: (text) => (text === '0' ? undefined : ARCHIVE_DAYS.validate(text)),
  },
  {
    env: 'RAILHEAD_PROVIDER_RETENTION',
    flag: 'provider-retention',
    fallback: '400',
    value: 'DAYS',
    ...numberSetting(RETENTION, 'days after which messages of providers are deleted, {range}'),
  },
  {
    env: 'RAILHEAD_LEDGER_CHECK',
    flag: 'ledger-check',
    fallback: '24',
    value: 'HOURS',
    ...numberSetting(
      { min: 0, max: 720, unit: ' of hours' },
      'hours between two verifications of the whole ledger, {range}. 0: none',
    ),
  },
  {
    env: 'RAILHEAD_PUBLIC_URL',
    flag: 'public-url',
    value: 'URL',
    help: 'base URL of links to hosted pages. The listening address if absent',
    validate: serviceUrlProblem,
  },
  {
    env: 'RAILHEAD_LOOPBACK_WEBHOOKS',
    flag: 'loopback-webhooks',
    value: 'CHOICE',
    help: 'sandbox webhooks to this machine: allowed or rejected. Default: allowed, in production rejected',
    // An earlier release had `refused`.
    validate: matches(/^(allowed|rejected|refused)$/, 'must be allowed or rejected'),
  },
  {
    env: 'RAILHEAD_OPERATOR_API',
    flag: 'operator-api',
    value: 'CHOICE',
    fallback: 'on',
    help: 'API for operators below `/operator/v1`: on, off, or a separate port',
    validate: (text) =>
      problemUnless(
        /^(on|off)$/.test(text) || (/^[1-9]\d{0,4}$/.test(text) && Number(text) < 65_536),
        'must be on, off or a port from 1 to 65535',
      ),
  },
  {
    env: 'RAILHEAD_CONSOLE',
    flag: 'console',
    value: 'CHOICE',
    fallback: 'on',
    help: 'console for operators at `/console`, which `npm start` builds: on or off',
    validate: matches(/^(on|off)$/, 'must be on or off'),
  },
  {
    env: 'RAILHEAD_OPERATOR_URL',
    flag: 'operator-url',
    value: 'URL',
    help: 'HTTPS URL at which operators sign in. RAILHEAD_PUBLIC_URL if absent',
    validate: serviceUrlProblem,
  },
  {
    env: 'RAILHEAD_OPERATOR_OIDC_ISSUER',
    flag: 'operator-oidc-issuer',
    value: 'URL',
    help: 'issuer of the identity provider (OpenID Connect) at which operators may sign in',
    validate: serviceUrlProblem,
  },
  {
    env: 'RAILHEAD_OPERATOR_OIDC_CLIENT_ID',
    flag: 'operator-oidc-client-id',
    value: 'TEXT',
    help: 'client ID of this server at the identity provider',
    validate: matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters'),
  },
  {
    env: 'RAILHEAD_OPERATOR_OIDC_CLIENT_SECRET',
    value: 'TEXT',
    help: 'client secret at the identity provider. Absent for a public client',
    validate: matches(/^[!-~]{1,512}$/, 'must be 1 to 512 visible characters'),
  },
  {
    env: 'RAILHEAD_OPERATOR_OIDC_ROLES',
    flag: 'operator-oidc-roles',
    value: 'TEXT',
    help: 'roles of each group, such as `admins=administrator;ops=support+treasury`',
    validate: groupRolesProblem,
  },
  {
    env: 'RAILHEAD_OPERATOR_OIDC_GROUPS',
    flag: 'operator-oidc-groups',
    value: 'CLAIM',
    help: 'claim that contains the groups. `groups` if absent',
    validate: matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters'),
  },
  {
    env: 'RAILHEAD_SAMPLE_CUSTOMER',
    flag: 'sample-customer',
    value: 'CHOICE',
    help: 'sample customer of the first platform: create or none. Default: create, in production none',
    validate: matches(/^(create|none)$/, 'must be create or none'),
  },
  {
    env: 'LOG_LEVEL',
    flag: 'log-level',
    fallback: 'info',
    value: 'LEVEL',
    help: `lowest level of log lines: ${LEVELS.join(', ')}`,
    validate: (text) =>
      problemUnless(
        (LEVELS as readonly string[]).includes(text),
        `must be one of ${LEVELS.join(', ')}`,
      ),
  },
  {
    env: 'NODE_ENV',
    value: 'production',
    help: 'production requires a master key in one of its three settings',
    validate: () => undefined,
  },
];
