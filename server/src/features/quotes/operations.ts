// Quotes over HTTP: create, read, execute; and the sweep that expires what nobody executed.
import { Fault } from '../../kernel/fault.ts';
import type { Input } from '../../kernel/operation.ts';
import type { Time } from '../../kernel/world.ts';
import type { Ctx } from '../../runtime/context.ts';
import { handle } from '../../runtime/handle.ts';
import type { Sweep } from '../../runtime/jobs.ts';
import { operate, type Runtime } from '../../runtime/operate.ts';
import { platforms, systemCaller } from '../platform/index.ts';
import type { ScaParts } from '../sca/index.ts';
import { expirePayment, transactions } from '../transactions/index.ts';
import type { Headers } from '../wallets/index.ts';
import { authorizeOperations } from './authorize.ts';
import { createQuote, executeQuote, getQuoteById } from './contract.ts';
import { checkExecutable } from './execute.ts';
import type { QuoteRow } from './present.ts';
import { makeQuote, paymentOf, quoteOf, quoteView, signQuote, startQuote } from './quote.ts';

// Actions of agents are another feature's table, to the right of this one; that one waits is read by SQL.
const WAITING = `select id from agent_actions
  where transaction_id = $1 and status = 'PENDING_APPROVAL' limit 1`;

/** Throws CONFLICT where an agent asks for the quote: executed beside it, it would have two endings. */
async function refuseAsked(ctx: Ctx, { agent_id: agent, transaction_id: payment }: QuoteRow) {
  if (agent === null) return;
  const [action] = await ctx.db.query<{ id: string }>(WAITING, [payment]);
  if (!action) return;
  const reason = 'An agent asks for this quote: approve or reject its action.';
  throw new Fault('CONFLICT', reason, { actionId: action.id });
}

/** Executes a quote; one that a wallet pays for only once its holder has signed. */
async function execute(
  ctx: Ctx,
  parts: ScaParts,
  { params, body, headers }: Input<typeof executeQuote>,
) {
  const quote = await quoteOf(ctx, params.quoteId);
  const payment = await paymentOf(ctx, quote);
  checkExecutable(ctx, quote, payment);
  await refuseAsked(ctx, quote);
  const { operationId } = executeQuote;
  const asked = { operationId, of: quote.id, input: { params, body }, headers: headers as Headers };
  const outcome = await signQuote(ctx, parts, quote, payment, asked);
  if ('refused' in outcome) return outcome;
  if ('challenge' in outcome) return { status: 202 as const, body: outcome.challenge };
  const { signed } = outcome;
  const { scaFactor } = body;
  const started = await startQuote(ctx, parts, quote, payment, { signed, scaFactor });
  return { status: 200 as const, body: await quoteView(ctx, quote, started) };
}

export const quoteOperations = (parts: ScaParts) => [
  handle(createQuote, async (ctx, { body }) => {
    const { status, quote, payment } = await makeQuote(ctx, parts, body);
    return { status, body: await quoteView(ctx, quote, payment) };
  }),
  handle(getQuoteById, async (ctx, { params }) => {
    const quote = await quoteOf(ctx, params.quoteId);
    return { status: 200, body: await quoteView(ctx, quote, await paymentOf(ctx, quote)) };
  }),
  handle(executeQuote, (ctx, input) => execute(ctx, parts, input)),
  ...authorizeOperations(parts),
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
