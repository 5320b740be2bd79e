// The API reference of a server with a sample customer. The requests of its examples contain the IDs of
// the customer, so that they succeed unchanged. The examples of replies remain as recorded.

import { oldestPlatform } from '../bootstrap.ts';
import { findInternalAccounts } from '../features/balances/internal-accounts/index.ts';
import { findCustomers } from '../features/customers/records/index.ts';
import { findExternalAccounts } from '../features/payees/external-accounts/index.ts';
import { readTransaction } from '../features/payments/transactions/index.ts';
import { systemCaller } from '../features/tenancy/platform/index.ts';
import type { ExampleRequest } from '../http/document/request-form.ts';
import { type Examples, type Exchange, isSuccessful } from '../http/examples.ts';
import type { Caller } from '../kernel/caller.ts';
import type { Time } from '../kernel/effects.ts';
import type { Operation } from '../runtime/operation/feature.ts';
import { operate, type Runtime } from '../runtime/operation/operate.ts';
import { SAMPLE } from './customer.ts';
import { bodyWithIds, parameterWithIds, type SampleIds } from './ids.ts';

type Json = Record<string, unknown>;

/** Remaining validity at which a quote is renewed. */
const MIN_VALIDITY_MS = 2 * 60_000;
/** Minimum time between two attempts to create a quote. The requests need no credential. */
const MIN_AGE_MS = 10_000;
const SAMPLE_AGE_MS = 5_000;

/** An executable quote, and a payee discovery for a quote to a UMA address. */
interface SampleQuote {
  id: string;
  lookupId: string | undefined;
  transactionId: string;
  expiresAt: Time;
}

interface Sample extends SampleIds {
  caller: Caller;
}

type Run = (operationId: string, request: object) => Promise<unknown>;

/** Runs operations as the server itself, without a credential. */
const runnerOf =
  (runtime: Runtime, operations: readonly Operation[], caller: Caller): Run =>
  async (operationId, request) => {
    const match = operations.find(({ contract }) => contract.operationId === operationId);
    if (!match) throw new Error(`there is no operation ${operationId}`);
    const input = { params: {}, query: {}, headers: {}, body: {}, ...request };
    const reply = await operate(runtime, caller, (ctx) => match.run(ctx, input));
    if ('rejected' in reply) throw reply.rejected;
    return reply.body;
  };

async function findOtherResources(
  run: Run,
  customer: string,
): Promise<SampleIds['otherResources']> {
  // Lists begin with the newest resource. Those of the sample are older than those of a user.
  const findOldestId = async (operationId: string, query: object = {}) => {
    const { data } = (await run(operationId, { query: { limit: 100, ...query } })) as {
      data: { id: string }[];
    };
    return data.at(-1)?.id;
  };
  const [Token, Agent, Card, ownBank] = await Promise.all([
    findOldestId('listTokens'),
    findOldestId('listAgents', { customerId: customer }),
    findOldestId('listCards', { cardholderId: customer }),
    findOldestId('listPlatformExternalAccounts'),
  ]);
  return { Token, Agent, Card, ownBank };
}

async function findSample(
  runtime: Runtime,
  operations: readonly Operation[],
): Promise<Sample | undefined> {
  const { db } = runtime;
  const platform = await oldestPlatform(db);
  if (!platform) return undefined;
  const filter = { platform_id: platform.id, platform_customer_id: SAMPLE };
  const [customer] = await findCustomers(db, filter);
  if (!customer) return undefined;
  const caller = systemCaller(platform.id, platform.environment);
  const [balances, external, otherResources] = await Promise.all([
    findInternalAccounts(db, { customer_id: customer.id }),
    findExternalAccounts(db, { customer_id: customer.id }),
    findOtherResources(runnerOf(runtime, operations, caller), customer.id),
  ]);
  // Of several accounts in a currency, the oldest belongs to the sample.
  const indexByCurrency = (rows: readonly { currency: string; id: string }[]) =>
    new Map(
      rows.toSorted((a, b) => (a.id < b.id ? 1 : -1)).map(({ currency, id }) => [currency, id]),
    );
  return {
    caller,
    customer: customer.id,
    umaAddress: customer.uma_address,
    balances: indexByCurrency(balances),
    external: indexByCurrency(external),
    otherResources,
  };
}

/** An operation of the document with the IDs of the sample in its parameters and its body. */
function withIds(operation: Json, ids: SampleIds): Json {
  const { parameters, requestBody } = operation as {
    parameters?: Json[];
    requestBody?: { content: Record<string, MediaType> };
  };
  const operationId = String(operation.operationId);
  const withParameterIds = (parameter: Json): Json => {
    if (!('example' in parameter)) return parameter;
    const { example: value, name } = parameter;
    return {
      ...parameter,
      example: parameterWithIds({ operationId, name: String(name), value }, ids),
    };
  };
  const withBodyIds = ({ examples = {}, ...media }: MediaType): MediaType => ({
    ...media,
    examples: mapValues(examples, (example, name) => ({
      ...example,
      value: bodyWithIds({ operationId, name, body: example.value }, ids),
    })),
  });
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map(withParameterIds) }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: mapValues(requestBody.content, withBodyIds) },
    }),
  };
}

/** A recorded request. With `ids`, it contains the IDs of the sample. */
function requestOf(exchange: Exchange, ids: SampleIds | undefined): ExampleRequest {
  const { operationId, name: exampleName, summary, parameters = {}, request: body } = exchange;
  if (!ids) return { summary, parameters, body };
  return {
    summary,
    parameters: mapValues(parameters, (value, name) =>
      parameterWithIds({ operationId, name, value }, ids),
    ),
    body: bodyWithIds({ operationId, name: exampleName, body }, ids),
  };
}

interface Document {
  paths: Record<string, Record<string, Json>>;
}

interface MediaType {
  examples?: Record<string, { value: unknown }>;
}

const mapValues = <T, R>(values: Readonly<Record<string, T>>, map: (value: T, key: string) => R) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));

/**
 * The document of the reference with IDs of the sample customer. Cached until the document or the
 * quote changes.
 */
export function sampleReference(
  runtime: Runtime,
  operations: readonly Operation[],
  examples: () => Examples,
) {
  let quote: SampleQuote | undefined;
  let attemptedAt: Time | undefined;
  let renewal: Promise<void> | undefined;
  let cachedSample: { sample: Sample; readAt: Time } | undefined;
  let cachedDocument:
    | { document: unknown; quoteId: string | undefined; result: unknown }
    | undefined;

  async function createQuote({
    caller,
    customer,
    balances,
    external,
  }: Sample): Promise<SampleQuote> {
    const run = runnerOf(runtime, operations, caller);
    const body = {
      source: { sourceType: 'ACCOUNT', accountId: balances.get('USD') },
      destination: { destinationType: 'ACCOUNT', accountId: external.get('EUR') },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1_000,
    };
    const createdQuote = (await run('createQuote', { body })) as Json;
    const params = { receiverUmaAddress: '$success.eur@sandbox.uma.money' };
    const discovery = (await run('lookupUma', { params, query: { customerId: customer } })) as Json;
    return {
      id: String(createdQuote.id),
      lookupId: String(discovery.lookupId),
      transactionId: String(createdQuote.transactionId),
      expiresAt: Date.parse(String(createdQuote.expiresAt)),
    };
  }

  async function renewQuote(sample: Sample): Promise<void> {
    const now = runtime.effects.now();
    if (attemptedAt !== undefined && now - attemptedAt < MIN_AGE_MS) return;
    if (quote && quote.expiresAt - now > MIN_VALIDITY_MS) {
      const payment = await readTransaction(runtime.db, quote.transactionId);
      if (payment?.status === 'PENDING') return;
    }
    attemptedAt = now;
    // The account may be empty or frozen. The reference works without a quote.
    quote = await createQuote(sample).catch(() => undefined);
  }

  /** Concurrent requests share one renewal, because they need no credential. */
  async function ensureQuote(sample: Sample): Promise<SampleQuote | undefined> {
    renewal ??= renewQuote(sample).finally(() => {
      renewal = undefined;
    });
    await renewal;
    return quote;
  }

  /** The sample, read at most every few seconds. */
  async function readSample(): Promise<Sample | undefined> {
    const now = runtime.effects.now();
    if (cachedSample && now - cachedSample.readAt < SAMPLE_AGE_MS) return cachedSample.sample;
    const sample = await findSample(runtime, operations);
    cachedSample = sample && { sample, readAt: now };
    return sample;
  }

  const idsOf = ({ otherResources, ...ids }: Sample): SampleIds => ({
    ...ids,
    otherResources: {
      ...otherResources,
      Quote: quote?.id,
      Transaction: quote?.transactionId,
      Lookup: quote?.lookupId,
    },
  });

  async function showDocument(document: object): Promise<object> {
    const sample = await readSample();
    if (!sample) return document;
    const { id } = (await ensureQuote(sample)) ?? {};
    if (cachedDocument?.document === document && cachedDocument.quoteId === id)
      return cachedDocument.result as object;
    const ids = idsOf(sample);
    const { paths, ...rest } = document as Document;
    const result = {
      ...rest,
      paths: mapValues(paths, (item) =>
        mapValues(item, (each, method) =>
          // An unchanged request must not delete the sample.
          method === 'delete' ? each : withIds(each, ids),
        ),
      ),
    };
    cachedDocument = { document, quoteId: id, result };
    return result;
  }

  async function requestsOf(operationId: string, isDeletion: boolean): Promise<ExampleRequest[]> {
    const requests = examples().exchanges.filter(
      (each) => each.operationId === operationId && isSuccessful(each),
    );
    const sample = isDeletion ? undefined : await readSample();
    if (!sample) return requests.map((each) => requestOf(each, undefined));
    await ensureQuote(sample);
    return requests.map((each) => requestOf(each, idsOf(sample)));
  }

  return { document: showDocument, requestsOf };
}
