// Commands that a `shell` block would start, and their problems. bash reads the block with every
// program replaced by a function that records its arguments. Each command is then compared with its
// target: the document of the API for a request, the parser of the operator's command for a verb, and
// package.json for a script.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readBackupFlags } from '../../../src/operator/backup/backup.ts';
import { main } from '../../../src/operator.ts';
import { projectRoot } from '../../../src/runtime/config/root.ts';

const root = projectRoot();
const ORIGIN = 'http://railhead.test';
const OPERATOR_ORIGIN = 'http://operator.railhead.test';

/** Programs outside this checkout, with the reason. bash only reads their commands. */
const EXTERNAL_PROGRAMS: Readonly<Record<string, string>> = {
  cd: 'the folders of a checkout do not exist where bash reads the block',
  cp: 'the files of a checkout do not exist where bash reads the block',
  docker: 'deploy/check builds and runs the image, and checks the compose file',
  kubectl: 'deploy/check compares the manifests with the types of their API',
  openssl: 'generates random values',
  createdb: 'a client of PostgreSQL, which the embedded one does not contain',
  pg_dump: 'a client of PostgreSQL, which the embedded one does not contain',
  pg_restore: 'a client of PostgreSQL, which the embedded one does not contain',
  tar: 'the sh blocks of docs/backups.md run it',
  ...Object.fromEntries(
    [
      ...['install', 'ln', 'mkdir', 'sha256sum', 'systemctl', 'systemd-run', 'useradd'],
      ...['/opt/railhead/current/bin/railhead-server'],
      ...['railhead-0.2.0-linux-x64/bin/railhead-server'],
    ].map((name) => [name, 'a command of root. test/processes/release.test.ts tests a release']),
  ),
  python3: 'the example adapter, whose test runs it',
  railhead: 'packages/cli, whose tests run its commands',
};

const RECORDED_PROGRAMS = [
  'curl',
  'npm',
  'node',
  'railhead-server',
  ...Object.keys(EXTERNAL_PROGRAMS),
];

/** Variables that blocks may use. */
const VARIABLE_VALUES: Readonly<Record<string, string>> = {
  RAILHEAD_URL: ORIGIN,
  OPERATOR_URL: OPERATOR_ORIGIN,
  APPROVAL: 'Approval:1',
  SECRET: 'secret',
  CLIENT_ID: 'client',
  CLIENT_SECRET: 'secret',
  DATA: '/data',
  RESTORED: '/restored',
  DATABASE_URL: 'postgres:///railhead',
  ACCOUNT: 'InternalAccount:1',
  BANK: 'ExternalAccount:1',
  CURSOR: 'ICAgIDE',
  ENDPOINT: 'WebhookEndpoint:1',
  REQUEST_ID: '01a21758-15bf-71ea-aa5b-996c3b49c144',
  BUSINESS: 'Customer:2',
  CARD: 'Card:1',
  COIN: 'Stablecoin:1',
  CUSTOMER: 'Customer:1',
  DIFFERENCE: 'ReconciliationDifference:1',
  OPERATOR: 'OperatorUser:1',
  PAYMENT: 'Transaction:1',
  PLATFORM: 'PlatformConfig:1',
  QUOTE: 'Quote:1',
  SIGNATURE: 'signature',
  STAMP: 'stamp',
  WALLET: 'InternalAccount:2',
  POLICY: JSON.stringify({
    permissions: ['VIEW_TRANSACTIONS'],
    defaultExecutionMode: 'AUTO',
    spendingLimits: { currency: 'USD', perTransactionLimit: 50_000 },
    approvalThresholds: { currency: 'USD', amount: 10_000 },
  }),
};

const [END_OF_COMMAND, END_OF_WORD] = ['\x1e', '\x1f'];

/** A program and its arguments. */
type Command = readonly string[];

/** The commands of a block in the order in which bash starts them. */
function commandsOf(text: string): { commands: Command[]; problem?: string } {
  const recorders = RECORDED_PROGRAMS.map(
    (name) => `${name}() { printf '%s\\037' ${name} "$@"; printf '\\036'; }`,
  );
  const script = [...recorders, text].join('\n');
  const env = { PATH: '/absent', ...VARIABLE_VALUES };
  const args = ['--noprofile', '--norc', '-euc', script];
  // The output of a command may go to a file.
  const cwd = mkdtempSync(path.join(tmpdir(), 'block-'));
  const { stdout, stderr, status } = spawnSync('/bin/bash', args, { env, cwd, encoding: 'utf8' });
  rmSync(cwd, { recursive: true, force: true });
  const commands = stdout
    .split(END_OF_COMMAND)
    .slice(0, -1)
    .map((command) => command.split(END_OF_WORD).slice(0, -1));
  return status === 0 ? { commands } : { commands, problem: stderr.trim() };
}

interface DescribedOperation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean }[];
  readonly requestBody?: { readonly required?: boolean };
}

const readDocument = (name: string) => JSON.parse(readFileSync(path.join(root, name), 'utf8'));

const DOCUMENTS: Readonly<Record<string, ReturnType<typeof readDocument>>> = {
  [ORIGIN]: readDocument('openapi.json'),
  [OPERATOR_ORIGIN]: readDocument('operator-openapi.json'),
};
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const schemaName = (origin: string) => new URL(origin).hostname;
for (const [origin, document] of Object.entries(DOCUMENTS))
  ajv.addSchema(document, schemaName(origin));

const pointer = (key: string) =>
  encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

const templatesMatching = ({ origin, pathname }: URL) =>
  Object.keys(DOCUMENTS[origin].paths).filter((template) => {
    const pattern = template.replaceAll(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.');
    return new RegExp(`^${pattern}$`).test(pathname);
  });

interface Request {
  url?: URL;
  method: string;
  headers: string[];
  body?: string;
}

function requestOf(command: readonly string[]): Request {
  const request: Request = { method: 'GET', headers: [] };
  const remainingArguments = [...command];
  for (
    let word = remainingArguments.shift();
    word !== undefined;
    word = remainingArguments.shift()
  ) {
    if (word === '-X') request.method = remainingArguments.shift() ?? '';
    else if (word === '-H')
      request.headers.push(remainingArguments.shift()?.split(':')[0]?.toLowerCase() ?? '');
    else if (word === '-u') remainingArguments.shift();
    else if (word === '-d') {
      request.body = remainingArguments.shift() ?? '';
      if (request.method === 'GET') request.method = 'POST';
    } else if (!word.startsWith('-')) request.url = new URL(word);
  }
  return request;
}

function bodyProblems(origin: string, template: string, method: string, body: string): string[] {
  const schemaPath = [
    'paths',
    template,
    method,
    'requestBody',
    'content',
    'application/json',
    'schema',
  ];
  const validate = ajv.getSchema(`${schemaName(origin)}#/${schemaPath.map(pointer).join('/')}`);
  if (!validate) return [`${method} ${template} takes no JSON.`];
  if (validate(JSON.parse(body))) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** Checks a request against the description of its operation. */
function requestProblems(command: readonly string[]): string[] {
  const { url, method, headers, body } = requestOf(command);
  if (!url || !(url.origin in DOCUMENTS)) return [`${url} is not an address of the server.`];
  const [template] = templatesMatching(url);
  const operation: DescribedOperation | undefined =
    DOCUMENTS[url.origin].paths[template ?? '']?.[method.toLowerCase()];
  if (!template || !operation) return [`${method} ${url.pathname} is not an operation.`];
  const { parameters = [], requestBody } = operation;
  const parametersIn = (location: string) =>
    parameters.filter((parameter) => parameter.in === location);
  return [
    ...[...url.searchParams.keys()]
      .filter((key) => !parametersIn('query').some(({ name }) => name === key))
      .map((key) => `${key} is not a query parameter of ${template}.`),
    ...parametersIn('header')
      .filter(({ name, required }) => required && !headers.includes(name.toLowerCase()))
      .map(({ name }) => `${template} needs the header ${name}.`),
    ...(requestBody?.required && body === undefined ? [`${template} needs a body.`] : []),
    ...(body === undefined ? [] : bodyProblems(url.origin, template, method.toLowerCase(), body)),
  ];
}

const DATABASE_OPENED = Symbol('database opened');

/** Problems of the flags of a command that opens no installation. */
function backupProblems(argv: readonly string[]): string[] {
  try {
    readBackupFlags(argv);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Problems of an operator command, whose arguments are valid if it opens the database. */
async function verbProblems(argv: readonly string[]): Promise<string[]> {
  if (argv[0] === 'backup') return backupProblems(argv.slice(1));
  let output = '';
  const rejectOpening = () => Promise.reject(DATABASE_OPENED);
  const err = (text: string) => {
    output += text;
  };
  await main(argv, { env: {}, out: () => undefined, err, open: rejectOpening });
  return output.trim() === String(DATABASE_OPENED) ? [] : [output];
}

function scriptProblems([firstWord = '', secondWord = '']: readonly string[]): string[] {
  const name = firstWord === 'run' ? secondWord : firstWord;
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return name in scripts ? [] : [`npm ${firstWord} ${secondWord} is not a script.`];
}

function problemsOf([program = '', ...command]: Command): string[] | Promise<string[]> {
  if (program === 'curl') return requestProblems(command);
  if (program === 'npm') return scriptProblems(command);
  if (program === 'railhead-server') return verbProblems(command);
  if (program !== 'node') return [];
  const [file = '', ...remainingCommand] = command;
  if (file === 'server/bin/railhead-server.js') return verbProblems(remainingCommand);
  return existsSync(path.join(root, file)) ? [] : [`${file} does not exist.`];
}

/** Settings that the text names and docs/settings.md does not contain. */
function settingProblems(text: string): string[] {
  const settingsPage = readFileSync(path.join(root, 'docs/settings.md'), 'utf8');
  const names = [...text.matchAll(/\b(RAILHEAD_[A-Z_]+)=/g)].map(([, name = '']) => name);
  return names
    .filter((name) => !settingsPage.includes(`\`${name}\``))
    .map((name) => `${name} is an unknown setting.`);
}

/** Problems of a `shell` block. */
export async function shellProblems(text: string): Promise<string[]> {
  const { commands, problem } = commandsOf(text);
  if (problem !== undefined) return [problem];
  if (commands.length === 0) return ['The block has no command.'];
  const problems = await Promise.all(commands.map(problemsOf));
  return [...settingProblems(text), ...problems.flat()];
}
