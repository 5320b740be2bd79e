// Every setting of the server, one row each: its environment variable, its flag, its default, what it
// accepts and what it is for. Reading them, the command line help and the README's table all go by this
// one list. Complaints never repeat a text, which may be a secret.
import { isIP } from 'node:net';
import { readUrl } from '../../kernel/net/url.ts';
import { LEVELS } from '../observability/log.ts';

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
  return unless(/^postgres(ql)?:\/\//.test(text) && readUrl(filled) !== undefined, complaint);
}

/** A service of the operator's own choice, never asked over a network in the open. */
function serviceComplaint(text: string): string | undefined {
  const url = readUrl(text);
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  const good = url?.protocol === 'https:' || (url?.protocol === 'http:' && local);
  return unless(good, 'must be an address with https, or with http on this machine');
}

function smtpComplaint(text: string): string | undefined {
  const url = readUrl(text);
  const good = url && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
  return unless(Boolean(good), 'must look like smtps://user:password@host:465');
}

/** The name of a provider is its address without a query, exactly as its tokens say it. */
function issuersComplaint(text: string): string | undefined {
  const isGood = (each: string) =>
    serviceComplaint(each) === undefined && !/[?#@\s]/.test(each) && each.length <= 512;
  const complaint =
    'must be addresses with https, or with http on this machine, without a query, with commas between';
  return unless(listOf(text).every(isGood), complaint);
}

/** Long enough for the holder to read of it, and no longer than anybody would wait. */
function recoveryComplaint(text: string): string | undefined {
  const isGood = /^\d{2,3}$/.test(text) && Number(text) >= 24 && Number(text) <= 720;
  return unless(isGood, 'must be a number of hours from 24 to 720');
}

/** Addresses, and networks like 10.0.0.0/8. */
function networksComplaint(text: string): string | undefined {
  const isGood = (each: string) => {
    const [, address = '', bits = '0'] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(each) ?? [];
    return Number(bits) <= ({ 4: 32, 6: 128 }[isIP(address)] ?? -1);
  };
  const complaint = 'must be addresses or networks like 10.0.0.0/8, with commas between';
  return unless(listOf(text).every(isGood), complaint);
}

const folderComplaint = (text: string) =>
  unless(text.trim() !== '' && !text.includes('\0'), 'must name a folder');

const fileComplaint = (text: string) =>
  unless(text.trim() !== '' && !text.includes('\0'), 'must name a file');

/** Texts with commas between them. */
export const listOf = (text: string): string[] => text.split(',').map((each) => each.trim());

/** 32 bytes from hexadecimal or base64 (either alphabet, padding optional). */
export function keyFrom(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

const perSecond = (text: string) =>
  unless(/^\d{1,6}$/.test(text), 'must be a number from 0, which sets no limit, to 999999');

export const RPC_CHAINS = ['ETHEREUM', 'BASE', 'POLYGON', 'PLASMA', 'ARBITRUM'] as const;

const rpcSetting = (chain: string): Setting => ({
  env: `RAILHEAD_RPC_${chain}`,
  flag: `rpc-${chain.toLowerCase()}`,
  value: 'URL',
  help: 'JSON-RPC of a node of this chain, asked whether contract wallets signed',
  complaint: serviceComplaint,
});

export const SETTINGS: readonly Setting[] = [
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
    complaint: folderComplaint,
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
    help: 'requests per second of one platform in each process, twice as many at once; 0 for no limit',
    complaint: perSecond,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_QUOTES',
    flag: 'rate-limit-quotes',
    fallback: '100',
    value: 'NUMBER',
    help: 'quotes and imports per second that one platform may create, likewise',
    complaint: perSecond,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_REFUSED',
    flag: 'rate-limit-refused',
    fallback: '20',
    value: 'NUMBER',
    help: 'rejected credentials per second from one address, likewise',
    complaint: perSecond,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_ADDRESS',
    flag: 'rate-limit-address',
    fallback: '100',
    value: 'NUMBER',
    help: 'requests per second from one address that need no credential, likewise',
    complaint: perSecond,
  },
  {
    env: 'RAILHEAD_RATE_LIMIT_BYTES',
    flag: 'rate-limit-bytes',
    fallback: '4194304',
    value: 'NUMBER',
    help: 'bytes of request bodies per second of one platform, likewise; files wait for it',
    complaint: matches(/^\d{1,12}$/, 'must be a number from 0, which sets no limit'),
  },
  {
    env: 'RAILHEAD_TRUSTED_PROXIES',
    flag: 'trusted-proxies',
    value: 'ADDRESSES',
    help: 'proxies whose X-Forwarded-For tells where a request is from, commas between',
    complaint: networksComplaint,
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
  {
    env: 'RAILHEAD_IDENTITY_URL',
    flag: 'identity-url',
    value: 'URL',
    help: 'service that decides about production customers; an operator does when absent',
    complaint: serviceComplaint,
  },
  ...RPC_CHAINS.map(rpcSetting),
  {
    env: 'RAILHEAD_SMTP_URL',
    value: 'URL',
    help: 'mail server that production e-mail goes through, like smtps://user:password@host:465',
    complaint: smtpComplaint,
  },
  {
    env: 'RAILHEAD_MAIL_FROM',
    flag: 'mail-from',
    value: 'ADDRESS',
    help: 'who e-mail is from: an address, or Name <address>',
    complaint: matches(
      /^(?:[^<>\p{Cc}]{1,100} <[^\s<>@,;"]+@[^\s<>@,;"]+>|[^\s<>@,;"]+@[^\s<>@,;"]+)$/u,
      'must be an address, or a name and the address in angle brackets',
    ),
  },
  {
    env: 'RAILHEAD_SMS_URL',
    value: 'URL',
    help: 'service that production text messages are posted to',
    complaint: serviceComplaint,
  },
  {
    env: 'RAILHEAD_OIDC_ISSUERS',
    flag: 'oidc-issuers',
    value: 'URLS',
    help: 'more identity providers that users of wallets may sign in with, commas between',
    complaint: issuersComplaint,
  },
  {
    env: 'RAILHEAD_WALLET_RECOVERY',
    flag: 'wallet-recovery',
    value: 'HOURS',
    help: "hours until an operator can recover a wallet's sign-in, 24 to 720; off when absent",
    complaint: recoveryComplaint,
  },
  {
    env: 'RAILHEAD_FILES_DIR',
    flag: 'files-dir',
    value: 'FOLDER',
    help: "clients' files, in the data folder when absent; several machines must share it or use S3",
    complaint: folderComplaint,
  },
  {
    env: 'RAILHEAD_S3_ENDPOINT',
    flag: 's3-endpoint',
    value: 'URL',
    help: 'service that speaks S3 to keep those files in instead; all five settings or none',
    complaint: serviceComplaint,
  },
  {
    env: 'RAILHEAD_S3_BUCKET',
    flag: 's3-bucket',
    value: 'NAME',
    help: 'its bucket',
    complaint: matches(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket'),
  },
  {
    env: 'RAILHEAD_S3_REGION',
    flag: 's3-region',
    value: 'NAME',
    help: 'its region, such as eu-central-1',
    complaint: matches(/^[a-z0-9-]{1,64}$/, 'must be the name of a region'),
  },
  {
    env: 'RAILHEAD_S3_ACCESS_KEY_ID',
    value: 'TEXT',
    help: 'access key for it',
    complaint: matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters'),
  },
  {
    env: 'RAILHEAD_S3_SECRET_ACCESS_KEY',
    value: 'TEXT',
    help: 'its secret',
    complaint: matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters'),
  },
  {
    env: 'RAILHEAD_PUBLIC_URL',
    flag: 'public-url',
    value: 'URL',
    help: 'address that links to pages of this server begin with; where it listens when absent',
    complaint: serviceComplaint,
  },
  {
    env: 'RAILHEAD_LOOPBACK_WEBHOOKS',
    flag: 'loopback-webhooks',
    value: 'CHOICE',
    help: 'sandbox webhooks to this machine: allowed or refused; refused in production by default',
    complaint: matches(/^(allowed|refused)$/, 'must be allowed or refused'),
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
