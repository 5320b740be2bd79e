// Rates that providers hold for quotes. The execution of a payment stages the redemption, so its
// result is the same if a process stops and restarts. A rejected redemption leaves the payment
// unchanged, because its price is guaranteed. The FX position then stays open and a warning is
// logged.

import type { FirmQuote, HeldQuote, Redemption } from '../../../connectors/ports/index.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { iso } from '../../../kernel/effects.ts';
import { stateTable } from '../../../kernel/states.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type ConnectorsOf, loadPayment } from '../payouts/index.ts';
import type { PaymentPrice } from '../pricing/index.ts';
import { PaymentInput } from '../refunds/index.ts';
import { asOutgoing } from '../transactions/index.ts';
import type { QuoteRow } from './store.ts';

type FirmQuoteState = 'HELD' | 'REDEEMED' | 'REJECTED' | 'DIFFERENT';

/** A quote that is not executed remains HELD. DIFFERENT: other amounts were exchanged. */
export const firmQuoteStates = stateTable<FirmQuoteState, 'redeem' | 'reject' | 'differ'>(
  'firm quote',
  {
    HELD: { redeem: 'REDEEMED', reject: 'REJECTED', differ: 'DIFFERENT' },
    REDEEMED: {},
    REJECTED: {},
    DIFFERENT: {},
  },
);

/** `id` is the ID of the quote. */
const firmQuotes = table(
  'firm_quotes',
  {
    id: col.text,
    platform_id: col.text,
    provider_id: col.text,
    /** ID of the quote at the provider. */
    reference: col.text,
    sold_currency: col.text,
    sold: col.int8,
    bought_currency: col.text,
    bought: col.int8,
    state: col.enum<FirmQuoteState>().mut,
    /**
     * ID of the exchange, followed by the amounts if DIFFERENT, or the reason for the rejection.
     */
    result: col.text.null.mut,
    expires_at: col.time,
    ended_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.state, states: firmQuoteStates }] },
);
type FirmQuoteRow = RowOf<typeof firmQuotes>;

export function insertFirmQuote(
  ctx: Ctx,
  { id, platform_id }: Pick<QuoteRow, 'id' | 'platform_id'>,
  { providerId, reference, expiresAt }: FirmQuote,
  { net, receiving }: PaymentPrice['price'],
): void {
  ctx.insert(firmQuotes, {
    ...{ id, platform_id, provider_id: providerId, reference, state: 'HELD' },
    ...{ sold_currency: net.currency, sold: net.amount },
    ...{ bought_currency: receiving.currency, bought: receiving.amount },
    expires_at: Math.floor(expiresAt),
    created_at: ctx.now,
  });
}

/** The rate that a provider holds for a quote, for operators. */
export async function firmQuoteOf({ read }: Pick<Ctx, 'read'>, quoteId: string) {
  const row = await read(firmQuotes, quoteId);
  if (!row) return null;
  return {
    providerId: row.provider_id,
    reference: row.reference,
    state: row.state,
    result: row.result,
    sold: { amount: Number(row.sold), currency: row.sold_currency },
    bought: { amount: Number(row.bought), currency: row.bought_currency },
    expiresAt: iso(row.expires_at),
    endedAt: row.ended_at === null ? null : iso(row.ended_at),
  };
}

/** Redeems the rate of an executed payment. */
export const REDEEM = defineJob('quotes.redeem', PaymentInput);

const heldQuoteOf = (row: FirmQuoteRow): HeldQuote => ({
  ...{ id: row.id, providerId: row.provider_id, reference: row.reference },
  ...{ from: row.sold_currency, sold: row.sold, to: row.bought_currency, bought: row.bought },
});

/** The state and the result after a redemption. */
function resultOf(
  row: FirmQuoteRow,
  redemption: Exclude<Redemption, { state: 'pending' }>,
): Pick<FirmQuoteRow, 'state' | 'result'> {
  if (redemption.state === 'rejected') return { state: 'REJECTED', result: redemption.reason };
  const { reference, sold, bought } = redemption;
  if (sold === row.sold && bought === row.bought) return { state: 'REDEEMED', result: reference };
  return { state: 'DIFFERENT', result: `${reference}: ${sold} for ${bought}` };
}

const redeem =
  (connectors: ConnectorsOf, log: Log) =>
  async (runtime: Runtime, job: JobOf<typeof REDEEM>): Promise<Result> => {
    const { row: payment, caller } = await loadPayment(runtime, job, asOutgoing);
    const firmQuote = await runtime.db.read(firmQuotes, payment.quote_id ?? '');
    if (firmQuote?.state !== 'HELD') return { caller, stage: async () => {} };
    const port = connectors(caller.environment).firmQuotes;
    if (!port) throw new Error(`no provider redeems the quote ${firmQuote.id}`);
    const redemption = await port.redeem(heldQuoteOf(firmQuote));
    if (redemption.state === 'pending') {
      const checkLater = async (ctx: Ctx) =>
        ctx.later(REDEEM, job.input, ctx.now + redemption.checkAfterMs);
      return { caller, stage: checkLater };
    }
    const change = resultOf(firmQuote, redemption);
    if (change.state !== 'REDEEMED') {
      const problem = `${firmQuote.provider_id} did not exchange the amounts of ${firmQuote.id}`;
      log.warn({ problem, state: change.state }, 'a provider has a problem');
    }
    return {
      caller,
      stage: async (ctx) => {
        const row = await ctx.read(firmQuotes, firmQuote.id);
        if (row?.state !== 'HELD') return;
        ctx.update(firmQuotes, row, { ...change, ended_at: ctx.now });
      },
    };
  };

export const firmQuoteJobs = (connectors: ConnectorsOf, log: Log): JobHandler[] => [
  jobHandler(REDEEM, { maxAttempts: OUTAGE_ATTEMPTS, run: redeem(connectors, log) }),
];
