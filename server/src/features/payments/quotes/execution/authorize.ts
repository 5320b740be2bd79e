// The customer's word for a payment that waits for it. The last proof takes the money by the very step that
// takes it from other payments: where that cannot be, nothing of the proof is kept and it may be brought
// again.
import type { Input } from '../../../../kernel/contract/operation.ts';
import { Fault } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import { readCustomer } from '../../../customers/records/index.ts';
import {
  type ChallengeRow,
  prove,
  resendCode,
  type ScaParts,
  type Who,
} from '../../../sca/authentication/index.ts';
import { checkLock, checkSession } from '../../../sca/lockout/index.ts';
import { ownPlatform } from '../../../tenancy/platform/index.ts';
import { releasePayment } from '../../lifecycle/index.ts';
import type { OutgoingRow } from '../../transactions/index.ts';
import { paymentOf, quoteOf, quoteView } from '../quote.ts';
import type { QuoteRow } from '../store.ts';
import { authorizeQuote, resendQuoteScaCode } from './authorize-contract.ts';
import { startPayment } from './execute.ts';
import { aboutOf, askFor, waitingFor, wordsOf } from './sca.ts';
import { signedPaymentOf } from './wallet.ts';

interface Waiting {
  quote: QuoteRow;
  payment: OutgoingRow;
  row: ChallengeRow;
  who: Who;
}

/** The challenge that a quote waits for; CONFLICT where it waits for none. */
async function waitingOf(ctx: Ctx, quoteId: string): Promise<Waiting> {
  const quote = await quoteOf(ctx, quoteId);
  const payment = await paymentOf(ctx, quote);
  const waits = payment.status === 'PENDING_AUTHORIZATION';
  const [row, customer, platform] = await Promise.all([
    waits ? waitingFor(ctx, quote) : undefined,
    readCustomer(ctx, payment.customer_id ?? ''),
    ownPlatform(ctx),
  ]);
  if (!row || !customer || customer.deleted_at !== null) {
    throw new Fault('CONFLICT', 'The quote has no pending authorization.');
  }
  return { quote, payment, row, who: { customer, platform } };
}

/** What a satisfied step leads to: the next, a payment that waits for its money, or its start. */
function goOn(
  ctx: Ctx,
  parts: ScaParts,
  { quote, payment, row, who }: Waiting,
): OutgoingRow | Promise<OutgoingRow> {
  const { steps, factor } = row;
  if (steps.length) return askFor(ctx, parts, { quote, payment, who, factor, steps });
  if (payment.source.sourceType === 'REALTIME_FUNDING') return releasePayment(ctx, payment);
  // A wallet's quote comes to wait only once its holder has signed.
  return startPayment(ctx, payment, { signed: signedPaymentOf(quote, payment) !== undefined });
}

async function authorize(
  ctx: Ctx,
  parts: ScaParts,
  { params, body }: Input<typeof authorizeQuote>,
) {
  const waiting = await waitingOf(ctx, params.quoteId);
  const { quote, payment, row, who } = waiting;
  await checkLock(ctx, who.customer.id);
  await checkSession(ctx, who.customer.id);
  const { endUserIpAddress: ip, ...proof } = body;
  const about = aboutOf(quote, payment, row);
  const refused = await prove(ctx, who, row, { about, proof, ip });
  if (refused) return refused;
  const now = await goOn(ctx, parts, waiting);
  return { status: 200 as const, body: await quoteView(ctx, quote, now) };
}

async function resend(ctx: Ctx, parts: ScaParts, quoteId: string): Promise<void> {
  const { quote, payment, row, who } = await waitingOf(ctx, quoteId);
  const words = await wordsOf(ctx, payment);
  await resendCode(ctx, parts, who, row, { about: aboutOf(quote, payment, row), words });
}

export const authorizeOperations = (parts: ScaParts) => [
  handle(authorizeQuote, (ctx, input) => authorize(ctx, parts, input)),
  handle(resendQuoteScaCode, async (ctx, { params }) => {
    await resend(ctx, parts, params.quoteId);
    return { status: 204, body: undefined };
  }),
];
