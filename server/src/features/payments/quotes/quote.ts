// What is done with a quote, whoever asks for it: made, shown, signed for by the holder of a wallet, and
// started. A platform and its agents come in here alike.
import type { Static } from '@sinclair/typebox';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { ChallengeRow, ScaParts } from '../../sca/authentication/index.ts';
import { checkLock, checkSession } from '../../sca/lockout/index.ts';
import { authorizePayment, type SignableRequest } from '../../wallets/index.ts';
import { checkFunds } from '../lifecycle/index.ts';
import { instructionsOf } from '../presentation/index.ts';
import { asOutgoing, type OutgoingRow, readTransaction } from '../transactions/index.ts';
import type { Quote, QuoteRequest } from './contract.ts';
import { stageQuote } from './create.ts';
import { checkEnds, checkSigned, startPayment } from './execution/execute.ts';
import { askFor, authorizerOf, challengeView, isExempt, stepsOf } from './execution/sca.ts';
import { signedPaymentOf } from './execution/wallet.ts';
import { quoteStatus } from './states.ts';
import { type QuoteRow, quotes } from './store.ts';

// A quote as the API shows it: its own fixed facts, and the status its payment tells.

/** The JSON of GET /quotes/{id} at `now`. */
function presentQuote(row: QuoteRow, payment: OutgoingRow, now: Time) {
  return {
    id: row.id,
    status: quoteStatus(payment, row.expires_at, now),
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
    source: row.source,
    destination: row.destination,
    sendingCurrency: currencyView(row.sending_currency),
    receivingCurrency: currencyView(row.receiving_currency),
    totalSendingAmount: Number(row.sending_amount),
    totalReceivingAmount: Number(row.receiving_amount),
    exchangeRate: Number(row.exchange_rate),
    feesIncluded: Number(row.fees),
    platformFeesIncluded: Number(row.platform_fees),
    paymentInstructions: instructionsOf(payment) ?? [],
    transactionId: row.transaction_id,
    ...(payment.counterparty ? { counterpartyInformation: payment.counterparty } : {}),
    rateDetails: row.rate_details,
    lockedCurrencySide: row.lock_side,
    lockedCurrencyAmount: Number(row.lock_amount),
    ...(row.description === null ? {} : { description: row.description }),
  } as Static<typeof Quote>;
}

/** A quote of the caller's platform; QUOTE_NOT_FOUND for any other id. */
export async function quoteOf(ctx: Ctx, id: string): Promise<QuoteRow> {
  const row = isId(id, 'Quote') ? await ctx.read(quotes, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('QUOTE_NOT_FOUND', 'Quote not found.');
  }
  return row;
}

/** The payment that a quote is for. */
export async function paymentOf(ctx: Ctx, quote: QuoteRow): Promise<OutgoingRow> {
  const row = await readTransaction(ctx, quote.transaction_id);
  if (!row) throw new Error(`${quote.id} has no transaction`);
  return asOutgoing(row);
}

/** The JSON of a quote with its payment as it stands, and with what its customer is asked to prove. */
export async function quoteView(
  ctx: Ctx,
  quote: QuoteRow,
  payment: OutgoingRow,
): Promise<Static<typeof Quote>> {
  const scaChallenge = await challengeView(ctx, quote, payment);
  return { ...presentQuote(quote, payment, ctx.now), ...(scaChallenge ? { scaChallenge } : {}) };
}

/**
 * Whether the holder of the wallet that pays has signed; `signed` is false where no wallet pays. Otherwise
 * what the request is answered with: the challenge (202), or a refusal that counts.
 */
export async function signQuote(
  ctx: Ctx,
  parts: ScaParts,
  quote: QuoteRow,
  payment: OutgoingRow,
  asked: SignableRequest,
) {
  const toSign = signedPaymentOf(quote, payment);
  if (!toSign) return { signed: false };
  return (await authorizePayment(ctx, parts, asked, toSign)) ?? { signed: true };
}

interface Start {
  /** Whether the holder of the wallet that pays has signed. */
  signed?: boolean | undefined;
  scaFactor?: ChallengeRow['factor'] | undefined;
}

/**
 * Starts the payment of a quote that may be executed, or has its customer asked to authorise it first: then
 * it is PENDING_AUTHORIZATION. Throws why neither can be, an empty account before anybody gets a code.
 */
export async function startQuote(
  ctx: Ctx,
  parts: ScaParts,
  quote: QuoteRow,
  payment: OutgoingRow,
  { signed = false, scaFactor: factor }: Start = {},
): Promise<OutgoingRow> {
  const who = await authorizerOf(ctx, payment);
  if (!who) return startPayment(ctx, payment, { signed });
  // Nobody is asked for what could not be answered.
  await checkLock(ctx, who.customer.id);
  await checkSession(ctx, who.customer.id);
  if (await isExempt(ctx, who, quote, payment)) return startPayment(ctx, payment, { signed });
  checkSigned(await checkEnds(ctx, payment, { starts: false }), signed);
  await checkFunds(ctx, payment);
  const steps = stepsOf(who.platform, payment);
  return askFor(ctx, parts, { quote, payment, who, factor, steps });
}

/** Has a payment whose money is to be paid in authorised before it is said where. */
async function withhold(
  ctx: Ctx,
  parts: ScaParts,
  quote: QuoteRow,
  payment: OutgoingRow,
  factor: ChallengeRow['factor'] | undefined,
): Promise<OutgoingRow> {
  const who = await authorizerOf(ctx, payment);
  if (!who) return payment;
  await checkLock(ctx, who.customer.id);
  if (await isExempt(ctx, who, quote, payment)) return payment;
  const steps = stepsOf(who.platform, payment);
  return askFor(ctx, parts, { quote, payment, who, factor, steps });
}

/** Makes a quote as it is asked for, and executes it where that is asked as well. */
export async function makeQuote(
  ctx: Ctx,
  parts: ScaParts,
  request: Static<typeof QuoteRequest>,
): Promise<{ status: 201 | 202; quote: QuoteRow; payment: OutgoingRow }> {
  const { quote, payment } = await stageQuote(
    ctx,
    parts.connectors(ctx.caller.environment),
    request,
  );
  const { immediatelyExecute, scaFactor } = request;
  if (immediatelyExecute) {
    const started = await startQuote(ctx, parts, quote, payment, { scaFactor });
    return { status: 201, quote, payment: started };
  }
  if (payment.source.sourceType !== 'REALTIME_FUNDING') return { status: 201, quote, payment };
  const waiting = await withhold(ctx, parts, quote, payment, scaFactor);
  return { status: waiting.status === 'PENDING' ? 201 : 202, quote, payment: waiting };
}
