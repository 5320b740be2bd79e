// Converts the input of an operation to the parts of its HTTP request.
import { clientError } from '../error.ts';
import type { OperationId } from '../types.ts';
import { type EncodedBody, encodeForm } from './upload.ts';

/** One row of the table of operations. */
export interface Operation {
  readonly id: OperationId;
  readonly method: string;
  readonly path: string;
  readonly acceptsKey: boolean;
  readonly body: 'none' | 'json' | 'form';
  readonly auth: 'token' | 'agent' | 'none';
  readonly isList: boolean;
  /** Names of query parameters if the other inputs are the body. */
  readonly query: readonly string[];
}

export function operationOf(row: string): Operation {
  const [id = '', method = '', path = '', flags = '', ...query] = row.split(' ');
  const has = (flag: string) => flags.includes(flag);
  return {
    id: id as OperationId,
    method,
    path,
    acceptsKey: has('i'),
    body: has('m') ? 'form' : has('b') ? 'json' : 'none',
    auth: has('a') ? 'agent' : has('n') ? 'none' : 'token',
    isList: has('l'),
    query,
  };
}

export type Fields = Readonly<Record<string, unknown>>;

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return value instanceof Date ? value.toISOString() : String(value);
}

function queryOf(fields: Fields): string {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === null
      ? []
      : [`${encodeURIComponent(name)}=${encodeURIComponent(textOf(value))}`],
  );
  return parts.length ? `?${parts.join('&')}` : '';
}

/** The path with the values of its parameters, and the remaining inputs. */
function pathOf({ id, path }: Operation, input: Fields): { path: string; remainingInput: Fields } {
  if (!path.includes('{')) return { path, remainingInput: input };
  const remainingInput: Record<string, unknown> = { ...input };
  const pathText = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = remainingInput[name];
    delete remainingInput[name];
    if (value === undefined || value === null || value === '') {
      throw clientError('INVALID_CLIENT_INPUT', `${name} is required.`, { operationId: id });
    }
    return encodeURIComponent(String(value));
  });
  return { path: pathText, remainingInput };
}

export interface RequestParts {
  /** Path below the base URL, with the query. */
  readonly path: string;
  readonly encodedBody: EncodedBody | undefined;
}

function splitInput(fields: Fields, names: readonly string[]): { query: Fields; body: Fields } {
  if (names.length === 0) return { query: {}, body: fields };
  const entries = Object.entries(fields);
  return {
    query: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    body: Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  };
}

export async function requestParts(operation: Operation, input: Fields): Promise<RequestParts> {
  const { path, remainingInput } = pathOf(operation, input);
  if (operation.body === 'none')
    return { path: path + queryOf(remainingInput), encodedBody: undefined };
  const { query, body } = splitInput(remainingInput, operation.query);
  const encodedBody =
    operation.body === 'form'
      ? await encodeForm(body)
      : { body: JSON.stringify(body), contentType: 'application/json', isRepeatable: true };
  return { path: path + queryOf(query), encodedBody };
}
