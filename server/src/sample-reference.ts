// The API reference of a server with a sample customer. The requests of its examples contain the IDs of
// the customer, so that they succeed unchanged. The examples of replies remain as recorded.

import { oldestPlatform } from './bootstrap.ts';
import { findInternalAccounts } from './features/balances/internal-accounts/index.ts';
import { findCustomers } from './features/customers/records/index.ts';
import { findExternalAccounts } from './features/payees/external-accounts/index.ts';
import { readTransaction } from './features/payments/transactions/index.ts';
import { systemCaller } from './features/tenancy/platform/index.ts';
import type { Examples } from './http/examples.ts';
import type { Caller } from './kernel/caller.ts';
import type { Time } from './kernel/effects.ts';
import type { Operation } from './runtime/operation/feature.ts';
import { operate, type Runtime } from './runtime/operation/operate.ts';
import { SAMPLE } from './sample.ts';

type Json = Record<string, unknown>;

/** Remaining validity at which a quote is renewed. */
const MIN_VALIDITY_MS = 2 * 60_000;
/** Minimum age of a quote before another is created, because the reference needs no credential. */
const MIN_AGE_MS = 10_000;

/** An executable quote, and a payee discovery for a quote to a UMA address. */
interface SampleQuote {
  id: string;
  lookupId: string | undefined;
  transactionId: string;
  createdAt: Time;
  expiresAt: Time;
}

interface Sample {
  caller: Caller;
  customer: string;
  /** Internal accounts by currency. */
  balances: ReadonlyMap<string, string>;
  /** External accounts by currency. */
  external: ReadonlyMap<string, string>;
  /** Other resources by type of their IDs, and `ownBank`, an external account of the platform. */
  otherResources: Readonly<Record<string, string | undefined>>;
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

async function findOtherResources(run: Run, customer: string): Promise<Sample['otherResources']> {
  const findFirstId = async (operationId: string, query: object = {}) => {
    const { data } = (await run(operationId, { query: { limit: 1, ...query } })) as {
      data: { id: string }[];
    };
    return data[0]?.id;
  };
  const [Token, Agent, Card, ownBank] = await Promise.all([
    findFirstId('listTokens'),
    findFirstId('listAgents', { customerId: customer }),
    findFirstId('listCards', { cardholderId: customer }),
    findFirstId('listPlatformExternalAccounts'),
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
  const byCurrency = (rows: readonly { currency: string; id: string }[]) =>
    new Map(rows.map(({ currency, id }) => [currency, id]));
  return {
    caller,
    customer: customer.id,
    balances: byCurrency(balances),
    external: byCurrency(external),
    otherResources,
  };
}

/** Accounts of the examples of `createQuote`, by the name of the example. */
const ROLES: Readonly<Record<string, readonly [source: string, destination: string]>> = {
  'balance-to-bank': ['balance USD', 'external EUR'],
  'balance-to-balance': ['balance USD', 'balance EUR'],
  'balance-to-mexico': ['balance USD', 'external MXN'],
  'balance-to-wallet': ['balance USD', 'external USDC'],
  'by-ach': ['balance USD', 'external USD'],
};

interface QuoteRequest {
  source: { accountId?: string };
  destination: { accountId?: string };
}

/** Replaces IDs of the examples by role, or by type in an example without roles. */
function replacerOf({ exchanges }: Examples, sample: Sample, quote: SampleQuote | undefined) {
  const idOf = (role: string) => {
    const [kind, currency = ''] = role.split(' ');
    return (kind === 'balance' ? sample.balances : sample.external).get(currency);
  };
  const replacements = new Map<string, string | undefined>();
  for (const { operationId, name, request } of exchanges) {
    const roles = operationId === 'createQuote' ? ROLES[name] : undefined;
    if (!roles) continue;
    const { source, destination } = request as QuoteRequest;
    replacements.set(source.accountId ?? '', idOf(roles[0]));
    replacements.set(destination.accountId ?? '', idOf(roles[1]));
  }
  const byType: Readonly<Record<string, string | undefined>> = {
    ...sample.otherResources,
    Customer: sample.customer,
    InternalAccount: idOf('balance USD'),
    ExternalAccount: idOf('external EUR'),
    Quote: quote?.id,
    Transaction: quote?.transactionId,
    Lookup: quote?.lookupId,
  };
  return (id: string) => replacements.get(id) ?? byType[id.slice(0, id.indexOf(':'))] ?? id;
}

const EXAMPLE_ID = /^[A-Za-z]+:019b8d60-[0-9a-f-]+$/;

/** A value in which every ID of the examples is replaced. */
function replaceIds(value: unknown, replace: (id: string) => string): unknown {
  if (typeof value === 'string') return EXAMPLE_ID.test(value) ? replace(value) : value;
  if (Array.isArray(value)) return value.map((each) => replaceIds(each, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, replaceIds(each, replace)]),
  );
}

/** Operations whose ID is the external account of the platform instead of the customer. */
const OWN_BANK = new Set(['getPlatformExternalAccountById']);

/** An operation of the document with the IDs of the sample in its parameters and its body. */
function withIds(
  operation: Json,
  replace: (id: string) => string,
  { ownBank }: Sample['otherResources'],
) {
  const { parameters, requestBody } = operation as { parameters?: Json[]; requestBody?: Json };
  const exampleOf = (parameter: Json) => {
    if (parameter.name === 'platformCustomerId') return SAMPLE;
    if (ownBank && OWN_BANK.has(String(operation.operationId))) return ownBank;
    return replaceIds(parameter.example, replace);
  };
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((each) =>
        'example' in each ? { ...each, example: exampleOf(each) } : each,
      ),
    }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: replaceIds(requestBody.content, replace) },
    }),
  };
}

interface Document {
  paths: Record<string, Record<string, Json>>;
}

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
    const lookup = (await run('lookupUma', { params, query: { customerId: customer } })) as Json;
    return {
      id: String(createdQuote.id),
      lookupId: String(lookup.lookupId),
      transactionId: String(createdQuote.transactionId),
      createdAt: runtime.effects.now(),
      expiresAt: Date.parse(String(createdQuote.expiresAt)),
    };
  }

  async function ensureQuote(sample: Sample): Promise<SampleQuote | undefined> {
    const now = runtime.effects.now();
    if (quote && now - quote.createdAt < MIN_AGE_MS) return quote;
    const isValid = quote && quote.expiresAt - now > MIN_VALIDITY_MS;
    if (quote && isValid) {
      const payment = await readTransaction(runtime.db, quote.transactionId);
      if (payment?.status === 'PENDING') return quote;
    }
    // The account may be empty or frozen. The reference works without a quote.
    quote = await createQuote(sample).catch(() => undefined);
    return quote;
  }

  return async function show(document: object): Promise<object> {
    const sample = await findSample(runtime, operations);
    if (!sample) return document;
    const { id } = (await ensureQuote(sample)) ?? {};
    if (cachedDocument?.document === document && cachedDocument.quoteId === id)
      return cachedDocument.result as object;
    const replace = replacerOf(examples(), sample, quote);
    const { paths, ...rest } = document as Document;
    const result = {
      ...rest,
      paths: Object.fromEntries(
        Object.entries(paths).map(([path, item]) => [
          path,
          Object.fromEntries(
            Object.entries(item).map(([method, each]) => [
              method,
              // An unchanged request must not delete the sample.
              method === 'delete' ? each : withIds(each, replace, sample.otherResources),
            ]),
          ),
        ]),
      ),
    };
    cachedDocument = { document, quoteId: id, result };
    return result;
  };
}
