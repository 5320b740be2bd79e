// Payments to a Lightning invoice: it names its amount, runs out, and is good for one payment, whoever had
// it registered. All three are told when the price is asked for and judged once more when the payment
// starts; the row that a payment claims then is what makes two of them impossible.

import { type Invoice, readBolt11 } from '../../../../catalog/crypto/bolt11.ts';
import { iso } from '../../../../kernel/effects.ts';
import { Fault } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import type { ExternalAccountRow } from '../../../payees/external-accounts/index.ts';
import { readTransaction } from '../../transactions/index.ts';
import { invoiceUses } from '../store.ts';

type Target = Pick<ExternalAccountRow, 'info'>;

/** Undefined where there is nothing to judge: no invoice, or one that only the sandbox takes for one. */
function invoiceOf({ caller }: Ctx, { info }: Target): Invoice | undefined {
  if (!('invoice' in info) || typeof info.invoice !== 'string') return undefined;
  const invoice = readBolt11(info.invoice);
  if (invoice || caller.environment === 'sandbox') return invoice;
  throw new Fault('INVALID_RECEIVER', 'The destination is not a valid Lightning invoice.');
}

/** Satoshis that pay the invoice; where it asks for a part of one, a whole one pays it. */
const satoshisOf = (amountMsat: bigint): bigint => (amountMsat + 999n) / 1_000n;

function checkTerms(ctx: Ctx, { amountMsat, expiresAt }: Invoice, amount: bigint): void {
  if (ctx.now >= expiresAt) {
    throw new Fault('INVALID_RECEIVER', `The invoice expired at ${iso(expiresAt)}.`);
  }
  if (amountMsat === undefined || satoshisOf(amountMsat) === amount) return;
  const needed = satoshisOf(amountMsat);
  throw new Fault(
    'INVALID_AMOUNT',
    `The invoice requires ${needed} satoshis, not ${amount}. Lock this receiving amount.`,
    { receivingAmount: Number(needed) },
  );
}

/** The row of a use, when there is one; throws where it belongs to another payment that did not fail. */
async function useOf(ctx: Ctx, { paymentHash }: Invoice, transactionId?: string) {
  const use = await ctx.read(invoiceUses, paymentHash);
  if (!use || use.transaction_id === transactionId) return use;
  const payment = await readTransaction(ctx, use.transaction_id);
  if (!payment || payment.status === 'FAILED' || payment.refund) return use;
  throw new Fault('INVALID_RECEIVER', 'Another payment already uses this invoice.');
}

/** Throws why this much may not be paid to the account now, as far as its invoice says. */
export async function checkInvoice(ctx: Ctx, target: Target, amount: bigint): Promise<void> {
  const invoice = invoiceOf(ctx, target);
  if (!invoice) return;
  checkTerms(ctx, invoice, amount);
  await useOf(ctx, invoice);
}

/** The same for a payment that starts, which then has the invoice for itself. */
export async function takeInvoice(
  ctx: Ctx,
  target: Target,
  { id, amount }: { id: string; amount: bigint },
): Promise<void> {
  const invoice = invoiceOf(ctx, target);
  if (!invoice) return;
  // Money that was pulled for it may have come in after days.
  checkTerms(ctx, invoice, amount);
  const use = await useOf(ctx, invoice, id);
  if (use?.transaction_id === id) return;
  if (use) ctx.update(invoiceUses, use, { transaction_id: id });
  else {
    const row = { id: invoice.paymentHash, transaction_id: id, created_at: ctx.now };
    ctx.insert(invoiceUses, row);
  }
}
