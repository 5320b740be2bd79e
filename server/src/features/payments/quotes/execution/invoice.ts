// Payments to a Lightning invoice. An invoice expires, can state an amount, and is valid for one payment
// across all platforms. Amount, expiry and use are checked for the quote and again at the start of the
// payment. The payment then inserts a row of `invoice_uses`, which prevents a second payment.

import { type Invoice, parseBolt11 } from '../../../../catalog/crypto/bolt11.ts';
import { iso } from '../../../../kernel/effects.ts';
import { Fault } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import type { ExternalAccountRow } from '../../../payees/external-accounts/index.ts';
import { readTransaction } from '../../transactions/index.ts';
import { invoiceUses } from '../store.ts';

type Target = Pick<ExternalAccountRow, 'info'>;

/**
 * Undefined for other accounts, and in the sandbox for an invoice that cannot be decoded. Throws
 * INVALID_RECEIVER for such an invoice in production.
 */
function invoiceOf({ caller }: Ctx, { info }: Target): Invoice | undefined {
  if (!('invoice' in info) || typeof info.invoice !== 'string') return undefined;
  const invoice = parseBolt11(info.invoice);
  if (invoice || caller.environment === 'sandbox') return invoice;
  throw new Fault(
    'INVALID_RECEIVER',
    'The destination is not a valid Lightning invoice. Request a new invoice.',
  );
}

/** Satoshis that pay the invoice, rounded up. */
const satoshisOf = (amountMsat: bigint): bigint => (amountMsat + 999n) / 1_000n;

function checkTerms(ctx: Ctx, { amountMsat, expiresAt }: Invoice, amount: bigint): void {
  if (ctx.now >= expiresAt) {
    throw new Fault(
      'INVALID_RECEIVER',
      `The invoice expired at ${iso(expiresAt)}. Request a new invoice.`,
    );
  }
  if (amountMsat === undefined || satoshisOf(amountMsat) === amount) return;
  const neededSatoshis = satoshisOf(amountMsat);
  throw new Fault(
    'INVALID_AMOUNT',
    `The invoice requires ${neededSatoshis} satoshis, not ${amount}. ` +
      `Lock a receiving amount of ${neededSatoshis}.`,
    { receivingAmount: Number(neededSatoshis) },
  );
}

/**
 * The use of the invoice, if any. Throws if another payment without failure or refund uses it.
 */
async function findInvoiceUse(ctx: Ctx, { paymentHash }: Invoice, transactionId?: string) {
  const invoiceUse = await ctx.read(invoiceUses, paymentHash);
  if (!invoiceUse || invoiceUse.transaction_id === transactionId) return invoiceUse;
  const payment = await readTransaction(ctx, invoiceUse.transaction_id);
  if (!payment || payment.status === 'FAILED' || payment.refund) return invoiceUse;
  const reason = 'Another payment already uses this invoice. Request a new invoice.';
  throw new Fault('INVALID_RECEIVER', reason);
}

/** Throws if the invoice of the account does not allow this payment. */
export async function checkInvoice(ctx: Ctx, target: Target, amount: bigint): Promise<void> {
  const invoice = invoiceOf(ctx, target);
  if (!invoice) return;
  checkTerms(ctx, invoice, amount);
  await findInvoiceUse(ctx, invoice);
}

/** Checks the invoice for a payment that starts, and reserves it. */
export async function reserveInvoice(
  ctx: Ctx,
  target: Target,
  { id, amount }: { id: string; amount: bigint },
): Promise<void> {
  const invoice = invoiceOf(ctx, target);
  if (!invoice) return;
  // Funds collected by debit can arrive days after the quote.
  checkTerms(ctx, invoice, amount);
  const invoiceUse = await findInvoiceUse(ctx, invoice, id);
  if (invoiceUse?.transaction_id === id) return;
  if (invoiceUse) ctx.update(invoiceUses, invoiceUse, { transaction_id: id });
  else {
    const row = { id: invoice.paymentHash, transaction_id: id, created_at: ctx.now };
    ctx.insert(invoiceUses, row);
  }
}
