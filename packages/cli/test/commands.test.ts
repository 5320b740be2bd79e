// Commands of resources, profiles and tools against a server.
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf, RESOURCES } from '../src/api/metadata.ts';
import { createProgram } from '../src/program.ts';
import { type Cli, createEmptyHome, PROGRAM, startTestServer } from './kit/cli.ts';

const server = startTestServer('commands');
const run = (...args: string[]) => server.cli.run(args);

let cliInEmptyHome: Cli;
beforeAll(() => {
  cliInEmptyHome = createEmptyHome();
});
afterAll(() => cliInEmptyHome.remove());

/** Operations of the document with the header of a wallet signature. */
function signableOperations(): string[] {
  const file = path.resolve(import.meta.dirname, '../../../openapi.json');
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] }>>;
  };
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters = [] }) =>
      parameters.some(({ name }) => name === 'Service-Wallet-Signature'),
    )
    .map(({ operationId }) => operationId)
    .sort();
}

describe('the commands', () => {
  const program = createProgram(
    RESOURCES.map(({ name }) => name),
    '0',
  );
  const commandTree = (command = program): (typeof program)[] => [
    command,
    ...command.commands.flatMap(commandTree),
  ];
  const commandsByName = commandTree().map((command) => [command.name(), command] as const);

  it('cover every operation once', () => {
    const ids = RESOURCES.flatMap(({ operations }) => operations.map(([id]) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(168);
    expect(commandsByName.length).toBeGreaterThan(ids.length);
  });

  it('have the flags of a wallet signature if the operation accepts its header', () => {
    const hasFlag = (resource: string, verb: string) =>
      program.commands
        .find((each) => each.name() === resource)
        ?.commands.find((each) => each.name() === verb)
        ?.options.some(({ long }) => long === '--wallet-signature');
    const commandIds = RESOURCES.flatMap((resource) =>
      operationsOf(resource)
        .filter(({ verb }) => hasFlag(resource.name, verb))
        .map(({ id }) => id),
    );
    expect(commandIds.sort()).toEqual(signableOperations());
  });

  it.each(commandsByName)('%s has help with examples within 80 columns', (name, command) => {
    let text = '';
    command.configureOutput({
      writeOut: (chunk) => {
        text += chunk;
      },
      getOutHelpWidth: () => 80,
      getOutHasColors: () => false,
    });
    command.outputHelp();
    expect(text, name).toContain('Examples:');
    const ownHelp = text.split('\nExamples:')[0] ?? '';
    const longLines = ownHelp
      .split('\n')
      .filter((line) => line.length > 80 && !/^Usage|\S{50,}/.test(line));
    expect(longLines).toEqual([]);
  });
});

describe('help', () => {
  it.each([
    [0, 'customers', 'create'],
    [0, 'logs', 'tail'],
    [2, 'nonsense', 'create'],
  ])('has the exit code %d and the text of --help: %s %s', async (code, ...words) => {
    const result = await run('help', ...words);
    expect(result).toEqual(await run(...words, '--help'));
    expect(result.code).toBe(code);
    expect(result.out + result.err).toContain(code ? words[0] : words.join(' '));
  });
});

describe('a resource', () => {
  it('has flags for the fields of all variants of a nested object', () => {
    const file = path.join(path.dirname(PROGRAM), 'api/external-accounts.json');
    const flags = readFileSync(file, 'utf8');
    for (const name of ['full-name', 'legal-name', 'document-number'])
      expect(flags).toContain(`"account-info.beneficiary.${name}"`);
  });

  it('is created by flags, retrieved, and listed as a table', async () => {
    const createdCustomer = await server.cli.json(
      ...['customers', 'create', '--customer-type', 'individual', '--full-name', 'Ada Lovelace'],
      ...[
        '--address.line1',
        '1 Main Street',
        '--address.city',
        'Portland',
        '--address.state',
        'OR',
      ],
      ...['--address.postal-code', '97205', '--address.country', 'US'],
    );
    expect(createdCustomer).toMatchObject({
      fullName: 'Ada Lovelace',
      address: { city: 'Portland' },
    });
    const customerResult = await run('customers', 'get', createdCustomer.id);
    expect(customerResult.out).toMatch(/^fullName +Ada Lovelace$/m);
    expect(customerResult.out).toMatch(/^address\n[\s\S]*^ {2}city +Portland$/m);
    const { out } = await run('customers', 'list');
    expect(out.split('\n')[0]).toMatch(/^ID +FULL NAME +KYC STATUS/);
    expect(out).toContain(createdCustomer.id);
    expect((await run('customers', 'list', '--query', 'data[].fullName | [0]')).out).toBe(
      'Ada Lovelace\n',
    );
    expect((await server.cli.json('customers', 'list', '--all')).data.length).toBeGreaterThan(0);
  });

  it('is created from text, a file or standard input, and flags override the body', async () => {
    const body = '{ "customerType": "INDIVIDUAL", "fullName": "Grace Hopper" }';
    writeFileSync(path.join(server.cli.home, 'body.json'), body);
    const create = ['customers', 'create', '--json', '--data'];
    const firstResult = await server.cli.run([...create, body, '--full-name', 'Grace Brewster']);
    expect(JSON.parse(firstResult.out).fullName).toBe('Grace Brewster');
    const secondResult = await server.cli.run([...create, '@body.json']);
    expect(JSON.parse(secondResult.out).fullName).toBe('Grace Hopper');
    const thirdResult = await server.cli.run([...create, '-'], { input: body });
    expect(JSON.parse(thirdResult.out).fullName).toBe('Grace Hopper');
    const apiCustomer = await server.cli.json('api', 'createCustomer', '--data', body);
    expect(apiCustomer.fullName).toBe('Grace Hopper');
  });

  it('has examples of its bodies', async () => {
    const { code, out } = await run('quotes', 'create', '--example');
    expect([code, JSON.parse(out).lockedCurrencySide]).toEqual([0, 'SENDING']);
    const variantResult = await run('webhook-endpoints', 'create', '--example', 'pulled');
    expect(JSON.parse(variantResult.out).delivery).toBe('PULL');
    const unknownResult = await run('webhook-endpoints', 'create', '--example', 'pulledd');
    expect([unknownResult.code, unknownResult.err]).toEqual([
      2,
      expect.stringContaining('Did you mean pulled?'),
    ]);
  });
});

describe('an error', () => {
  it.each([
    [['custmers', 'list'], 2, 'Did you mean customers?'],
    [['customers', 'lst'], 2, 'Did you mean list?'],
    [['customers', 'create', '--full-nme', 'x'], 2, 'Did you mean --full-name?'],
    [['customers', 'create', '--customer-type', 'INDIVIDUEL'], 2, 'Did you mean INDIVIDUAL?'],
    [['quotes', 'create'], 2, 'Required: --source'],
    [['customers', 'get'], 2, "Missing required argument 'customerId'"],
    [['cards', 'create', '--data', '{'], 2, '--data is not JSON'],
    [['customers', 'list', '--query', 'data['], 2, '--query is not a valid expression'],
    // No connection is attempted.
    [['customers', 'list', '--query', '[', '--base-url', 'http://127.0.0.1:9'], 2, '--query is'],
    [['trigger', 'payout.complete'], 2, 'Did you mean payout.completed?'],
    [['events', '--type', 'CARD.STATE_CHANG'], 2, 'Did you mean CARD.STATE_CHANGE?'],
    [['api', 'createQuot'], 2, 'Did you mean createQuote?'],
    [['clock', 'advance', 'soon'], 2, 'is not a duration'],
    [['customers', 'get', 'Customer:1'], 1, 'railhead logs get'],
    [['customers', 'list', '--base-url', 'http://127.0.0.1:9'], 4, 'railhead doctor'],
    [['customers', 'list', '--profile', 'absent'], 3, 'railhead login --profile absent'],
  ] as const)('of %j names the problem and the remedy', async (args, code, text) => {
    const result = await run(...args);
    expect({ code: result.code, err: result.err, out: result.out }).toEqual({
      code,
      err: expect.stringContaining(text),
      out: '',
    });
  });

  it('names the rejected fields, and is JSON with --json', async () => {
    const args = ['customers', 'create', '--customer-type', 'INDIVIDUAL', '--email', 'none'];
    const { code, err } = await run(...args);
    expect([code, err]).toEqual([1, expect.stringMatching(/INVALID_INPUT[\s\S]*email: /)]);
    const jsonResult = await run(...args, '--json');
    const { error } = JSON.parse(jsonResult.err);
    expect(error).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
    const { out } = await run('logs', 'get', error.requestId);
    expect(out).toMatch(/operationId +createCustomer[\s\S]*email: /);
  });

  it('of credentials has a separate exit code', async () => {
    const env = { RAILHEAD_CLIENT_SECRET: 'wrong' };
    const { code, err } = await server.cli.run(['customers', 'list'], { env });
    expect([code, err]).toEqual([3, expect.stringContaining('railhead login')]);
  });
});

describe('profiles', () => {
  it('are not needed in the folder of a local server', async () => {
    const resultWithoutCredentials = await cliInEmptyHome.run(['customers', 'list']);
    expect([resultWithoutCredentials.code, resultWithoutCredentials.err]).toEqual([
      3,
      expect.stringContaining('railhead login'),
    ]);
    mkdirSync(path.join(cliInEmptyHome.home, '.railhead'));
    cpSync(
      path.join(server.dataFolder.dir, 'credentials.json'),
      path.join(cliInEmptyHome.home, '.railhead/credentials.json'),
    );
    expect((await cliInEmptyHome.run(['customers', 'list'])).code).toBe(0);
    expect((await cliInEmptyHome.json('profiles')).data).toMatchObject([
      { name: 'local', isCurrent: true },
    ]);
  });

  it('are stored in a file readable only by its owner, and can be selected and removed', async () => {
    const { baseUrl, clientId, clientSecret } = server.running.credentials;
    const login = ['login', '--profile', 'one', '--base-url', new URL(baseUrl).origin];
    login.push('--client-id', clientId, '--client-secret', '-');
    const rejectedResult = await cliInEmptyHome.run(login, { input: 'wrong' });
    expect(rejectedResult.code).toBe(3);
    const { code, out, err } = await cliInEmptyHome.run(login, { input: `${clientSecret}\n` });
    expect([code, err, out]).toEqual([0, '', expect.stringContaining('as profile one')]);
    const file = path.join(cliInEmptyHome.home, '.config/railhead/config.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8')).profiles.one.url).toBe(baseUrl);
    expect((await cliInEmptyHome.run(['customers', 'list', '--profile', 'one'])).code).toBe(0);
    expect((await cliInEmptyHome.run(['profiles', 'use', 'two'])).code).toBe(3);
    expect((await cliInEmptyHome.run(['profiles'])).out).toMatch(/\* one/);
    expect((await cliInEmptyHome.run(['logout'])).out).toBe('Removed profile one.\n');
    expect(readFileSync(file, 'utf8')).not.toContain(clientSecret);
  });
});

describe('tools', () => {
  it('show requests, including failed ones', async () => {
    await run('customers', 'get', 'Customer:1');
    const { data } = await server.cli.json('logs', '--failed', '-n', '1');
    expect(data).toMatchObject([{ operationId: 'getCustomerById', status: 404 }]);
    const { out } = await run('logs', '-n', '3');
    expect(out.split('\n')[0]).toMatch(/^ID +STATUS +OPERATION ID/);
  });

  it('show events, also with the commands of the resource', async () => {
    const { data } = await server.cli.json('events', '--type', 'CUSTOMER.KYC_*', '-n', '2');
    expect(data).toHaveLength(2);
    const approvedEvents = await server.cli.json(
      'events',
      'list',
      '--type',
      'CUSTOMER.KYC_APPROVED',
    );
    expect(new Set(approvedEvents.data.map(({ type }: { type: string }) => type)).size).toBe(1);
    expect((await run('events')).out).toMatch(/^ID +TYPE +STATUS +TIMESTAMP/);
    expect((await run('events', 'lst')).err).toContain('Did you mean list?');
  });

  it('advance and unfreeze the clock', async () => {
    const clockBefore = await server.cli.json('clock');
    const { out } = await run('clock', 'advance', '1d', '--freeze');
    expect(out).toMatch(/^\S+ \S+ UTC, frozen\. \d+ due steps? executed\.\n$/);
    const clockAfter = await server.cli.json('clock', 'unfreeze');
    const hours =
      (Date.parse(clockAfter.currentTime) - Date.parse(clockBefore.currentTime)) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
  });

  it('load fixtures, and reset the platform', async () => {
    const steps = [
      {
        name: 'ada',
        operationId: 'createCustomer',
        body: { customerType: 'INDIVIDUAL', fullName: 'Ada' },
      },
    ];
    writeFileSync(path.join(server.cli.home, 'fixtures.json'), JSON.stringify(steps));
    expect((await run('fixtures', 'load', 'fixtures.json')).out).toMatch(
      /1 calls executed[\s\S]*ada +Customer:/,
    );
    expect((await run('fixtures', 'load', 'startr')).err).toContain('Did you mean starter?');
    expect((await run('reset')).err).toContain('--yes is required');
    expect((await run('reset', '--yes')).out).toMatch(/^Removed \d+ customers/);
    expect((await server.cli.json('customers', 'list')).data).toEqual([]);
  });

  it('print the URL of a page, and report failed checks', async () => {
    const { origin } = server.running;
    expect((await run('open', 'reference')).out).toBe(`${origin}/docs/reference\n`);
    const { code, out } = await run('doctor');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/✓ Server[\s\S]*✓ Credentials[\s\S]*VIEW/),
    ]);
    const unreachableResult = await run('doctor', '--base-url', 'http://127.0.0.1:9');
    expect([unreachableResult.code, unreachableResult.out]).toEqual([
      1,
      expect.stringContaining('✗ Server'),
    ]);
    const rejectedResult = await server.cli.run(['doctor'], {
      env: { RAILHEAD_CLIENT_SECRET: 'x' },
    });
    expect([rejectedResult.code, rejectedResult.out]).toEqual([
      1,
      expect.stringContaining('✗ Credentials'),
    ]);
  });

  it('report that the server has another version of the API', async () => {
    const { origin } = server.running;
    const { err } = await run('customers', 'list', '--base-url', `${origin}/2024-01-01`);
    expect(err).toContain('Warning: the server URL uses API version 2024-01-01');
    const { code, out } = await run('doctor', '--base-url', `${origin}/2024-01-01`);
    expect(code).toBe(1);
    expect(out).toContain('the server has 2025-10-13, the URL names 2024-01-01');
    expect(out).not.toContain('Credentials');
  });
});
