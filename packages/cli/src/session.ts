// The session of a command: the output, the server with its credentials, and calls of the API.
import process from 'node:process';
import type { Command } from 'commander';
import { API_DATE, resourceOf } from './api/metadata.ts';
import { Output } from './output/output.ts';
import { withProgress } from './output/progress.ts';
import { type Target, targetOf } from './profile/resolve.ts';
import type { CallOptions, Client, ClientOptions } from './sdk.ts';

export interface GlobalOptions {
  readonly json?: boolean;
  readonly query?: string;
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly verbose?: boolean;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A call of any operation. The iteration returns the items of all pages of a list. */
type AnyCall = Promise<unknown> & AsyncIterable<unknown>;
type AnyMethod = (input: Fields, options?: CallOptions) => AnyCall;

export interface Session {
  readonly output: Output;
  readonly target: Target;
  readonly client: Client;
  /** Calls an operation by its name, and shows progress if the call takes long. */
  call(operationId: string, input?: Fields, options?: CallOptions): Promise<unknown>;
  /** The function of an operation. */
  method(operationId: string): AnyMethod;
  /** A client with other options, such as the token of an agent. */
  clientWith(options: ClientOptions): Promise<Client>;
}

export const methodOf = (client: Client, operationId: string): AnyMethod => {
  const group = resourceOf(operationId)?.group ?? '';
  // Groups and operations have the names of the SDK.
  const groups = client as unknown as Record<string, Record<string, AnyMethod>>;
  const operation = groups[group]?.[operationId];
  if (!operation) throw new Error(`The SDK has no operation ${operationId}.`);
  return operation;
};

/**
 * The options of a command. The parser assigns an option of `logs tail --failed` to `logs` if `logs` has an
 * option of the same name.
 */
export function flagsOf<T>(command: Command): T {
  const flags = { ...command.opts() };
  for (let ancestor = command.parent; ancestor; ancestor = ancestor.parent) {
    for (const option of command.options) {
      const name = option.attributeName();
      if (ancestor.getOptionValueSource(name) === 'cli')
        flags[name] = ancestor.getOptionValue(name);
    }
  }
  return flags as T;
}

const globalsOf = (command: Command): GlobalOptions => command.optsWithGlobals();

export const outputOf = (command: Command): Output => new Output(globalsOf(command));

/** Warns if the server has another API date, because its operations can differ. */
function warnOfOtherDate({ url }: Target, output: Output): void {
  const [date] = /\d{4}-\d\d-\d\d$/.exec(url) ?? [];
  if (date === undefined || date === API_DATE) return;
  output.note(
    `Warning: the server URL uses API version ${date}, and this program uses ${API_DATE}. ` +
      'Install the version of the program that matches the server.',
  );
}

export async function sessionOf(command: Command): Promise<Session> {
  const options = globalsOf(command);
  const output = new Output(options);
  await output.checkQuery();
  const target = targetOf(options);
  warnOfOtherDate(target, output);
  const { createClient } = await import('./sdk.ts');
  const clientWith = async (overrides: ClientOptions) =>
    createClient({
      baseUrl: target.url,
      clientId: target.clientId,
      clientSecret: target.clientSecret,
      headers: { 'user-agent': 'railhead-cli' },
      ...(options.verbose && { debug: (line: string) => process.stderr.write(`${line}\n`) }),
      ...overrides,
    });
  const client = await clientWith({});
  const method = (operationId: string) => methodOf(client, operationId);
  return {
    output,
    target,
    client,
    clientWith,
    method,
    call: (operationId, input = {}, callOptions) =>
      withProgress('Waiting for the server …', method(operationId)(input, callOptions)),
  };
}
