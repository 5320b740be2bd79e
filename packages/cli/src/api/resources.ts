// Commands of resources, one for each operation, such as `railhead customers create`.
// `railhead api` calls any operation by its ID.
import { Command, InvalidArgumentError } from 'commander';
import { Finished, usageError } from '../exit.ts';
import { withExamples } from '../help.ts';
import { isObject } from '../output/values.ts';
import { type Fields, flagsOf, methodOf, type Session, sessionOf } from '../session.ts';
import { closest } from '../suggest.ts';
import { addFlags, inputOf, missingFlags, readData } from './flags.ts';
import {
  type Example,
  OPERATION_IDS,
  type Operation,
  operationsOf,
  type Resource,
} from './metadata.ts';

interface CallFlags extends Record<string, unknown> {
  readonly all?: boolean;
  readonly idempotencyKey?: string;
  readonly walletSignature?: string;
  readonly requestId?: string;
  readonly agentToken?: string;
}

/** The names of the examples of each command with a body, for completion. */
const exampleNames = new WeakMap<Command, readonly string[]>();

export const exampleNamesOf = (command: Command): readonly string[] =>
  exampleNames.get(command) ?? [];

function printExample(command: Command, { body, id }: Operation, name: string | undefined): void {
  const examples = body?.examples ?? [];
  const [firstExample] = examples;
  if (!firstExample) throw usageError(`${id} has no example of a body.`);
  const example = name === undefined ? firstExample : examples.find((each) => each.name === name);
  if (!example) {
    const names = examples.map((each) => each.name);
    const suggestion = closest(name ?? '', names);
    const hint = suggestion ? `Did you mean ${suggestion}?` : `Use one of ${names.join(', ')}.`;
    throw usageError(`There is no example ${name}.`, hint);
  }
  const { writeOut } = command.configureOutput();
  writeOut?.(`${JSON.stringify(example.value, null, 2)}\n`);
}

const quoteForShell = (text: string) => (/^[\w:./@-]+$/.test(text) ? text : `'${text}'`);

/** A call with the required fields of the first example. */
function exampleCommand(resource: Resource, operation: Operation): string {
  const { verb, params, body, query } = operation;
  const words = ['railhead', resource.name, verb];
  words.push(...params.map(({ name, example }) => quoteForShell(example ?? name.toUpperCase())));
  const example = body?.examples[0]?.value;
  const required = (body?.fields ?? []).filter((each) => each.required);
  const flags = required.flatMap((field) => {
    const value = isObject(example) ? example[field.path] : undefined;
    return typeof value === 'string' || typeof value === 'number'
      ? [`--${field.flag} ${quoteForShell(String(value))}`]
      : undefined;
  });
  const needsData = body?.required && flags.length === 0;
  if (needsData || flags.includes(undefined)) words.push('--data @body.json');
  else words.push(...(flags as string[]));
  if (!body && query.some(({ path }) => path === 'limit')) words.push('--limit 5');
  return words.join(' ');
}

function helpOf(resource: Resource, operation: Operation, hiddenCount: number): string {
  const { body, id, method, route } = operation;
  const command = exampleCommand(resource, operation);
  const name = `railhead ${resource.name} ${operation.verb}`;
  const lines = ['', 'Examples:', `  ${command}`];
  if (body?.examples.length) {
    lines.push(`  ${name} --example > body.json`);
    const otherNames = body.examples.slice(1).map((each: Example) => each.name);
    if (otherNames.length)
      lines.push('', 'Other examples:', ...otherNames.map((each) => `  ${each}`));
  }
  if (hiddenCount > 0) {
    lines.push(
      '',
      `${hiddenCount} more flags set fields of nested objects. Completion lists them,`,
    );
    lines.push('and --example prints a body with such fields.');
  }
  lines.push('', `Operation ${id}: ${method} ${route}`);
  return lines.join('\n');
}

function describe(command: Command, operation: Operation): void {
  command.summary(operation.summary).description(`${operation.summary}.\n\n${operation.text}`);
}

/** A file of a form is read while it is sent. */
async function withFiles({ body }: Operation, input: Fields): Promise<Fields> {
  const files = (body?.fields ?? []).filter(({ type, path }) => type === 'file' && input[path]);
  if (files.length === 0) return input;
  const { fileStream } = await import('../sdk.ts');
  const entries = files.map(({ path }) => [path, fileStream(String(input[path]))]);
  return { ...input, ...Object.fromEntries(entries) };
}

async function printList(session: Session, call: AsyncIterable<unknown>): Promise<void> {
  const items: unknown[] = [];
  for await (const each of call) items.push(each);
  await session.output.result({ data: items }, () => session.output.list(items));
}

/** Calls an operation and prints its reply. */
async function perform(
  command: Command,
  operation: Operation,
  input: Fields,
  flags: CallFlags,
): Promise<void> {
  const session = await sessionOf(command);
  const { agentToken = process.env.RAILHEAD_AGENT_TOKEN, idempotencyKey, requestId } = flags;
  const { walletSignature } = flags;
  const options = {
    ...(idempotencyKey && { idempotencyKey }),
    ...(walletSignature && { walletSignature }),
    ...(requestId && { requestId }),
  };
  const client =
    operation.isOfAgent && agentToken ? await session.clientWith({ agentToken }) : session.client;
  const inputWithFiles = await withFiles(operation, input);
  const call = methodOf(client, operation.id)(inputWithFiles, options);
  if (flags.all && operation.isList) return printList(session, call);
  await printReply(session, await call);
}

async function printReply({ output }: Session, reply: unknown): Promise<void> {
  if (reply === undefined) {
    if (!output.isJson) output.line('Done.');
    return;
  }
  if (isObject(reply) && Array.isArray(reply.data)) {
    const items: unknown[] = reply.data;
    await output.result(reply, () => output.list(items));
    if (!output.isJson && reply.hasMore === true)
      output.note('Show more items with --limit or --all.');
    return;
  }
  await output.resource(reply);
}

function addCallFlags(command: Command, operation: Operation): void {
  if (operation.body) {
    command.option(
      '--data <json>',
      'Body as JSON, @FILE, or - for standard input. Flags override it.',
    );
    command.option('--example [name]', 'Print an example of the body and exit.');
    exampleNames.set(
      command,
      operation.body.examples.map(({ name }) => name),
    );
  }
  if (operation.isList) command.option('--all', 'Return all pages. Default: one page.');
  if (operation.hasKey) {
    command.option(
      '--idempotency-key <key>',
      'Idempotency key. Repeated calls with the same key have one effect.',
    );
  }
  if (operation.isOfAgent) {
    command.option(
      '--agent-token <token>',
      'Access token of the agent. Default: RAILHEAD_AGENT_TOKEN.',
    );
  }
  if (operation.isSignable) {
    command.option('--wallet-signature <stamp>', 'Signature of the owner of a wallet.');
    command.option('--request-id <id>', 'ID of the request that is signed.');
  }
}

function checkInput(resource: Resource, operation: Operation, input: Fields): void {
  const missingNames = missingFlags(operation, { ...input });
  if (missingNames.length === 0) return;
  const name = `railhead ${resource.name} ${operation.verb}`;
  const hint = operation.body
    ? `Print a body with \`${name} --example\`, or read \`${name} --help\`.`
    : `Read \`${name} --help\`.`;
  throw usageError(`Required: ${missingNames.join(', ')}.`, hint);
}

function operationCommand(resource: Resource, operation: Operation): Command {
  const command = new Command(operation.verb);
  describe(command, operation);
  for (const { name, text } of operation.params) command.argument(`<${name}>`, text ?? '');
  const hiddenCount = addFlags(command, operation);
  addCallFlags(command, operation);
  command.on('option:example', (name?: string) => {
    printExample(command, operation, name ?? undefined);
    throw new Finished();
  });
  command.addHelpText('after', helpOf(resource, operation, hiddenCount));
  return command.action(async (...parsedArgs: unknown[]) => {
    const options = flagsOf<CallFlags>(command);
    const params = operation.params.map(({ name }, index) => [name, parsedArgs[index]]);
    const input = { ...inputOf(operation, options), ...Object.fromEntries(params) };
    checkInput(resource, operation, input);
    await perform(command, operation, input, options);
  });
}

/** Number of examples in the help of a resource. */
const RESOURCE_EXAMPLES = 3;

/** The command of a resource, with the commands of its operations if they are needed. */
export function resourceCommand(
  resource: Resource,
  isComplete: boolean,
  command = new Command(resource.name),
): Command {
  command.description(command.description() || `${resource.title}.`);
  if (!isComplete) return command;
  // A command with its own actions has its own examples.
  if (command.commands.length === 0) {
    const examples = operationsOf(resource).slice(0, RESOURCE_EXAMPLES);
    withExamples(command, ...examples.map((each) => exampleCommand(resource, each)));
  }
  const existingNames = new Set(command.commands.map((each) => each.name()));
  for (const operation of operationsOf(resource)) {
    if (!existingNames.has(operation.verb))
      command.addCommand(operationCommand(resource, operation));
  }
  return command;
}

/** `railhead api OPERATION_ID`: any operation, with all its parameters in `--data`. */
export function apiCommand(resources: readonly Resource[]): Command {
  const command = new Command('api');
  return command
    .summary('Call an operation by its name in the API reference.')
    .description(
      'Calls an operation by its name in the API reference, with all parameters in --data.',
    )
    .argument('<operation>', 'Name, such as createQuote.', (text: string) => {
      if (OPERATION_IDS.includes(text)) return text;
      const suggestion = closest(text, OPERATION_IDS);
      throw new InvalidArgumentError(
        suggestion ? `Did you mean ${suggestion}?` : 'The operation is unknown.',
      );
    })
    .option('--data <json>', 'Parameters and body together: JSON, @FILE, or - for standard input.')
    .option('--agent-token <token>', 'Access token of the agent. Default: RAILHEAD_AGENT_TOKEN.')
    .option(
      '--idempotency-key <key>',
      'Idempotency key. Repeated calls with the same key have one effect.',
    )
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  railhead api getPlatformConfig',
        `  railhead api getCustomerById --data '{ "customerId": "Customer:…" }'`,
        '  railhead api createQuote --data @quote.json',
      ].join('\n'),
    )
    .action(async (id: string, flags: CallFlags) => {
      const resource = resources.find(({ operations }) => operations.some(([each]) => each === id));
      const operation = resource && operationsOf(resource).find((each) => each.id === id);
      if (!operation) throw usageError(`There is no operation ${id}.`);
      const input = flags.data === undefined ? {} : readData(String(flags.data));
      await perform(command, operation, input, flags);
    });
}
