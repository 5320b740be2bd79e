// Settings of the server with their environment variables, flags, defaults, validation and help.
// Settings of connectors are in the schemas of the connectors (`connectors/connector.ts`).
// `config.ts` of the composition reads both.
import { isIP } from 'node:net';
import { databaseUrlProblem } from '../../kernel/net/database-url.ts';
import {
  folderProblem,
  listOf,
  matches,
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
function recoveryProblem(text: string): string | undefined {
  const isValid = /^\d{2,3}$/.test(text) && Number(text) >= 24 && Number(text) <= 720;
  return problemUnless(isValid, 'must be a number of hours from 24 to 720');
}

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

const numberFrom = (min: number, max: number, unit: string) => (text: string) =>
  problemUnless(
    /^\d{1,5}$/.test(text) && Number(text) >= min && Number(text) <= max,
    `must be a number${unit} from ${min} to ${max}`,
  );

const archiveProblem = (text: string) =>
  text === '0' ? undefined : numberFrom(365, 9_999, ' of days, 0 or')(text);

/** Reads 32 bytes from hexadecimal or base64 (either alphabet, padding optional). */
export function keyFrom(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

const rateProblem = (text: string) =>
  problemUnless(/^\d{1,6}$/.test(text), 'must be a number from 0, which sets no limit, to 999999');

export const SERVER_SETTINGS: readonly Setting[] = [
  {
    env: 'PORT',
    flag: 'port',
    fallback: '4000',
    value: 'NUMBER',
    help: 'port to listen on. 0 selects a free port',
    validate: (text) =>
      problemUnless(
        /^\d{1,5}$/.test(text) && Number(text) < 65_536,
        'must be a number from 0 to 65535',
      ),
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
    help: `server processes that share the port, 1 to ${MAX_PROCESSES}. More than 1 are supervised`,
    validate: numberFrom(1, MAX_PROCESSES, ''),
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
    help:
      'seconds between SIGTERM and the stop, 0 to 300. Until then, /readyz is 503 and requests ' +
      'are served',
    validate: numberFrom(0, MAX_DRAIN_S, ' of seconds'),
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
    help: 'seconds until a statement is canceled, 1 to 600. Migrations and reports have other limits',
    validate: numberFrom(1, 600, ' of seconds'),
  },
  {
    env: 'RAILHEAD_DATABASE_LOCK_TIMEOUT',
    flag: 'database-lock-timeout',
    fallback: '3',
    value: 'SECONDS',
    help: 'seconds after which a statement that waits for a lock is canceled, 1 to 600',
    validate: numberFrom(1, 600, ' of seconds'),
  },
  {
    env: 'RAILHEAD_DATABASE_CONNECTION_AGE',
    flag: 'database-connection-age',
    fallback: '1800',
    value: 'SECONDS',
    help: 'maximum age of a connection in seconds, 60 to 86400. Replacement at 80 to 100 % of this age',
    validate: numberFrom(60, 86_400, ' of seconds'),
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
    help: 'requests per second of a platform, per process. Burst of twice as many. 0: no limit',
    validate: rateProblem,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_QUOTES',
    flag: 'rate-limit-quotes',
    fallback: '100',
    value: 'NUMBER',
    help: 'quotes, discoveries, imports, replays a second per platform. Burst and 0 as RAILHEAD_RATE_LIMIT',
    validate: rateProblem,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_REFUSED',
    flag: 'rate-limit-refused',
    fallback: '20',
    value: 'NUMBER',
    help: 'rejected credentials per second of an IP address. Burst and 0 as for RAILHEAD_RATE_LIMIT',
    validate: rateProblem,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_ADDRESS',
    flag: 'rate-limit-address',
    fallback: '100',
    value: 'NUMBER',
    help: 'requests without credential per second of an IP address. Burst and 0 as for RAILHEAD_RATE_LIMIT',
    validate: rateProblem,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_BYTES',
    flag: 'rate-limit-bytes',
    fallback: '4194304',
    value: 'NUMBER',
    help: 'bytes of request bodies per second of a platform. Faster uploads are slowed down. 0: no limit',
    validate: matches(/^\d{1,12}$/, 'must be a number from 0, which sets no limit'),
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
    help: 'hours until an account recovery takes effect, 24 to 720. Disabled if absent',
    validate: recoveryProblem,
  },
  {
    env: 'RAILHEAD_EVENT_RETENTION',
    flag: 'event-retention',
    fallback: String(RETENTION_DAYS.events),
    value: 'DAYS',
    help: `days after which events and their deliveries are removed, ${MIN_EVENT_DAYS} to 999`,
    validate: numberFrom(MIN_EVENT_DAYS, 999, ' of days'),
  },
  {
    env: 'RAILHEAD_REQUEST_RETENTION',
    flag: 'request-retention',
    fallback: String(RETENTION_DAYS.requests),
    value: 'DAYS',
    help: `days after which recorded requests are removed, ${MIN_EVENT_DAYS} to 999`,
    validate: numberFrom(MIN_EVENT_DAYS, 999, ' of days'),
  },
  {
    env: 'RAILHEAD_ARCHIVE_RETENTION',
    flag: 'archive-retention',
    fallback: String(RETENTION_DAYS.archives),
    value: 'DAYS',
    help: 'days for which removed events and requests are archived, 365 to 9999. 0: no archive',
    validate: archiveProblem,
  },
  {
    env: 'RAILHEAD_PROVIDER_RETENTION',
    flag: 'provider-retention',
    fallback: '400',
    value: 'DAYS',
    help: `days after which messages of providers are deleted, ${MIN_EVENT_DAYS} to 999`,
    validate: numberFrom(MIN_EVENT_DAYS, 999, ' of days'),
  },
  {
    env: 'RAILHEAD_LEDGER_CHECK',
    flag: 'ledger-check',
    fallback: '24',
    value: 'HOURS',
    help: 'hours between two verifications of the whole ledger, 1 to 720. 0: none',
    validate: numberFrom(0, 720, ' of hours'),
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
    help: 'sandbox webhooks to this machine: allowed or refused. Default: allowed, in production refused',
    validate: matches(/^(allowed|refused)$/, 'must be allowed or refused'),
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
    help: 'https address at which operators sign in. RAILHEAD_PUBLIC_URL if absent',
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
