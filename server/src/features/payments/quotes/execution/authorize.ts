// The customer's authorization of a payment. The last proof starts the payment in the same change set. If
// the payment cannot start, the proof is not recorded and can be submitted again.
import type { Input } from '../../../../kernel/contract/operation.ts';
import { Fault } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import { readCustomer } from '../../../customers/records/index.ts';
import {
  type ChallengeRow,
  prove,
  resendCode,
  type ScaDeps,
  type ScaParty,
} from '../../../sca/authentication/index.ts';
import { checkLock, checkSession } from '../../../sca/lockout/index.ts';
import { readOwnPlatform } from '../../../tenancy/platform/index.ts';
import { releasePayment } from '../../lifecycle/index.ts';
import type { OutgoingRow } from '../../transactions/index.ts';
import { paymentOf, quoteOf, quoteView } from '../quote.ts';
import type { QuoteRow } from '../store.ts';
import { authorizeQuote, resendQuoteScaCode } from './authorize-contract.ts';
import { startPayment } from './execute.ts';
import { actionOf, describePayment, pendingChallengeOf, requestAuthorization } from './sca.ts';
import { signedPaymentOf } from './wallet.ts';

interface PendingAuthorization {
  quote: QuoteRow;
  payment: OutgoingRow;
  row: ChallengeRow;
  authorizer: ScaParty;
}

/** The pending challenge of a quote. Throws CONFLICT if there is none. */
async function pendingAuthorizationOf(ctx: Ctx, quoteId: string): Promise<PendingAuthorization> {
  const quote = await quoteOf(ctx, quoteId);
  const payment = await paymentOf(ctx, quote);
  const isPending = payment.status === 'PENDING_AUTHORIZATION';
  const [row, customer, platform] = await Promise.all([
    isPending ? pendingChallengeOf(ctx, quote) : undefined,
    readCustomer(ctx, payment.customer_id ?? ''),
    readOwnPlatform(ctx),
  ]);
  if (!row || !customer || customer.deleted_at !== null) {
    throw new Fault(
      'CONFLICT',
      'The quote has no pending authorization. Call getQuoteById for its status.',
    );
  }
  return { quote, payment, row, authorizer: { customer, platform } };
}

/**
 * Requests the next step after a completed step. After the last step, starts the payment, or releases
 * a payment that awaits its funds.
 */
function releaseOrExecute(
  ctx: Ctx,
  deps: ScaDeps,
  { quote, payment, row, authorizer }: PendingAuthorization,
): OutgoingRow | Promise<OutgoingRow> {
  const { steps, factor } = row;
  if (steps.length)
    return requestAuthorization(ctx, deps, { quote, payment, authorizer, factor, steps });
  if (payment.source.sourceType === 'REALTIME_FUNDING') return releasePayment(ctx, payment);
  // A wallet quote is PENDING_AUTHORIZATION only after its holder has signed.
  return startPayment(ctx, payment, { signed: signedPaymentOf(quote, payment) !== undefined });
}

async function authorize(ctx: Ctx, deps: ScaDeps, { params, body }: Input<typeof authorizeQuote>) {
  const pendingAuthorization = await pendingAuthorizationOf(ctx, params.quoteId);
  const { quote, payment, row, authorizer } = pendingAuthorization;
  await checkLock(ctx, authorizer.customer.id);
  await checkSession(ctx, authorizer.customer.id);
  const { endUserIpAddress: ip, ...proof } = body;
  const subject = actionOf(quote, payment, row);
  const rejection = await prove(ctx, authorizer, row, { action: subject, proof, ip });
  if (rejection) return rejection;
  const updatedPayment = await releaseOrExecute(ctx, deps, pendingAuthorization);
  return { status: 200 as const, body: await quoteView(ctx, quote, updatedPayment) };
}

async function resend(ctx: Ctx, deps: ScaDeps, quoteId: string): Promise<void> {
  const { quote, payment, row, authorizer } = await pendingAuthorizationOf(ctx, quoteId);
  const description = await describePayment(ctx, payment);
  await resendCode(ctx, deps, authorizer, row, {
    action: actionOf(quote, payment, row),
    description,
  });
}

export const authorizeOperations = (deps: ScaDeps) => [
  handle(authorizeQuote, (ctx, input) => authorize(ctx, deps, input)),
  handle(resendQuoteScaCode, async (ctx, { params }) => {
    await resend(ctx, deps, params.quoteId);
    return { status: 204, body: undefined };
  }),
];
