// The operator's command on a real database: exit code, output, errors.
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../test/kit/app/database.ts';
import { FIRST_CURRENCIES } from './bootstrap.ts';
import { main } from './operator.ts';
import { projectRoot } from './runtime/config/root.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface CommandResult {
  code: number;
  out: string;
  err: string;
}

async function run(argv: string[], env: Record<string, string> = {}): Promise<CommandResult> {
  const result = { out: '', err: '' };
  const code = await main(argv, {
    env: { DATABASE_URL: database.url, RAILHEAD_MASTER_KEY: '07'.repeat(32), ...env },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return { code, ...result };
}

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run([...argv, '--json']);
  expect(err).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
}

async function runSql<R extends object>(text: string, values: unknown[] = []): Promise<R[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<R>(text, values)).rows;
  } finally {
    await client.end();
  }
}

describe('platform', () => {
  it('creates a platform with accounts, a token and the public key of its webhooks', async () => {
    const creation = await runJson(
      'platform',
      'create',
      '--name',
      'Shop',
      '--currencies',
      'USD,EUR,BTC',
    );
    expect(Object.keys(creation)).toEqual([
      'platformId',
      'tokenId',
      'clientId',
      'clientSecret',
      'webhookPublicKey',
    ]);
    expect(createPublicKey(creation.webhookPublicKey).asymmetricKeyDetails).toEqual({
      namedCurve: 'prime256v1',
    });
    const accounts = await runSql<{ currency: string; type: string }>(
      'select currency, type from internal_accounts where platform_id = $1 order by currency',
      [creation.platformId],
    );
    expect(accounts).toEqual([
      { currency: 'BTC', type: 'INTERNAL_CRYPTO' },
      { currency: 'EUR', type: 'INTERNAL_FIAT' },
      { currency: 'USD', type: 'INTERNAL_FIAT' },
    ]);
    const storedTokens = await runSql('select * from tokens where id = $1', [creation.tokenId]);
    expect(JSON.stringify(storedTokens)).not.toContain(creation.clientSecret);
    expect(await runJson('platform', 'show', creation.platformId)).toMatchObject({
      platformId: creation.platformId,
      name: 'Shop',
      environment: 'sandbox',
      regulated: true,
      documentsOptional: false,
      sca: true,
      terms: false,
      invitations: true,
      currencies: ['USD', 'EUR', 'BTC'],
      webhookEndpoint: null,
    });
  });

  it.each([
    ['sandbox', true],
    ['production', false],
  ])(
    'creates a platform of the environment %s with regulated: %s',
    async (environment, regulated) => {
      const { platformId } = await runJson(
        ...['platform', 'create', '--name', environment, '--environment', environment],
      );
      expect(await runJson('platform', 'show', platformId)).toMatchObject({ regulated });
    },
  );

  it('enables and disables every switch', async () => {
    const { platformId } = await runJson(
      ...['platform', 'create', '--name', 'Other', '--environment', 'production'],
      ...['--unregulated', '--documents-optional', '--no-sca', '--terms'],
      '--no-invitations',
    );
    const switches = { sca: false, terms: true, invitations: false };
    const createdSettings = { regulated: false, documentsOptional: true, ...switches };
    expect(await runJson('platform', 'show', platformId)).toMatchObject({
      environment: 'production',
      currencies: FIRST_CURRENCIES,
      ...createdSettings,
    });
    const changedSettings = await runJson(
      ...['platform', 'set', platformId, '--regulated', '--no-documents-optional'],
      ...['--sca', 'on', '--terms=off', '--invitations', '--name', 'Renamed'],
    );
    expect(changedSettings).toMatchObject({
      name: 'Renamed',
      regulated: true,
      documentsOptional: false,
      sca: true,
      terms: false,
      invitations: true,
    });
    expect(await runJson('platform', 'show', '--platform', platformId)).toEqual(changedSettings);
  });

  it('opens accounts for added currencies, and stages a job for the customers', async () => {
    const { platformId } = await runJson(
      'platform',
      'create',
      '--name',
      'Grows',
      '--currencies',
      'USD,EUR',
    );
    const setCommand = ['platform', 'set', platformId, '--currencies'];
    expect((await runJson(...setCommand, 'EUR,GBP')).currencies).toEqual(['EUR', 'GBP']);
    expect((await runJson(...setCommand, 'USD,GBP')).currencies).toEqual(['USD', 'GBP']);
    const accounts = await runSql<{ currency: string }>(
      'select currency from internal_accounts where platform_id = $1 order by currency',
      [platformId],
    );
    expect(accounts.map((each) => each.currency)).toEqual(['EUR', 'GBP', 'USD']);
    const jobs = await runSql<{ input: object }>(
      `select input from jobs where kind = 'accounts.backfill' and input->>'platformId' = $1
       order by id`,
      [platformId],
    );
    expect(jobs.map((each) => each.input)).toEqual([
      { platformId, currencies: ['GBP'] },
      { platformId, currencies: ['USD'] },
    ]);
  });

  it('lists all platforms, as JSON and as a table', async () => {
    const { platformId } = await runJson(
      'platform',
      'create',
      '--name',
      'Listed',
      '--currencies',
      'USD,EUR',
    );
    const allPlatforms = await runJson('platform', 'list');
    expect(allPlatforms.map((each: { platformId: string }) => each.platformId)).toContain(
      platformId,
    );
    const { out } = await run(['platform', 'list']);
    expect(out).toMatch(/^PLATFORM +NAME +ENVIRONMENT +REGULATED +CURRENCIES +CREATED\n/);
    expect(out).toMatch(new RegExp(`${platformId} +Listed +sandbox +yes +USD,EUR +2`));
  });

  it('needs the master key of the server to record a change', async () => {
    const withoutKey = { RAILHEAD_MASTER_KEY: '', NODE_ENV: 'production' };
    const otherKey = { RAILHEAD_MASTER_KEY: '08'.repeat(32) };
    expect((await run(['platform', 'list'], withoutKey)).code).toBe(0);
    const create = ['platform', 'create', '--name', 'No master key', '--json'];
    const resultWithOtherKey = await run(create, otherKey);
    expect(resultWithOtherKey).toMatchObject({ code: 1, out: '' });
    expect(resultWithOtherKey.err).toContain('sealed with another master key');
    const resultWithoutKey = await run(create, withoutKey);
    expect(resultWithoutKey).toEqual({
      code: 1,
      out: '',
      err:
        'This command needs the master key. Set RAILHEAD_MASTER_KEY, RAILHEAD_MASTER_KEY_FILE or ' +
        'RAILHEAD_MASTER_KEY_COMMAND.\n',
    });
  });
});

describe('token', () => {
  it('creates, lists and revokes a token', async () => {
    const { platformId, tokenId: firstTokenId } = await runJson(
      'platform',
      'create',
      '--name',
      'Tokens',
    );
    const creation = await runJson(
      ...['token', 'create', '--platform', platformId, '--permissions', 'VIEW,TRANSACT'],
    );
    expect(Object.keys(creation)).toEqual(['tokenId', 'clientId', 'clientSecret']);
    const listedOutput = await runJson('token', 'list', '--platform', platformId);
    expect(listedOutput).toMatchObject([
      { tokenId: firstTokenId, permissions: ['VIEW', 'TRANSACT', 'MANAGE'] },
      { tokenId: creation.tokenId, permissions: ['VIEW', 'TRANSACT'], clientId: creation.clientId },
    ]);
    expect(JSON.stringify(listedOutput)).not.toContain(creation.clientSecret);
    expect(await runJson('token', 'revoke', creation.tokenId)).toEqual({
      tokenId: creation.tokenId,
      revoked: true,
    });
    expect(await runJson('token', 'list', platformId)).toHaveLength(1);
    const repeatedResult = await run(['token', 'revoke', creation.tokenId]);
    expect(repeatedResult).toEqual({ code: 1, out: '', err: 'Token not found.\n' });
    expect((await runJson('token', 'list')).length).toBeGreaterThan(1);
  });
});

describe('keys show', () => {
  it('prints the keys of both environments', async () => {
    await runJson('platform', 'create', '--name', 'Keys');
    const keys = (await runJson('keys', 'show')) as { environment: string; algorithm: string }[];
    expect(keys.map((each) => `${each.environment} ${each.algorithm}`).sort()).toEqual([
      'production Ed25519',
      'production P-256',
      'sandbox Ed25519',
      'sandbox P-256',
    ]);
    expect(JSON.stringify(keys)).not.toContain('PRIVATE');
    expect((await run(['keys', 'show'])).out).toContain('-----BEGIN PUBLIC KEY-----');
  });
});

describe('the command', () => {
  it.each([
    [[], 'A noun and a verb are needed.'],
    [['platform'], 'platform needs a verb: create, list, '],
    [['platform', 'create'], '--name NAME is required'],
    [['platform', 'create', '--name', 'X', '--currencies', 'USD,XYZ'], 'currencies'],
    [
      ['platform', 'create', '--name', 'X', '--environment', 'test'],
      '--environment must be one of',
    ],
    [
      ['token', 'create', '--platform', 'x', '--permissions', 'ALL'],
      '--permissions must be one of',
    ],
    [['token', 'create', '--platform', 'x'], '--permissions VIEW,TRANSACT is required'],
    [['keys', 'show', '--port', 'x'], '--port must be a whole number'],
  ])('%j prints the error and the usage', async (argv, message) => {
    const { code, out, err } = await run([...argv, ...(argv.length > 1 ? ['--json'] : [])]);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err.split('\n')[0]).toContain(message);
    expect(err).toMatch(/Usage: railhead-server|See railhead-server/);
  });

  it.each([
    [['webhoks', 'attempts'], 'webhoks is not a command.', 'webhooks attempts', '--help'],
    [['Start'], 'Start is not a command.', 'start', '--help'],
    [['tokne'], 'tokne is not a command.', 'token', '--help'],
    [['verison'], 'verison is not a command.', 'version', '--help'],
    [['--verison'], '--verison is not a flag of this command.', '--version', '--help'],
    [['--hlep'], '--hlep is not a flag of this command.', '--help', '--help'],
    [['platform', 'craete'], 'platform has no verb craete.', 'platform create', 'platform --help'],
    [['token', 'remove'], 'token has no verb remove.', 'token revoke', 'token --help'],
    [
      ['platform', '--verison'],
      'platform has no flag --verison.',
      'platform --version',
      'platform --help',
    ],
  ])('%j prints three lines with the nearest match', async (argv, problem, intended, help) => {
    expect(await run(argv)).toEqual({
      code: 2,
      out: '',
      err: `${problem}\nNearest match: railhead-server ${intended}\nSee railhead-server ${help}.\n`,
    });
  });

  const usage = 'Usage: railhead-server <noun> <verb> [flags]';
  it.each([
    [['purse', 'list'], 'purse is not a command.', usage, '--help'],
    [['xyzzy'], 'xyzzy is not a command.', usage, '--help'],
    [['--xyzzy'], '--xyzzy is not a flag of this command.', usage, '--help'],
    [['x'.repeat(90)], `${'x'.repeat(40)}… is not a command.`, usage, '--help'],
    [['token', 'xyzzy'], 'token has no verb xyzzy.', 'Verbs: create, list, revoke', 'token --help'],
  ])(
    '%j prints no suggestion, because no name is similar',
    async (argv, problem, secondLine, help) => {
      expect(await run(argv)).toEqual({
        code: 2,
        out: '',
        err: `${problem}\n${secondLine}\nSee railhead-server ${help}.\n`,
      });
    },
  );

  it.each([
    [['--version']],
    [['-v']],
    [['version']],
    [['platform', '--version']],
    [['platform', '-v']],
    [['platform', 'list', '--version']],
  ])('%j prints the version', async (argv) => {
    const { version } = JSON.parse(readFileSync(`${projectRoot()}/package.json`, 'utf8'));
    expect(await run(argv)).toEqual({ code: 0, out: `railhead-server ${version}\n`, err: '' });
  });

  it('lists start among the commands', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage: railhead-server <noun> <verb>/);
    expect(out).toMatch(/\n {2}start +Start the server/);
  });

  it.each([
    ['platform', 'show', 'PlatformConfig:0', 'Platform not found.\n'],
    [
      'platform',
      'set',
      'PlatformConfig:018f0000-0000-7000-8000-000000000000',
      'Platform not found.\n',
    ],
    ['token', 'revoke', 'x', 'Token not found.\n'],
    ['ledger', 'postings', 'Transaction:x', 'Transaction not found.\n'],
  ])('%s %s rejects an unknown ID', async (noun, verb, id, message) => {
    expect(await run([noun, verb, id])).toEqual({ code: 1, out: '', err: message });
  });

  it('reports in one line that the database cannot be reached', async () => {
    const { code, err } = await run(['platform', 'list'], {
      DATABASE_URL: 'postgresql://user@127.0.0.1:1/none',
    });
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

describe('help', () => {
  it.each([
    [
      ['help', 'providers'],
      ['providers', '--help'],
    ],
    [
      ['help', 'providers', 'list'],
      ['providers', 'list', '--help'],
    ],
    [
      ['help', 'doctor'],
      ['doctor', '--help'],
    ],
    [
      ['help', 'xyzzy'],
      ['xyzzy', '--help'],
    ],
  ])('%j prints the same as %j', async (argv, equalArgv) => {
    const result = await run(argv);
    expect(result).toEqual(await run(equalArgv));
    expect(result.out).not.toBe((await run(['help'])).out);
  });

  it.each([[['--help']], [['help']], [['platform', '--help']], [['platform', 'create', '--help']]])(
    '%j prints the usage within 110 columns',
    async (argv) => {
      const { code, out, err } = await run(argv, { DATABASE_URL: 'not read' });
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain('Usage: railhead');
      for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
    },
  );
});
