// Examples of the API reference, recorded from tests with a real server. Each file of `server/examples` is
// written by the test of the same name in `server/test/examples`, which fails if the server returns a
// different reply.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
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

export interface Examples {
  readonly exchanges: readonly Exchange[];
  readonly webhooks: readonly WebhookExample[];
}

export const NO_EXAMPLES: Examples = { exchanges: [], webhooks: [] };

export function readExamples(folder = path.join(projectRoot(), 'server', 'examples')): Examples {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
  const exampleFiles = files.map(
    (name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Examples,
  );
  return {
    exchanges: exampleFiles.flatMap((file) => file.exchanges),
    webhooks: exampleFiles.flatMap((file) => file.webhooks),
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

/** Examples of request bodies, except those of rejected requests. */
export const requestExamples = (exchanges: readonly Exchange[]) =>
  namedExamplesOf(
    exchanges.filter(({ status }) => status < 400),
    ({ request }) => request,
  );

/** Examples of the body of a reply. */
export const replyExamples = (exchanges: readonly Exchange[], status: number) =>
  namedExamplesOf(
    exchanges.filter((each) => each.status === status),
    ({ reply }) => reply,
  );

/** The value of a parameter in the first example that has it. */
export function parameterExample(exchanges: readonly Exchange[], name: string): Json {
  const exchange = exchanges.find(({ parameters }) => parameters?.[name] !== undefined);
  return exchange ? { example: exchange.parameters?.[name] } : {};
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
