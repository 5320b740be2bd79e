// Records the examples of the API reference. Each scenario runs on two servers with different
// random bytes. Values that differ (IDs, secrets, signatures) are replaced by fixed characters,
// equal values by equal characters. The result is compared with the file from which the reference
// is generated.
import path from 'node:path';
import { expect, it } from 'vitest';
import { isIban } from '../../../src/catalog/accounts/checks.ts';
import type { Examples, Exchange } from '../../../src/http/examples.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import type { AppOptions, CallOptions, TestApp } from '../app/harness.ts';
import { openForFile, testApp } from '../app/test-app.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../examples');

interface ExampleRequest extends CallOptions {
  /** Difference from the other examples of the operation. */
  summary: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

export interface ExampleRecorder {
  app: TestApp;
  /**
   * The endpoint that receives the webhooks. The endpoint returns 200 unless a scenario configures
   * another response.
   */
  receiver: Receiver;
  /** Sends a request and records it, with its reply, as the example `name` of the operation. */
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads replies of every shape.
  record(operationId: string, name: string, request: ExampleRequest): Promise<any>;
}

export type Scenario = (recorder: ExampleRecorder) => Promise<void>;

function contractOf(app: TestApp, operationId: string): Contract {
  const operation = app.operations.find(({ contract }) => contract.operationId === operationId);
  if (!operation) throw new Error(`unknown operation ${operationId}`);
  return operation.contract;
}

function urlOf(contract: Contract, { params = {}, query = {} }: ExampleRequest): string {
  const url = contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${contract.operationId} needs ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  return search ? `${url}?${search}` : url;
}

/** The fields of a form, with the name of each file. */
const fieldsOf = (form: FormData) =>
  Object.fromEntries(
    [...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]),
  );

async function sendExample(
  app: TestApp,
  operationId: string,
  name: string,
  request: ExampleRequest,
) {
  const contract = contractOf(app, operationId);
  const { summary, params, query, headers, body, platform } = request;
  const { status, body: reply } = await app.call(
    contract.method,
    urlOf(contract, request),
    body,
    platform === undefined ? { headers } : { platform, headers },
  );
  const text = `${operationId} ${name}: ${JSON.stringify(reply)}`;
  expect(Object.keys(contract.replies), text).toContain(String(status));
  // Credentials are not parameters.
  const { authorization: _, ...namedHeaders } = headers ?? {};
  const parameters = { ...params, ...query, ...namedHeaders };
  const exchange: Exchange = {
    operationId,
    name,
    summary,
    ...(Object.keys(parameters).length ? { parameters } : {}),
    ...(body === undefined ? {} : { request: body instanceof FormData ? fieldsOf(body) : body }),
    status,
    ...(reply === '' ? {} : { reply }),
  };
  return exchange;
}

/**
 * The first webhook of each type, in the order of events, which may differ from the order of
 * arrival.
 */
function firstWebhookOfEachType(bodies: readonly string[]): Examples['webhooks'] {
  const webhooks = new Map<string, unknown>();
  const parsedEvents = bodies.map((text) => JSON.parse(text) as { id: string; type: string });
  for (const body of parsedEvents.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (!webhooks.has(body.type)) webhooks.set(body.type, body);
  }
  return [...webhooks.keys()].sort().map((type) => ({ type, body: webhooks.get(type) }));
}

async function recordScenarios(app: TestApp, receiver: Receiver, scenarios: readonly Scenario[]) {
  const exchanges: Exchange[] = [];
  await app.call('PATCH', '/config', { webhookEndpoint: receiver.url });
  for (const scenario of scenarios) {
    await scenario({
      app,
      receiver,
      async record(operationId, name, request) {
        const exchange = await sendExample(app, operationId, name, request);
        exchanges.push(exchange);
        return exchange.reply;
      },
    });
  }
  await app.settle();
  return { exchanges, webhooks: firstWebhookOfEachType(receiver.arrivals.map(({ body }) => body)) };
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const TOKENS = new RegExp(`(${UUID}|[A-Za-z0-9_=-]{40,}|[A-Za-z0-9]+)`);
/** Keys, signatures and encrypted texts, whose length may be random as well. */
const OPAQUE_TEXT = /^[A-Za-z0-9+/_=-]{60,}$/;
const OPAQUE_LENGTH = 86;
/** IDs and secrets of clients, which may contain separators at the same places by chance. */
const CREDENTIAL = /^rh[a-z]_[A-Za-z0-9_-]+$/;
const DURATION_MS = 4.217;

/** Replacements by kind of text. The first kind that matches both values is used. */
const KINDS: readonly [RegExp, (length: number, number: number) => string][] = [
  [
    new RegExp(`^${UUID}$`),
    (_, number) => `019b8d60-2a80-7000-8000-${number.toString(16).padStart(12, '0')}`,
  ],
  [/^[0-9]+$/, (length, number) => numberedText('1234567890', length, String(number))],
  // DER signatures have random lengths.
  [/^[0-9a-f]{136,146}$/, (_, number) => numberedText('0123456789abcdef', 144, String(number))],
  [/^[0-9a-f]{16,}$/, (length, number) => numberedText('0123456789abcdef', length, String(number))],
  [OPAQUE_TEXT, (_, number) => numberedText('Example', OPAQUE_LENGTH, String(number))],
  [/^[0-9A-Z]+$/, (length, number) => numberedText('EXAMPLE', length, String(number))],
  [/^[0-9a-z]+$/, (length, number) => numberedText('example', length, String(number))],
  [/^/, (length, number) => numberedText('Example', length, String(number))],
];

/** Repeats the term up to the length, with the number at the end. */
const numberedText = (term: string, length: number, number: string): string =>
  term.repeat(Math.ceil(length / term.length)).slice(0, Math.max(0, length - number.length)) +
  number.slice(-length);

function replacementFor(a: string, b: string, number: number): string {
  const [, write] = KINDS.find(([kind]) => kind.test(a) && kind.test(b)) ?? [];
  return write?.(a.length, number) ?? a;
}

/** Length of the common prefix before the random part, such as the country of an IBAN. */
function sharedPrefixLength(firstValue: string, otherValue: string): number {
  if (OPAQUE_TEXT.test(firstValue) || KINDS[0]?.[0].test(firstValue)) return 0;
  let position = 0;
  while (
    firstValue[position] === otherValue[position] &&
    /[A-Za-z]/.test(firstValue[position] ?? '')
  )
    position++;
  // Prefixes of tokens end with an underscore, such as `rhc_`.
  if (position >= 2 && firstValue[position] === '_' && otherValue[position] === '_')
    return position + 1;
  return position < 2 || position === firstValue.length ? 0 : position;
}

/** The first value with every part that differs from the second replaced. */
function replaceRandomParts(firstValue: unknown, secondValue: unknown): unknown {
  const replacements = new Map<string, string>();
  const replaceValue = (a: string, b: string) => {
    if (a === b) return a;
    const prefixLength = sharedPrefixLength(a, b);
    const storedReplacement =
      replacements.get(a) ??
      a.slice(0, prefixLength) +
        replacementFor(a.slice(prefixLength), b.slice(prefixLength), replacements.size + 1);
    replacements.set(a, storedReplacement);
    return storedReplacement;
  };
  const replaceText = (a: string, b: string): string => {
    if (a === b) return a;
    if (OPAQUE_TEXT.test(a) || CREDENTIAL.test(a)) return replaceValue(a, b);
    const [parts, otherParts] = [a.split(TOKENS), b.split(TOKENS)];
    const isAligned =
      parts.length === otherParts.length &&
      parts.every((segment, position) => position % 2 || segment === otherParts[position]);
    if (!isAligned) return replaceValue(a, b);
    return parts
      .map((segment, position) =>
        position % 2 ? replaceValue(segment, otherParts[position] ?? '') : segment,
      )
      .join('');
  };
  const replaceIn = (a: unknown, b: unknown, path: string): unknown => {
    if (typeof a === 'string' && typeof b === 'string') return replaceText(a, b);
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
      return a.map((element, index) => replaceIn(element, b[index], `${path}.${index}`));
    if (a && b && typeof a === 'object' && typeof b === 'object') {
      expect(Object.keys(a), path).toEqual(Object.keys(b));
      const otherObject = b as Record<string, unknown>;
      return Object.fromEntries(
        Object.entries(a).map(([key, value]) => [
          key,
          // Durations are the only numbers that differ between runs.
          key === 'durationMs' ? DURATION_MS : replaceIn(value, otherObject[key], `${path}.${key}`),
        ]),
      );
    }
    expect(a, `${path} differs by chance`).toEqual(b);
    return a;
  };
  return replaceIn(firstValue, secondValue, '');
}

const DOMAINS = ['northwind', 'southgate', 'eastfield', 'westbrook'];
/** Addresses with valid checksums, from EIP-55. */
const EVM_ADDRESSES = [
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

/** Replaces each distinct match by the next name. Equal matches have the same replacement. */
function replaceMatches(text: string, pattern: RegExp, nameOf: (number: number) => string): string {
  const replacements = new Map<string, string>();
  return text.replaceAll(pattern, (match) => {
    const name = replacements.get(match) ?? nameOf(replacements.size);
    replacements.set(match, name);
    return name;
  });
}

const nameFrom = (names: readonly string[]) => (number: number) => {
  const name = names[number];
  if (name === undefined) throw new Error(`only ${names.length} names: ${names.join(', ')}`);
  return name;
};

/** An account number with the check digits of an IBAN. */
function withCheckDigits(iban: string): string {
  if (isIban(iban)) return iban;
  const candidates = Array.from({ length: 97 }, (_, position) =>
    String(position + 2).padStart(2, '0'),
  );
  const ibans = candidates.map((digits) => iban.slice(0, 2) + digits + iban.slice(4));
  return ibans.find((iban) => isIban(iban)) ?? iban;
}

/** Replaces hosts, addresses and account numbers by realistic values. */
function replaceTestValues(json: string): string {
  let text = json
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'https://platform.example.com')
    .replaceAll('http://127.0.0.1', 'https://pay.example.com')
    .replaceAll(/\/(verify|reset|card|ownership)\/Example\w*?(\d+)/g, '/$1/example-link-$2')
    .replaceAll(/\$exampleex[a-z]*(\d+)@/g, '$$customer-$1@')
    .replaceAll(/"[A-Z]{2}\d{14,30}"/g, (iban) => `"${withCheckDigits(iban.slice(1, -1))}"`);
  text = replaceMatches(
    text,
    /p-exampleex[a-z]*\d+\.uma/g,
    (index) => `p-${nameFrom(DOMAINS)(index)}.uma`,
  );
  text = replaceMatches(text, /0x[0-9a-f]{40}\b/g, nameFrom(EVM_ADDRESSES));
  return replaceMatches(text, /account_[0-9a-f]{20}/g, (index) => `account_northwind_${index + 1}`);
}

/** Tests that the scenarios produce `server/examples/NAME.json`. `-u` writes the file. */
export function examples(
  name: string,
  scenarios: Record<string, Scenario>,
  options: AppOptions = {},
) {
  const servers = ['one', 'two'].map((seed) => ({
    app: testApp({ ...options, seed: `examples ${name} ${seed}` }),
    receiver: openForFile(() => startReceiver()),
  }));
  it(`equal server/examples/${name}.json`, async () => {
    const [firstRun, secondRun] = await Promise.all(
      servers.map(({ app, receiver }) => recordScenarios(app, receiver, Object.values(scenarios))),
    );
    const recordedExamples = replaceRandomParts(firstRun, secondRun);
    const text = `${replaceTestValues(JSON.stringify(recordedExamples, null, 2))}\n`;
    await expect(text).toMatchFileSnapshot(path.join(FOLDER, `${name}.json`));
  });
}
