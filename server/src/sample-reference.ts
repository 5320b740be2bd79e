// The API reference of a server with a sample customer: ids in the requests of its examples are those of the
// customer, so that requests succeed as the page opens. Replies stay as they were recorded.
import { findInternalAccounts } from './features/balances/internal-accounts/index.ts';
import { findCustomers } from './features/customers/records/index.ts';
import { findExternalAccounts } from './features/payees/external-accounts/index.ts';
import { oldestPlatform, systemCaller } from './features/tenancy/platform/index.ts';
import type { Examples } from './http/examples.ts';
import type { Time } from './kernel/effects.ts';
import type { Operation } from './runtime/operation/feature.ts';
import { operate, type Runtime } from './runtime/operation/operate.ts';
import { SAMPLE } from './sample.ts';

type Json = Record<string, unknown>;

/** A quote is renewed so long before it expires. */
const MIN_VALIDITY_MS = 2 * 60_000;
/** Reading the reference needs no credential, so it creates no more quotes than this. */
const MIN_AGE_MS = 10_000;

interface SampleQuote {
  id: string;
  transactionId: string;
  createdAt: Time;
  expiresAt: Time;
}

interface Sample {
  caller: ReturnType<typeof systemCaller>;
  customer: string;
  /** Internal accounts by currency. */
  balances: ReadonlyMap<string, string>;
  /** External accounts by currency. */
  external: ReadonlyMap<string, string>;
}

async function findSample({ db }: Runtime): Promise<Sample | undefined> {
  const platform = await oldestPlatform(db);
  if (!platform) return undefined;
  const where = { platform_id: platform.id, platform_customer_id: SAMPLE };
  const [customer] = await findCustomers(db, where);
  if (!customer) return undefined;
  const [balances, external] = await Promise.all([
    findInternalAccounts(db, { customer_id: customer.id }),
    findExternalAccounts(db, { customer_id: customer.id }),
  ]);
  const byCurrency = (rows: readonly { currency: string; id: string }[]) =>
    new Map(rows.map(({ currency, id }) => [currency, id]));
  return {
    caller: systemCaller(platform.id, platform.environment),
    customer: customer.id,
    balances: byCurrency(balances),
    external: byCurrency(external),
  };
}

/** What the accounts of the examples of `createQuote` are used for, by the name of the example. */
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

/** Replaces ids of the examples: by role where one is known, by type otherwise. */
function replacerOf({ exchanges }: Examples, sample: Sample, quote: SampleQuote | undefined) {
  const idOf = (role: string) => {
    const [kind, currency = ''] = role.split(' ');
    return (kind === 'balance' ? sample.balances : sample.external).get(currency);
  };
  const known = new Map<string, string | undefined>();
  for (const { operationId, name, request } of exchanges) {
    const roles = operationId === 'createQuote' ? ROLES[name] : undefined;
    if (!roles) continue;
    const { source, destination } = request as QuoteRequest;
    known.set(source.accountId ?? '', idOf(roles[0]));
    known.set(destination.accountId ?? '', idOf(roles[1]));
  }
  const byType: Readonly<Record<string, string | undefined>> = {
    Customer: sample.customer,
    InternalAccount: idOf('balance USD'),
    ExternalAccount: idOf('external EUR'),
    Quote: quote?.id,
    Transaction: quote?.transactionId,
  };
  return (id: string) => known.get(id) ?? byType[id.slice(0, id.indexOf(':'))] ?? id;
}

const EXAMPLE_ID = /^[A-Za-z]+:019b8d60-[0-9a-f-]+$/;

/** A value with every id in it replaced. */
function replaced(value: unknown, replace: (id: string) => string): unknown {
  if (typeof value === 'string') return EXAMPLE_ID.test(value) ? replace(value) : value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, replaced(each, replace)]),
  );
}

/** An operation of the document with other ids in its parameters and its body. */
function withIds(operation: Json, replace: (id: string) => string): Json {
  const { parameters, requestBody } = operation as { parameters?: Json[]; requestBody?: Json };
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((each) =>
        'example' in each ? { ...each, example: replaced(each.example, replace) } : each,
      ),
    }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: replaced(requestBody.content, replace) },
    }),
  };
}

interface Document {
  paths: Record<string, Record<string, Json>>;
}

/** The document of the reference about the sample customer; the same object while nothing changed. */
export function sampleReference(
  runtime: Runtime,
  operations: readonly Operation[],
  examples: () => Examples,
) {
  const createQuote = operations.find((each) => each.contract.operationId === 'createQuote');
  let quote: SampleQuote | undefined;
  let shown: { document: unknown; quoteId: string | undefined; result: unknown } | undefined;

  async function newQuote({ caller, balances, external }: Sample): Promise<SampleQuote> {
    const body = {
      source: { sourceType: 'ACCOUNT', accountId: balances.get('USD') },
      destination: { destinationType: 'ACCOUNT', accountId: external.get('EUR') },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1_000,
    };
    const input = { params: {}, query: {}, headers: {}, body };
    const reply = await operate(runtime, caller, async (ctx) => createQuote?.run(ctx, input));
    if (!reply || 'rejected' in reply) throw new Error('the sample quote was rejected');
    const made = reply.body as Json;
    return {
      id: String(made.id),
      transactionId: String(made.transactionId),
      createdAt: runtime.effects.now(),
      expiresAt: Date.parse(String(made.expiresAt)),
    };
  }

  async function currentQuote(sample: Sample): Promise<SampleQuote | undefined> {
    const now = runtime.effects.now();
    if (quote && now - quote.createdAt < MIN_AGE_MS) return quote;
    const isValid = quote && quote.expiresAt - now > MIN_VALIDITY_MS;
    if (quote && isValid) {
      const sql = "select 1 from transactions where id = $1 and status = 'PENDING'";
      if ((await runtime.db.query(sql, [quote.transactionId])).length) return quote;
    }
    // The account may be empty or frozen by now; the reference is shown all the same.
    quote = await newQuote(sample).catch(() => undefined);
    return quote;
  }

  return async function show(document: object): Promise<object> {
    const sample = await findSample(runtime);
    if (!sample) return document;
    const { id } = (await currentQuote(sample)) ?? {};
    if (shown?.document === document && shown.quoteId === id) return shown.result as object;
    const replace = replacerOf(examples(), sample, quote);
    const { paths, ...rest } = document as Document;
    const result = {
      ...rest,
      paths: Object.fromEntries(
        Object.entries(paths).map(([path, item]) => [
          path,
          Object.fromEntries(
            Object.entries(item).map(([method, each]) => [method, withIds(each, replace)]),
          ),
        ]),
      ),
    };
    shown = { document, quoteId: id, result };
    return result;
  };
}
