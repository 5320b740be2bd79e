// The use cases of quotes for platforms and agents: create, present, sign and start.
import type { Static } from '@sinclair/typebox';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { rateDetailsOf } from '../../../catalog/currencies/rate-details.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { ChallengeRow, ScaDeps } from '../../sca/authentication/index.ts';
import { checkLock, checkSession } from '../../sca/lockout/index.ts';
import { authorizePayment, type SignableRequest } from '../../wallets/index.ts';
import { checkFunds } from '../lifecycle/index.ts';
import { instructionsOf } from '../presentation/index.ts';
import { asOutgoing, type OutgoingRow, readTransaction } from '../transactions/index.ts';
import type { Quote, QuoteRequest } from './contract.ts';
import { stageQuote } from './create.ts';
import { checkParties, checkSigned, startPayment } from './execution/execute.ts';
import {
  authorizerOf,
  challengeView,
  isExempt,
  requestAuthorization,
  stepsOf,
} from './execution/sca.ts';
import { signedPaymentOf } from './execution/wallet.ts';
import { quoteStatus } from './states.ts';
import { type QuoteRow, quotes } from './store.ts';

/** The body of `getQuoteById` at `now`. */
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
    rateDetails: rateDetailsOf(row.rate_details),
    lockedCurrencySide: row.lock_side,
    lockedCurrencyAmount: Number(row.lock_amount),
    ...(row.description === null ? {} : { description: row.description }),
  } as Static<typeof Quote>;
}

/** A quote of the caller's platform. Throws QUOTE_NOT_FOUND. */
export async function quoteOf(ctx: Ctx, id: string): Promise<QuoteRow> {
  const row = isId(id, 'Quote') ? await ctx.read(quotes, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('QUOTE_NOT_FOUND', 'Quote not found.');
  }
  return row;
}

export async function paymentOf(ctx: Ctx, quote: QuoteRow): Promise<OutgoingRow> {
  const row = await readTransaction(ctx, quote.transaction_id);
  if (!row) throw new Error(`${quote.id} has no transaction`);
  return asOutgoing(row);
}

/** The API view of a quote, with the pending SCA challenge of its customer. */
export async function quoteView(
  ctx: Ctx,
  quote: QuoteRow,
  payment: OutgoingRow,
): Promise<Static<typeof Quote>> {
  const scaChallenge = await challengeView(ctx, quote, payment);
  return { ...presentQuote(quote, payment, ctx.now), ...(scaChallenge ? { scaChallenge } : {}) };
}

/**
 * Verifies the signature of the wallet holder. `signed` is false if the source is not an embedded
 * wallet. Without a valid signature, returns the response: the challenge (202), or a rejection that
 * counts as a failed attempt.
 */
export async function signQuote(
  ctx: Ctx,
  deps: ScaDeps,
  quote: QuoteRow,
  payment: OutgoingRow,
  request: SignableRequest,
) {
  const toSign = signedPaymentOf(quote, payment);
  if (!toSign) return { signed: false };
  return (await authorizePayment(ctx, deps, request, toSign)) ?? { signed: true };
}

interface Start {
  /** Whether the holder of the source wallet has signed. */
  signed?: boolean | undefined;
  scaFactor?: ChallengeRow['factor'] | undefined;
}

/**
 * Starts the payment of an executable quote, or requests the customer's authorization first. The payment is
 * then PENDING_AUTHORIZATION. Throws if neither is possible. Funds are checked before a code is sent.
 */
export async function startQuote(
  ctx: Ctx,
  deps: ScaDeps,
  quote: QuoteRow,
  payment: OutgoingRow,
  { signed = false, scaFactor: factor }: Start = {},
): Promise<OutgoingRow> {
  const authorizer = await authorizerOf(ctx, payment);
  if (!authorizer) return startPayment(ctx, payment, { signed });
  // A challenge is created only if the customer can answer it.
  await checkLock(ctx, authorizer.customer.id);
  await checkSession(ctx, authorizer.customer.id);
  if (await isExempt(ctx, authorizer, quote, payment))
    return startPayment(ctx, payment, { signed });
  checkSigned(await checkParties(ctx, payment, { reservesInvoice: false }), signed);
  await checkFunds(ctx, payment);
  const steps = stepsOf(authorizer.platform, payment);
  return requestAuthorization(ctx, deps, { quote, payment, authorizer, factor, steps });
}

/**
 * Requests authorization of a REALTIME_FUNDING payment. The payment instructions are withheld until the
 * authorization.
 */
async function authorizeBeforeFunding(
  ctx: Ctx,
  deps: ScaDeps,
  quote: QuoteRow,
  payment: OutgoingRow,
  factor: ChallengeRow['factor'] | undefined,
): Promise<OutgoingRow> {
  const authorizer = await authorizerOf(ctx, payment);
  if (!authorizer) return payment;
  await checkLock(ctx, authorizer.customer.id);
  if (await isExempt(ctx, authorizer, quote, payment)) return payment;
  const steps = stepsOf(authorizer.platform, payment);
  return requestAuthorization(ctx, deps, { quote, payment, authorizer, factor, steps });
}

/**
 * Creates a quote, and executes it with `immediatelyExecute`. Status 202 means that a REALTIME_FUNDING
 * quote awaits authorization.
 */
export async function makeQuote(
  ctx: Ctx,
  deps: ScaDeps,
  request: Static<typeof QuoteRequest>,
): Promise<{ status: 201 | 202; quote: QuoteRow; payment: OutgoingRow }> {
  const { quote, payment } = await stageQuote(
    ctx,
    deps.connectors(ctx.caller.environment),
    request,
  );
  const { immediatelyExecute, scaFactor } = request;
  if (immediatelyExecute) {
    const startedPayment = await startQuote(ctx, deps, quote, payment, { scaFactor });
    return { status: 201, quote, payment: startedPayment };
  }
  if (payment.source.sourceType !== 'REALTIME_FUNDING') return { status: 201, quote, payment };
  const waitingPayment = await authorizeBeforeFunding(ctx, deps, quote, payment, scaFactor);
  return {
    status: waitingPayment.status === 'PENDING' ? 201 : 202,
    quote,
    payment: waitingPayment,
  };
}
