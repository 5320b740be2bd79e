// Quotes over HTTP: create, read, execute; and the sweep that expires what nobody executed.
import type { Connectors } from '../../connectors/ports.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Input } from '../../kernel/operation.ts';
import type { Time } from '../../kernel/world.ts';
import type { Ctx, Environment } from '../../runtime/context.ts';
import { handle } from '../../runtime/handle.ts';
import type { Sweep } from '../../runtime/jobs.ts';
import { operate, type Runtime } from '../../runtime/operate.ts';
import { platforms, systemCaller } from '../platform/index.ts';
import { expirePayment, type TransactionRow, transactions } from '../transactions/index.ts';
import { authorizePayment, type Headers, type WalletParts } from '../wallets/index.ts';
import { createQuote, executeQuote, getQuoteById } from './contract.ts';
import { stageQuote } from './create.ts';
import { checkExecutable, startPayment } from './execute.ts';
import { presentQuote, type QuoteRow } from './present.ts';
import { quotes } from './store.ts';
import { signedPaymentOf } from './wallet.ts';

async function quoteOf(ctx: Ctx, id: string): Promise<QuoteRow> {
  const row = isId(id, 'Quote') ? await ctx.read(quotes, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('QUOTE_NOT_FOUND', 'No such quote.');
  }
  return row;
}

async function paymentOf(ctx: Ctx, quote: QuoteRow): Promise<TransactionRow> {
  const row = await ctx.read(transactions, quote.transaction_id);
  if (!row) throw new Error(`${quote.id} has no transaction`);
  return row;
}

/** Executes a quote; one that a wallet pays for only once its holder has signed. */
async function execute(
  ctx: Ctx,
  parts: WalletParts,
  { params, body, headers }: Input<typeof executeQuote>,
) {
  const quote = await quoteOf(ctx, params.quoteId);
  const payment = await paymentOf(ctx, quote);
  checkExecutable(ctx, quote, payment);
  const signed = signedPaymentOf(quote, payment);
  if (signed) {
    const { operationId } = executeQuote;
    const sent = headers as Headers;
    const asked = { operationId, of: quote.id, input: { params, body }, headers: sent };
    const outcome = await authorizePayment(ctx, parts, asked, signed);
    if (outcome && 'refused' in outcome) return outcome;
    if (outcome) return { status: 202 as const, body: outcome.challenge };
  }
  const started = await startPayment(ctx, payment, { signed: signed !== undefined });
  return { status: 200 as const, body: presentQuote(quote, started, ctx.now) };
}

export const quoteOperations = (connectors: (environment: Environment) => Connectors) => [
  handle(createQuote, async (ctx, { body }) => {
    const staged = await stageQuote(ctx, connectors(ctx.caller.environment), body);
    const { quote, payment } = staged;
    const now = body.immediatelyExecute ? await startPayment(ctx, payment) : payment;
    return { status: 201, body: presentQuote(quote, now, ctx.now) };
  }),
  handle(getQuoteById, async (ctx, { params }) => {
    const quote = await quoteOf(ctx, params.quoteId);
    return { status: 200, body: presentQuote(quote, await paymentOf(ctx, quote), ctx.now) };
  }),
  handle(executeQuote, (ctx, input) => execute(ctx, { connectors }, input)),
];

const DUE = `select q.transaction_id from quotes q join transactions t on t.id = q.transaction_id
  where q.expires_at > $1 and q.expires_at <= $2 and t.status = 'PENDING'
  order by q.expires_at limit 500`;

const LATEST = 'select max(expires_at) as latest from quotes where expires_at <= $1';

/** How far before the latest quote that ran out the first look after a start begins. */
const FIRST_LOOK_MS = 7 * 24 * 3_600_000;

/** Where to begin: a server that was down for long still finds what was pending when it stopped. */
async function beginning(runtime: Runtime, now: Time): Promise<Time> {
  const [row] = await runtime.db.query<{ latest: Time | null }>(LATEST, [new Date(now)]);
  return (row?.latest ?? now) - FIRST_LOOK_MS;
}

async function expireOne(runtime: Runtime, id: string): Promise<void> {
  const row = await runtime.db.read(transactions, id);
  const platform = row && (await runtime.db.read(platforms, row.platform_id));
  if (!platform) return;
  await operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
    const payment = await ctx.read(transactions, id);
    if (payment?.status === 'PENDING') expirePayment(ctx, payment);
  });
}

/** Moves pending payments of expired quotes on. Remembers how far it came, so each look is short. */
export function expirySweep(): Sweep {
  let seen: number | undefined;
  return {
    name: 'quotes.expire',
    async run(runtime) {
      const now = runtime.world.now();
      seen ??= await beginning(runtime, now);
      const rows = await runtime.db.query(DUE, [new Date(seen), new Date(now)]);
      await Promise.all(rows.map((row) => expireOne(runtime, row.transaction_id as string)));
      if (rows.length < 500) seen = now;
      return rows.length;
    },
  };
}
