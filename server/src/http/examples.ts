// Examples of the API reference, recorded from tests with a real server. Each file of `server/examples`
// and `server/examples/operator` is written by the test of the same name in `server/test/examples`, which
// fails if the server returns a different reply.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Code } from '../kernel/fault.ts';
import { projectRoot } from '../runtime/config/root.ts';

type Json = Record<string, unknown>;

/** A request and its reply. */
export interface Exchange {
  readonly operationId: string;
  /** Key in the document, unique within operation and status. */
  readonly name: string;
  /** Text that distinguishes the example from the other examples of the operation. */
  readonly summary: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly status: number;
  readonly reply?: unknown;
}

/** The body of a webhook. */
interface WebhookExample {
  readonly type: string;
  readonly body: unknown;
}

/** The body of an error reply, with neutral names. */
export interface ErrorBody {
  readonly reason: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface ErrorExample {
  readonly code: Code;
  readonly body: ErrorBody;
}

/** Codes whose reason depends on the operation, so that each operation has its own example. */
export const OPERATION_CODES: readonly Code[] = [
  'INVALID_INPUT',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'NOT_IMPLEMENTED',
];

export interface Examples {
  readonly exchanges: readonly Exchange[];
  readonly webhooks: readonly WebhookExample[];
  /** At most one for each code. */
  readonly errors: readonly ErrorExample[];
  /** operationId → code of `OPERATION_CODES` → body that a test has observed. */
  readonly operationErrors: Readonly<Record<string, Partial<Record<Code, ErrorBody>>>>;
}

/** Most files have no error replies. */
type ExampleFile = Pick<Examples, 'exchanges' | 'webhooks'> & Partial<Pick<Examples, 'errors'>>;

export const NO_EXAMPLES: Examples = {
  exchanges: [],
  webhooks: [],
  errors: [],
  operationErrors: {},
};

const FOLDER = path.join('server', 'examples');

/** Examples of the platform API. */
export const readExamples = (): Examples => readFolder(path.join(projectRoot(), FOLDER));

/** Examples of the operator API. Other errors, such as RATE_LIMITED, are those of the platform API. */
export function readOperatorExamples(): Examples {
  const examples = readFolder(path.join(projectRoot(), FOLDER, 'operator'));
  const ownCodes = new Set(examples.errors.map(({ code }) => code));
  const otherErrors = readExamples().errors.filter(({ code }) => !ownCodes.has(code));
  return { ...examples, errors: [...examples.errors, ...otherErrors] };
}

/** Files whose examples precede those of other files for the same operation. */
const FIRST_FILES = ['customers.json', 'accounts.json', 'payments.json'];

/** Written by `npm test -- --write-examples`. */
function readOperationErrors(): Examples['operationErrors'] {
  const file = path.join(projectRoot(), FOLDER, 'errors', 'operations.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Examples['operationErrors'];
}

function readFolder(folder: string): Examples {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const otherFiles = names.filter((name) => !FIRST_FILES.includes(name)).sort();
  const files = [...FIRST_FILES.filter((name) => names.includes(name)), ...otherFiles];
  const exampleFiles = files.map(
    (name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as ExampleFile,
  );
  return {
    exchanges: exampleFiles.flatMap((file) => file.exchanges),
    webhooks: exampleFiles.flatMap((file) => file.webhooks),
    errors: exampleFiles.flatMap((file) => file.errors ?? []),
    operationErrors: readOperationErrors(),
  };
}

type NamedExamples = Record<string, { summary: string; value: unknown }>;

const namedExamplesOf = (
  exchanges: readonly Exchange[],
  value: (exchange: Exchange) => unknown,
): { examples?: NamedExamples } => {
  const examples: NamedExamples = {};
  for (const exchange of exchanges) {
    const exampleValue = value(exchange);
    if (exampleValue !== undefined)
      examples[exchange.name] ??= { summary: exchange.summary, value: exampleValue };
  }
  return Object.keys(examples).length ? { examples } : {};
};

export const isSuccessful = ({ status }: Exchange): boolean => status < 400;

/** Examples of request bodies, except those of rejected requests. */
export const requestExamples = (exchanges: readonly Exchange[]) =>
  namedExamplesOf(exchanges.filter(isSuccessful), ({ request }) => request);

/** Examples of the body of a reply. */
export const replyExamples = (exchanges: readonly Exchange[], status: number) =>
  namedExamplesOf(
    exchanges.filter((each) => each.status === status),
    ({ reply }) => reply,
  );

/**
 * The value of a parameter in the first successful example. Values of several examples would form a request
 * that may fail. A path parameter always needs a value, so it may have the value of another example.
 */
export function parameterExample(
  exchanges: readonly Exchange[],
  { name, in: location, schema }: { name: string; in: string; schema: Json },
): Json {
  const candidates = location === 'path' ? exchanges : exchanges.filter(isSuccessful).slice(0, 1);
  const exchange = candidates.find(({ parameters }) => parameters?.[name] !== undefined);
  const text = exchange?.parameters?.[name];
  return text === undefined ? {} : { example: typedValue(text, schema) };
}

/** Parameters are recorded as texts. */
function typedValue(text: string, { type }: Json): unknown {
  if (type === 'integer' || type === 'number') return Number(text);
  if (type === 'boolean') return text === 'true';
  return type === 'array' ? text.split(',') : text;
}

/** Examples of the body of a webhook. */
export const webhookExamples = (
  { webhooks: allWebhooks }: Examples,
  types: readonly string[],
): { examples?: NamedExamples } => {
  const webhooks = allWebhooks.filter(({ type }) => types.includes(type));
  if (webhooks.length === 0) return {};
  const examples = webhooks.map(
    ({ type, body }) => [type, { summary: type, value: body }] as const,
  );
  return { examples: Object.fromEntries(examples) };
};
