// Settings from defaults, environment and flags, and one line for every error.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Config, readConfig, settingsHelp, settingsTable, splitFlags } from './config.ts';
import { projectRoot } from './runtime/config/root.ts';
import { CONNECTION_LIMITS } from './runtime/db/connections/limits.ts';

type Env = Record<string, string>;

function validConfig(env: Env, argv: string[] = []): Config {
  const result = readConfig(env, argv, '/base');
  if (!('config' in result)) throw new Error(`Invalid settings: ${JSON.stringify(result)}`);
  return result.config;
}

function errorsOf(env: Env, argv: string[] = []): string[] {
  const result = readConfig(env, argv, '/base');
  if (!('errors' in result))
    throw new Error(`The settings have no errors: ${JSON.stringify(result)}`);
  return result.errors;
}

const KEY_HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const KEY = Buffer.from(KEY_HEX, 'hex');

const BUCKET_ENV = {
  RAILHEAD_S3_ENDPOINT: 'https://s3.example.com',
  RAILHEAD_S3_BUCKET: 'files',
  RAILHEAD_S3_REGION: 'eu-central-1',
  RAILHEAD_S3_ACCESS_KEY_ID: 'AK',
  RAILHEAD_S3_SECRET_ACCESS_KEY: 'SK',
};

describe('readConfig', () => {
  it('has a default for every setting', () => {
    expect(validConfig({})).toEqual({
      port: 4000,
      host: '127.0.0.1',
      processes: 1,
      roles: ['api', 'jobs', 'deliver'],
      drainMs: 0,
      dataDir: '/base/.railhead',
      databaseUrl: undefined,
      connectionLimits: CONNECTION_LIMITS,
      client: undefined,
      ...{ masterKey: undefined, masterKeyFile: undefined, masterKeyCommand: undefined },
      serviceNamePrefix: 'Service',
      rateLimits: {
        ...{ requests: 500, quotes: 100, rejected: 20 },
        ...{ anonymous: 100, bytes: 4_194_304 },
      },
      trustedProxies: [],
      logLevel: 'info',
      production: false,
      connectors: {
        ratesUrl: undefined,
        ratesFile: undefined,
        ratesMaxAgeMs: 86_400_000,
        fundingFile: undefined,
        sandboxUmaDomain: 'sandbox.uma.money',
        rpcUrls: {},
        identityUrl: undefined,
        smtpUrl: undefined,
        mailFrom: undefined,
        smsUrl: undefined,
        oidcIssuers: [],
      },
      files: { folder: '/base/.railhead/files', s3: undefined },
      publicUrl: undefined,
      sampleCustomer: true,
      loopbackWebhooks: true,
      operatorUrl: undefined,
      tracing: undefined,
      operatorOidc: undefined,
      operatorApi: 'on',
      console: true,
      walletRecoveryMs: undefined,
      eventRetentionMs: 30 * 86_400_000,
      requestRetentionMs: 30 * 86_400_000,
      archiveRetentionMs: 2_555 * 86_400_000,
      ledgerCheckMs: 24 * 3_600_000,
      providerMessageRetentionMs: 400 * 86_400_000,
    });
  });

  it('allows webhooks to this machine except in production, or as configured', () => {
    const production = { NODE_ENV: 'production', RAILHEAD_MASTER_KEY: 'ab'.repeat(32) };
    const allowsLoopback = (env: Record<string, string>, argv: string[] = []) =>
      validConfig(env, argv).loopbackWebhooks;
    expect([
      allowsLoopback({}),
      allowsLoopback({ NODE_ENV: 'test' }),
      allowsLoopback(production),
    ]).toEqual([...[true, true, false]]);
    expect(allowsLoopback({ ...production, RAILHEAD_LOOPBACK_WEBHOOKS: 'allowed' })).toBe(true);
    expect(allowsLoopback({}, ['--loopback-webhooks', 'rejected'])).toBe(false);
    expect(errorsOf({ RAILHEAD_LOOPBACK_WEBHOOKS: 'yes' })).toEqual([
      'RAILHEAD_LOOPBACK_WEBHOOKS must be allowed or rejected.',
    ]);
  });

  it('reads the identity provider of operators', () => {
    const env = {
      RAILHEAD_OPERATOR_OIDC_ISSUER: 'https://id.example.com/realms/main',
      RAILHEAD_OPERATOR_OIDC_CLIENT_ID: 'railhead',
      RAILHEAD_OPERATOR_OIDC_ROLES: 'admins = administrator; cn=ops,ou=it=support+treasury',
    };
    expect(validConfig(env).operatorOidc).toEqual({
      issuer: 'https://id.example.com/realms/main',
      clientId: 'railhead',
      clientSecret: undefined,
      roles: new Map([
        ['admins', ['administrator']],
        ['cn=ops,ou=it', ['support', 'treasury']],
      ]),
      groupsClaim: 'groups',
    });
    const secret = { RAILHEAD_OPERATOR_OIDC_CLIENT_SECRET: 's3cret' };
    const extendedEnv = { ...env, ...secret, RAILHEAD_OPERATOR_OIDC_GROUPS: 'roles' };
    expect(validConfig(extendedEnv).operatorOidc).toMatchObject({
      clientSecret: 's3cret',
      groupsClaim: 'roles',
    });
    const [incompleteError] = errorsOf(secret);
    expect(incompleteError).toContain('must all be set');
    expect(incompleteError).not.toContain('s3cret');
    expect(errorsOf({ ...env, RAILHEAD_OPERATOR_OIDC_ISSUER: 'http://id.example.com' })).toEqual([
      'RAILHEAD_OPERATOR_OIDC_ISSUER must be an https URL, or an http URL on this machine.',
    ]);
  });

  it.each([
    'admins',
    'admins=',
    '=viewer',
    'a=viewer;',
    'a=viewer;a=support',
    'a=owner',
    'a=viewer+',
  ])('rejects %s as roles of groups', (text) => {
    const [problem] = errorsOf({ RAILHEAD_OPERATOR_OIDC_ROLES: text });
    expect(problem).toContain('must map different groups to roles');
  });

  it('accepts proxies as addresses and networks', () => {
    const text = '10.0.0.0/8, 192.0.2.7,2001:db8::/32,::1';
    const { trustedProxies } = validConfig({ RAILHEAD_TRUSTED_PROXIES: text });
    expect(trustedProxies).toEqual(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1']);
  });

  it.each(['true', '10.0.0.0/33', '::1/129', '10.0.0', '1', '10.0.0.1/', 'proxy.local', '::1,'])(
    'rejects %s as a proxy',
    (text) => {
      expect(errorsOf({ RAILHEAD_TRUSTED_PROXIES: text })).toEqual([
        'RAILHEAD_TRUSTED_PROXIES must be addresses or networks like 10.0.0.0/8, separated ' +
          'by commas.',
      ]);
    },
  );

  it('reads the waiting period of an account recovery, in hours', () => {
    const hour = 3_600_000;
    expect(validConfig({ RAILHEAD_WALLET_RECOVERY: '24' }).walletRecoveryMs).toBe(24 * hour);
    expect(validConfig({}, ['--wallet-recovery', '720']).walletRecoveryMs).toBe(720 * hour);
  });

  it.each(['0', '23', '721', '48h', '-48', '48.5', '0048'])(
    'rejects a waiting period of %s hours',
    (text) => {
      expect(errorsOf({ RAILHEAD_WALLET_RECOVERY: text })).toEqual([
        'RAILHEAD_WALLET_RECOVERY must be a whole number of hours from 24 to 720.',
      ]);
    },
  );

  it('accepts comma-separated identity providers', () => {
    const issuers = ['https://id.example.com/users/', 'http://localhost:8080'];
    for (const text of [issuers.join(','), ` ${issuers.join(' , ')} `]) {
      const { oidcIssuers } = validConfig({ RAILHEAD_OIDC_ISSUERS: text }).connectors;
      expect(oidcIssuers).toEqual(issuers);
    }
    const { oidcIssuers } = validConfig({}, ['--oidc-issuers', issuers[0] as string]).connectors;
    expect(oidcIssuers).toEqual([issuers[0]]);
  });

  it('stores files in the data folder, another folder or a bucket', () => {
    expect(validConfig({ RAILHEAD_DATA_DIR: '/var/rh' }).files.folder).toBe('/var/rh/files');
    expect(validConfig({}, ['--files-dir=/mnt/share']).files.folder).toBe('/mnt/share');
    expect(validConfig(BUCKET_ENV).files.s3).toEqual({
      ...{ endpoint: 'https://s3.example.com', bucket: 'files', region: 'eu-central-1' },
      ...{ accessKeyId: 'AK', secretAccessKey: 'SK' },
    });
  });

  it('reads the environment, and treats an empty variable as absent', () => {
    const config = validConfig({
      PORT: '4010',
      HOST: '::1',
      RAILHEAD_DATA_DIR: '/var/lib/rh',
      RAILHEAD_CLIENT_ID: 'ci',
      RAILHEAD_CLIENT_SECRET: 'secret:with:colons',
      RAILHEAD_SERVICE_WORD: 'Acme',
      LOG_LEVEL: '',
    });
    expect(config).toMatchObject({
      port: 4010,
      host: '::1',
      dataDir: '/var/lib/rh',
      client: { id: 'ci', secret: 'secret:with:colons' },
      serviceNamePrefix: 'Acme',
      logLevel: 'info',
    });
  });

  it('reads nodes by chain, and the base URL of links', () => {
    const env = {
      RAILHEAD_RPC_BASE: 'https://base.example/key',
      RAILHEAD_PUBLIC_URL: 'https://pay.example/',
    };
    const config = validConfig(env, ['--rpc-ethereum', 'http://localhost:8545']);
    expect(config.connectors.rpcUrls).toEqual({
      ETHEREUM: 'http://localhost:8545',
      BASE: 'https://base.example/key',
    });
    expect(config.publicUrl).toBe('https://pay.example');
    const httpUrl = 'http://node.example';
    expect(errorsOf({ RAILHEAD_RPC_BASE: httpUrl, RAILHEAD_PUBLIC_URL: httpUrl })).toHaveLength(2);
  });

  it('reads the sources of production rates and collection accounts', () => {
    const files = {
      RAILHEAD_RATES_FILE: 'rates.csv',
      RAILHEAD_FUNDING_FILE: '/etc/rh/funding.json',
    };
    expect(validConfig(files, ['--rates-max-age', '3600']).connectors).toMatchObject({
      ratesFile: '/base/rates.csv',
      fundingFile: '/etc/rh/funding.json',
      ratesMaxAgeMs: 3_600_000,
    });
    for (const url of ['https://rates.example/usd?key=1', 'http://127.0.0.1:9/', 'http://[::1]/']) {
      expect(validConfig({ RAILHEAD_RATES_URL: url }).connectors.ratesUrl).toBe(url);
    }
    for (const url of [
      'http://rates.example/',
      'ftp://rates.example',
      'rates',
      'http://127.evil/',
    ]) {
      expect(errorsOf({ RAILHEAD_RATES_URL: url })).toHaveLength(1);
    }
    expect(errorsOf({ ...files, RAILHEAD_RATES_URL: 'https://rates.example' })).toEqual([
      'RAILHEAD_RATES_URL and RAILHEAD_RATES_FILE exclude each other.',
    ]);
    expect(errorsOf({ RAILHEAD_RATES_MAX_AGE: '0' })).toHaveLength(1);
  });

  it('reads flags, which override the environment', () => {
    const argv = ['--port', '0', '--data-dir=x=y', '--database-url', 'postgres://u:p@h/d'];
    expect(validConfig({ PORT: '4010' }, argv)).toMatchObject({
      port: 0,
      dataDir: '/base/x=y',
      databaseUrl: 'postgres://u:p@h/d',
    });
  });

  it.each([KEY_HEX, KEY_HEX.toUpperCase(), KEY.toString('base64'), KEY.toString('base64url')])(
    'reads the master key %s',
    (text) => {
      expect(Buffer.from(validConfig({ RAILHEAD_MASTER_KEY: text }).masterKey!)).toEqual(KEY);
    },
  );

  it.each([
    'postgres://localhost/db',
    'postgresql:///db?host=/run/postgresql',
    'postgresql://me@/db?host=%2Frun%2Fpostgresql',
    'postgresql://u:p%40@[::1]:5433/db?sslmode=require',
    'postgresql://u:p@h1:5432,h2,[::1]:5433/db?target_session_attrs=read-write',
    'postgresql://u:p@h1,h2/db?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem',
  ])('accepts the database %s', (url) => {
    expect(validConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  it.each<[string, Env, string[], string]>([
    ['a port with a letter', { PORT: '80a' }, [], 'PORT must be a whole number from 0 to 65535.'],
    ['a port too large', {}, ['--port', '65536'], '--port must be a whole number from 0 to 65535.'],
    [
      'an operator port too large',
      {},
      ['--operator-api', '65536'],
      '--operator-api must be on, off or a port from 1 to 65535.',
    ],
    ['a host with a path', { HOST: 'a/b' }, [], 'HOST must be an address or a host name.'],
    [
      'an unknown log level',
      { LOG_LEVEL: 'loud' },
      [],
      'LOG_LEVEL must be one of debug, info, warn, error, silent.',
    ],
    [
      'a service name prefix in lower case',
      { RAILHEAD_SERVICE_WORD: 'acme' },
      [],
      'RAILHEAD_SERVICE_WORD must be a capital letter and up to 31 letters or digits.',
    ],
    [
      'a credential without its secret',
      { RAILHEAD_CLIENT_ID: 'a' },
      [],
      'RAILHEAD_CLIENT_ID and RAILHEAD_CLIENT_SECRET must both be set or both be absent.',
    ],
    [
      'a missing key in production',
      { NODE_ENV: 'production' },
      [],
      'RAILHEAD_MASTER_KEY, or its file or command, must be set when NODE_ENV is production.',
    ],
    [
      'two master keys',
      { RAILHEAD_MASTER_KEY: 'ab'.repeat(32), RAILHEAD_MASTER_KEY_FILE: 'key' },
      [],
      'RAILHEAD_MASTER_KEY and RAILHEAD_MASTER_KEY_FILE must not both be set.',
    ],
    [
      'a mail server without a sender',
      { RAILHEAD_SMTP_URL: 'smtps://mail.example.com' },
      [],
      'RAILHEAD_MAIL_FROM must be set when RAILHEAD_SMTP_URL is set.',
    ],
    [
      'mail over another protocol',
      { RAILHEAD_SMTP_URL: 'https://mail.example.com', RAILHEAD_MAIL_FROM: 'a@example.com' },
      [],
      'RAILHEAD_SMTP_URL must have the form smtps://user:password@host:465.',
    ],
    [
      'two senders',
      { RAILHEAD_MAIL_FROM: 'a@example.com, b@example.com' },
      [],
      'RAILHEAD_MAIL_FROM must be an address, or a name and the address in angle brackets.',
    ],
    [
      'an unencrypted URL for text messages',
      { RAILHEAD_SMS_URL: 'http://sms.example.com/send' },
      [],
      'RAILHEAD_SMS_URL must be an https URL, or an http URL on this machine.',
    ],
    [
      'an unencrypted URL of an identity provider',
      { RAILHEAD_OIDC_ISSUERS: 'https://id.example.com,http://id.example.com' },
      [],
      'RAILHEAD_OIDC_ISSUERS must be comma-separated addresses with https, or with http on ' +
        'this machine, without a query.',
    ],
    [
      'an identity provider with a query',
      { RAILHEAD_OIDC_ISSUERS: 'https://id.example.com?a=b' },
      [],
      'RAILHEAD_OIDC_ISSUERS must be comma-separated addresses with https, or with http on ' +
        'this machine, without a query.',
    ],
    [
      'an unencrypted URL for identity checks',
      { RAILHEAD_IDENTITY_URL: 'http://kyc.example.com/cases' },
      [],
      'RAILHEAD_IDENTITY_URL must be an https URL, or an http URL on this machine.',
    ],
    [
      'a bucket without its keys',
      { RAILHEAD_S3_ENDPOINT: 'https://s3.example.com', RAILHEAD_S3_BUCKET: 'files' },
      ['--s3-region', 'eu-central-1'],
      'RAILHEAD_S3_ACCESS_KEY_ID, RAILHEAD_S3_SECRET_ACCESS_KEY must be set as well, ' +
        'or no setting of RAILHEAD_S3.',
    ],
    [
      'an unencrypted URL of a bucket',
      { ...BUCKET_ENV, RAILHEAD_S3_ENDPOINT: 'http://s3.example.com' },
      [],
      'RAILHEAD_S3_ENDPOINT must be an https URL, or an http URL on this machine.',
    ],
    [
      'a secret on the command line',
      {},
      ['--s3-secret-access-key=x'],
      '--s3-secret-access-key is not a setting. Try --help.',
    ],
    [
      'an unknown role',
      { RAILHEAD_ROLES: 'api,worker' },
      [],
      'RAILHEAD_ROLES must be one or more of api, jobs, deliver, separated by commas. ' +
        '"worker" is not a role.',
    ],
    [
      'unknown roles',
      {},
      ['--roles', 'API,,jobs'],
      '--roles must be one or more of api, jobs, deliver, separated by commas. ' +
        '"API", "" are not roles.',
    ],
    [
      'jobs without a URL for links',
      {},
      ['--roles', 'jobs,deliver'],
      'RAILHEAD_PUBLIC_URL must be set for the role jobs without api, because events contain links.',
    ],
    [
      'a number of processes below one',
      {},
      ['--processes', '0'],
      '--processes must be a whole number from 1 to 32.',
    ],
    [
      'a drain above the maximum',
      {},
      ['--drain=301'],
      '--drain must be a whole number of seconds from 0 to 300.',
    ],
    ['an unknown flag', {}, ['--xyzzy', '1'], '--xyzzy is not a setting. Try --help.'],
    [
      'a mistyped flag',
      {},
      ['--prot', '1'],
      '--prot is not a setting. Nearest match: --port. Try --help.',
    ],
    [
      'a mistyped --version',
      {},
      ['--verison'],
      '--verison is not a setting. Nearest match: --version. Try --help.',
    ],
    [
      'an argument without a flag',
      {},
      ['4001'],
      '4001 is not recognized. Settings have the form --port 4001.',
    ],
    ['a flag without value', {}, ['--port'], '--port needs a value.'],
    ['a flag before another flag', {}, ['--port', '--host=::1'], '--port needs a value.'],
    ['an empty flag', {}, ['--host='], '--host needs a value.'],
    ['a repeated flag', {}, ['--port=1', '--port=2'], '--port is repeated.'],
  ])('rejects %s in one line', (_description, env, argv, line) => {
    expect(errorsOf(env, argv)).toEqual([line]);
  });

  it('reports all errors, and repeats no value that may be secret', () => {
    const secret = 'do-not-print-me';
    const lines = errorsOf({
      PORT: '-1',
      DATABASE_URL: `mysql://u:${secret}@h/d`,
      RAILHEAD_MASTER_KEY: secret,
      RAILHEAD_CLIENT_SECRET: `${secret} with blanks`,
    });
    expect(lines).toHaveLength(5);
    expect(lines.join()).not.toContain(secret);
    for (const line of lines) expect(line).not.toContain('\n');
  });

  it('prints the settings for --help', () => {
    const result = readConfig({ PORT: 'invalid' }, ['--help']);
    expect('help' in result && result.help).toBe(settingsHelp());
    for (const name of [
      'PORT',
      'HOST',
      'RAILHEAD_DATA_DIR',
      'DATABASE_URL',
      'LOG_LEVEL',
      'NODE_ENV',
    ]) {
      expect(settingsHelp()).toContain(name);
      expect(settingsTable()).toContain(`| \`${name}\` |`);
    }
  });

  it('has its settings in docs/settings.md, apart from padding', () => {
    const page = readFileSync(path.join(projectRoot(), 'docs', 'settings.md'), 'utf8');
    const cells = (text: string) => text.replace(/ +/g, ' ').replace(/\| ?-+ ?(?=\|)/g, '|---');
    expect(cells(page)).toContain(cells(settingsTable()));
  });
});

describe('splitFlags', () => {
  it('separates settings from the arguments of other commands', () => {
    const argv = [
      'platform',
      'create',
      '--data-dir',
      'platform',
      '--name',
      'A',
      '--port=1',
      '--json',
    ];
    expect(splitFlags(argv)).toEqual({
      settings: ['--data-dir', 'platform', '--port=1'],
      otherArguments: ['platform', 'create', '--name', 'A', '--json'],
    });
  });
});
